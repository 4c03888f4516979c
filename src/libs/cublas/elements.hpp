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

/// Numbers of eight bits (Micikevicius et al., "FP8 Formats for Deep Learning", 2022): `Mantissa` bits behind the
/// exponent, and the code of the largest number. E4M3 has no infinity, and one NaN; E5M2 is half precision's upper
/// part.
template <int Mantissa, int Bias, unsigned Largest>
struct Float8 {
  uint8_t bits;
};
using Float8E4M3 = Float8<3, 7, 0x7e>;
using Float8E5M2 = Float8<2, 15, 0x7b>;

/// Two int8, the parts of a complex number.
struct ComplexByte {
  int8_t real, imaginary;
};

/// Whether the type is one of those with bits.
template <class T>
inline constexpr bool kHasBits = requires(T value) { value.bits; };

inline float widen(Half half) {
  // The exponent in a float's place, then scaled by what the biases differ, which is right for subnormal numbers, too.
  const uint32_t magnitude = static_cast<uint32_t>(half.bits & 0x7fff) << 13;
  uint32_t bits = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f);
  bits |= bits >= 0x47800000u ? 0x7f800000u : 0u;
  return std::bit_cast<float>(bits | static_cast<uint32_t>(half.bits & 0x8000) << 16);
}
inline float widen(Float8E5M2 value) { return widen(Half{static_cast<uint16_t>(value.bits << 8)}); }
inline float widen(Float8E4M3 value) {
  const uint32_t magnitude = static_cast<uint32_t>(value.bits & 0x7f) << 20;
  uint32_t bits = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * 0x1p120f);
  bits |= (value.bits & 0x7f) == 0x7f ? 0x7f800000u : 0u;
  return std::bit_cast<float>(bits | static_cast<uint32_t>(value.bits & 0x80) << 24);
}
inline float widen(Bfloat16 value) { return std::bit_cast<float>(static_cast<uint32_t>(value.bits) << 16); }
inline float widen(int8_t value) { return value; }
inline float widen(float value) { return value; }
inline ComplexFloat widen(ComplexByte value) {
  return {static_cast<float>(value.real), static_cast<float>(value.imaginary)};
}
inline double widen(double value) { return value; }
template <class T>
std::complex<T> widen(std::complex<T> value) {
  return value;
}

/// The type that an element is computed in.
template <class E>
using Wide = decltype(widen(E{}));

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
/// To nearest, ties to even; what is too large becomes the largest number, as cuBLAS stores it.
template <int Mantissa, int Bias, unsigned Largest>
void narrow(float value, Float8<Mantissa, Bias, Largest>& to) {
  constexpr int kCut = 23 - Mantissa;
  const uint32_t bits = std::bit_cast<uint32_t>(value), magnitude = bits & 0x7fffffffu;
  uint32_t code = 0x7f;
  if (magnitude < static_cast<uint32_t>(128 - Bias) << 23) {  // subnormal: a multiple of the smallest
    code = static_cast<uint32_t>(std::lrint(std::ldexp(std::bit_cast<float>(magnitude), Bias - 1 + Mantissa)));
  } else if (magnitude <= 0x7f800000u) {
    const uint32_t rounded = magnitude + (1u << (kCut - 1)) - 1 + (magnitude >> kCut & 1u);
    code = std::min((rounded >> kCut) - (static_cast<uint32_t>(127 - Bias) << Mantissa), Largest);
  }
  to.bits = static_cast<uint8_t>((bits >> 24 & 0x80u) | code);
}
/// The element nearest to a number.
template <class E>
E narrowed(Wide<E> value) {
  if constexpr (kHasBits<E>) {
    E element;
    narrow(value, element);
    return element;
  } else {
    return value;
  }
}
/// Of an exact sum: what does not fit wraps, as it does in a GPU's registers.
inline void narrow(double value, int32_t& to) { to = static_cast<int32_t>(static_cast<int64_t>(value)); }

/// The number of a type that BLAS computes in.
template <class T>
inline constexpr cudaDataType kTypeOf = std::is_same_v<T, float>          ? CUDA_R_32F
                                        : std::is_same_v<T, double>       ? CUDA_R_64F
                                        : std::is_same_v<T, ComplexFloat> ? CUDA_C_32F
                                                                          : CUDA_C_64F;

/// Calls with a value of the type's C++ type; false if there is none here.
template <class Body>
bool withElement(cudaDataType type, const Body& body) {
  switch (type) {
    case CUDA_R_16F: return body(Half{}), true;
    case CUDA_R_16BF: return body(Bfloat16{}), true;
    case CUDA_R_8I: return body(int8_t{}), true;
    case CUDA_R_8F_E4M3: return body(Float8E4M3{}), true;
    case CUDA_R_8F_E5M2: return body(Float8E5M2{}), true;
    case CUDA_R_32F: return body(float{}), true;
    case CUDA_R_64F: return body(double{}), true;
    case CUDA_C_32F: return body(ComplexFloat{}), true;
    case CUDA_C_64F: return body(ComplexDouble{}), true;
    case CUDA_R_32I: return body(int32_t{}), true;
    default: return false;
  }
}

inline size_t sizeOf(cudaDataType type) {
  size_t size = type == CUDA_C_8I ? sizeof(ComplexByte) : 0;
  withElement(type, [&](auto value) { size = sizeof(value); });
  return size;
}

/// An element as a number of type T; of a complex one that becomes real, the real part.
template <class T, class E>
T converted(E element) {
  if constexpr (kIsComplex<E> && !kIsComplex<T>)
    return static_cast<T>(element.real());
  else if constexpr (kIsComplex<E>)
    return T(static_cast<Real<T>>(element.real()), static_cast<Real<T>>(element.imag()));
  else if constexpr (std::is_arithmetic_v<E>)
    return static_cast<T>(static_cast<Real<T>>(element));
  else
    return static_cast<T>(widen(element));
}

/// The element of that type at a place in memory, of whatever alignment.
template <class T>
T readAs(cudaDataType type, const void* from) {
  T value{};
  withElement(type, [&](auto element) {
    std::memcpy(&element, from, sizeof(element));
    value = converted<T>(element);
  });
  return value;
}

}  // namespace ordito::cublas
