// See estimate.hpp. The coefficients were fitted to ptxas 13.0 on kernels of public programs and hold for sm_75 to
// sm_120 alike (docs/accuracy.md).
#include "registers/estimate.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "registers/program.hpp"

namespace ordito::registers {
namespace {

/// What is taken whether live or not: the stack pointer, and registers that the allocation leaves between values which
/// must be aligned or must not wait for each other.
constexpr double kBase = 5.1, kPerWord = 1.07;
/// The schedule is made for this many registers fewer than the limit.
constexpr unsigned kMargin = 6;
/// An estimate that is a little above the limit is still squeezed below it.
constexpr unsigned kSqueeze = 4;
constexpr uint32_t kLeast = 4, kLeastWithPointers = 8, kEvenBelow = 12;
/// The calling convention gives functions the first registers.
constexpr uint32_t kLeastWithCalls = 24;
/// Numbers of registers at which the next block does not fit any more.
constexpr std::array<uint32_t, 11> kSteps = {32, 40, 48, 56, 64, 72, 80, 96, 128, 168, 255};

/// A kernel whose blocks are scheduled for one limit after another.
class Allocation {
 public:
  explicit Allocation(const Program& program) {
    for (const ProgramBlock& block : program.blocks) {
      Block& b = blocks_.emplace_back(Block{Scheduler(program, block), 0, 0});
      std::vector<uint32_t> order(block.nodes.size());
      for (uint32_t n = 0; n < order.size(); ++n) order[n] = n;
      b.asWritten = b.scheduler.pressure(order);
      b.freely = b.scheduler.pressure(b.scheduler.order(~0u >> 1));
      kept_ = std::max(kept_, keptThrough(program, block));
    }
  }

  /// Words that live at once in whatever order.
  unsigned mostKept() const { return kept_; }

  /// The most words live at once when no block takes more than `limit` if it can.
  unsigned mostLive(unsigned limit) const {
    unsigned most = 0;
    for (size_t b = 0; b < blocks_.size(); ++b) most = std::max(most, liveIn(b, limit));
    return most;
  }

 private:
  struct Block {
    Scheduler scheduler;
    unsigned asWritten, freely;  // the most words live in the order of the text, and scheduled without a limit
  };

  /// What lives all through a loop, with the registers that an instruction needs for itself: of each phi its value, or
  /// the one that replaces it.
  static unsigned keptThrough(const Program& program, const ProgramBlock& block) {
    const auto self = static_cast<BlockId>(&block - program.blocks.data());
    if (std::ranges::find(block.successors, self) == block.successors.end()) return 0;
    unsigned words = 0, temporaries = 0;
    for (const RegisterId r : block.phis) words += program.words[r];
    for (const RegisterId r : block.liveIn)
      if (std::ranges::binary_search(block.liveOut, r)) words += program.words[r];
    for (const Node& node : block.nodes) temporaries = std::max<unsigned>(temporaries, node.temporaries);
    return words + temporaries;
  }

  unsigned liveIn(size_t b, unsigned limit) const {
    const Block& block = blocks_[b];
    if (block.freely <= limit) return block.freely;
    const unsigned scheduled = block.scheduler.pressure(block.scheduler.order(limit));
    return scheduled > limit ? std::min(scheduled, block.asWritten) : scheduled;
  }

  std::vector<Block> blocks_;
  unsigned kept_ = 0;
};

/// Registers for so many words live at once. The smallest kernels leave no gaps, and get an even number.
uint32_t registersFor(unsigned live) {
  if (live == 0) return kLeast;
  const auto registers = live < 4 ? kLeast + live : static_cast<uint32_t>(std::lround(kBase + kPerWord * live));
  return registers < kEvenBelow ? registers + registers % 2 : registers;
}

/// Above this number fewer threads fit on a multiprocessor than it can hold.
uint32_t fullOccupancy(const Target& target) {
  return target.registersPerMultiprocessor / std::max(target.threadsPerMultiprocessor, 1u) / 8 * 8;
}

uint32_t threadsOf(const uint32_t (&dims)[3]) {
  return dims[0] ? dims[0] * std::max(dims[1], 1u) * std::max(dims[2], 1u) : 0;
}

/// The most registers that launch bounds leave, in whole units of allocation.
uint32_t boundOf(const ptx::Function& kernel, const Target& target) {
  uint32_t bound = target.maxRegistersPerThread;
  const uint32_t threads = std::max(threadsOf(kernel.maxntid), threadsOf(kernel.reqntid));
  if (threads) {
    const uint32_t inWarps = (threads + 31) / 32 * 32;
    bound = std::min(bound, target.registersPerBlock / inWarps / std::max(kernel.minnctapersm, 1u) / 8 * 8);
  }
  if (kernel.maxnreg) bound = std::min(bound, kernel.maxnreg);
  return std::max(bound, 16u);
}

bool isBounded(const ptx::Function& kernel) { return kernel.maxntid[0] || kernel.reqntid[0] || kernel.maxnreg; }

bool isShared(const ir::Instruction& i) { return i.mods.name(isa::ModifierKind::Space).starts_with("shared"); }

/// Does the kernel reach a call that only the calling convention serves: of a function that is not in the module, by a
/// pointer, or of one that calls itself? Other functions get what registers suit their callers.
class CallingConvention {
 public:
  explicit CallingConvention(const ptx::Module& module) : module_(module), state_(module.functions.size()) {}

  bool isUsedBy(const ptx::Function& function) {
    return std::any_of(function.instructions.begin(), function.instructions.end(),
                       [&](const ptx::Instruction& i) { return i.op == isa::Op::Call && servesCall(i.operands[1]); });
  }

 private:
  enum class State : uint8_t { New, Entered, Left };

  bool servesCall(const ptx::Operand& callee) {
    if (callee.symbol.kind != ptx::Symbol::Kind::Function) return true;
    const ptx::Function& function = module_.functions[callee.symbol.index];
    State& state = state_[callee.symbol.index];
    if (!function.hasBody || state == State::Entered) return true;
    if (state == State::Left) return false;
    state = State::Entered;
    const bool isUsed = isUsedBy(function);
    state = State::Left;
    return isUsed;
  }

  const ptx::Module& module_;
  std::vector<State> state_;
};

/// Does the kernel access memory by 64-bit addresses? Since sm_80 each such access also takes a descriptor.
bool hasPointers(const Program& program) {
  for (const ProgramBlock& block : program.blocks)
    for (const Node& node : block.nodes)
      if (node.source && node.source->info().unit == isa::Unit::Lsu && !isShared(*node.source)) return true;
  return false;
}

/// The least that a kernel of this kind takes.
uint32_t leastFor(const ptx::Module& module, const ptx::Function& kernel, const Program& program,
                  const Target& target) {
  if (CallingConvention(module).isUsedBy(kernel)) return kLeastWithCalls;
  return target.sm >= 80 && hasPointers(program) ? kLeastWithPointers : kLeast;
}

/// The first step of occupancy that the kernel can be squeezed to.
uint32_t allocate(const Allocation& allocation, uint32_t from, uint32_t bound) {
  const uint32_t kept = registersFor(allocation.mostKept());
  for (uint32_t step : kSteps) {
    if (step < from && step < bound) continue;
    const uint32_t limit = std::min(step, bound);
    const uint32_t wanted = registersFor(allocation.mostLive(limit - kMargin));
    if (wanted <= limit + (kept > limit ? 0 : kSqueeze) || limit == bound) return std::min(wanted, limit);
  }
  return bound;
}

/// Without launch bounds a block may have 1,024 threads; the estimate says that it cannot only when it is sure.
uint32_t keepLargeBlocks(uint32_t registers, const Target& target) {
  const uint32_t limit = target.registersPerBlock / 1024 / 8 * 8;
  return registers > limit && registers <= limit + limit / 4 ? limit : registers;
}

}  // namespace

Target targetFor(uint32_t sm) {
  Target target;
  target.sm = sm;
  if (sm < 35) {
    target.registersPerBlock = target.registersPerMultiprocessor = sm < 20 ? 16384 : sm < 30 ? 32768 : 65536;
    target.threadsPerMultiprocessor = sm < 20 ? 1024 : sm < 30 ? 1536 : 2048;
    target.maxRegistersPerThread = sm < 20 ? 124 : 63;
  }
  if (sm == 75) target.threadsPerMultiprocessor = 1024;
  if (sm == 86 || sm == 87 || sm == 88 || sm == 89 || sm >= 120) target.threadsPerMultiprocessor = 1536;
  return target;
}

uint32_t estimate(const ptx::Module& module, const ptx::Function& kernel, const Target& target) {
  const uint32_t bound = boundOf(kernel, target);
  auto function = ir::buildCfg(module, kernel);
  if (!function) return std::min(bound, kLeastWithCalls);  // a launch says why it cannot be
  ir::buildSsa(*function);
  const Program program = programOf(analyse(*function, static_cast<int>(target.sm)));
  uint32_t registers = allocate(Allocation(program), fullOccupancy(target), bound);
  registers = std::max(registers, leastFor(module, kernel, program, target));
  if (!isBounded(kernel)) registers = keepLargeBlocks(registers, target);
  return std::min(registers, bound);
}

}  // namespace ordito::registers
