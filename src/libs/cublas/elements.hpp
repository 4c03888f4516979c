// Elements of the types that cuBLAS mixes (cudaDataType), widened to those that BLAS computes with, and back.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>

#include "library_types.h"
#include "libs/cublas/openblas.hpp"

namespace ordito::cublas {

/// Half precision and bfloat16 as bits; the conversions are free of branches, so loops over them become vectors.
struct Half {
  uint16_t bits;
};
struct Bfloat16 {
  uint16_t bits;
};

inline float widen(Half half) {
  // The exponent in a float's place, then scaled by what the biases differ, which is right for subnormal numbers, too.
  const uint32_t magnitude = static_cast<uint32_t>(half.bits & 0x7fff) << 13;
  uint32_t bits = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f);
  bits |= bits >= 0x47800000u ? 0x7f800000u : 0u;
  return std::bit_cast<float>(bits | static_cast<uint32_t>(half.bits & 0x8000) << 16);
}
inline float widen(Bfloat16 value) { return std::bit_cast<float>(static_cast<uint32_t>(value.bits) << 16); }
inline float widen(int8_t value) { return value; }
inline float widen(float value) { return value; }

/// To nearest, ties to even.
inline void narrow(float value, Half& to) {
  const uint32_t bits = std::bit_cast<uint32_t>(value), magnitude = bits & 0x7fffffffu;
  const uint32_t sign = bits >> 16 & 0x8000u;
  // Below 2^-14 a sum with 0.5 rounds; its last bit is worth what that of a subnormal half is.
  const uint32_t tiny = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
  const uint32_t normal = (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
  const uint32_t large = magnitude > 0x7f800000u ? 0x7fffu : 0x7c00u;
  const uint32_t finite = magnitude < 0x38800000u ? tiny : normal;
  const uint32_t rounded = magnitude >= 0x477ff000u ? large : finite;
  to.bits = static_cast<uint16_t>(sign | rounded);
}
inline void narrow(float value, Bfloat16& to) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  to.bits = static_cast<uint16_t>(std::isnan(value) ? 0x7fffu : rounded);
}
inline void narrow(float value, float& to) { to = value; }
/// Of an exact sum: what does not fit wraps, as it does in a GPU's registers.
inline void narrow(double value, int32_t& to) { to = static_cast<int32_t>(static_cast<int64_t>(value)); }

/// Calls with a value of the type's C++ type; false if there is none here.
template <class Body>
bool withElement(cudaDataType type, const Body& body) {
  switch (type) {
    case CUDA_R_16F: return body(Half{}), true;
    case CUDA_R_16BF: return body(Bfloat16{}), true;
    case CUDA_R_8I: return body(int8_t{}), true;
    case CUDA_R_32F: return body(float{}), true;
    case CUDA_R_64F: return body(double{}), true;
    case CUDA_C_32F: return body(ComplexFloat{}), true;
    case CUDA_C_64F: return body(ComplexDouble{}), true;
    case CUDA_R_32I: return body(int32_t{}), true;
    default: return false;
  }
}

inline size_t sizeOf(cudaDataType type) {
  size_t size = 0;
  withElement(type, [&](auto value) { size = sizeof(value); });
  return size;
}

}  // namespace ordito::cublas
