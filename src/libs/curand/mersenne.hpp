// Generators that give one word after another: the Mersenne twisters, of which MT19937 is in twister.hpp.
#pragma once

#include <vector>

#include "libs/curand/filler.hpp"
#include "libs/curand/host_side.hpp"

namespace ordito::curand {

/// MTGP32: sequences with parameters of their own, of which each gives 256 numbers before it is the next one's turn, as
/// blocks of threads would.
class Mtgp {
 public:
  static constexpr unsigned kSequences = 192, kLegacy = 64;
  static float uniform(uint32_t word) { return ordito_curand::toUniform(word); }
  static double uniformDouble(uint32_t word) { return (word + 1.0) * 0x1p-32; }

  Mtgp(uint64_t seed, unsigned sequences) : states_(sequences), numbers_(size_t{sequences} * kThreads) {
    for (unsigned i = 0; i < sequences; ++i)
      ordito_curand::mtgpStart(&states_[i], orditoMtgp32Parameters[i],
                               static_cast<uint32_t>(seed ^ seed >> 32) + i + 1);
  }

  uint32_t operator()() {
    if (next_ == numbers_.size()) refill();
    return numbers_[next_++];
  }

 private:
  static constexpr unsigned kThreads = 256;

  void refill() {
    for (unsigned i = 0; i < states_.size(); ++i) {
      for (unsigned thread = 0; thread < kThreads; ++thread)
        numbers_[i * kThreads + thread] = ordito_curand::mtgpStep(&states_[i], orditoMtgp32Parameters[i], thread);
      states_[i].offset = (states_[i].offset + static_cast<int>(kThreads)) & MTGP32_STATE_MASK;
    }
    next_ = 0;
  }

  std::vector<curandStateMtgp32_t> states_;
  std::vector<uint32_t> numbers_;
  size_t next_ = numbers_.size();
};

/// Every number, also one in double precision, is made of one word; normal ones by the inverse of the distribution.
template <class Engine>
class Words final : public Filler {
 public:
  template <class... Arguments>
  explicit Words(Arguments... arguments) : engine_(arguments...) {}

  void bits(uint32_t* out, size_t count) override {
    for (size_t i = 0; i < count; ++i) out[i] = engine_();
  }
  void uniform(float* out, size_t count) override {
    for (size_t i = 0; i < count; ++i) out[i] = Engine::uniform(engine_());
  }
  void uniform(double* out, size_t count) override {
    for (size_t i = 0; i < count; ++i) out[i] = Engine::uniformDouble(engine_());
  }
  void normal(float* out, size_t count) override {
    for (size_t i = 0; i < count; ++i) out[i] = ordito_curand::sobolNormal(engine_());
  }
  void normal(double* out, size_t count) override {
    for (size_t i = 0; i < count; ++i) out[i] = ordito_curand::sobolNormalDouble(engine_());
  }

 private:
  Engine engine_;
};

}  // namespace ordito::curand
