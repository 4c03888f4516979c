// Sobol's sequences in the order in which the library delivers them: of `count` numbers in d dimensions first all of
// the first dimension, then all of the second.
#pragma once

#include <vector>

#include "libs/curand/filler.hpp"
#include "libs/curand/host_side.hpp"

namespace ordito::curand {

template <class State>
class Quasi final : public Filler {
 public:
  using Word = decltype(State::x);

  /// From number `offset` of each dimension on. `constants` may be null.
  Quasi(const Word* vectors, const Word* constants, unsigned dimensions, uint64_t offset) : states_(dimensions) {
    constexpr unsigned kBits = sizeof(Word) * 8;
    for (unsigned d = 0; d < dimensions; ++d)
      ordito_curand::sobolStart(&states_[d], vectors + size_t{d} * kBits, constants ? constants[d] : Word{0}, offset);
  }

  void bits(uint32_t* out, size_t count) override {
    constexpr unsigned kLower = sizeof(Word) * 8 - 32;
    fill(out, count, [](State& state) { return static_cast<uint32_t>(::curand(&state) >> kLower); });
  }
  void longs(uint64_t* out, size_t count) override {
    fill(out, count, [](State& state) { return static_cast<uint64_t>(::curand(&state)); });
  }
  void uniform(float* out, size_t count) override {
    fill(out, count, [](State& state) { return curand_uniform(&state); });
  }
  void uniform(double* out, size_t count) override {
    fill(out, count, [](State& state) { return curand_uniform_double(&state); });
  }
  void normal(float* out, size_t count) override {
    fill(out, count, [](State& state) { return curand_normal(&state); });
  }
  void normal(double* out, size_t count) override {
    fill(out, count, [](State& state) { return curand_normal_double(&state); });
  }

 private:
  template <class Type, class Draw>
  void fill(Type* out, size_t count, const Draw& draw) {
    const size_t each = count / states_.size();
    for (State& state : states_)
      for (size_t i = 0; i < each; ++i) *out++ = draw(state);
  }

  std::vector<State> states_;
};

}  // namespace ordito::curand
