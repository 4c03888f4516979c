// What the parts of the texture unit share: a texture's geometry, and which level of a mipmapped one a fetch takes.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "machine/image.hpp"

namespace ordito::machine {

inline bool isCube(Geometry g) { return g == Geometry::Cube || g == Geometry::LayeredCube; }
inline bool hasLayers(Geometry g) {
  return g == Geometry::Layered1 || g == Geometry::Layered2 || g == Geometry::LayeredCube;
}
/// Axes along which texels are filtered.
inline unsigned axesOf(Geometry g) {
  return g == Geometry::D3 ? 3 : g == Geometry::D1 || g == Geometry::Layered1 ? 1 : 2;
}
inline bool readsIntegers(const Texture& t) { return t.kind != ChannelKind::Float && !t.readsFloats; }

/// `v` with `bits` behind the leading one, halves away from zero; none of less weight than `least`.
inline double roundedAway(double v, int bits, int least) {
  if (v == 0 || !std::isfinite(v)) return v;
  const int unit = std::max(std::ilogb(v) - bits, least);
  return std::ldexp(std::round(std::ldexp(v, -unit)), unit);
}

/// The nearest number of f32, the same way.
inline double nearestSingle(double v) {
  const double size = std::fabs(v);
  if (!(size >= 0x1p-126 && size < 0x1p127)) return roundedAway(v, 23, -149);
  constexpr uint64_t kBehind = 0x1fff'ffff;  // the bits of f64 that f32 lacks
  return std::bit_cast<double>((std::bit_cast<uint64_t>(v) + (kBehind + 1) / 2) & ~kBehind);
}

/// Numbers as integers of `bits` hold them: from 0 to 1, or from -1 to 1.
inline double asInteger(double v, unsigned bits, bool isSigned) {
  const double most = double((1u << (bits - isSigned)) - 1);
  constexpr double kSlack = 0x1p-20;  // what is halfway but for the rounding of v counts as halfway
  return std::floor(std::clamp(v, isSigned ? -1.0 : 0.0, 1.0) * most + 0.5 + kSlack) / most;
}

/// A texel number brought into the image by the address mode; -1 for the border.
inline int64_t inside(int64_t i, int64_t size, AddressMode mode) {
  if (i >= 0 && i < size) return i;
  switch (mode) {
    case AddressMode::Border: return -1;
    case AddressMode::Wrap: return (i % size + size) % size;
    case AddressMode::Mirror: {
      const int64_t period = (i % (2 * size) + 2 * size) % (2 * size);
      return period < size ? period : 2 * size - 1 - period;
    }
    default: return std::clamp<int64_t>(i, 0, size - 1);
  }
}

/// What the texture's mode on an axis comes to: without normalised coordinates nothing turns.
inline AddressMode modeOn(const Texture& t, unsigned axis) {
  const AddressMode mode = t.address[axis];
  const bool turns = mode == AddressMode::Wrap || mode == AddressMode::Mirror;
  return turns && !t.isNormalised ? AddressMode::Clamp : mode;
}

/// A coordinate counted in texels, within what a texel number can hold.
inline double inTexels(float x, uint32_t size, bool isNormalised) {
  constexpr double kFarOut = 0x1p40;
  if (std::isnan(x)) x = 0;
  const double at = isNormalised ? std::floor(double(x) * 0x1p21) * size / 0x1p21 : double(x);
  return std::clamp(at, -kFarOut, kFarOut);
}

/// The level that a fetch takes, in 1/256: a whole one, unless the texture blends levels.
unsigned chosenLevel(const Texture& texture, TextureOperation operation, const TextureArguments& arguments);

}  // namespace ordito::machine
