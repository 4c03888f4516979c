// The same work as a good engineer writes it in C++ for this CPU: OpenMP threads, loops that vectorise, non-temporal
// stores where they were measured to help. Compiled with -O3 -march=native: this is the 1.0 that Ordito's kernels are
// compared with. A second object is compiled for AVX2; BENCH_FACTORY is what each calls its only function.
#include <immintrin.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>

#include "native_array.hpp"

namespace ordito::bench {

namespace {

class Saxpy final : public Contender {
 public:
  explicit Saxpy(const Problem& problem) : n_(problem.n), x_(problem.a, n_), y_(problem.b, n_) {}

  void run() override {
    const float* __restrict x = x_.data();
    float* __restrict y = y_.data();
    // Plain stores: y was just read, its line is in the cache, and there is nothing for a non-temporal store to save.
#pragma omp parallel for simd schedule(static) aligned(x, y : cacheLine)
    for (std::size_t i = 0; i < n_; ++i) y[i] = saxpyFactor * x[i] + y[i];
  }
  void fetch(void* result) override { std::memcpy(result, y_.data(), y_.bytes()); }

 private:
  std::size_t n_;
  Aligned<float> x_, y_;
};

class Reduction final : public Contender {
 public:
  explicit Reduction(const Problem& problem) : n_(problem.n), in_(problem.a, n_) {}

  void run() override {
    const std::uint32_t* in = in_.data();
    std::uint32_t sum = 0;
#pragma omp parallel for simd schedule(static) reduction(+ : sum) aligned(in : cacheLine)
    for (std::size_t i = 0; i < n_; ++i) sum += in[i];
    sum_ = sum;
  }
  void fetch(void* result) override { std::memcpy(result, &sum_, sizeof(sum_)); }

 private:
  std::size_t n_;
  Aligned<std::uint32_t> in_;
  std::uint32_t sum_ = 0;
};

/// Transposes 8x8 floats held in eight registers: three rounds of swaps at distances 1, 2 and 4.
void transpose8x8(std::array<__m256, 8>& rows) {
  std::array<__m256, 8> pairs;
  for (std::size_t i = 0; i < 8; i += 2) {
    pairs[i] = _mm256_unpacklo_ps(rows[i], rows[i + 1]);
    pairs[i + 1] = _mm256_unpackhi_ps(rows[i], rows[i + 1]);
  }
  std::array<__m256, 8> quads;
  for (std::size_t half = 0; half < 8; half += 4) {
    for (std::size_t i = 0; i < 2; ++i) {
      quads[half + 2 * i] = _mm256_shuffle_ps(pairs[half + i], pairs[half + i + 2], 0x44);
      quads[half + 2 * i + 1] = _mm256_shuffle_ps(pairs[half + i], pairs[half + i + 2], 0xee);
    }
  }
  for (std::size_t i = 0; i < 4; ++i) {
    rows[i] = _mm256_permute2f128_ps(quads[i], quads[i + 4], 0x20);
    rows[i + 4] = _mm256_permute2f128_ps(quads[i], quads[i + 4], 0x31);
  }
}

/// Sixteen rows by eight columns at a time, so that each output row gets one whole cache line by two streaming stores
/// back to back: non-temporal stores pay only when they fill their write-combining buffer at once. Larger tiles were
/// measured to be slower.
class Transpose final : public Contender {
 public:
  explicit Transpose(const Problem& problem) : n_(problem.n), in_(problem.a, n_ * n_), out_(nullptr, n_ * n_) {}

  void run() override {
#pragma omp parallel for schedule(static)
    for (std::size_t row = 0; row < n_; row += tileRows)
      for (std::size_t column = 0; column < n_; column += 8) writeColumns(row, column);
  }
  void fetch(void* result) override { std::memcpy(result, out_.data(), out_.bytes()); }

 private:
  static constexpr std::size_t tileRows = 16;

  void writeColumns(std::size_t row, std::size_t column) {
    std::array<std::array<__m256, 8>, 2> halves;
    for (std::size_t half = 0; half < 2; ++half) {
      for (std::size_t i = 0; i < 8; ++i)
        halves[half][i] = _mm256_load_ps(in_.data() + (row + 8 * half + i) * n_ + column);
      transpose8x8(halves[half]);
    }
    for (std::size_t i = 0; i < 8; ++i) {
      float* line = out_.data() + (column + i) * n_ + row;
      _mm256_stream_ps(line, halves[0][i]);
      _mm256_stream_ps(line + 8, halves[1][i]);
    }
  }

  std::size_t n_;
  Aligned<float> in_, out_;
};

/// Four tables for each thread: equal letters in a row would otherwise wait for each other's store to be forwarded.
class Histogram final : public Contender {
 public:
  explicit Histogram(const Problem& problem) : n_(problem.n), text_(problem.a, n_) {}

  void run() override {
    bins_.fill(0);
#pragma omp parallel
    {
      std::array<Bins, tables> mine{};
      const std::size_t part = n_ / omp_get_num_threads();
      const std::size_t begin = part * omp_get_thread_num();
      const bool last = omp_get_thread_num() + 1 == omp_get_num_threads();
      count({text_.data() + begin, last ? n_ - begin : part}, mine);
#pragma omp critical
      for (const Bins& table : mine)
        for (std::size_t i = 0; i < table.size(); ++i) bins_[i] += table[i];
    }
  }
  void fetch(void* result) override { std::memcpy(result, bins_.data(), sizeof(bins_)); }

 private:
  static constexpr std::size_t tables = 4;
  using Bins = std::array<std::uint32_t, 256>;

  static void count(std::span<const unsigned char> text, std::array<Bins, tables>& mine) {
    std::size_t i = 0;
    for (; i + 8 <= text.size(); i += 8) {
      std::uint64_t word;
      std::memcpy(&word, text.data() + i, sizeof(word));
      for (std::size_t k = 0; k < 8; ++k) ++mine[k % tables][(word >> (8 * k)) & 0xff];
    }
    for (; i < text.size(); ++i) ++mine[0][text[i]];
  }

  std::size_t n_;
  Aligned<unsigned char> text_;
  Bins bins_{};
};

/// Kernels that read no arrays. A group of neighbours advances until its last member is done; the loop over the group
/// has no branches, so that it becomes vector instructions with masks. 32 of them were measured best: two chains of 16.
class Numbers final : public Contender {
 public:
  explicit Numbers(const Problem& problem) : p_(problem), out_(nullptr, p_.bytes / sizeof(std::uint32_t)) {}

  void run() override {
    const std::size_t count = p_.bytes / sizeof(std::uint32_t);
#pragma omp parallel for schedule(dynamic, 64)
    for (std::size_t first = 0; first < count; first += group) {
      std::uint32_t* out = out_.data() + first;
      if (p_.kernel == Kernel::Mandelbrot)
        mandelbrot(first, out);
      else if (p_.kernel == Kernel::Collatz)
        collatz(first, out);
      else
        xorshift(first, out);
    }
  }
  void fetch(void* result) override { std::memcpy(result, out_.data(), out_.bytes()); }

 private:
  static constexpr std::size_t group = 32;  // divides every size

  void mandelbrot(std::size_t first, std::uint32_t* out) const {
    const float step = mandelbrotWidth / static_cast<float>(p_.n);
    const float cy = std::fma(static_cast<float>(first / p_.n), step, mandelbrotTop);
    alignas(cacheLine) float cx[group], x[group] = {}, y[group] = {};
    alignas(cacheLine) std::int32_t counts[group] = {};
    for (std::size_t l = 0; l < group; ++l)
      cx[l] = std::fma(static_cast<float>(first % p_.n + l), step, mandelbrotLeft);
    std::int32_t any = 1;
    for (int round = 0; round < mandelbrotLimit && any; ++round) {
      any = 0;
#pragma omp simd reduction(| : any)
      for (std::size_t l = 0; l < group; ++l) {
        const bool on = std::fma(x[l], x[l], y[l] * y[l]) <= 4.0F;
        const float nextX = std::fma(x[l], x[l], std::fma(-y[l], y[l], cx[l])), nextY = std::fma(x[l] + x[l], y[l], cy);
        x[l] = on ? nextX : x[l];
        y[l] = on ? nextY : y[l];
        counts[l] += on;
        any |= on;
      }
    }
    std::copy(counts, counts + group, out);
  }

  static void collatz(std::size_t first, std::uint32_t* out) {
    alignas(cacheLine) std::uint64_t x[group], counts[group] = {};
    for (std::size_t l = 0; l < group; ++l) x[l] = first + l + 1;
    for (std::uint64_t any = 1; any;) {
      any = 0;
#pragma omp simd reduction(| : any)
      for (std::size_t l = 0; l < group; ++l) {
        const std::uint64_t on = x[l] != 1, odd = x[l] & 1;
        const std::uint64_t next = odd ? 3 * x[l] + 1 : x[l] >> 1;
        x[l] = on ? next : x[l];
        counts[l] += on;
        any |= on;
      }
    }
    for (std::size_t l = 0; l < group; ++l) out[l] = static_cast<std::uint32_t>(counts[l]);
  }

  static void xorshift(std::size_t first, std::uint32_t* out) {
    alignas(cacheLine) std::uint32_t x[group];
    for (std::size_t l = 0; l < group; ++l) x[l] = static_cast<std::uint32_t>(first + l + 1);
    for (int step = 0; step < xorshiftSteps; ++step)
#pragma omp simd
      for (std::size_t l = 0; l < group; ++l) x[l] ^= x[l] << 13, x[l] ^= x[l] >> 17, x[l] ^= x[l] << 5;
    std::copy(x, x + group, out);
  }

  Problem p_;
  Aligned<std::uint32_t> out_;
};

/// Each thread adds up its part, then scans it from what the parts before it come to: the input is read twice and the
/// output written once.
class Scan final : public Contender {
 public:
  explicit Scan(const Problem& problem) : n_(problem.n), in_(problem.a, n_), out_(nullptr, n_) {}

  void run() override {
    std::array<std::uint32_t, 256> sums{};
#pragma omp parallel
    {
      const std::size_t threads = omp_get_num_threads(), me = omp_get_thread_num();
      const std::size_t part = (n_ / threads + 15) / 16 * 16, begin = std::min(n_, part * me);
      const std::size_t end = me + 1 == threads ? n_ : std::min(n_, begin + part);
      const std::uint32_t* in = in_.data();
      std::uint32_t sum = 0;
      if (me + 1 < threads)
#pragma omp simd reduction(+ : sum)
        for (std::size_t i = begin; i < end; ++i) sum += in[i];
      sums[me + 1] = sum;
#pragma omp barrier
      std::uint32_t before = 0;
      for (std::size_t t = 1; t <= me; ++t) before += sums[t];
      scanPart(begin, end, before);
    }
  }
  void fetch(void* result) override { std::memcpy(result, out_.data(), out_.bytes()); }

 private:
  /// Eight at a time: shifts by one and two within each half, then the lower half's total to the upper half.
  void scanPart(std::size_t begin, std::size_t end, std::uint32_t before) const {
    const std::uint32_t* in = in_.data();
    std::uint32_t* out = out_.data();
    __m256i carry = _mm256_set1_epi32(static_cast<int>(before));
    std::size_t i = begin;
    for (; i + 8 <= end; i += 8) {
      __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + i));
      v = _mm256_add_epi32(v, _mm256_slli_si256(v, 4));
      v = _mm256_add_epi32(v, _mm256_slli_si256(v, 8));
      const __m256i low = _mm256_permutevar8x32_epi32(v, _mm256_set1_epi32(3));
      v = _mm256_add_epi32(v, _mm256_blend_epi32(_mm256_setzero_si256(), low, 0xf0));
      v = _mm256_add_epi32(v, carry);
      _mm256_stream_si256(reinterpret_cast<__m256i*>(out + i), v);
      carry = _mm256_permutevar8x32_epi32(v, _mm256_set1_epi32(7));
    }
    std::uint32_t sum = i > begin ? out[i - 1] : before;
    for (; i < end; ++i) out[i] = sum += in[i];
  }

  std::size_t n_;
  Aligned<std::uint32_t> in_, out_;
};

/// The same network. Runs of `distance` keys are compared with their neighbours, so that the inner loop is a vector
/// minimum and maximum; all steps of a stage that stay inside a piece of the cache are done while it is there.
class BitonicSort final : public Contender {
 public:
  explicit BitonicSort(const Problem& problem) : n_(problem.n), in_(problem.a, n_), keys_(nullptr, n_) {}

  void run() override {
    std::uint32_t* keys = keys_.data();
#pragma omp parallel for schedule(static)
    for (std::size_t piece = 0; piece < n_; piece += pieceSize) {
      std::copy(in_.data() + piece, in_.data() + piece + pieceSize, keys + piece);
      for (std::size_t stage = 2; stage <= pieceSize; stage *= 2) mergePiece(piece, stage, stage / 2);
    }
    for (std::size_t stage = 2 * pieceSize; stage <= n_; stage *= 2) {
      for (std::size_t distance = stage / 2; distance >= pieceSize; distance /= 2)
#pragma omp parallel for schedule(static)
        for (std::size_t first = 0; first < n_; first += pieceSize)
          if ((first & distance) == 0) compare(first, pieceSize, distance, (first & stage) == 0);
#pragma omp parallel for schedule(static)
      for (std::size_t piece = 0; piece < n_; piece += pieceSize) mergePiece(piece, stage, pieceSize / 2);
    }
  }
  void fetch(void* result) override { std::memcpy(result, keys_.data(), keys_.bytes()); }

 private:
  static constexpr std::size_t pieceSize = 1 << 14;  // 64 KB

  void mergePiece(std::size_t piece, std::size_t stage, std::size_t distance) const {
    for (; distance > 0; distance /= 2)
      for (std::size_t first = piece; first < piece + pieceSize; first += 2 * distance)
        compare(first, distance, distance, (first & stage) == 0);
  }

  void compare(std::size_t first, std::size_t count, std::size_t distance, bool rises) const {
    std::uint32_t* __restrict low = keys_.data() + first;
    std::uint32_t* __restrict high = low + distance;
    if (rises)
#pragma omp simd
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t a = low[i], b = high[i];
        low[i] = std::min(a, b), high[i] = std::max(a, b);
      }
    else
#pragma omp simd
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t a = low[i], b = high[i];
        low[i] = std::max(a, b), high[i] = std::min(a, b);
      }
  }

  std::size_t n_;
  Aligned<std::uint32_t> in_, keys_;
};

/// An array for each coordinate, so that a vector holds the same coordinate of neighbours.
class Nbody final : public Contender {
 public:
  explicit Nbody(const Problem& p) : n_(p.n), parts_(nullptr, 4 * n_), out_(nullptr, 3 * n_) {
    const double* bodies = static_cast<const double*>(p.a);
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t k = 0; k < 4; ++k) parts_.data()[k * n_ + i] = bodies[4 * i + k];
  }

  void run() override {
    const double *x = parts_.data(), *y = x + n_, *z = y + n_, *mass = z + n_;
    double* out = out_.data();
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < n_; ++i) {
      double ax = 0, ay = 0, az = 0;
#pragma omp simd reduction(+ : ax, ay, az)
      for (std::size_t j = 0; j < n_; ++j) {
        const double dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
        const double inverse = 1 / std::sqrt(dx * dx + dy * dy + dz * dz + nbodySoftening);
        const double force = mass[j] * inverse * inverse * inverse;
        ax += force * dx, ay += force * dy, az += force * dz;
      }
      out[i] = ax, out[n_ + i] = ay, out[2 * n_ + i] = az;
    }
  }
  void fetch(void* result) override { std::memcpy(result, out_.data(), out_.bytes()); }

 private:
  std::size_t n_;
  Aligned<double> parts_, out_;
};

/// Row after row: the rows above and below are still in the cache. What is written is not read again, so whole cache
/// lines of it go round the caches.
class Stencil final : public Contender {
 public:
  explicit Stencil(const Problem& problem) : n_(problem.n), in_(problem.a, n_ * n_), out_(problem.a, n_ * n_) {}

  void run() override {
#pragma omp parallel for schedule(static)
    for (std::size_t y = 1; y < n_ - 1; ++y) {
      const float *row = in_.data() + y * n_, *above = row - n_, *below = row + n_;
      float* out = out_.data() + y * n_;
      auto point = [=](std::size_t x) {
        return stencilCentre * row[x] + stencilSide * (row[x - 1] + row[x + 1] + above[x] + below[x]);
      };
      for (std::size_t x = 1; x < line; ++x) out[x] = point(x);
#pragma omp simd nontemporal(out) aligned(out : cacheLine)
      for (std::size_t x = line; x < n_ - line; ++x) out[x] = point(x);
      for (std::size_t x = n_ - line; x < n_ - 1; ++x) out[x] = point(x);
    }
  }
  void fetch(void* result) override { std::memcpy(result, out_.data(), out_.bytes()); }

 private:
  static constexpr std::size_t line = cacheLine / sizeof(float);
  std::size_t n_;
  Aligned<float> in_, out_;
};

}  // namespace

std::unique_ptr<Contender> BENCH_FACTORY(const Problem& problem) {
  switch (problem.kernel) {
    case Kernel::Saxpy: return std::make_unique<Saxpy>(problem);
    case Kernel::ReduceBest:
    case Kernel::ReduceGridStride:
    case Kernel::ReduceNeighbored: return std::make_unique<Reduction>(problem);
    case Kernel::MatmulNaive:
    case Kernel::MatmulTiled: return nullptr;  // OpenBLAS stands for native code there
    case Kernel::Transpose: return std::make_unique<Transpose>(problem);
    case Kernel::Histogram:
    case Kernel::HistogramGlobal: return std::make_unique<Histogram>(problem);
    case Kernel::Mandelbrot:
    case Kernel::Collatz:
    case Kernel::Xorshift: return std::make_unique<Numbers>(problem);
    case Kernel::Scan: return std::make_unique<Scan>(problem);
    case Kernel::BitonicSort: return std::make_unique<BitonicSort>(problem);
    case Kernel::Spmv:
    case Kernel::SpmvWarp:
    case Kernel::Search:
    case Kernel::Particles:
    case Kernel::CellForces: return BENCH_IRREGULAR(problem);
    case Kernel::Nbody: return std::make_unique<Nbody>(problem);
    case Kernel::Stencil: return std::make_unique<Stencil>(problem);
  }
  return nullptr;
}

}  // namespace ordito::bench
