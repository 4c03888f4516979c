// What this machine's memory and gathers allow, so that RESULTS.md can say what stands in a kernel's way.
//
//   host_limits [--rounds N]
//
// Summing 2^26 words on all threads: in order, and in the order of a grid-stride reduction whose blocks run one after
// another (a piece of every 4 MB, then the next piece). And a gather of 32 words from a table in the first-level cache,
// by the processor's instruction and word by word.
#include <fmt/format.h>
#include <omp.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <vector>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

namespace {

constexpr size_t kWords = size_t{1} << 26, kStride = size_t{1} << 20;  // 4 MB of words
volatile uint32_t sink;

uint32_t sumOf(const uint32_t* words, size_t count) { return std::accumulate(words, words + count, uint32_t{0}); }

/// Pieces of `piece` words, one of every kStride; each thread has its share of the places in a stride.
uint32_t sumInPieces(const uint32_t* words, size_t piece) {
  uint32_t sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(static)
  for (size_t place = 0; place < kStride; place += piece)
    for (size_t start = place; start < kWords; start += kStride) sum += sumOf(words + start, piece);
  return sum;
}

uint32_t sumInOrder(const uint32_t* words) {
  uint32_t sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(static)
  for (size_t start = 0; start < kWords; start += kStride) sum += sumOf(words + start, kStride);
  return sum;
}

template <class F>
double medianMs(int rounds, F f) {
  std::vector<double> times;
  for (int r = 0; r < rounds; ++r) {
    const auto start = std::chrono::steady_clock::now();
    sink = f();
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::nth_element(times.begin(), times.begin() + rounds / 2, times.end());
  return times[static_cast<size_t>(rounds) / 2];
}

constexpr size_t kLanes = 32, kGathers = 1 << 20;

[[gnu::noinline]] uint32_t gatherByWord(const uint32_t* table, const uint32_t* index) {
  uint32_t sum = 0;
  for (size_t g = 0; g < kGathers; ++g) {
    const uint32_t* at = index + g % 64 * kLanes;
#pragma clang loop vectorize(disable)
    for (size_t k = 0; k < kLanes; ++k) sum += table[at[k]];
  }
  return sum;
}

#ifdef __AVX512F__
[[gnu::noinline]] uint32_t gatherByInstruction(const uint32_t* table, const uint32_t* index) {
  __m512i sum = _mm512_setzero_si512();
  for (size_t g = 0; g < kGathers; ++g)
    for (size_t k = 0; k < kLanes; k += 16)
      sum = _mm512_add_epi32(sum, _mm512_i32gather_epi32(_mm512_loadu_si512(index + g % 64 * kLanes + k), table, 4));
  return static_cast<uint32_t>(_mm512_reduce_add_epi32(sum));
}
#endif

}  // namespace

int main(int argc, char** argv) {
  int rounds = 9;
  CLI::App app{"What this machine's memory and gathers allow"};
  app.add_option("--rounds", rounds, "the median is reported")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);

  const std::unique_ptr<uint32_t, decltype(&std::free)> words(
      static_cast<uint32_t*>(std::aligned_alloc(size_t{2} << 20, kWords * 4)), &std::free);
  std::fill_n(words.get(), kWords, 1U);
  fmt::print("sum of 2^26 words, {} threads\n", omp_get_max_threads());
  fmt::print("  in order               {:7.2f} ms\n", medianMs(rounds, [&] { return sumInOrder(words.get()); }));
  for (size_t piece : {1024, 4096, 16384})
    fmt::print("  {:2} KB of every 4 MB     {:7.2f} ms\n", piece * 4 / 1024,
               medianMs(rounds, [&] { return sumInPieces(words.get(), piece); }));

  std::vector<uint32_t> table(2048), index(64 * kLanes);
  std::iota(table.begin(), table.end(), 0U);
  uint32_t state = 1;
  for (uint32_t& i : index) i = (state = state * 1664525 + 1013904223) >> 21;
  const double perGather = 1e6 / static_cast<double>(kGathers);  // ms of all to ns of one
  fmt::print("gather of 32 words\n");
#ifdef __AVX512F__
  fmt::print("  by instruction         {:7.2f} ns\n",
             medianMs(rounds, [&] { return gatherByInstruction(table.data(), index.data()); }) * perGather);
#endif
  fmt::print("  word by word           {:7.2f} ns\n",
             medianMs(rounds, [&] { return gatherByWord(table.data(), index.data()); }) * perGather);
}
