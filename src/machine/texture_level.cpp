// Which level of a mipmapped texture a fetch takes: the one that it names, or one whose texels are about as large as
// the gradients say.
//
// As an H200 answers (tests/gpu/mipmaps.cu). A length is the largest component, 11/32 of the next and 1/4 of the last;
// of the two gradients and 11/16 of their sum and of their difference the longest counts, since the ellipse that they
// span may be longest between them. Its logarithm comes from a table of 256 entries to each power of two. What is left
// unknown is where between the GPU cuts numbers: some levels by gradients differ by 1/256 or 2/256.
#include <algorithm>
#include <cmath>

#include "machine/sampling.hpp"

namespace ordito::machine {

namespace {

/// A gradient in texels.
struct Gradient {
  double axis[3] = {};
};

/// The first ten bits.
double cut(double v) {
  if (v == 0 || !std::isfinite(v)) return v;
  const int unit = std::ilogb(v) - 9;
  return std::ldexp(std::trunc(std::ldexp(v, -unit)), unit);
}

double lengthOf(const Gradient& g) {
  double v[3] = {std::fabs(g.axis[0]), std::fabs(g.axis[1]), std::fabs(g.axis[2])};
  std::sort(v, v + 3);
  return v[2] + v[1] * (11.0 / 32) + v[0] / 4;
}

Gradient combined(const Gradient& a, const Gradient& b, double sign) {
  return {{a.axis[0] + sign * b.axis[0], a.axis[1] + sign * b.axis[1], a.axis[2] + sign * b.axis[2]}};
}

/// The logarithm to base 2 in 1/256, from the first eight bits behind the leading one.
int logarithm(double v) {
  constexpr int kLeast = -(1 << 16);
  if (!(v > 0)) return kLeast;
  if (std::isinf(v)) return -kLeast;
  const int exponent = std::ilogb(v), entry = int(std::ldexp(v, 8 - exponent)) - 256;
  const int step = entry == 0 ? 0 : std::min(255, int(std::floor(256 * std::log2(1 + (entry + 0.5) / 256) + 0.5)));
  return 256 * exponent + step;
}

Gradient inTexels(const Image& image, unsigned axes, const float* along) {
  const double size[3] = {double(image.width), double(std::max(image.height, 1u)), double(std::max(image.depth, 1u))};
  Gradient g;
  for (unsigned d = 0; d < axes; ++d) g.axis[d] = cut(double(along[d]) * size[d]);
  return g;
}

int levelOfGradients(const Texture& t, TextureOperation o, const TextureArguments& arguments) {
  const unsigned axes = axesOf(o.geometry);
  const Gradient x = inTexels(t, axes, arguments.level), y = inTexels(t, axes, arguments.gradientY);
  const double between = std::max(lengthOf(combined(x, y, 1)), lengthOf(combined(x, y, -1))) * (11.0 / 16);
  return logarithm(std::max({lengthOf(x), lengthOf(y), between}));
}

/// In 1/256, cut towards zero.
int fixedOf(float level) {
  constexpr float kMost = 1 << 16;
  return std::isnan(level) ? 0 : int(std::clamp(level, -kMost, kMost) * 256);
}

int wantedLevel(const Texture& t, TextureOperation o, const TextureArguments& arguments) {
  switch (o.choice) {
    case TextureOperation::Choice::Base: return 0;
    case TextureOperation::Choice::Level: return fixedOf(arguments.level[0]) + fixedOf(t.levelBias);
    case TextureOperation::Choice::Gradients: return levelOfGradients(t, o, arguments) + fixedOf(t.levelBias);
  }
  return 0;
}

}  // namespace

const char* textureProblem(const Texture& t, TextureOperation o) {
  const bool isUnknown = t.levels > 1 && o.choice == TextureOperation::Choice::Gradients && isCube(o.geometry);
  return isUnknown ? "the level of a mipmapped cube map cannot be taken from gradients: name it (texCubemapLod)"
                   : nullptr;
}

unsigned chosenLevel(const Texture& t, TextureOperation o, const TextureArguments& arguments) {
  const int last = (t.levels - 1) * 256;
  const int wanted = std::clamp(wantedLevel(t, o, arguments), fixedOf(t.leastLevel),
                                std::max(fixedOf(t.mostLevel), fixedOf(t.leastLevel)));
  const int level = std::clamp(wanted, 0, last);
  const bool blends = t.filtersLevels && !o.hasIntegers && !readsIntegers(t);
  return unsigned(blends ? level : (level + 128) / 256 * 256);
}

}  // namespace ordito::machine
