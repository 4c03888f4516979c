// See twister.hpp.
#include "libs/curand/twister.hpp"

#include <algorithm>
#include <bit>
#include <memory>

#include "libs/stream_task.hpp"

namespace ordito::curand {
namespace {

using State = Mt19937::State;
constexpr unsigned kWords = Mt19937::kWords, kMiddle = 397, kDegree = 19937;
constexpr uint32_t kTwist = 0x9908b0dfu;

/// The word that follows 624 others, from the first two of them and the one at 397.
uint32_t following(uint32_t first, uint32_t second, uint32_t middle) {
  const uint32_t mixed = (first & 0x80000000u) | (second & 0x7fffffffu);
  return middle ^ mixed >> 1 ^ (mixed & 1 ? kTwist : 0);
}

uint32_t tempered(uint32_t word) {
  word ^= word >> 11;
  word ^= word << 7 & 0x9d2c5680u;
  word ^= word << 15 & 0xefc60000u;
  return word ^ word >> 18;
}

/// Which word of the state is delivered as which: a thread has one word that stands alone and eleven times seven
/// neighbours.
const std::array<uint16_t, kWords>& order() {
  static const auto places = [] {
    constexpr std::array<uint16_t, 8> kAlone = {0, 113, 170, 283, 340, 397, 510, 567};
    constexpr std::array<uint16_t, 11> kGroups = {1, 57, 114, 171, 227, 284, 341, 398, 454, 511, 568};
    std::array<uint16_t, kWords> made{};
    for (unsigned thread = 0; thread < Mt19937::kThreads; ++thread) {
      made[thread] = kAlone[thread];
      for (unsigned i = 0; i < 77; ++i)
        made[(i + 1) * Mt19937::kThreads + thread] = static_cast<uint16_t>(kGroups[i / 7] + 7 * thread + i % 7);
    }
    return made;
  }();
  return places;
}

State delivered(const State& words) {
  State made;
  for (unsigned i = 0; i < kWords; ++i) made[i] = words[order()[i]];
  return made;
}
State inSequence(const State& made) {
  State words;
  for (unsigned i = 0; i < kWords; ++i) words[order()[i]] = made[i];
  return words;
}

/// The next 624 words in place.
void twist(State& s) {
  for (unsigned i = 0; i < kWords; ++i) s[i] = following(s[i], s[(i + 1) % kWords], s[(i + kMiddle) % kWords]);
}

/// Polynomials over the field of two elements, modulo the characteristic polynomial of the recurrence.
class Polynomial {
 public:
  static constexpr unsigned kSize = (kDegree + 63) / 64;

  static Polynomial x() {
    Polynomial p;
    p.bits_[0] = 2;
    return p;
  }
  /// Four coefficients, from the one of x^(4 i) on.
  unsigned nibble(unsigned i) const { return bits_[i / 16] >> i % 16 * 4 & 15; }

  void square() {
    std::array<uint64_t, 2 * kSize> wide{};
    for (unsigned i = 0; i < kSize; ++i)
      wide[2 * i] = spread(static_cast<uint32_t>(bits_[i])), wide[2 * i + 1] = spread(bits_[i] >> 32);
    for (unsigned i = 2 * kSize; i-- > kSize;) fold(wide, i, 64 * i - kDegree, wide[i]);
    fold(wide, kSize - 1, 0, wide[kSize - 1] & ~kLast);
    std::copy_n(wide.begin(), kSize, bits_.begin());
  }

 private:
  static constexpr uint64_t kLast = (uint64_t{1} << kDegree % 64) - 1;

  /// A zero behind each of 32 bits.
  static uint64_t spread(uint64_t bits) {
    bits = (bits | bits << 16) & 0x0000ffff0000ffffu;
    bits = (bits | bits << 8) & 0x00ff00ff00ff00ffu;
    bits = (bits | bits << 4) & 0x0f0f0f0f0f0f0f0fu;
    bits = (bits | bits << 2) & 0x3333333333333333u;
    return (bits | bits << 1) & 0x5555555555555555u;
  }
  /// Takes `bits` out of word `from`, and puts them to where the polynomial's lower powers send them.
  static void fold(std::array<uint64_t, 2 * kSize>& wide, unsigned from, unsigned distance, uint64_t bits) {
    wide[from] ^= bits;
    for (const unsigned power : lowerPowers()) {
      const unsigned to = distance + power, shift = to % 64;
      const uint64_t value = from == kSize - 1 ? bits >> kDegree % 64 : bits;
      wide[to / 64] ^= value << shift;
      if (shift != 0) wide[to / 64 + 1] ^= value >> (64 - shift);
    }
  }
  /// The powers below the highest one in the characteristic polynomial. With y = x^227 + 1 it is the sum of
  /// x^(397 + 396 k) y^(k + 1) for k = 31 and, where bit 30 - k of the twist is set, k below 31, and of 1 if its bit 31
  /// is (the appendix of Matsumoto and Nishimura's paper, with their m and n). y^k has the powers j whose bits are all
  /// in k (Lucas' theorem).
  static const std::vector<unsigned>& lowerPowers() {
    static const std::vector<unsigned> powers = [] {
      std::vector<bool> is(kDegree + 1);
      for (unsigned k = 0; k < 32; ++k)
        if (k == 31 || (kTwist >> (30 - k) & 1) != 0)
          for (unsigned j = 0; j <= k + 1; ++j)
            if ((j & ~(k + 1)) == 0) is[kMiddle + 396 * k + 227 * j].flip();
      if (kTwist >> 31 != 0) is[0].flip();
      std::vector<unsigned> made;
      for (unsigned power = 0; power < kDegree; ++power)
        if (is[power]) made.push_back(power);
      return made;
    }();
    return powers;
  }

  std::array<uint64_t, kSize> bits_{};
};

/// Jumps of 2^(2048 + k) numbers, which lead from each of 2^k parts to another one.
const Polynomial& jump(unsigned k) {
  static const std::vector<Polynomial> jumps = [] {
    std::vector<Polynomial> made;
    Polynomial p = Polynomial::x();
    for (unsigned i = 0; i < 2048; ++i) p.square();
    for (unsigned parts = 1; parts < Mt19937::kParts; parts *= 2, p.square()) made.push_back(p);
    return made;
  }();
  return jumps[k];
}

/// The words a jump behind these: the sum of those windows of the sequence whose coefficient is one, by four.
State jumped(const State& from, const Polynomial& distance) {
  constexpr unsigned kLength = Polynomial::kSize * 64 + kWords;
  thread_local std::vector<uint32_t> sums(size_t{16} * kLength);  // those of nothing stay zeros
  const auto row = [&](unsigned which) { return sums.data() + size_t{which} * kLength; };
  uint32_t* const words = row(1);
  std::copy(from.begin(), from.end(), words);
  for (unsigned i = kWords; i < kLength; ++i)
    words[i] = following(words[i - kWords], words[i - kWords + 1], words[i - kWords + kMiddle]);
  for (unsigned which = 2; which < 16; ++which) {
    const unsigned shift = static_cast<unsigned>(std::bit_width(which)) - 1;
    const uint32_t* const rest = row(which & ~(1u << shift));
    for (unsigned i = 0; i + shift < kLength; ++i) row(which)[i] = rest[i] ^ words[i + shift];
  }
  State sum{};
  for (unsigned i = 0; i < Polynomial::kSize * 16; i += 4) {
    const uint32_t* windows[4];
    for (unsigned j = 0; j < 4; ++j) windows[j] = row(distance.nibble(i + j)) + size_t{4} * (i + j);
    for (unsigned k = 0; k < kWords; ++k) sum[k] ^= windows[0][k] ^ windows[1][k] ^ windows[2][k] ^ windows[3][k];
  }
  return sum;
}

}  // namespace

Mt19937::Mt19937(uint64_t seed) {
  State words;
  words[0] = static_cast<uint32_t>(seed);
  for (unsigned i = 1; i < kWords; ++i) words[i] = 1812433253u * (words[i - 1] ^ words[i - 1] >> 30) + i;
  twist(words);
  parts_.push_back(delivered(words));
}

/// Twice as many parts. It is the first turn of all, so each is where its sequence begins.
void Mt19937::grow() {
  const size_t count = parts_.size();
  const Polynomial& distance = jump(static_cast<unsigned>(std::bit_width(count)) - 1);
  parts_.resize(2 * count);
  libs::parallelFor(static_cast<unsigned>(count),
                    [&](unsigned i) { parts_[count + i] = delivered(jumped(inSequence(parts_[i]), distance)); });
}

uint32_t Mt19937::operator()() {
  if (part_ == parts_.size()) grow();
  State& part = parts_[part_];
  if (thread_ == 0 && turn_ != 0 && turn_ % kTurns == 0) {
    State words = inSequence(part);
    twist(words);
    part = delivered(words);
  }
  const uint32_t number = tempered(part[turn_ % kTurns * kThreads + thread_]);
  if (++thread_ == kThreads) {
    thread_ = 0;
    if (++part_ == kParts) part_ = 0, ++turn_;
  }
  return number;
}

}  // namespace ordito::curand
