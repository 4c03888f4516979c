// What branches cost: warps whose lanes agree, and warps whose lanes part. A warp goes every way that one of its lanes
// takes, one after the other; how many ways that were is counted by the kernels themselves. Besides: a choice without a
// branch, a loop unrolled, and blocks that do not fill their warps. --trace simulates a warp: its issue slots with the
// lanes that idle, and what lanes with program counters of their own need that lanes in step did not.
//
//   divergence [--size N] [--variant NAME] [--rounds R] [--json] [--trace]        N: threads
#include <cmath>

#include "../common/output.hpp"
#include "kernels.cuh"
#include "simt.hpp"

namespace {

constexpr std::size_t kLargestSize = std::size_t{1} << 24;
constexpr unsigned kBlock = 256;
constexpr int kTerms = 64;

struct Context {
  explicit Context(const lab::Options& given)
      : options(given),
        n(static_cast<unsigned>(given.size)),
        out(given.size),
        passes(1),
        terms(kTerms),
        host(given.size) {
    std::vector<int> values(kTerms);
    for (int k = 0; k < kTerms; ++k) values[static_cast<std::size_t>(k)] = k % 5;
    terms.upload(values.data(), kTerms);
  }

  const lab::Options& options;
  unsigned n;
  lab::DeviceArray<int> out;
  lab::DeviceArray<unsigned> passes;
  lab::DeviceArray<int> terms;
  std::vector<int> host;
};

template <class Launch, class Expected>
void run(Context& c, lab::Measurement& row, const char* kernel, unsigned block, Launch launch, Expected expected) {
  row.kernel = kernel;
  row.grid = dim3(lab::ceilDiv(c.n, block));
  row.block = dim3(block);
  lab::timeRounds(
      c.options.rounds, row, [&] { c.passes.clear(); },
      [&] {
        if (c.n == 0) return;
        launch(row.grid, row.block);
        lab::launched(kernel);
      },
      [&] { c.out.download(c.host.data(), c.host.size()); });
  row.verified = lab::Verified::yes;
  for (std::size_t i = 0; i < c.host.size(); ++i) {
    if (c.host[i] != expected(static_cast<int>(i))) row.verified = lab::Verified::no;
  }
}

/// The ways that the warps have gone, one after the other, must be as many as the lanes of each warp ask for.
template <class Way>
void judgePasses(Context& c, lab::Measurement& row, Way way) {
  unsigned expected = 0;
  for (unsigned first = 0; first < c.n; first += 32) {
    unsigned seen = 0;
    for (unsigned i = first; i < std::min(c.n, first + 32); ++i) seen |= 1u << way(static_cast<int>(i));
    for (; seen != 0; seen &= seen - 1) ++expected;
  }
  unsigned passes = 0;
  c.passes.download(&passes, 1);
  row.result = std::to_string(passes);
  char note[80];
  std::snprintf(note, sizeof note, "%.2f passes for each warp", c.n == 0 ? 0.0 : passes / std::ceil(c.n / 32.0));
  row.note = note;
  if (passes != expected) row.verified = lab::Verified::no;
}

int afterWay(int k, int x) { return x * (k + 2) + k; }

template <class Launch, class Way>
void runWays(Context& c, lab::Measurement& row, const char* kernel, Launch launch, Way way) {
  run(c, row, kernel, kBlock, launch, [&](int i) { return afterWay(way(i), i); });
  judgePasses(c, row, way);
}

template <By Which>
void runTwo(Context& c, lab::Measurement& row) {
  runWays(
      c, row, "divergenceTwo",
      [&](dim3 grid, dim3 block) { divergenceTwo<Which><<<grid, block>>>(c.out.get(), c.n, c.passes.get()); },
      [](int i) { return Which == By::warp   ? i / 32 % 2
                         : Which == By::lane ? i % 2
                                             : 0; });
}

void runNested(Context& c, lab::Measurement& row) {
  runWays(
      c, row, "divergenceNested",
      [&](dim3 grid, dim3 block) { divergenceNested<<<grid, block>>>(c.out.get(), c.n, c.passes.get()); },
      [](int i) { return i % 2 == 0 ? i % 4 / 2 : 2 + i % 4 / 2; });
}

template <By Which>
void runMany(Context& c, lab::Measurement& row) {
  runWays(
      c, row, "divergenceMany",
      [&](dim3 grid, dim3 block) { divergenceMany<Which><<<grid, block>>>(c.out.get(), c.n, c.passes.get()); },
      [](int i) { return Which == By::warp ? i / 32 % 32 : i % 32; });
}

template <unsigned Block>
void runSelect(Context& c, lab::Measurement& row) {
  run(
      c, row, "divergenceSelect", Block,
      [&](dim3 grid, dim3 block) { divergenceSelect<<<grid, block>>>(c.out.get(), c.n); },
      [](int i) { return i % 2 != 0 ? i * 3 + 1 : i * 2; });
}

template <int Unrolled>
void runLoop(Context& c, lab::Measurement& row) {
  run(
      c, row, "divergenceLoop", kBlock,
      [&](dim3 grid, dim3 block) { divergenceLoop<Unrolled><<<grid, block>>>(c.out.get(), c.n, c.terms.get()); },
      [](int i) {
        unsigned sum = static_cast<unsigned>(i);
        for (unsigned k = 0; k < kTerms; ++k) sum = sum * 3 + k % 5;
        return static_cast<int>(sum);
      });
}

const std::vector<lab::Variant<Context>> kVariants = {
    {"uniform", "mm.divergence", "All lanes the same way", true, runTwo<By::nothing>},
    {"two_by_warp", "mm.divergence_avoid", "Two ways, by warp", true, runTwo<By::warp>},
    {"two_by_lane", "mm.divergence_avoid", "Two ways, by lane", true, runTwo<By::lane>},
    {"nested", "mm.divergence_nested", "Branches inside branches, by lane", true, runNested},
    {"many_by_warp", "mm.divergence", "32 ways, by warp", true, runMany<By::warp>},
    {"many_by_lane", "mm.divergence", "32 ways, by lane", true, runMany<By::lane>},
    {"select", "mm.predication", "Two short ways by lane, chosen without a branch", true, runSelect<kBlock>},
    {"block_33", "mm.warp_multiple", "The same in blocks of 33 threads", true, runSelect<33>},
    {"loop", "lang.pragma_unroll", "64 additions in a loop", true, runLoop<1>},
    {"unrolled", "lang.pragma_unroll", "The same, unrolled by #pragma", true, runLoop<64>},
};

/// A line for each issue slot; X is a lane that idles.
void printSlots(const char* title, const std::vector<simt::Slot>& slots) {
  std::printf("%s: %zu issue slots\n", title, slots.size());
  for (const simt::Slot& slot : slots) {
    std::string lanes;
    for (int lane = 0; lane < simt::kLanes; ++lane) lanes += (slot.lanes >> lane & 1u) != 0 ? '|' : 'X';
    std::printf("  %-4s %s\n", slot.name.c_str(), lanes.c_str());
  }
}

/// Of 0, 1, ... 31 and zeros behind them, the sum that lane 0 has at the end.
int reduced(bool together, bool synchronises) {
  simt::Warp warp;
  for (int lane = 0; lane < simt::kLanes; ++lane) warp.shared[lane] = lane;
  const simt::Program program = simt::lastWarp(synchronises);
  together ? simt::runTogether(program, warp) : simt::runIndependent(program, warp);
  return warp.shared[0];
}

int trace() {
  simt::Warp warp;
  printSlots("if (c) {I1 I2 I3} else {I4 I5} I6, lanes 2 and 31 false",
             simt::runTogether(simt::ifElse([](int lane) { return lane != 2 && lane != 31; }), warp));
  printSlots("all lanes true", simt::runTogether(simt::ifElse([](int) { return true; }), warp));
  printSlots("all lanes false", simt::runTogether(simt::ifElse([](int) { return false; }), warp));
  std::printf("the last warp of a reduction of 0 to 31, whose sum is 496\n");
  std::printf("  lanes in step: %d without synchronisation, %d with it\n", reduced(true, false), reduced(true, true));
  std::printf("  lanes on their own: %d without synchronisation, %d with it\n", reduced(false, false),
              reduced(false, true));
  return reduced(false, true) == 496 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  lab::Options options;
  options.size = std::size_t{1} << 16;
  options.block = kBlock;
  options = lab::parse(argc, argv, options, " [--trace]");
  if (options.trace) return trace();
  if (options.size > kLargestSize) lab::usageError("--size: at most 2^24 threads");
  lab::mustFit(options.size, sizeof(int), sizeof(int));
  lab::Output output("divergence", options);
  Context context(options);
  lab::runVariants(kVariants, options, context, output);
  return output.finish("uniform");
}
