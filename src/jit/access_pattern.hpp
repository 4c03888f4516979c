// What the addresses of a warp's lanes have to do with each other, where that is known when the kernel is compiled.
#pragma once

#include <cstdint>

#include "ir/shape.hpp"

namespace ordito::jit {

inline constexpr unsigned kLanes = ir::kLanes;

/// How the lanes [first, first + width) of a pattern can be accessed at once.
struct Run {
  enum class Kind : uint8_t { Contiguous, Same, Scattered } kind = Kind::Scattered;
  unsigned width = 0;
};

inline Run::Kind classify(const ir::Pattern& p, unsigned first, unsigned width, int64_t step) {
  bool same = true, contiguous = true;
  for (unsigned l = 1; l < width; ++l) {
    same &= p[first + l] == p[first];
    contiguous &= p[first + l] == p[first] + step * l;
  }
  return same ? Run::Kind::Same : contiguous ? Run::Kind::Contiguous : Run::Kind::Scattered;
}

/// The widest run length (a power of two, at least 4) that cuts each group into runs.
inline unsigned runWidth(const ir::Pattern& p, unsigned groups, int64_t step) {
  for (unsigned width = kLanes / groups; width >= 4; width /= 2) {
    bool good = true;
    for (unsigned first = 0; first < kLanes; first += width)
      good &= classify(p, first, width, step) != Run::Kind::Scattered;
    if (good) return width;
  }
  return 0;
}

}  // namespace ordito::jit
