// Inputs are small whole numbers, so that every float result is exact and the order of additions cannot hide a wrong
// kernel: each contender must give the expected bits. The sequential references are slow on purpose; they run once per
// case.
#include "cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string_view>

namespace ordito::bench {

namespace {

constexpr double matmulFlops(double n) { return 2 * n * n * n; }

/// Half the keys are compared in each of the log n (log n + 1) / 2 steps.
constexpr double bitonicCompares(int log) { return (1 << (log - 1)) * (log * (log + 1) / 2.0); }

// On average: rows have up to twice as many elements.
constexpr std::size_t spmvPerRow = 16, spmvWarpPerRow = 128, edgesPerVertex = 8, particlesPerCell = 8;

std::vector<float> smallFloats(std::size_t count, unsigned seed, int limit) {
  std::minstd_rand random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(static_cast<int>(random() >> 8) % limit);
  return values;
}

/// i,k,j order: the inner loop walks rows, so that the reference takes tenths of a second and not several.
std::vector<float> matmulReference(const std::vector<float>& a, const std::vector<float>& b, std::size_t n) {
  std::vector<float> c(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
  return c;
}

/// Letters as often as English has them: a histogram of uniform bytes would hide the conflicts on 'e' and the blank.
std::vector<unsigned char> englishLikeText(std::size_t count) {
  constexpr std::string_view sample =
      "                  "
      "eeeeeeeeeeeetttttttttaaaaaaaaoooooooiiiiiiinnnnnnnsssssshhhhhhrrrrrrddddlllluuucccmmmwwffggyyppbvk\n.,ETA";
  std::minstd_rand random(48);
  std::vector<unsigned char> text(count);
  for (unsigned char& letter : text) letter = static_cast<unsigned char>(sample[(random() >> 8) % sample.size()]);
  return text;
}

template <class T>
std::string firstDifference(const std::vector<T>& expected, const std::vector<std::byte>& result) {
  if (result.size() != expected.size() * sizeof(T)) return fmt::format("{} bytes of result", result.size());
  if (std::memcmp(result.data(), expected.data(), result.size()) == 0) return {};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    T value;
    std::memcpy(&value, result.data() + i * sizeof(T), sizeof(T));
    if (value != expected[i]) return fmt::format("element {} is {}, expected {}", i, value, expected[i]);
  }
  return {};  // bytes differ but values do not: -0 and 0
}

/// A value of type T that is more than `share` of the largest value off.
template <class T>
std::string firstFarOff(const std::vector<double>& expected, const std::vector<std::byte>& result, double share) {
  double largest = 0;
  for (double v : expected) largest = std::max(largest, std::abs(v));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    T value;
    std::memcpy(&value, result.data() + i * sizeof value, sizeof value);
    if (!(std::abs(static_cast<double>(value) - expected[i]) <= share * largest))
      return fmt::format("element {} is {}, expected {}", i, value, expected[i]);
  }
  return {};
}

/// The cell before, at or behind one along an axis, and where its particles seem to be from there.
struct Neighbour {
  int cell;
  double shift;
  explicit Neighbour(int at) : cell(at), shift(0) {
    const int side = cellsPerSide;
    if (at < 0) cell += side, shift = -side;
    if (at >= side) cell -= side, shift = side;
  }
};

/// The three components of the force on each particle, one after the other.
std::vector<double> cellForces(const std::vector<float>& particles, const std::vector<std::uint32_t>& cellStart) {
  const std::size_t n = particles.size() / 4;
  std::vector<double> forces(3 * n);
  for (std::size_t i = 0; i < n; ++i) {
    const float* me = &particles[4 * i];
    for (int around = 0; around < 27; ++around) {
      const Neighbour x(static_cast<int>(me[0]) + around % 3 - 1), y(static_cast<int>(me[1]) + around / 3 % 3 - 1),
          z(static_cast<int>(me[2]) + around / 9 - 1);
      const auto cell = static_cast<std::size_t>((z.cell * int{cellsPerSide} + y.cell) * int{cellsPerSide} + x.cell);
      for (std::uint32_t k = cellStart[cell]; k < cellStart[cell + 1]; ++k) {
        const float* other = &particles[4 * k];
        const double d[] = {other[0] + x.shift - me[0], other[1] + y.shift - me[1], other[2] + z.shift - me[2]};
        const double squared = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        if (squared >= 1) continue;
        const double inverse = 1 / (squared + cellForceSoftening), six = inverse * inverse * inverse;
        for (std::size_t c = 0; c < 3; ++c) forces[c * n + i] += other[3] * six * (six - 1) * inverse * d[c];
      }
    }
  }
  return forces;
}

}  // namespace

const std::vector<CaseSpec>& allCases() {
  constexpr std::size_t large = std::size_t{1} << 26;
  constexpr std::size_t textSize = 49175956;  // the text of the Barcelona course, "48 MB"
  static const std::vector<CaseSpec> cases = {
      {"saxpy", Kernel::Saxpy, 256, std::size_t{1} << 24, "native", 0.95, 0, 12.0 * (1 << 24), "GB/s"},
      {"reduce_best", Kernel::ReduceBest, 256, large, "native", 0.85, 3, 4.0 * large, "GB/s"},
      {"reduce_grid_stride", Kernel::ReduceGridStride, 256, large, "native", 0.6, 0, 4.0 * large, "GB/s"},
      {"reduce_neighbored", Kernel::ReduceNeighbored, 512, large, "native", 0.25, 3, 4.0 * large, "GB/s"},
      {"matmul_naive_32", Kernel::MatmulNaive, 32, 1024, "openblas", 0.35, 3, matmulFlops(1024), "GFLOP/s"},
      {"matmul_naive_16", Kernel::MatmulNaive, 16, 1024, "openblas", 0.35 / 1.5, 3, matmulFlops(1024), "GFLOP/s"},
      {"matmul_tiled_32", Kernel::MatmulTiled, 32, 1024, "openblas", 0.65, 3, matmulFlops(1024), "GFLOP/s"},
      {"matmul_tiled_16", Kernel::MatmulTiled, 16, 1024, "openblas", 0.65 / 1.5, 3, matmulFlops(1024), "GFLOP/s"},
      {"transpose", Kernel::Transpose, 256, 4096, "native", 0.55, 3, 8.0 * 4096 * 4096, "GB/s"},
      {"histogram", Kernel::Histogram, 256, textSize, "native", 0.5, 3, textSize, "GB/s"},
      {"histogram_global", Kernel::HistogramGlobal, 256, std::size_t{1} << 22, "native", 0.6, 0, 1 << 22, "Gcount/s"},
      {"mandelbrot", Kernel::Mandelbrot, 256, 2048, "native", 0.75, 3, 2048.0 * 2048, "Gpixel/s"},
      {"collatz", Kernel::Collatz, 256, std::size_t{1} << 22, "native", 0.75, 3, 1 << 22, "Gnumber/s"},
      // Six instructions of PTX for each step of 32 threads.
      {"xorshift", Kernel::Xorshift, 256, std::size_t{1} << 16, "native", 0.75, 3, 6.0 * xorshiftSteps * (1 << 16) / 32,
       "Gwarpinst/s"},
      {"scan", Kernel::Scan, 256, std::size_t{1} << 24, "native", 0, 3, 8.0 * (1 << 24), "GB/s"},
      {"bitonic_sort", Kernel::BitonicSort, 512, std::size_t{1} << 20, "native", 0, 3, bitonicCompares(20),
       "Gcompare/s"},
      {"spmv", Kernel::Spmv, 128, std::size_t{1} << 20, "native", 0, 3, 2.0 * spmvPerRow * (1 << 20), "GFLOP/s"},
      {"spmv_warp", Kernel::SpmvWarp, 128, std::size_t{1} << 17, "native", 0, 0, 2.0 * spmvWarpPerRow * (1 << 17),
       "GFLOP/s"},
      {"search", Kernel::Search, 256, std::size_t{1} << 20, "native", 0, 0, double{edgesPerVertex} * (1 << 20),
       "Gedge/s"},
      {"particles", Kernel::Particles, 256, std::size_t{1} << 22, "native", 0, 0, 2.0 * sizeof(Particle) * (1 << 22),
       "GB/s"},
      {"cell_forces", Kernel::CellForces, 128, particlesPerCell * cellCount, "native", 0, 0,
       cellForceFlops * particlesPerCell * particlesPerCell * 27 * cellCount, "GFLOP/s"},
      {"nbody", Kernel::Nbody, 256, 8192, "native", 0, 3, nbodyFlops * 8192 * 8192, "GFLOP/s"},
      {"stencil", Kernel::Stencil, 256, 4096, "native", 0.6, 0, 8.0 * 4096 * 4096, "GB/s"},
  };
  return cases;
}

CaseData::CaseData(const CaseSpec& spec)
    : problem_{spec.kernel, spec.block, spec.n, nullptr, nullptr, 0, nullptr, nullptr} {
  switch (spec.kernel) {
    case Kernel::Saxpy: makeSaxpy(); break;
    case Kernel::ReduceBest:
    case Kernel::ReduceGridStride:
    case Kernel::ReduceNeighbored: makeReduction(); break;
    case Kernel::MatmulNaive:
    case Kernel::MatmulTiled: makeMatmul(); break;
    case Kernel::Transpose: makeTranspose(); break;
    case Kernel::Histogram:
    case Kernel::HistogramGlobal: makeHistogram(); break;
    case Kernel::Mandelbrot: makeMandelbrot(); break;
    case Kernel::Collatz: makeCollatz(); break;
    case Kernel::Xorshift: makeXorshift(); break;
    case Kernel::Scan: makeScan(); break;
    case Kernel::BitonicSort: makeBitonicSort(); break;
    case Kernel::Spmv: makeSparse(spmvPerRow); break;
    case Kernel::SpmvWarp: makeSparse(spmvWarpPerRow); break;
    case Kernel::Search: makeSearch(); break;
    case Kernel::Particles: makeParticles(); break;
    case Kernel::CellForces: makeCellForces(); break;
    case Kernel::Nbody: makeNbody(); break;
    case Kernel::Stencil: makeStencil(); break;
  }
}

void CaseData::makeSaxpy() {
  a_ = smallFloats(problem_.n, 1, 100);
  b_ = smallFloats(problem_.n, 2, 100);
  floats_.resize(problem_.n);
  for (std::size_t i = 0; i < problem_.n; ++i) floats_[i] = saxpyFactor * a_[i] + b_[i];
  problem_.a = a_.data();
  problem_.b = b_.data();
  problem_.bytes = floats_.size() * sizeof(float);
}

void CaseData::makeReduction() {
  std::minstd_rand random(3);
  ints_.resize(problem_.n);
  std::uint32_t sum = 0;
  for (std::int32_t& value : ints_) {
    value = static_cast<std::int32_t>((random() >> 8) % 10);
    sum += static_cast<std::uint32_t>(value);
  }
  integers_ = {sum};
  problem_.a = ints_.data();
  problem_.bytes = sizeof(std::uint32_t);
}

void CaseData::makeMatmul() {
  a_ = smallFloats(problem_.n * problem_.n, 4, 10);
  b_ = smallFloats(problem_.n * problem_.n, 5, 10);
  floats_ = matmulReference(a_, b_, problem_.n);
  problem_.a = a_.data();
  problem_.b = b_.data();
  problem_.bytes = floats_.size() * sizeof(float);
}

void CaseData::makeTranspose() {
  const std::size_t n = problem_.n;
  a_.resize(n * n);
  for (std::size_t i = 0; i < a_.size(); ++i) a_[i] = static_cast<float>(i % 16777216);
  floats_.resize(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) floats_[j * n + i] = a_[i * n + j];
  problem_.a = a_.data();
  problem_.bytes = floats_.size() * sizeof(float);
}

void CaseData::makeHistogram() {
  text_ = englishLikeText(problem_.n);
  integers_.assign(256, 0);
  for (unsigned char letter : text_) ++integers_[letter];
  problem_.a = text_.data();
  problem_.bytes = integers_.size() * sizeof(std::uint32_t);
}

/// Every step is a fused multiply-add by name, so that all contenders round alike.
void CaseData::makeMandelbrot() {
  const std::size_t n = problem_.n;
  const float step = mandelbrotWidth / static_cast<float>(n);
  integers_.resize(n * n);
  for (std::size_t row = 0; row < n; ++row)
    for (std::size_t column = 0; column < n; ++column) {
      const float cx = std::fma(static_cast<float>(column), step, mandelbrotLeft);
      const float cy = std::fma(static_cast<float>(row), step, mandelbrotTop);
      float x = 0, y = 0;
      std::uint32_t count = 0;
      while (count < mandelbrotLimit && std::fma(x, x, y * y) <= 4.0F) {
        const float next = std::fma(x, x, std::fma(-y, y, cx));
        y = std::fma(x + x, y, cy);
        x = next;
        ++count;
      }
      integers_[row * n + column] = count;
    }
  problem_.bytes = integers_.size() * sizeof(std::uint32_t);
}

void CaseData::makeCollatz() {
  integers_.resize(problem_.n);
  for (std::size_t i = 0; i < problem_.n; ++i) {
    std::uint32_t steps = 0;
    for (std::uint64_t x = i + 1; x != 1; ++steps) x = x % 2 ? 3 * x + 1 : x / 2;
    integers_[i] = steps;
  }
  problem_.bytes = integers_.size() * sizeof(std::uint32_t);
}

void CaseData::makeXorshift() {
  integers_.resize(problem_.n);
  for (std::size_t i = 0; i < problem_.n; ++i) {
    std::uint32_t x = static_cast<std::uint32_t>(i + 1);
    for (int step = 0; step < xorshiftSteps; ++step) x ^= x << 13, x ^= x >> 17, x ^= x << 5;
    integers_[i] = x;
  }
  problem_.bytes = integers_.size() * sizeof(std::uint32_t);
}

void CaseData::makeScan() {
  std::minstd_rand random(6);
  ints_.resize(problem_.n);
  integers_.resize(problem_.n);
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < problem_.n; ++i) {
    ints_[i] = static_cast<std::int32_t>((random() >> 8) % 10);
    integers_[i] = sum += static_cast<std::uint32_t>(ints_[i]);
  }
  problem_.a = ints_.data();
  problem_.bytes = integers_.size() * sizeof(std::uint32_t);
}

void CaseData::makeBitonicSort() {
  std::mt19937 random(7);
  ints_.resize(problem_.n);
  for (std::int32_t& key : ints_) key = static_cast<std::int32_t>(random());
  integers_.assign(ints_.begin(), ints_.end());
  std::sort(integers_.begin(), integers_.end());
  problem_.a = ints_.data();
  problem_.bytes = integers_.size() * sizeof(std::uint32_t);
}

/// Most elements lie near the diagonal, as in matrices of meshes, and every eighth anywhere.
void CaseData::makeSparse(std::size_t perRow) {
  const std::size_t n = problem_.n;
  std::minstd_rand random(8);
  auto below = [&](std::size_t limit) { return (random() >> 4) % limit; };
  rowStart_ = {0};
  floats_.resize(n);
  b_ = smallFloats(n, 9, 10);
  for (std::size_t row = 0; row < n; ++row) {
    const std::size_t count = below(2 * perRow + 1);
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t column = below(8) == 0 ? below(n) : (row + n - 64 + below(128)) % n;
      columns_.push_back(static_cast<std::uint32_t>(column));
      a_.push_back(static_cast<float>(below(10)));
      floats_[row] += a_.back() * b_[column];
    }
    rowStart_.push_back(static_cast<std::uint32_t>(columns_.size()));
  }
  problem_.a = a_.data();
  problem_.b = b_.data();
  problem_.rowStart = rowStart_.data();
  problem_.columns = columns_.data();
  problem_.bytes = floats_.size() * sizeof(float);
}

/// Each vertex has 0 to 16 edges to any others; the expected result is the length of the shortest way from vertex 0.
void CaseData::makeSearch() {
  const std::size_t n = problem_.n;
  std::mt19937 random(11);
  rowStart_ = {0};
  for (std::size_t v = 0; v < n; ++v) {
    for (std::size_t k = v == 0 ? 1 : random() % (2 * edgesPerVertex + 1); k > 0; --k)
      columns_.push_back(static_cast<std::uint32_t>(random() % n));
    rowStart_.push_back(static_cast<std::uint32_t>(columns_.size()));
  }
  integers_.assign(n, unreached);
  integers_[0] = 0;
  std::vector<std::uint32_t> queue{0};
  for (std::size_t next = 0; next < queue.size(); ++next)
    for (std::uint32_t k = rowStart_[queue[next]]; k < rowStart_[queue[next] + 1]; ++k) {
      std::uint32_t& away = integers_[columns_[k]];
      if (away != unreached) continue;
      away = integers_[queue[next]] + 1;
      queue.push_back(columns_[k]);
    }
  problem_.rowStart = rowStart_.data();
  problem_.columns = columns_.data();
  problem_.bytes = integers_.size() * sizeof(std::uint32_t);
}

/// Whole numbers, so that places stay exact. The result is where the particles are after one step.
void CaseData::makeParticles() {
  std::minstd_rand random(12);
  auto below = [&](unsigned limit) { return static_cast<float>((random() >> 8) % limit); };
  constexpr auto box = static_cast<unsigned>(particleBox);
  particles_.resize(problem_.n);
  std::vector<Particle> after;
  for (Particle& p : particles_) {
    p = {below(box), below(box), below(box), below(9) - 4, below(9) - 4, below(9) - 4, 1 + below(4), 0};
    Particle q = p;
    float* place = &q.x;
    float* step = &q.vx;
    for (int k = 0; k < 3; ++k) {
      place[k] += step[k];
      if (place[k] < 0 || place[k] > particleBox) step[k] = -step[k], ++q.wall;
    }
    after.push_back(q);
  }
  integers_.resize(problem_.n * sizeof(Particle) / sizeof(std::uint32_t));
  problem_.a = particles_.data();
  problem_.bytes = problem_.n * sizeof(Particle);
  std::memcpy(integers_.data(), after.data(), problem_.bytes);
}

/// The particles of each cell lie together. The reference adds in double precision.
void CaseData::makeCellForces() {
  std::mt19937 random(13);
  std::uniform_real_distribution<float> within(0, 1);
  const unsigned side = cellsPerSide;
  rowStart_ = {0};
  for (unsigned cell = 0; cell < cellCount; ++cell) {
    const unsigned corner[] = {cell % side, cell / side % side, cell / side / side};
    // The last cell takes what is left, so that there are exactly n.
    const std::size_t left = problem_.n - a_.size() / 4;
    const std::size_t count =
        cell + 1 == cellCount ? left : std::min<std::size_t>(left, particlesPerCell - 4 + random() % 9);
    for (std::size_t k = 0; k < count; ++k) {
      for (unsigned d : corner) a_.push_back(static_cast<float>(d) + within(random));
      a_.push_back(within(random));
    }
    rowStart_.push_back(static_cast<std::uint32_t>(a_.size() / 4));
  }
  doubles_ = cellForces(a_, rowStart_);
  problem_.a = a_.data();
  problem_.rowStart = rowStart_.data();
  problem_.bytes = doubles_.size() * sizeof(float);
}

void CaseData::makeNbody() {
  const std::size_t n = problem_.n;
  std::mt19937 random(10);
  std::uniform_real_distribution<double> place(-1, 1);
  bodies_.resize(4 * n);
  for (double& v : bodies_) v = place(random);
  for (std::size_t i = 0; i < n; ++i) bodies_[4 * i + 3] = std::abs(bodies_[4 * i + 3]);
  doubles_.resize(3 * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      double d[3], squared = nbodySoftening;
      for (std::size_t k = 0; k < 3; ++k) d[k] = bodies_[4 * j + k] - bodies_[4 * i + k], squared += d[k] * d[k];
      const double inverse = 1 / std::sqrt(squared), force = bodies_[4 * j + 3] * inverse * inverse * inverse;
      for (std::size_t k = 0; k < 3; ++k) doubles_[k * n + i] += force * d[k];
    }
  problem_.a = bodies_.data();
  problem_.bytes = doubles_.size() * sizeof(double);
}

/// Whole numbers of few bits: eighths of them are exact. The border stays as it is.
void CaseData::makeStencil() {
  const std::size_t n = problem_.n;
  a_ = smallFloats(n * n, 11, 1000);
  floats_ = a_;
  for (std::size_t y = 1; y + 1 < n; ++y)
    for (std::size_t x = 1; x + 1 < n; ++x) {
      const std::size_t i = y * n + x;
      floats_[i] = stencilCentre * a_[i] + stencilSide * (a_[i - 1] + a_[i + 1] + a_[i - n] + a_[i + n]);
    }
  problem_.a = a_.data();
  problem_.bytes = floats_.size() * sizeof(float);
}

std::string CaseData::verify(const std::vector<std::byte>& result) const {
  if (doubles_.size() * sizeof(double) == result.size()) return firstFarOff<double>(doubles_, result, 1e-9);
  if (!doubles_.empty()) return firstFarOff<float>(doubles_, result, 1e-4);
  return floats_.empty() ? firstDifference(integers_, result) : firstDifference(floats_, result);
}

}  // namespace ordito::bench
