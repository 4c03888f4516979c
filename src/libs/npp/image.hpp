// What NPP's functions of images have in common: images as rows of pixels, checks of arguments, tasks in streams, and
// values outside of an image.
//
// An image is a pointer to its first pixel and a step, the bytes from row to row; a region of interest is a size. Work
// is done row by row on the threads that run blocks.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "libs/stream_task.hpp"
#include "nppcore.h"

namespace ordito::libs::npp {

template <class T>
struct Image {
  T* data;
  int step;

  T* row(int y) const {
    using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
    return reinterpret_cast<T*>(reinterpret_cast<Byte*>(data) + static_cast<ptrdiff_t>(y) * step);
  }
};
template <class T>
Image(T*, int) -> Image<T>;

/// What every function asks first, in the order of NPP's manual: pointers, sizes, steps.
template <class... T>
NppStatus check(NppiSize size, Image<T>... images) {
  if (!(images.data && ...)) return NPP_NULL_POINTER_ERROR;
  if (size.width < 0 || size.height < 0) return NPP_SIZE_ERROR;
  if (!((images.step > 0) && ...)) return NPP_STEP_ERROR;
  return NPP_SUCCESS;
}

inline NppStatus answer(CUresult result) {
  return result == CUDA_SUCCESS ? NPP_SUCCESS : NPP_CUDA_KERNEL_EXECUTION_ERROR;
}

/// One task in the stream.
template <class Task>
NppStatus run(const NppStreamContext& context, const char* name, Task task) {
  return answer(enqueue(reinterpret_cast<CUstream>(context.hStream), name, std::move(task)));
}

/// The task calls body(y) for each row.
template <class Body>
NppStatus forRows(const NppStreamContext& context, const char* name, int rows, Body body) {
  constexpr unsigned kAtOnce = 16;
  return run(context, name, [rows = static_cast<unsigned>(rows), body] {
    parallelFor((rows + kAtOnce - 1) / kAtOnce, [&](unsigned part) {
      for (unsigned y = part * kAtOnce; y < std::min(rows, (part + 1) * kAtOnce); ++y) body(static_cast<int>(y));
    });
  });
}

/// The nearest value of T, halves to the even one; what does not fit becomes the extreme.
template <class T, class Wide>
T saturate(Wide value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_floating_point_v<Wide>) value = std::nearbyint(value);
    if (value <= static_cast<Wide>(Limits::lowest())) return Limits::lowest();
    if (value >= static_cast<Wide>(Limits::max())) return Limits::max();
    return static_cast<T>(value);
  }
}

/// Pixels around an image that repeat its edge.
struct Replicated {
  NppiSize size;
  int x(int at) const { return std::clamp(at, 0, size.width - 1); }
  int y(int at) const { return std::clamp(at, 0, size.height - 1); }
};

}  // namespace ordito::libs::npp

/// Both forms of a function: with the stream in a context, which does the work and has it as `context`, and for the
/// stream that nppSetStream chose. BOTH_FORMS(name, (parameters), (arguments)) { work }: parameters end without one.
#define NPP_UNPACK(...) __VA_ARGS__
#define BOTH_FORMS(name, parameters, arguments)                                  \
  NppStatus name(NPP_UNPACK parameters) {                                        \
    NppStreamContext context;                                                    \
    const NppStatus bad = nppGetStreamContext(&context);                         \
    return bad != NPP_SUCCESS ? bad : name##_Ctx(NPP_UNPACK arguments, context); \
  }                                                                              \
  NppStatus name##_Ctx(NPP_UNPACK parameters, [[maybe_unused]] NppStreamContext context)
