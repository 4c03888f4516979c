#include "operands.hpp"

#include <algorithm>

namespace ordito::gpu {

using isa::Type;

namespace {

/// SplitMix64 (Steele, Lea, Flood 2014): the same numbers with every standard library.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t operator()() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  uint64_t below(uint64_t n) { return (*this)() % n; }
  bool chance(unsigned percent) { return below(100) < percent; }

 private:
  uint64_t state_;
};

/// Sizes of a floating-point format's fields.
struct Fields {
  unsigned exponent, mantissa;
  unsigned width() const { return 1 + exponent + mantissa; }
  uint64_t bias() const { return (uint64_t{1} << (exponent - 1)) - 1; }
  uint64_t make(uint64_t sign, uint64_t field, uint64_t fraction) const {
    return sign << (exponent + mantissa) | field << mantissa | (fraction & ((uint64_t{1} << mantissa) - 1));
  }
  uint64_t top() const { return (uint64_t{1} << exponent) - 1; }
};

Fields fieldsOf(Type t) {
  switch (isa::element(t)) {
    case Type::f16: return {5, 10};
    case Type::bf16: return {8, 7};
    case Type::f64: return {11, 52};
    default: return {8, 23};
  }
}

std::vector<uint64_t> floatCorners(Type t) {
  const Fields f = fieldsOf(t);
  std::vector<uint64_t> corners;
  const uint64_t all = ~uint64_t{0}, quiet = uint64_t{1} << (f.mantissa - 1), b = f.bias();
  for (uint64_t sign : {0, 1}) {
    for (auto [field, fraction] : {std::pair<uint64_t, uint64_t>{0, 0},
                                   {b, 0},
                                   {f.top(), 0},
                                   {f.top(), quiet | 5},
                                   {0, 1},
                                   {0, all},
                                   {1, 0},
                                   {f.top() - 1, all},
                                   {b, 1},
                                   {b - 1, all},
                                   {b + 1, quiet},
                                   {f.top(), 3}})
      corners.push_back(f.make(sign, field, fraction));
  }
  return corners;
}

std::vector<uint64_t> integerCorners(unsigned bits) {
  const uint64_t high = uint64_t{1} << (bits - 1);
  return {0, 1, 2, ~uint64_t{0}, ~uint64_t{1}, high, high - 1, high + 1, 3, 31, 32, 33, high >> 1, 0x5555555555555555u};
}

uint64_t randomFloat(Type t, Random& random) {
  const Fields f = fieldsOf(t);
  const uint64_t sign = random.below(2), fraction = random();
  // Few bits set: products and sums of such numbers are exact or lie halfway.
  const uint64_t sparse = (fraction >> 8 & 7) << (f.mantissa - 3) | (random.chance(50) ? random.below(3) : 0);
  switch (random.below(8)) {
    case 0: return random();
    case 1: return f.make(sign, 0, fraction);
    case 2: return f.make(sign, random.below(3), random.chance(50) ? fraction : sparse);
    case 3: return f.make(sign, f.top() - 1 - random.below(3), random.chance(50) ? fraction : sparse);
    case 4: return f.make(sign, f.bias() - 4 + random.below(std::min<uint64_t>(40, f.bias())), fraction);
    case 5: return f.make(sign, f.bias() + random.below(f.mantissa + 2), sparse);
    default:
      return f.make(
          sign,
          f.bias() - std::min<uint64_t>(20, f.bias() - 1) + random.below(std::min<uint64_t>(41, 2 * f.bias() - 2)),
          random.chance(70) ? fraction : sparse);
  }
}

uint64_t randomInteger(unsigned bits, Random& random) {
  switch (random.below(6)) {
    case 0: return random.below(70);
    case 1: return ~random.below(70);
    case 2: return (uint64_t{1} << random.below(bits)) + random.below(3) - 1;
    case 3: return random() & ~uint64_t{0} >> random.below(bits);
    default: return random();
  }
}

uint64_t cut(uint64_t value, unsigned bits) { return bits >= 64 ? value : value & ((uint64_t{1} << bits) - 1); }

uint64_t randomValue(Type t, Random& random) {
  if (t == Type::pred) return random.below(2);
  if (!isa::isPacked(t)) return isa::isFloat(t) ? randomFloat(t, random) : randomInteger(isa::bits(t), random);
  const uint64_t low = cut(randomValue(isa::element(t), random), 16);
  return low | randomValue(isa::element(t), random) << 16;
}

/// A value near another of the same type, or with its sign changed: sums that cancel, ties, equal operands.
uint64_t relatedValue(uint64_t to, Type t, Random& random) {
  const uint64_t sign = uint64_t{1} << (isa::bits(t) - 1);
  switch (random.below(4)) {
    case 0: return to;
    case 1: return isa::isFloat(t) ? to ^ sign : -to;
    case 2: return to + random.below(5) - 2;
    default:
      return isa::isFloat(t) ? (to ^ sign) + random.below(9) - 4 : to ^ uint64_t { 1 } << random.below(isa::bits(t));
  }
}

std::vector<uint64_t> cornersOf(Type t) {
  if (t == Type::pred) return {0, 1};
  std::vector<uint64_t> corners =
      isa::isFloat(t) ? floatCorners(t) : integerCorners(std::min(64u, isa::bits(isa::element(t))));
  if (isa::isPacked(t))
    for (size_t k = 0; k < corners.size(); ++k)
      corners[k] = cut(corners[k], 16) | corners[(k * 5 + 3) % corners.size()] << 16;
  return corners;
}

}  // namespace

uint64_t hashOf(std::string_view text) {
  uint64_t h = 0xCBF29CE484222325u;  // FNV-1a
  for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return h;
}

std::vector<std::vector<uint64_t>> operandValues(const std::vector<Type>& types, size_t tuples, std::string_view seed) {
  Random random(hashOf(seed));
  std::vector<std::vector<uint64_t>> values(types.size());
  std::vector<std::vector<uint64_t>> corners;
  size_t combinations = 1;
  for (Type t : types) {
    corners.push_back(cornersOf(t));
    combinations *= corners.back().size();
  }
  // At most half of the tuples are corners: all pairs of them where they fit, a random choice of pairs where not.
  const size_t cornerTuples = std::min(combinations, tuples / 2);
  for (size_t i = 0; i < tuples; ++i) {
    uint64_t place = combinations <= tuples / 2 ? i : random();
    for (size_t k = 0; k < types.size(); ++k) {
      uint64_t v;
      if (i < cornerTuples) {
        v = corners[k][place % corners[k].size()];
        place /= corners[k].size();
      } else {
        const bool isRelated = k > 0 && types[k] == types[k - 1] && types[k] != Type::pred && random.chance(25);
        v = isRelated ? relatedValue(values[k - 1][i], types[k], random) : randomValue(types[k], random);
      }
      values[k].push_back(cut(v, isa::bits(types[k])));
    }
  }
  return values;
}

}  // namespace ordito::gpu
