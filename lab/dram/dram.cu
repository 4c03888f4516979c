// Channels, banks and bursts of a GPU's memory, by the rules that the courses give for the GTX 280: which accesses use
// whole bursts, and which spread over the channels. Counted, not timed.
//
//   dram [--size N] [--variant NAME] [--json]        N: floats that are read one after another
#include "../common/output.hpp"
#include "memory.hpp"

namespace {

using dram::kGtx280;
using dram::strided;
using dram::Traffic;

constexpr std::size_t kLargestSize = std::size_t{1} << 22;

struct Context {
  std::size_t n;
};

template <class Action>
void judge(lab::Measurement& row, Action action) {
  bool right = false;
  lab::timeCpuRounds(1, row, [] {}, [&] { right = action(); });
  row.verified = right ? lab::Verified::yes : lab::Verified::no;
}

std::size_t ceilDiv(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

/// A sweep over all channels and banks gives each the same number of bytes; a card with 16 banks and narrower channels
/// is another layout.
void runMap(Context&, lab::Measurement& row) {
  judge(row, [] {
    bool right = true;
    for (const dram::Layout& layout : {kGtx280, dram::Layout{6, 256, 16, 32}}) {
      std::vector<std::size_t> bytes(layout.channels * layout.banks, 0);
      const std::size_t whole = layout.channels * layout.banks * layout.interleave;
      for (std::size_t address = 0; address < whole; address += layout.burst) {
        bytes[layout.bank(address) * layout.channels + layout.channel(address)] += layout.burst;
      }
      for (const std::size_t share : bytes) right = right && share == layout.interleave;
    }
    return right && kGtx280.channel(2047) == 0 && kGtx280.channel(2048) == 1 && kGtx280.channel(16384) == 0 &&
           kGtx280.bank(16384) == 1;
  });
}

void runSweep(Context& c, lab::Measurement& row) {
  judge(row, [&] {
    const Traffic traffic(kGtx280, strided(0, c.n, 4), 4);
    row.result = std::to_string(traffic.bursts());
    row.note = std::to_string(traffic.wasted()) + " bytes wasted; bursts by channel:";
    bool right = traffic.bursts() == ceilDiv(4 * c.n, 64) && traffic.wasted() == traffic.bursts() * 64 - 4 * c.n;
    for (std::size_t channel = 0; channel < 8; ++channel) {
      const std::size_t bursts = traffic.perChannel()[channel];
      row.note += " " + std::to_string(bursts);
      right = right && bursts <= 32 * ceilDiv(4 * c.n, 16384);
    }
    return right;
  });
}

/// The 128 bytes of a warp are two bursts if they begin at a multiple of 64, and three if not.
void runWarp(Context&, lab::Measurement& row) {
  judge(row, [&] {
    const std::size_t aligned = Traffic(kGtx280, strided(128, 32, 4), 4).bursts();
    const std::size_t shifted = Traffic(kGtx280, strided(132, 32, 4), 4).bursts();
    row.result = std::to_string(aligned);
    row.note = std::to_string(shifted) + " where it begins 4 bytes later";
    return aligned == 2 && shifted == 3;
  });
}

/// Blocks of 256 threads read 1 KB each, so that two share a channel; eight blocks of 512 use all eight.
void runBlocks(Context&, lab::Measurement& row) {
  judge(row, [] {
    bool right = true;
    for (std::size_t block = 0; block < 8; ++block) {
      right = right && kGtx280.channel(block * 1024) == block / 2 && kGtx280.channel(block * 2048) == block;
    }
    // x[0] and y[0] meet in a channel if the arrays are a multiple of 16 KB apart, and not if they are 2 KB more.
    return right && kGtx280.channel(1 << 20) == kGtx280.channel(0) && kGtx280.channel((1 << 20) + 2048) == 1;
  });
}

template <bool Rows>
void runMatmul(Context&, lab::Measurement& row) {
  judge(row, [&] {
    const Traffic traffic(kGtx280, strided(0, 32, Rows ? 4 * 1024 : 4), 4);
    row.result = std::to_string(traffic.bursts());
    char note[60];
    std::snprintf(note, sizeof note, "%.2f %% of what is read is used", traffic.efficiency());
    row.note = note;
    return Rows ? traffic.bursts() == 32 && traffic.efficiency() == 6.25
                : traffic.bursts() == 2 && traffic.efficiency() == 100;
  });
}

template <std::size_t Stride>
void runBalance(Context&, lab::Measurement& row) {
  judge(row, [&] {
    const Traffic traffic(kGtx280, strided(0, 4096, Stride), 4);
    char note[80];
    std::snprintf(note, sizeof note, "the busiest channel has %.0f times the mean", traffic.imbalance());
    row.note = note;
    row.result = std::to_string(traffic.bursts());
    return traffic.imbalance() == (Stride == 16384 ? 8 : 1);
  });
}

const std::vector<lab::Variant<Context>> kVariants = {
    {"map", "mem.dram_map", "Addresses, channels and banks", true, runMap},
    {"sweep", "mem.dram_gtx280", "Floats one after another", true, runSweep},
    {"warp", "mem.dram_saxpy", "A warp of saxpy", true, runWarp},
    {"blocks", "mem.dram_saxpy", "Blocks of saxpy on channels", true, runBlocks},
    {"matmul_b", "mem.dram_matmul", "32 columns of a row of B", true, runMatmul<false>},
    {"matmul_a", "mem.dram_matmul", "32 rows of a column of A", true, runMatmul<true>},
    {"even", "mem.balance_rule", "Every 64 bytes", true, runBalance<64>},
    {"one_channel", "mem.balance_rule", "Every 16 KB", true, runBalance<16384>},
};

}  // namespace

int main(int argc, char** argv) {
  lab::Options options;
  options.size = 100000;
  options.block = 1;
  options = lab::parse(argc, argv, options);
  if (options.size > kLargestSize) lab::usageError("--size: at most 2^22 floats");
  lab::Output output("dram", options);
  Context context{options.size};
  lab::runVariants(kVariants, options, context, output);
  return output.finish();
}
