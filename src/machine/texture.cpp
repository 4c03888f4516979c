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

#include "machine/sampling.hpp"

namespace ordito::machine {

namespace {

struct Texel {
  double value[4];      // where numbers are read
  uint32_t integer[4];  // where integers are
};

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

/// What a filter hands on.
double filtered(const Texture& t, unsigned channel, double v) {
  if (isSrgbColour(t, channel)) return asHalf(v);
  if (t.kind != ChannelKind::Float) return asInteger(v, 16, t.kind == ChannelKind::Signed);
  const double single = nearestSingle(v);
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

uint32_t word(const Texture& t, const Texel& texel, unsigned c) {
  return readsIntegers(t) ? texel.integer[c] : std::bit_cast<uint32_t>(float(texel.value[c]));
}

uint16_t half(const Texel& texel, unsigned c) {
  return std::bit_cast<uint16_t>(static_cast<_Float16>(float(texel.value[c])));
}

void write(const Texture& t, TextureOperation o, const Texel& texel, uint32_t* to) {
  using Result = TextureOperation::Result;
  for (unsigned c = 0; c < 4; ++c) {
    if (o.result == Result::HalfPair)
      to[c / 2] = c % 2 ? to[c / 2] | uint32_t{half(texel, c)} << 16 : half(texel, c);
    else
      to[c] = o.result == Result::Half ? half(texel, c) : word(t, texel, c);
  }
}

/// The face of a cube that a direction points at, and the direction seen from there: `length` towards the face, `s` and
/// `t` along its edges.
struct Face {
  unsigned number;
  float length, s, t;
};

Face faceAt(float x, float y, float z) {
  const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  // Where two are equally long, z comes before y and y before x.
  if (az >= ax && az >= ay) return {4u + (z < 0), az, z < 0 ? -x : x, -y};
  if (ay >= ax) return {2u + (y < 0), ay, x, y < 0 ? -z : z};
  return {unsigned(x < 0), ax, x < 0 ? z : -z, -y};
}

/// One axis of a fetch: texels `low` and `low` + 1 with weights 1 - a and a. Without a filter only the first counts.
struct Axis {
  int64_t low = 0;
  double a = 0;
};

/// A fetch from one level of a texture.
class Fetch {
 public:
  Fetch(const Texture& texture, const Image& level, TextureOperation operation, const TextureArguments& arguments)
      : t_(texture), image_(level), o_(operation) {
    place(arguments.coordinates);
    for (unsigned d = 0; d < axes_; ++d) axis_[d].low += arguments.offset[d];
  }

  bool blends() const { return t_.filtersLinearly && !o_.hasIntegers && !readsIntegers(t_); }
  /// What the filter makes of the texels, not yet rounded.
  Texel sampled() const { return blends() ? blended() : at(0); }

  /// One component of the four texels that a linear filter would blend, counter-clockwise from the lower left.
  void gather(uint32_t* to) const {
    for (unsigned k = 0; k < 4; ++k) to[k] = word(t_, at(kGathered[k]), o_.gathers - 1u);
  }

  /// Calls visit(place) for each texel in memory that the fetch reads.
  template <class F>
  void forEachPlace(F visit) const {
    const auto tell = [&](unsigned corner) {
      if (const std::byte* place = placeOf(corner)) visit(place);
    };
    if (o_.gathers) {
      for (unsigned corner : kGathered) tell(corner);
    } else if (blends()) {
      forEachWeight([&](unsigned corner, double) { tell(corner); });
    } else {
      tell(0);
    }
  }

 private:
  /// Corners: bit d says that a texel lies beyond the lowest one on axis d.
  static constexpr unsigned kGathered[4] = {2, 3, 1, 0};

  /// Layer, cube face and axes from the instruction's coordinates.
  void place(const uint32_t* c) {
    const bool isLayered = hasLayers(o_.geometry);
    if (isLayered) layer_ = *c++;
    const uint32_t size[3] = {image_.width, std::max(image_.height, 1u), std::max(image_.depth, 1u)};
    if (isCube(o_.geometry)) {
      cube(faceAt(std::bit_cast<float>(c[0]), std::bit_cast<float>(c[1]), std::bit_cast<float>(c[2])));
      if (isLayered) layer_ = std::min(layer_, std::max(image_.layers / 6, 1u) - 1);
      layer_ = layer_ * 6 + face_;
      axes_ = 2;
      return;
    }
    if (isLayered) layer_ = std::min(layer_, std::max(image_.layers, 1u) - 1);
    axes_ = axesOf(o_.geometry);
    for (unsigned d = 0; d < axes_; ++d)
      axis_[d] = o_.hasIntegers ? Axis{int32_t(c[d]), 0} : along(std::bit_cast<float>(c[d]), size[d], t_.isNormalised);
    // One row is a plane of height 1, sampled on its edge: where a border lies beyond, it counts for half.
    if (o_.geometry == Geometry::D1 && !o_.hasIntegers && !t_.isLinear) axis_[axes_++] = along(0, 1, t_.isNormalised);
  }

  /// A coordinate as texel number and weight.
  Axis along(float x, uint32_t size, bool isNormalised) const {
    const double at = inTexels(x, size, isNormalised);
    if (!o_.gathers && (!t_.filtersLinearly || readsIntegers(t_))) return {int64_t(std::floor(at)), 0};
    const double fixed = std::floor((at - 0.5) * 256 + 0.5), low = std::floor(fixed / 256);
    return {int64_t(low), fixed / 256 - low};
  }

  /// Where on a cube's face.
  void cube(const Face& f) {
    face_ = f.number;
    axis_[0] = along((f.s / f.length + 1) / 2, image_.width, true);
    axis_[1] = along((f.t / f.length + 1) / 2, image_.height, true);
  }

  /// Where a corner's texel lies; null for one beyond the border.
  const std::byte* placeOf(unsigned corner) const {
    const uint32_t size[3] = {image_.width, std::max(image_.height, 1u), std::max(image_.depth, 1u)};
    int64_t i[3] = {};
    for (unsigned d = 0; d < axes_; ++d) {
      // Plain memory has no address mode: beyond it there are zeros.
      i[d] = inside(axis_[d].low + (corner >> d & 1), size[d], t_.isLinear ? AddressMode::Border : modeOn(t_, d));
      if (i[d] < 0) return nullptr;
    }
    const uint64_t slice = axes_ == 3 ? uint64_t(i[2]) : layer_;
    return image_.memory + slice * image_.slicePitch + uint64_t(i[1]) * image_.pitch + uint64_t(i[0]) * t_.texelBytes();
  }

  Texel at(unsigned corner) const {
    if (const std::byte* place = placeOf(corner)) return texelAt(t_, place);
    return t_.isLinear ? Texel{} : borderOf(t_);
  }

  /// The share of the texels beyond the lowest one on all of `axesBeyond`, in 1/256, rounded.
  int shareBeyond(unsigned axesBeyond) const {
    int64_t product = 1, whole = 1;
    for (unsigned d = 0; d < axes_; ++d)
      if (axesBeyond >> d & 1) product *= int64_t(axis_[d].a * 256), whole *= 256;
    return int((product * 256 * 2 + whole) / (whole * 2));
  }

  /// A corner's weight in 1/256: what lies beyond on its axes, without what lies beyond on others, too.
  int weightOf(unsigned corner) const {
    int weight = 0;
    for (unsigned more = 0; more < 1u << axes_; ++more)
      if ((more & corner) == corner)
        weight += std::popcount(more ^ corner) % 2 ? -shareBeyond(more) : shareBeyond(more);
    return weight;
  }

  /// Calls visit(corner, weight) for each corner that counts.
  template <class F>
  void forEachWeight(F visit) const {
    for (unsigned corner = 0; corner < 1u << axes_; ++corner)
      if (const int weight = weightOf(corner)) visit(corner, weight / 256.0);
  }

  Texel blended() const {
    Texel sum{};
    forEachWeight([&](unsigned corner, double weight) {
      const Texel texel = at(corner);
      for (unsigned c = 0; c < 4; ++c) sum.value[c] += weight * texel.value[c];
    });
    return sum;
  }

  const Texture& t_;
  const Image& image_;
  const TextureOperation o_;
  Axis axis_[3];
  unsigned axes_ = 0, face_ = 0;
  uint32_t layer_ = 0;
};

/// The level that a fetch reads, and how much of the next one it blends in, in 1/256.
struct Levels {
  unsigned low, a;
};
Levels levelsOf(const Texture& t, TextureOperation o, const TextureArguments& arguments) {
  const unsigned chosen = t.levels > 1 && !o.gathers ? chosenLevel(t, o, arguments) : 0;
  return {chosen / 256, chosen % 256};
}

/// From one level, or from two.
Texel sampled(const Texture& t, TextureOperation o, const TextureArguments& arguments) {
  const auto [low, a] = levelsOf(t, o, arguments);
  const Fetch fetch(t, t.level(low), o, arguments);
  Texel texel = fetch.sampled();
  if (a != 0) {
    const Texel next = Fetch(t, t.level(low + 1), o, arguments).sampled();
    for (unsigned c = 0; c < 4; ++c) texel.value[c] = ((256 - a) * texel.value[c] + a * next.value[c]) / 256;
  }
  if (fetch.blends() || a != 0)
    for (unsigned c = 0; c < 4; ++c) texel.value[c] = filtered(t, c, texel.value[c]);
  return texel;
}

}  // namespace

void fetchTexels(const Texture& texture, TextureOperation operation, const TextureArguments& arguments,
                 uint32_t* texels) {
  if (operation.gathers) return Fetch(texture, texture, operation, arguments).gather(texels);
  write(texture, operation, sampled(texture, operation, arguments), texels);
}

TexelPlaces texelPlaces(const Texture& texture, TextureOperation operation, const TextureArguments& arguments) {
  TexelPlaces found;
  const auto [low, a] = levelsOf(texture, operation, arguments);
  for (unsigned level = low; level <= low + (a != 0); ++level)
    Fetch(texture, texture.level(level), operation, arguments).forEachPlace([&](const std::byte* place) {
      found.places[found.count++] = place;
    });
  return found;
}

}  // namespace ordito::machine
