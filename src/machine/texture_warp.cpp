// The commonest fetches, 32 lanes at a time: texels of floats, or of bytes read as numbers, from a line of memory or a
// plane whose edge repeats. The answers are those of texture.cpp to the bit; what the two share is in sampling.hpp.
#include <array>
#include <cstring>

#include "machine/lanes.hpp"
#include "machine/sampling.hpp"

namespace ordito::machine {

namespace {

constexpr unsigned kLanes = 32;
using Words = uint32_t (*)[kLanes];
using Coordinates = const uint32_t (*)[kLanes];

/// What channels that the format lacks read as.
constexpr float kMissing[4] = {0, 0, 0, 1};

template <unsigned channelCount>
struct Floats {
  static constexpr unsigned kChannels = channelCount;
  static double number(const std::byte* texel, unsigned c) {
    float value;
    std::memcpy(&value, texel + 4 * c, 4);
    return double(value);
  }
  static double rounded(double sum) { return nearestSingle(sum); }
};

template <unsigned channelCount>
struct Bytes {
  static constexpr unsigned kChannels = channelCount;
  static double number(const std::byte* texel, unsigned c) {
    static constexpr auto kNumbers = [] {
      std::array<double, 256> all{};
      for (unsigned raw = 0; raw < 256; ++raw) all[raw] = double(raw) / 255;
      return all;
    }();
    return kNumbers[uint8_t(texel[c])];
  }
  static double rounded(double sum) { return asInteger(sum, 16, false); }
};

template <class Texels>
void put(Words texels, unsigned lane, const double (&values)[Texels::kChannels]) {
  for (unsigned c = 0; c < 4; ++c)
    texels[c][lane] = std::bit_cast<uint32_t>(c < Texels::kChannels ? float(values[c]) : kMissing[c]);
}

template <class Texels>
void pointAt(const std::byte* texel, Words texels, unsigned lane) {
  double values[Texels::kChannels];
  for (unsigned c = 0; c < Texels::kChannels; ++c) values[c] = Texels::number(texel, c);
  put<Texels>(texels, lane, values);
}

/// tex1Dfetch: zeros beyond the end.
template <class Texels>
void line(const Texture& t, uint32_t lanes, Coordinates at, Words texels) {
  forEachLane(lanes, [&](unsigned l) {
    if (at[0][l] < t.width) return pointAt<Texels>(t.memory + uint64_t{at[0][l]} * t.texelBytes(), texels, l);
    for (unsigned c = 0; c < 4; ++c) texels[c][l] = 0;
  });
}

/// An axis of a plane. That of a line is sampled on its edge (texture.cpp).
struct Axis {
  uint32_t size;
  AddressMode mode;
  bool isNormalised, isEdge;
  double place(Coordinates at, unsigned axis, unsigned l) const {
    return isEdge ? 0 : inTexels(std::bit_cast<float>(at[axis][l]), size, isNormalised);
  }
  uint64_t texel(int64_t i) const { return uint64_t(inside(i, size, mode)); }
};

struct Plane {
  const Texture& t;
  Axis x, y;
  const std::byte* row(int64_t i) const { return t.memory + y.texel(i) * t.pitch; }
  uint64_t column(int64_t i) const { return x.texel(i) * t.texelBytes(); }
};

template <class Texels>
void point(const Plane& p, uint32_t lanes, Coordinates at, Words texels) {
  forEachLane(lanes, [&](unsigned l) {
    const auto x = int64_t(std::floor(p.x.place(at, 0, l))), y = int64_t(std::floor(p.y.place(at, 1, l)));
    pointAt<Texels>(p.row(y) + p.column(x), texels, l);
  });
}

template <class Texels>
void linear(const Plane& p, uint32_t lanes, Coordinates at, Words texels) {
  forEachLane(lanes, [&](unsigned l) {
    const auto x = int64_t(std::floor((p.x.place(at, 0, l) - 0.5) * 256 + 0.5)),
               y = int64_t(std::floor((p.y.place(at, 1, l) - 0.5) * 256 + 0.5));
    // Weights in 1/256, of which what belongs to both axes is rounded.
    const int a = int(x & 255), b = int(y & 255), both = (a * b + 128) / 256;
    const int weights[4] = {256 - a - b + both, a - both, b - both, both};
    const std::byte* rows[2] = {p.row(y >> 8), p.row((y >> 8) + 1)};
    const uint64_t columns[2] = {p.column(x >> 8), p.column((x >> 8) + 1)};
    double sums[Texels::kChannels] = {};
    for (unsigned corner = 0; corner < 4; ++corner) {
      if (weights[corner] == 0) continue;
      const std::byte* texel = rows[corner >> 1] + columns[corner & 1];
      for (unsigned c = 0; c < Texels::kChannels; ++c) sums[c] += weights[corner] / 256.0 * Texels::number(texel, c);
    }
    for (double& sum : sums) sum = Texels::rounded(sum);
    put<Texels>(texels, l, sums);
  });
}

template <class Texels>
bool fetch(const Texture& t, TextureOperation o, uint32_t lanes, Coordinates at, Words texels) {
  if (o.hasIntegers) {
    if (!t.isLinear || o.geometry != Geometry::D1) return false;
    return line<Texels>(t, lanes, at, texels), true;
  }
  const bool isLine = o.geometry == Geometry::D1;
  const Plane plane{t,
                    {t.width, modeOn(t, 0), t.isNormalised, false},
                    {isLine ? 1 : std::max(t.height, 1u), modeOn(t, 1), t.isNormalised, isLine}};
  const bool hasBorder = plane.x.mode == AddressMode::Border || plane.y.mode == AddressMode::Border;
  if (t.isLinear || hasBorder) return false;
  t.filtersLinearly ? linear<Texels>(plane, lanes, at, texels) : point<Texels>(plane, lanes, at, texels);
  return true;
}

}  // namespace

bool fetchWarp(const Texture& t, TextureOperation o, uint32_t lanes, const uint32_t (*coordinates)[32],
               uint32_t (*texels)[32]) {
  const bool isPlain = (o.geometry == Geometry::D1 || o.geometry == Geometry::D2) && t.levels == 1 && !o.gathers &&
                       o.result == TextureOperation::Result::Word;
  if (!isPlain) return false;
  const bool areFloats = t.kind == ChannelKind::Float && t.bits == 32,
             areBytes = t.kind == ChannelKind::Unsigned && t.bits == 8 && t.readsFloats && !t.isSrgb;
  switch (areFloats ? t.channels : areBytes ? 8 + t.channels : 0) {
    case 1: return fetch<Floats<1>>(t, o, lanes, coordinates, texels);
    case 2: return fetch<Floats<2>>(t, o, lanes, coordinates, texels);
    case 4: return fetch<Floats<4>>(t, o, lanes, coordinates, texels);
    case 9: return fetch<Bytes<1>>(t, o, lanes, coordinates, texels);
    case 12: return fetch<Bytes<4>>(t, o, lanes, coordinates, texels);
    default: return false;
  }
}

}  // namespace ordito::machine
