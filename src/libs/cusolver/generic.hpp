// What the calls with 64-bit sizes share, whose matrices say their type at run time.
#pragma once

#include "libs/cusolver/dense.hpp"

namespace ordito::cusolver {

/// `f.operator()<T>()` for the type's T.
template <class F>
Status withType(cudaDataType type, const F& f) {
  switch (type) {
    case CUDA_R_32F: return f.template operator()<float>();
    case CUDA_R_64F: return f.template operator()<double>();
    case CUDA_C_32F: return f.template operator()<std::complex<float>>();
    case CUDA_C_64F: return f.template operator()<std::complex<double>>();
    default: return CUSOLVER_STATUS_INVALID_VALUE;
  }
}

inline cudaDataType realOf(cudaDataType type) {
  if (type == CUDA_C_32F) return CUDA_R_32F;
  return type == CUDA_C_64F ? CUDA_R_64F : type;
}
inline bool isKnown(cudaDataType type) {
  return type == CUDA_R_32F || type == CUDA_R_64F || type == CUDA_C_32F || type == CUDA_C_64F;
}
/// All of a call have one type.
template <class... Types>
bool areAlike(cudaDataType first, Types... others) {
  return isKnown(first) && ((others == first) && ...);
}

template <class T>
T* as(void* place) {
  return static_cast<T*>(place);
}
template <class T>
const T* as(const void* place) {
  return static_cast<const T*>(place);
}

/// Work areas are the task's own (handle.hpp): an element of the device's, none of the host's.
inline Status tellSizes(Handle h, bool isValid, size_t* device, size_t* host) {
  SOLVER_CALL(h, isValid && device && host);
  *device = sizeof(cuDoubleComplex);
  *host = 0;
  return CUSOLVER_STATUS_SUCCESS;
}
/// Sizes that LAPACK can count.
template <class... Sizes>
bool areSizes(Sizes... sizes) {
  return ((sizes >= 0) && ...) && areCountable(sizes...);
}
inline int asInt(int64_t value) { return static_cast<int>(value); }

}  // namespace ordito::cusolver
