// MT19937 (Matsumoto and Nishimura, 1998) in its own order.
#pragma once

#include <random>

#include "libs/curand/filler.hpp"
#include "libs/curand/host_side.hpp"

namespace ordito::curand {

class Mersenne final : public Filler {
 public:
  Mersenne(uint64_t seed, uint64_t offset) : engine_(static_cast<uint32_t>(seed ^ seed >> 32)) {
    engine_.discard(offset);
  }

  void bits(uint32_t* out, size_t count) override {
    for (size_t i = 0; i < count; ++i) out[i] = word();
  }
  void uniform(float* out, size_t count) override {
    for (size_t i = 0; i < count; ++i) out[i] = ordito_curand::toUniform(word());
  }
  void uniform(double* out, size_t count) override {
    for (size_t i = 0; i < count; ++i) {
      const uint32_t low = word(), high = word();
      out[i] = ordito_curand::toUniformDouble(low, high);
    }
  }
  void normal(float* out, size_t count) override {
    for (size_t i = 0; i + 1 < count; i += 2) {
      const uint32_t radius = word(), angle = word();
      const float2 pair = ordito_curand::toNormal(radius, angle);
      out[i] = pair.x, out[i + 1] = pair.y;
    }
  }
  void normal(double* out, size_t count) override {
    for (size_t i = 0; i + 1 < count; i += 2) {
      const uint32_t x0 = word(), x1 = word(), y0 = word(), y1 = word();
      const double2 pair = ordito_curand::toNormalDouble(x0, x1, y0, y1);
      out[i] = pair.x, out[i + 1] = pair.y;
    }
  }

 private:
  uint32_t word() { return static_cast<uint32_t>(engine_()); }

  std::mt19937 engine_;
};

}  // namespace ordito::curand
