// A generator that fills arrays, whatever its kind.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ordito::curand {

class Filler {
 public:
  virtual ~Filler() = default;
  /// The upper halves of longer words.
  virtual void bits(uint32_t* out, size_t count) = 0;
  /// Words of 64 bits; only of generators that make such.
  virtual void longs(uint64_t*, size_t) {}
  virtual void uniform(float* out, size_t count) = 0;
  virtual void uniform(double* out, size_t count) = 0;
  virtual void normal(float* out, size_t count) = 0;
  virtual void normal(double* out, size_t count) = 0;
  /// Normal numbers for Poisson's: where normal ones come in pairs, only the first of each pair.
  virtual void firstNormal(float* out, size_t count) { normal(out, count); }
};

}  // namespace ordito::curand
