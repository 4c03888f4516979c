// Generators that give one word after another: the Mersenne twisters MT19937 and MTGP32.
#pragma once

#include <random>
#include <vector>

#include "libs/curand/filler.hpp"
#include "libs/curand/host_side.hpp"

namespace ordito::curand {

/// MT19937 (Matsumoto and Nishimura, 1998) in its own order. Normal numbers come in pairs.
class Mersenne {
 public:
  explicit Mersenne(uint64_t seed) : engine_(static_cast<uint32_t>(seed ^ seed >> 32)) {}

  uint32_t operator()() { return static_cast<uint32_t>(engine_()); }
  void skip(uint64_t count) { engine_.discard(count); }
  static constexpr bool kIsInPairs = true;

 private:
  std::mt19937 engine_;
};

/// MTGP32: 64 sequences with parameters of their own, of which each gives 256 numbers before it is the next one's turn,
/// as blocks of threads would. Normal numbers are by the inverse of the distribution.
class Mtgp {
 public:
  explicit Mtgp(uint64_t seed) : states_(kSequences), numbers_(kTurn), next_(kTurn) {
    for (unsigned i = 0; i < kSequences; ++i)
      ordito_curand::mtgpStart(&states_[i], orditoMtgp32Parameters[i],
                               static_cast<uint32_t>(seed ^ seed >> 32) + i + 1);
  }

  uint32_t operator()() {
    if (next_ == kTurn) refill();
    return numbers_[next_++];
  }
  void skip(uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) (*this)();
  }
  static constexpr bool kIsInPairs = false;

 private:
  static constexpr unsigned kSequences = 64, kThreads = 256;
  static constexpr size_t kTurn = size_t{kSequences} * kThreads;

  void refill() {
    for (unsigned i = 0; i < kSequences; ++i) {
      for (unsigned thread = 0; thread < kThreads; ++thread)
        numbers_[i * kThreads + thread] = ordito_curand::mtgpStep(&states_[i], orditoMtgp32Parameters[i], thread);
      states_[i].offset = (states_[i].offset + static_cast<int>(kThreads)) & MTGP32_STATE_MASK;
    }
    next_ = 0;
  }

  std::vector<curandStateMtgp32_t> states_;
  std::vector<uint32_t> numbers_;
  size_t next_;
};

/// From word `offset` on.
template <class Engine>
class Words final : public Filler {
 public:
  Words(uint64_t seed, uint64_t offset) : engine_(seed) { engine_.skip(offset); }

  void bits(uint32_t* out, size_t count) override {
    for (size_t i = 0; i < count; ++i) out[i] = engine_();
  }
  void uniform(float* out, size_t count) override {
    for (size_t i = 0; i < count; ++i) out[i] = ordito_curand::toUniform(engine_());
  }
  void uniform(double* out, size_t count) override {
    for (size_t i = 0; i < count; ++i) {
      const uint32_t low = engine_(), high = engine_();
      out[i] = ordito_curand::toUniformDouble(low, high);
    }
  }
  void normal(float* out, size_t count) override {
    if constexpr (!Engine::kIsInPairs) {
      for (size_t i = 0; i < count; ++i) out[i] = ordito_curand::sobolNormal(engine_());
    } else {
      for (size_t i = 0; i + 1 < count; i += 2) {
        const uint32_t radius = engine_(), angle = engine_();
        const float2 pair = ordito_curand::toNormal(radius, angle);
        out[i] = pair.x, out[i + 1] = pair.y;
      }
    }
  }
  void normal(double* out, size_t count) override {
    if constexpr (!Engine::kIsInPairs) {
      for (size_t i = 0; i < count; ++i) out[i] = ordito_curand::sobolNormalDouble(engine_());
    } else {
      for (size_t i = 0; i + 1 < count; i += 2) {
        const uint32_t x0 = engine_(), x1 = engine_(), y0 = engine_(), y1 = engine_();
        const double2 pair = ordito_curand::toNormalDouble(x0, x1, y0, y1);
        out[i] = pair.x, out[i + 1] = pair.y;
      }
    }
  }

 private:
  Engine engine_;
};

}  // namespace ordito::curand
