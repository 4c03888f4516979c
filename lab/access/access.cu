// How the addresses of a warp's lanes become transactions: loads that are consecutive, shifted, strided or the same;
// stores; an array of structures and a structure of arrays; words of shared memory and their banks; arrays that live in
// local memory. Each variant knows by the rule what must be counted (`result` in --json): sectors of its loads or
// stores, passes of its reads of shared memory. --trace shows the rules on single warps.
//
//   access [--size N] [--variant NAME] [--rounds R] [--json] [--trace]        N: threads
#include "../common/output.hpp"
#include "kernels.cuh"
#include "rules.hpp"

namespace {

constexpr std::size_t kLargestSize = std::size_t{1} << 22;
constexpr unsigned kBlock = 256;

struct Context {
  explicit Context(const lab::Options& given)
      : options(given),
        n(static_cast<unsigned>(given.size)),
        host(32 * given.size + kWords + kWarp),
        in(host.size()),
        out(host.size()),
        result(host.size()) {
    for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<float>(i % 9973);
    in.upload(host.data(), host.size());
  }

  const lab::Options& options;
  unsigned n;
  std::vector<float> host;
  lab::DeviceArray<float> in, out;
  std::vector<float> result;
};

/// Runs a kernel and holds `count` elements of its output against `expected(i)`. `counted` is what the rule says.
template <class Launch, class Expected>
void run(Context& c, lab::Measurement& row, const char* kernel, unsigned block, std::size_t counted, std::size_t count,
         Launch launch, Expected expected) {
  row.kernel = kernel;
  row.grid = dim3(lab::ceilDiv(c.n, block));
  row.block = dim3(block);
  lab::timeRounds(
      c.options.rounds, row, [&] { c.out.fillBytes(0xff); },
      [&] {
        if (c.n == 0) return;
        launch(row.grid, row.block);
        lab::launched(kernel);
      },
      [&] { c.out.download(c.result.data(), count); });
  row.result = std::to_string(counted);
  row.verified = lab::Verified::yes;
  for (std::size_t i = 0; i < count; ++i) {
    const float wanted = expected(i);
    if (c.result[i] != wanted && wanted >= 0) row.verified = lab::Verified::no;
  }
}

template <Pattern P>
void runLoad(Context& c, lab::Measurement& row) {
  const std::size_t sectors = rules::sumOverWarps(
      c.n, kWarp, [](std::size_t i) { return 4 * placeOf(P, i); },
      [](const rules::Addresses& warp) { return rules::piecesOf(warp, rules::kSector); });
  run(
      c, row, "accessLoad", kBlock, sectors, c.n,
      [&](dim3 grid, dim3 block) { accessLoad<P><<<grid, block>>>(c.in.get(), c.out.get(), c.n); },
      [&](std::size_t i) { return c.host[placeOf(P, i)]; });
  row.bytes = 4.0 * c.n;
}

/// What nobody stores is left as it is, which no expected value is.
template <Pattern P, unsigned Lanes>
void runStore(Context& c, lab::Measurement& row) {
  const std::size_t sectors = rules::sumOverWarps(
      c.n, Lanes, [](std::size_t i) { return 4 * placeOf(P, i); },
      [](const rules::Addresses& warp) { return rules::piecesOf(warp, rules::kSector); });
  std::vector<float> wanted(c.host.size(), -1);
  for (std::size_t i = 0; i < c.n; ++i) {
    if (i % kWarp < Lanes) wanted[placeOf(P, i)] = c.host[i];
  }
  run(
      c, row, "accessStore", kBlock, sectors, c.n == 0 ? 0 : placeOf(P, c.n - 1) + 1,
      [&](dim3 grid, dim3 block) { accessStore<P><<<grid, block>>>(c.in.get(), c.out.get(), c.n, Lanes); },
      [&](std::size_t i) { return wanted[i]; });
}

void runStructures(Context& c, lab::Measurement& row) {
  const std::size_t sectors = rules::sumOverWarps(
      c.n, kWarp, [](std::size_t i) { return 12 * i; },
      [](const rules::Addresses& warp) { return rules::piecesOf(warp, rules::kSector); });
  run(
      c, row, "accessStructures", kBlock, sectors, c.n,
      [&](dim3 grid, dim3 block) {
        accessStructures<<<grid, block>>>(reinterpret_cast<const Particle*>(c.in.get()), c.out.get(), c.n);
      },
      [&](std::size_t i) { return c.host[3 * i]; });
  row.bytes = 4.0 * c.n;
}

template <unsigned Stride>
void runShared(Context& c, lab::Measurement& row) {
  const std::size_t passes =
      rules::sumOverWarps(c.n, kWarp, [](std::size_t i) { return 4 * (i % kWarp) * Stride; }, rules::passesOf);
  run(
      c, row, "accessShared", kWarp, passes, c.n,
      [&](dim3 grid, dim3 block) { accessShared<Stride><<<grid, block>>>(c.in.get(), c.out.get(), c.n); },
      [&](std::size_t i) { return c.host[i % kWarp * Stride]; });
}

/// Two requests for each place would be the least; how many the compiler makes of it is its affair.
void runLocal(Context& c, lab::Measurement& row) {
  run(
      c, row, "accessLocal", kBlock, 0, c.n,
      [&](dim3 grid, dim3 block) { accessLocal<<<grid, block>>>(c.in.get(), c.out.get(), c.n); },
      [&](std::size_t i) {
        const unsigned start = static_cast<unsigned>(c.host[i]);
        return static_cast<float>((start * 7 + 3 - start) % kWarp);
      });
  row.result.clear();
}

const std::vector<lab::Variant<Context>> kVariants = {
    {"consecutive", "mem.coalesced", "Loads: one after another", true, runLoad<Pattern::consecutive>},
    {"reversed", "mem.coalesced", "Loads: in reverse order", true, runLoad<Pattern::reversed>},
    {"shifted", "mem.aligned", "Loads: shifted by one element", true, runLoad<Pattern::shifted>},
    {"stride_2", "mem.transactions", "Loads: every second element", true, runLoad<Pattern::everySecond>},
    {"stride_32", "mem.transactions", "Loads: every 32nd element", true, runLoad<Pattern::everyThirtySecond>},
    {"same", "mem.transactions", "Loads: the same element", true, runLoad<Pattern::same>},
    {"structures", "mem.aos", "Loads: x of an array of structures", true, runStructures},
    {"arrays", "mem.soa", "Loads: x of a structure of arrays", true, runLoad<Pattern::consecutive>},
    {"store", "mem.stores", "Stores: one after another", true, runStore<Pattern::consecutive, 32>},
    {"store_half", "mem.stores", "Stores: 16 lanes, one after another", true, runStore<Pattern::consecutive, 16>},
    {"store_stride_32", "mem.stores", "Stores: every 32nd element", true, runStore<Pattern::everyThirtySecond, 32>},
    {"shared_1", "mem.bank_conflict", "Shared words: one after another", true, runShared<1>},
    {"shared_2", "mem.bank_conflict", "Shared words: every second", true, runShared<2>},
    {"shared_32", "mem.bank_conflict", "Shared words: every 32nd", true, runShared<32>},
    {"shared_33", "mem.bank_conflict", "Shared words: every 33rd", true, runShared<33>},
    {"shared_same", "mem.bank_conflict", "Shared words: the same", true, runShared<0>},
    {"local", "mem.local", "An array of each thread's own", true, runLocal},
};

void showWarp(const char* what, Pattern pattern) {
  rules::Addresses warp;
  for (std::size_t i = 0; i < kWarp; ++i) warp.push_back(4 * placeOf(pattern, i));
  std::printf("  %-22s %2zu lines of 128 bytes, %2zu sectors of 32; %s, %s\n", what,
              rules::piecesOf(warp, rules::kLine), rules::piecesOf(warp, rules::kSector),
              rules::isAligned(warp) ? "aligned" : "not aligned",
              rules::isCoalesced(warp) ? "coalesced" : "not coalesced");
}

void trace() {
  std::printf("a warp's loads of 4 bytes for each lane\n");
  showWarp("one after another", Pattern::consecutive);
  showWarp("shifted by one", Pattern::shifted);
  showWarp("every second", Pattern::everySecond);
  showWarp("every 32nd", Pattern::everyThirtySecond);
  showWarp("the same", Pattern::same);
  std::printf("banks of bytes 0, 4, 124 and 128 of shared memory: %zu %zu %zu %zu\n", rules::bankOf(0),
              rules::bankOf(4), rules::bankOf(124), rules::bankOf(128));
}

}  // namespace

int main(int argc, char** argv) {
  lab::Options options;
  options.size = std::size_t{1} << 16;
  options.block = kBlock;
  options = lab::parse(argc, argv, options, " [--trace]");
  if (options.trace) {
    trace();
    return 0;
  }
  if (options.size > kLargestSize) lab::usageError("--size: at most 2^22 threads");
  lab::mustFit(kWarp * options.size, 2 * sizeof(float), 2 * sizeof(float));
  lab::Output output("access", options);
  Context context(options);
  lab::runVariants(kVariants, options, context, output);
  return output.finish("consecutive");
}
