// A generator's numbers in the order in which the library delivers them: from many sequences in turn, as the threads of
// a GPU would each make one. The generators themselves are those of kernels (include/ordito/curand_*.h).
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "libs/curand/filler.hpp"
#include "libs/curand/float_functions.hpp"
#include "libs/curand/host_side.hpp"

namespace ordito::curand {

/// How a generator's sequences differ.
enum class Start { Parts, Seeds };  // parts of one sequence, or a seed each

/// How many sequences a generator has: in most orders, in CURAND_ORDERING_PSEUDO_LEGACY, and in
/// CURAND_ORDERING_PSEUDO_DYNAMIC on an H100, as it was recorded; and what a sequence gives before it is the next one's
/// turn.
template <class State>
struct Shape {
  static constexpr size_t kSequences = 4096, kLegacy = 4096, kDynamic = 2816;
  static constexpr unsigned kWords = 1, kDoubles = 1, kNormals = 2;
};
template <>
struct Shape<curandStateMRG32k3a_t> {
  static constexpr size_t kSequences = 81920, kLegacy = 4096, kDynamic = 270336;
  static constexpr unsigned kWords = 1, kDoubles = 1, kNormals = 2;
};
template <>
struct Shape<curandStatePhilox4_32_10_t> {
  static constexpr size_t kSequences = 65536, kLegacy = 65536, kDynamic = 67584;
  static constexpr unsigned kWords = 4, kDoubles = 4, kNormals = 4;
};

template <class State>
class Sequences final : public Filler {
 public:
  /// From number `offset` of the output of `count` sequences on. `isHosts`: a generator of the host's, whose normal
  /// numbers are made by the C library's functions, not by a GPU's, as the two outputs in the READMEs of NVIDIA's
  /// samples show.
  Sequences(uint64_t seed, uint64_t offset, size_t count, Start start, bool isHosts) : isHosts_(isHosts) {
    const uint64_t turns = offset / Shape<State>::kWords;
    next_ = turns % count;
    states_.resize(count);
    for (uint64_t i = 0; i < count; ++i) startSequence(i, seed, start);
    for (uint64_t i = 0; i < count; ++i)
      skipahead((turns / count + (i < next_ ? 1 : 0)) * Shape<State>::kWords, &states_[i]);
    used_ = offset % Shape<State>::kWords;
  }

  void bits(uint32_t* out, size_t count) override {
    fill<Shape<State>::kWords>(out, count, [](State& s, uint32_t* to) {
      for (unsigned i = 0; i < Shape<State>::kWords; ++i) to[i] = ::curand(&s);
    });
  }
  void uniform(float* out, size_t count) override {
    fill<Shape<State>::kWords>(out, count, [](State& s, float* to) {
      for (unsigned i = 0; i < Shape<State>::kWords; ++i) to[i] = curand_uniform(&s);
    });
  }
  void uniform(double* out, size_t count) override {
    fill<Shape<State>::kDoubles>(out, count, [](State& s, double* to) {
      for (unsigned i = 0; i < Shape<State>::kDoubles; ++i) to[i] = curand_uniform_double(&s);
    });
  }
  /// Whole pairs are made of all their uniform numbers together.
  void normal(float* out, size_t count) override {
    const bool isLater = !isHosts_ && used_ % 2 == 0 && count % 2 == 0;
    fill<Shape<State>::kNormals>(out, count, [this, isLater](State& s, float* to) {
      for (unsigned i = 0; i < Shape<State>::kNormals; i += 2) {
        const float2 pair = isLater ? ordito_curand::polar2(&s) : pairOf(s);
        to[i] = pair.x, to[i + 1] = pair.y;
      }
    });
    if (isLater) makeNormal(out, count);
  }
  void normal(double* out, size_t count) override {
    fill<Shape<State>::kNormals>(out, count, [](State& s, double* to) {
      for (unsigned i = 0; i < Shape<State>::kNormals; i += 2) {
        const double2 pair = curand_normal2_double(&s);
        to[i] = pair.x, to[i + 1] = pair.y;
      }
    });
  }
  void firstNormal(float* out, size_t count) override {
    if constexpr (Shape<State>::kNormals != 2) {
      normal(out, count);
    } else {
      fill<1>(out, count, [this](State& s, float* to) { *to = pairOf(s).x; });
    }
  }

 private:
  float2 pairOf(State& state) const {
    const float2 polar = ordito_curand::polar2(&state);
    if (!isHosts_) return ordito_curand::toPair(polar.x, polar.y);
    const float radius = std::sqrt(-2 * std::log(polar.x));
    return {std::sin(polar.y) * radius, std::cos(polar.y) * radius};
  }

  /// A part begins where the one before, at its own beginning, leaves off. The distance of seeds is a GPU's.
  void startSequence(uint64_t i, uint64_t seed, Start start) {
    constexpr uint64_t kSeedStep = 3133713;
    if (i == 0 || start == Start::Seeds) return curand_init(seed + i * kSeedStep, 0, 0, &states_[i]);
    states_[i] = states_[i - 1];
    skipSequence(states_[i]);
  }
  static void skipSequence(curandStateMRG32k3a_t& state) {
    static const MrgJumps jumps;
    ordito_curand::mrgApply(state.s1, jumps.first, ordito_curand::kMrgModulus1);
    ordito_curand::mrgApply(state.s2, jumps.second, ordito_curand::kMrgModulus2);
  }
  template <class Other>
  static void skipSequence(Other& state) {
    skipahead_sequence(1, &state);
  }
  /// One subsequence of MRG32k3a.
  struct MrgJumps {
    ordito_curand::MrgMatrix first = ordito_curand::mrgStep1(), second = ordito_curand::mrgStep2();
    MrgJumps() {
      for (int k = 0; k < 76; ++k) {
        first = ordito_curand::mrgProduct(first, first, ordito_curand::kMrgModulus1);
        second = ordito_curand::mrgProduct(second, second, ordito_curand::kMrgModulus2);
      }
    }
  };

  /// `draw` makes the `Count` numbers of one turn. A turn that is used in part is made again for the rest.
  template <unsigned Count, class Type, class Draw>
  void fill(Type* out, size_t count, const Draw& draw) {
    Type turn[Count];
    for (size_t i = 0; i < count;) {
      State& state = states_[next_];
      const State before = state;
      draw(state, turn);
      while (used_ < Count && i < count) out[i++] = turn[used_++];
      if (used_ < Count && Count == Shape<State>::kWords) {
        state = before;
        break;
      }
      next_ = (next_ + 1) % states_.size();
      used_ = 0;
    }
  }

  const bool isHosts_;
  std::vector<State> states_;
  size_t next_ = 0;  // whose turn it is
  size_t used_ = 0;  // numbers of that turn that have been delivered
};

}  // namespace ordito::curand
