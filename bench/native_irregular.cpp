// Native code, as native.cpp has it, of the cases whose accesses nobody knows beforehand: sparse rows, graphs,
// particles.
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "native_array.hpp"

namespace ordito::bench {

namespace {

class Spmv final : public Contender {
 public:
  explicit Spmv(const Problem& p)
      : n_(p.n),
        rowStart_(p.rowStart, n_ + 1),
        columns_(p.columns, p.rowStart[n_]),
        values_(p.a, p.rowStart[n_]),
        x_(p.b, n_),
        y_(nullptr, n_) {}

  void run() override {
    const std::uint32_t *rowStart = rowStart_.data(), *columns = columns_.data();
    const float *values = values_.data(), *x = x_.data();
#pragma omp parallel for schedule(dynamic, 4096)
    for (std::size_t row = 0; row < n_; ++row) {
      float sum = 0;
#pragma omp simd reduction(+ : sum)
      for (std::uint32_t k = rowStart[row]; k < rowStart[row + 1]; ++k) sum += values[k] * x[columns[k]];
      y_.data()[row] = sum;
    }
  }
  void fetch(void* result) override { std::memcpy(result, y_.data(), y_.bytes()); }

 private:
  std::size_t n_;
  Aligned<std::uint32_t> rowStart_, columns_;
  Aligned<float> values_, x_, y_;
};

/// Level by level over all vertices: a graph of random edges has few levels, and in this order edges are read one
/// behind the other. Several threads may reach a vertex, and write the same.
class Search final : public Contender {
 public:
  explicit Search(const Problem& p)
      : n_(p.n), rowStart_(p.rowStart, n_ + 1), columns_(p.columns, p.rowStart[n_]), away_(nullptr, n_) {}

  void run() override {
    std::uint32_t* away = away_.data();
#pragma omp parallel for schedule(static)
    for (std::size_t v = 0; v < n_; ++v) away[v] = unreached;
    away[0] = 0;
    for (std::uint32_t level = 0; reachNeighbours(level); ++level) {
    }
  }
  void fetch(void* result) override { std::memcpy(result, away_.data(), away_.bytes()); }

 private:
  /// Is any of them new?
  bool reachNeighbours(std::uint32_t level) {
    const std::uint32_t *rowStart = rowStart_.data(), *columns = columns_.data();
    auto away = [&](std::size_t v) { return std::atomic_ref<std::uint32_t>(away_.data()[v]); };
    bool goesOn = false;
#pragma omp parallel for schedule(dynamic, 4096) reduction(|| : goesOn)
    for (std::size_t v = 0; v < n_; ++v) {
      if (away(v).load(std::memory_order_relaxed) != level) continue;
      for (std::uint32_t k = rowStart[v]; k < rowStart[v + 1]; ++k) {
        if (away(columns[k]).load(std::memory_order_relaxed) != unreached) continue;
        away(columns[k]).store(level + 1, std::memory_order_relaxed);
        goesOn = true;
      }
    }
    return goesOn;
  }

  std::size_t n_;
  Aligned<std::uint32_t> rowStart_, columns_, away_;
};

class Particles final : public Contender {
 public:
  explicit Particles(const Problem& p) : n_(p.n), particles_(p.a, n_) {}

  void run() override {
    Particle* particles = particles_.data();
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < n_; ++i) {
      Particle& p = particles[i];
      p.wall += move(p.x, p.vx) + move(p.y, p.vy) + move(p.z, p.vz);
    }
  }
  void fetch(void* result) override { std::memcpy(result, particles_.data(), particles_.bytes()); }

 private:
  static std::uint32_t move(float& place, float& step) {
    place += step;
    const bool isOut = place < 0 || place > particleBox;
    step = isOut ? -step : step;
    return isOut;
  }

  std::size_t n_;
  Aligned<Particle> particles_;
};

/// An array for each coordinate; cells that follow each other along x lie together, so three are one loop.
class CellForces final : public Contender {
 public:
  explicit CellForces(const Problem& p)
      : n_(p.n), parts_(nullptr, 4 * n_), cellStart_(p.rowStart, cellCount + 1), out_(nullptr, 3 * n_) {
    const float* particles = static_cast<const float*>(p.a);
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t k = 0; k < 4; ++k) parts_.data()[k * n_ + i] = particles[4 * i + k];
  }

  void run() override {
#pragma omp parallel for schedule(dynamic, 64)
    for (std::size_t i = 0; i < n_; ++i) {
      const float* place = parts_.data() + i;
      std::array<float, 3> force{};
      const int x = static_cast<int>(place[0]), y = static_cast<int>(place[n_]), z = static_cast<int>(place[2 * n_]);
      for (int dz = -1; dz <= 1; ++dz)
        for (int dy = -1; dy <= 1; ++dy) addRow(i, x, y + dy, z + dz, force);
      for (std::size_t k = 0; k < 3; ++k) out_.data()[k * n_ + i] = force[k];
    }
  }
  void fetch(void* result) override { std::memcpy(result, out_.data(), out_.bytes()); }

 private:
  static constexpr int side = cellsPerSide;
  /// The cells from x - 1 to x + 1.
  void addRow(std::size_t i, int x, int y, int z, std::array<float, 3>& force) {
    const float shiftY = shiftOf(y), shiftZ = shiftOf(z);
    const int row = ((z - static_cast<int>(shiftZ)) * side + y - static_cast<int>(shiftY)) * side;
    if (x > 0 && x + 1 < side) return add(i, row + x - 1, row + x + 2, {0, shiftY, shiftZ}, force);
    for (int at = x - 1; at <= x + 1; ++at) {
      const float shift = shiftOf(at);
      const int cell = row + at - static_cast<int>(shift);
      add(i, cell, cell + 1, {shift, shiftY, shiftZ}, force);
    }
  }
  static float shiftOf(int at) {
    if (at < 0) return -side;
    return at >= side ? side : 0;
  }

  void add(std::size_t i, int first, int end, std::array<float, 3> shift, std::array<float, 3>& force) {
    const float *x = parts_.data(), *y = x + n_, *z = y + n_, *charge = z + n_;
    const float atX = x[i] - shift[0], atY = y[i] - shift[1], atZ = z[i] - shift[2];
    float fx = 0, fy = 0, fz = 0;
#pragma omp simd reduction(+ : fx, fy, fz)
    for (std::uint32_t k = cellStart_.data()[first]; k < cellStart_.data()[end]; ++k) {
      const float dx = x[k] - atX, dy = y[k] - atY, dz = z[k] - atZ;
      const float squared = dx * dx + dy * dy + dz * dz;
      const float inverse = 1 / (squared + cellForceSoftening), six = inverse * inverse * inverse;
      const float strength = squared < 1 ? charge[k] * six * (six - 1) * inverse : 0;
      fx += strength * dx, fy += strength * dy, fz += strength * dz;
    }
    force[0] += fx, force[1] += fy, force[2] += fz;
  }

  std::size_t n_;
  Aligned<float> parts_;
  Aligned<std::uint32_t> cellStart_;
  Aligned<float> out_;
};

}  // namespace

std::unique_ptr<Contender> BENCH_IRREGULAR(const Problem& problem) {
  switch (problem.kernel) {
    case Kernel::Spmv:
    case Kernel::SpmvWarp: return std::make_unique<Spmv>(problem);
    case Kernel::Search: return std::make_unique<Search>(problem);
    case Kernel::Particles: return std::make_unique<Particles>(problem);
    case Kernel::CellForces: return std::make_unique<CellForces>(problem);
    default: return nullptr;
  }
}

}  // namespace ordito::bench
