// What clang's device headers need to find before they are read, and names of theirs that Ordito defines anew.
// Included by cuda_runtime.h in .cu files.
#ifndef ORDITO_BEFORE_DEVICE_FUNCTIONS_H
#define ORDITO_BEFORE_DEVICE_FUNCTIONS_H

#include <stdint.h>

#include "host_math.h"
#include "pure_math.h"

typedef uint32_t cuuint32_t;
typedef uint64_t cuuint64_t;

// Warp intrinsics without _sync. Clang lowers them to instructions that sm_70 and later no longer have, so its versions
// get out of the way here; ordito/warp_functions.h defines them over the lanes that are active together.
#define __all ordito_clang_all
#define __any ordito_clang_any
#define __ballot ordito_clang_ballot
#define __shfl ordito_clang_shfl
#define __shfl_up ordito_clang_shfl_up
#define __shfl_down ordito_clang_shfl_down
#define __shfl_xor ordito_clang_shfl_xor

// Clang's __reduce_add_sync and the rest of that family give redux.sync the mask for the value and the value for the
// mask.
#define __reduce_add_sync ordito_clang_reduce_add_sync
#define __reduce_min_sync ordito_clang_reduce_min_sync
#define __reduce_max_sync ordito_clang_reduce_max_sync
#define __reduce_and_sync ordito_clang_reduce_and_sync
#define __reduce_or_sync ordito_clang_reduce_or_sync
#define __reduce_xor_sync ordito_clang_reduce_xor_sync

// Clang knows __rdtsc without a header, and lets no program define it. Under another name the program's own is found
// before this one.
#if defined(__x86_64__) && !defined(__CUDACC_RTC__)
template <class = void>
static inline unsigned long long ordito_rdtsc() {
  return __builtin_ia32_rdtsc();
}
#define __rdtsc(...) ordito_rdtsc(__VA_ARGS__)
#endif

// Addresses of one state space as numbers, and back.
#define ORDITO_ADDRESS_SPACE(name, number)                                        \
  static __device__ inline size_t __cvta_generic_to_##name(const void* pointer) { \
    return (size_t)(const void __attribute__((address_space(number)))*)pointer;   \
  }                                                                               \
  static __device__ inline void* __cvta_##name##_to_generic(size_t address) {     \
    return (void*)(void __attribute__((address_space(number)))*)address;          \
  }
ORDITO_ADDRESS_SPACE(global, 1)
ORDITO_ADDRESS_SPACE(shared, 3)
ORDITO_ADDRESS_SPACE(constant, 4)
ORDITO_ADDRESS_SPACE(local, 5)
#undef ORDITO_ADDRESS_SPACE

// libcu++ declares the function behind assert for both sides when NDEBUG is set, as nvcc has it. Clang's own, for the
// device only, could not stand beside it. assert.h and libdevice know the one for both.
#if defined(NDEBUG) && defined(__NVCC__)
#define ORDITO_ASSERT_ON_BOTH_SIDES
#define __assert_fail ordito_clang_assert_fail
#endif

#endif
