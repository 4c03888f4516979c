// The three lines of test framework that the runtime's programs need: they must also compile with nvcc and run on a
// real GPU.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

inline int& failures() {
  static int count = 0;
  return count;
}

// What a launch answers that cannot be, and a function that is no kernel.
#if CUDART_VERSION >= 13000
constexpr cudaError_t kBadConfiguration = cudaErrorInvalidValue, kNotAKernel = cudaErrorInvalidResourceHandle;
#else
constexpr cudaError_t kBadConfiguration = cudaErrorInvalidConfiguration, kNotAKernel = cudaErrorInvalidDeviceFunction;
#endif

#define EXPECT(condition)                                                 \
  do {                                                                    \
    if (!(condition)) {                                                   \
      std::printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      ++failures();                                                       \
    }                                                                     \
  } while (0)

/// The call answers exactly this error, and so does cudaGetLastError; after that the error is gone.
#define EXPECT_ERROR(expected, call)                                                                               \
  do {                                                                                                             \
    const cudaError_t got_ = (call);                                                                               \
    if (got_ != (expected)) {                                                                                      \
      std::printf("%s:%d: %s answers %s, not %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(got_), #expected); \
      ++failures();                                                                                                \
    }                                                                                                              \
    EXPECT(cudaGetLastError() == got_);                                                                            \
    EXPECT(cudaGetLastError() == cudaSuccess);                                                                     \
  } while (0)

#define EXPECT_OK(call)                                                                         \
  do {                                                                                          \
    const cudaError_t got_ = (call);                                                            \
    if (got_ != cudaSuccess) {                                                                  \
      std::printf("%s:%d: %s answers %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(got_)); \
      ++failures();                                                                             \
    }                                                                                           \
  } while (0)

inline int finish() {
  std::printf(failures() == 0 ? "ok\n" : "%d failures\n", failures());
  return failures() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
