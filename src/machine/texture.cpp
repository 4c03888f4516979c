// Sampling, as the CUDA programming guide describes it ("Texture Fetching").
//
// Linear filtering weighs the two, four or eight nearest texels with fractions of 9 bits, 8 of them behind the point.
// What the guide leaves open is as an H200 answers (tests/gpu/textures.cu): normalised coordinates are cut to 21 bits
// behind the point; the weighted sum is rounded once, halves away from zero, to the texels' format, or to 16 bits for
// integers that read as numbers; so is the border's colour. Without normalised coordinates there is nothing to wrap
// around or mirror, so both modes clamp.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "machine/image.hpp"

namespace ordito::machine {

namespace {

struct Texel {
  double value[4];      // where numbers are read
  uint32_t integer[4];  // where integers are
};

bool readsIntegers(const Texture& t) { return t.kind != ChannelKind::Float && !t.readsFloats; }

/// `v` with `bits` behind the leading one, halves away from zero; none of less weight than `least`.
double roundedAway(double v, int bits, int least) {
  if (v == 0 || !std::isfinite(v)) return v;
  const int unit = std::max(std::ilogb(v) - bits, least);
  return std::ldexp(std::round(std::ldexp(v, -unit)), unit);
}

double asHalf(double v) { return roundedAway(v, 10, -24); }

/// Colours of sRGB images come as f16, linear ones.
bool isSrgbColour(const Texture& t, unsigned channel) { return t.isSrgb && t.bits == 8 && channel < 3; }

double fromSrgb(double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); }

double numberOf(const Texture& t, unsigned channel, uint32_t raw) {
  if (t.kind == ChannelKind::Float)
    return t.bits == 16 ? double(float(std::bit_cast<_Float16>(uint16_t(raw)))) : double(std::bit_cast<float>(raw));
  if (t.kind == ChannelKind::Signed) {
    const int32_t value = t.bits == 8 ? int8_t(raw) : int16_t(raw);
    return std::max(double(value) / ((1 << (t.bits - 1)) - 1), -1.0);
  }
  const double value = double(raw) / ((1u << t.bits) - 1);
  return isSrgbColour(t, channel) ? asHalf(fromSrgb(value)) : value;
}

Texel texelAt(const Texture& t, const std::byte* place) {
  // Channels that the format lacks read as (0, 0, 1).
  Texel texel{{0, 0, 0, 1}, {0, 0, 0, 1}};
  for (unsigned c = 0; c < t.channels; ++c) {
    uint32_t raw = 0;
    std::memcpy(&raw, place + c * t.bits / 8, t.bits / 8);
    if (!readsIntegers(t))
      texel.value[c] = numberOf(t, c, raw);
    else
      texel.integer[c] =
          t.kind == ChannelKind::Signed && t.bits < 32 ? uint32_t(t.bits == 8 ? int8_t(raw) : int16_t(raw)) : raw;
  }
  return texel;
}

/// Numbers as integers of `bits` hold them: from 0 to 1, or from -1 to 1.
double asInteger(double v, unsigned bits, bool isSigned) {
  const double most = double((1u << (bits - isSigned)) - 1);
  constexpr double kSlack = 0x1p-20;  // what is halfway but for the rounding of v counts as halfway
  return std::floor(std::clamp(v, isSigned ? -1.0 : 0.0, 1.0) * most + 0.5 + kSlack) / most;
}

/// What a filter hands on.
double filtered(const Texture& t, unsigned channel, double v) {
  if (isSrgbColour(t, channel)) return asHalf(v);
  if (t.kind != ChannelKind::Float) return asInteger(v, 16, t.kind == ChannelKind::Signed);
  const double single = roundedAway(v, 23, -149);
  return t.bits == 16 ? asHalf(single) : single;
}

Texel borderOf(const Texture& t) {
  Texel texel{};
  for (unsigned c = 0; c < 4; ++c) {
    const bool isNumber = t.kind != ChannelKind::Float && t.readsFloats;
    if (isSrgbColour(t, c)) {
      texel.value[c] = asHalf(std::clamp(double(t.border[c]), 0.0, 1.0));
      continue;
    }
    texel.value[c] = isNumber ? asInteger(t.border[c], t.bits, t.kind == ChannelKind::Signed) : double(t.border[c]);
    std::memcpy(&texel.integer[c], &t.border[c], 4);
  }
  return texel;
}

/// A texel number brought into the image by the address mode; -1 for the border.
int64_t inside(int64_t i, int64_t size, AddressMode mode) {
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

/// One axis of a fetch: texels `low` and `low` + 1 with weights 1 - a and a. Without a filter only the first counts.
struct Axis {
  int64_t low = 0;
  double a = 0;
};

class Fetch {
 public:
  Fetch(const Texture& texture, TextureOperation operation) : t(texture), o(operation) {}

  void run(const uint32_t* coordinates, const int32_t* offset, uint32_t* texels) {
    place(coordinates);
    for (unsigned d = 0; d < axes; ++d) axis[d].low += offset ? offset[d] : 0;
    if (o.gathers) return gather(texels);
    write(t.filtersLinearly && !o.hasIntegers && !readsIntegers(t) ? blended() : at(0, 0, 0), texels);
  }

 private:
  static constexpr int64_t kFarOut = int64_t{1} << 40;

  /// Layer, cube face and axes from the instruction's coordinates.
  void place(const uint32_t* c) {
    const bool isLayered =
        o.geometry == Geometry::Layered1 || o.geometry == Geometry::Layered2 || o.geometry == Geometry::LayeredCube;
    if (isLayered) layer = *c++;
    const uint32_t size[3] = {t.width, std::max(t.height, 1u), std::max(t.depth, 1u)};
    if (o.geometry == Geometry::Cube || o.geometry == Geometry::LayeredCube) {
      cube(std::bit_cast<float>(c[0]), std::bit_cast<float>(c[1]), std::bit_cast<float>(c[2]));
      if (isLayered) layer = std::min(layer, std::max(t.layers / 6, 1u) - 1);
      layer = layer * 6 + face;
      axes = 2;
      return;
    }
    if (isLayered) layer = std::min(layer, std::max(t.layers, 1u) - 1);
    axes = o.geometry == Geometry::D3 ? 3 : o.geometry == Geometry::D2 || o.geometry == Geometry::Layered2 ? 2 : 1;
    for (unsigned d = 0; d < axes; ++d)
      axis[d] = o.hasIntegers ? Axis{int32_t(c[d]), 0} : along(std::bit_cast<float>(c[d]), size[d], t.isNormalised);
    // One row is a plane of height 1, sampled on its edge: where a border lies beyond, it counts for half.
    if (o.geometry == Geometry::D1 && !o.hasIntegers && !t.isLinear) axis[axes++] = along(0, 1, t.isNormalised);
  }

  /// A coordinate as texel number and weight.
  Axis along(float x, uint32_t size, bool isNormalised) const {
    if (std::isnan(x)) x = 0;
    double at = isNormalised ? std::floor(double(x) * 0x1p21) * size / 0x1p21 : double(x);
    at = std::clamp(at, -double(kFarOut), double(kFarOut));
    if (!o.gathers && (!t.filtersLinearly || readsIntegers(t))) return {int64_t(std::floor(at)), 0};
    const double fixed = std::floor((at - 0.5) * 256 + 0.5), low = std::floor(fixed / 256);
    return {int64_t(low), fixed / 256 - low};
  }

  /// The face that a direction points at, and where on it.
  void cube(float x, float y, float z) {
    const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
    float m, s, v;
    // Where two are equally long, z comes before y and y before x.
    if (az >= ax && az >= ay)
      face = 4 + (z < 0), m = az, s = z < 0 ? -x : x, v = -y;
    else if (ay >= ax)
      face = 2 + (y < 0), m = ay, s = x, v = y < 0 ? -z : z;
    else
      face = x < 0, m = ax, s = x < 0 ? z : -z, v = -y;
    axis[0] = along((s / m + 1) / 2, t.width, true);
    axis[1] = along((v / m + 1) / 2, t.height, true);
  }

  AddressMode modeOf(unsigned d) const {
    const bool isCube = o.geometry == Geometry::Cube || o.geometry == Geometry::LayeredCube;
    if (isCube) return AddressMode::Clamp;
    const AddressMode mode = t.address[d];
    const bool turns = mode == AddressMode::Wrap || mode == AddressMode::Mirror;
    return turns && !t.isNormalised ? AddressMode::Clamp : mode;
  }

  /// The texel that is dx, dy, dz away from the lowest one.
  Texel at(unsigned dx, unsigned dy, unsigned dz) const {
    const unsigned step[3] = {dx, dy, dz};
    const uint32_t size[3] = {t.width, std::max(t.height, 1u), std::max(t.depth, 1u)};
    int64_t i[3] = {};
    for (unsigned d = 0; d < axes; ++d) {
      // Plain memory has no address mode: beyond it there are zeros.
      i[d] = inside(axis[d].low + step[d], size[d], t.isLinear ? AddressMode::Border : modeOf(d));
      if (i[d] < 0) return t.isLinear ? Texel{} : borderOf(t);
    }
    const uint64_t slice = axes == 3 ? uint64_t(i[2]) : layer;
    return texelAt(t, t.memory + slice * t.slicePitch + uint64_t(i[1]) * t.pitch + uint64_t(i[0]) * t.texelBytes());
  }

  /// The share of the texels beyond the lowest one on all of `axesBeyond`, in 1/256, rounded.
  int shareBeyond(unsigned axesBeyond) const {
    int64_t product = 1, whole = 1;
    for (unsigned d = 0; d < axes; ++d)
      if (axesBeyond >> d & 1) product *= int64_t(axis[d].a * 256), whole *= 256;
    return int((product * 256 * 2 + whole) / (whole * 2));
  }

  /// A corner's weight in 1/256: what lies beyond on its axes, without what lies beyond on others, too.
  int weightOf(unsigned corner) const {
    int weight = 0;
    for (unsigned more = 0; more < 1u << axes; ++more)
      if ((more & corner) == corner)
        weight += std::popcount(more ^ corner) % 2 ? -shareBeyond(more) : shareBeyond(more);
    return weight;
  }

  Texel blended() const {
    Texel sum{};
    for (unsigned corner = 0; corner < 1u << axes; ++corner) {
      const double weight = weightOf(corner) / 256.0;
      if (weight == 0) continue;
      const Texel texel = at(corner & 1, corner >> 1 & 1, corner >> 2 & 1);
      for (unsigned c = 0; c < 4; ++c) sum.value[c] += weight * texel.value[c];
    }
    for (unsigned c = 0; c < 4; ++c) sum.value[c] = filtered(t, c, sum.value[c]);
    return sum;
  }

  uint32_t word(const Texel& texel, unsigned c) const {
    return readsIntegers(t) ? texel.integer[c] : std::bit_cast<uint32_t>(float(texel.value[c]));
  }

  uint16_t half(const Texel& texel, unsigned c) const {
    return std::bit_cast<uint16_t>(static_cast<_Float16>(float(texel.value[c])));
  }

  void write(const Texel& texel, uint32_t* to) const {
    using Result = TextureOperation::Result;
    for (unsigned c = 0; c < 4; ++c) {
      if (o.result == Result::HalfPair)
        to[c / 2] = c % 2 ? to[c / 2] | uint32_t{half(texel, c)} << 16 : half(texel, c);
      else
        to[c] = o.result == Result::Half ? half(texel, c) : word(texel, c);
    }
  }

  /// One component of the four texels that a linear filter would blend, counter-clockwise from the lower left.
  void gather(uint32_t* to) const {
    constexpr unsigned kSteps[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    for (unsigned k = 0; k < 4; ++k) to[k] = word(at(kSteps[k][0], kSteps[k][1], 0), o.gathers - 1u);
  }

  const Texture& t;
  const TextureOperation o;
  Axis axis[3];
  unsigned axes = 0, face = 0;
  uint32_t layer = 0;
};

}  // namespace

void fetchTexels(const Texture& texture, TextureOperation operation, const uint32_t* coordinates, const int32_t* offset,
                 uint32_t* texels) {
  Fetch(texture, operation).run(coordinates, offset, texels);
}

}  // namespace ordito::machine
