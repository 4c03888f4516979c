// The events of instructions, branches and barriers: what their only listener here, the counters, makes of them,
// compiled in on request. Definitions are in machine/counters.hpp, the contract in docs/events.md.
#include "jit/counting.hpp"

namespace ordito::jit {

using isa::ModifierKind;
using machine::Counter;

/// A word that counts how often the code from here on runs.
uint32_t Counting::openWord() {
  blockWord_ = c_.result.counters.words++;
  addToWord(blockWord_, b_.getInt64(1));
  return blockWord_;
}

void Counting::addToWord(uint32_t word, LlvmValue amount) {
  LlvmValue at = b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), counters_, word);
  b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt64Ty(), at), amount), at);
}

/// Adds to the counter of the site being emitted. What is the same each time needs no code: the block's word stands for
/// it.
void Counting::count(Counter c, LlvmValue amount) {
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(amount)) {
    const auto factor = static_cast<uint32_t>(constant->getZExtValue());
    if (factor) c_.result.counters.terms.push_back({blockWord_, c_.at.line, factor, c});
    return;
  }
  c_.result.counters.terms.push_back({c_.result.counters.words, c_.at.line, 1, c});
  addToWord(c_.result.counters.words++, amount);
}

LlvmValue Counting::lanesIn(LlvmValue mask) {
  return b_.CreateZExt(b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, masks_.laneBits(mask)), b_.getInt64Ty());
}

/// Adds the active lanes of all parts: their sum is made in registers, since each addition to a word costs a load and a
/// store.
void Counting::countLanes(Counter c, const Parts& mask) {
  if (mask.empty()) return count(c, b_.getInt64(uint64_t{kLanes} * coarsening_));
  LlvmValue sum = b_.getInt64(0);
  for (LlvmValue m : mask) sum = b_.CreateAdd(sum, lanesIn(m));
  count(c, sum);
}

/// Adds `times` for every part with an active lane.
void Counting::countWarps(Counter c, uint64_t times, const Parts& mask) {
  if (times == 0) return;
  if (mask.empty()) return count(c, b_.getInt64(times * coarsening_));
  if (c_.at.hasLane && coarsening_ == 1 && mask == c_.at.mask) return count(c, b_.getInt64(times));
  LlvmValue sum = b_.getInt64(0);
  for (LlvmValue m : mask)
    sum = b_.CreateAdd(sum, b_.CreateSelect(masks_.anyLane(m), b_.getInt64(times), b_.getInt64(0)));
  count(c, sum);
}

/// All instructions of the block, but for the lanes of guarded ones and of its conditional branch.
void Counting::raiseIssues(const ir::Block& block) {
  if (!plan_.facts.counters) return;
  std::vector<uint32_t> issued, unguarded;  // lines
  for (const Instruction& i : block.code) {
    if (i.raisesIssue) issued.push_back(i.line);
    if (i.raisesIssue && !i.guard) unguarded.push_back(i.line);
  }
  if (block.end.isInstruction) issued.push_back(block.end.line);
  if (block.end.isInstruction && block.end.kind != ir::Terminator::Kind::Branch) unguarded.push_back(block.end.line);
  openWord();
  countLines(Counter::WarpInstructions, issued, [&] { countWarps(Counter::WarpInstructions, 1, c_.at.mask); });
  countLines(Counter::ThreadInstructions, unguarded, [&] { countLanes(Counter::ThreadInstructions, c_.at.mask); });
}

/// What `once` counts for one line holds for all `lines`.
void Counting::countLines(Counter c, const std::vector<uint32_t>& lines, llvm::function_ref<void()> once) {
  if (lines.empty()) return;
  const size_t first = c_.result.counters.terms.size();
  const uint32_t line = std::exchange(c_.at.line, lines[0]);
  once();
  c_.at.line = line;
  const std::vector<CounterTerm> terms(c_.result.counters.terms.begin() + static_cast<ptrdiff_t>(first),
                                       c_.result.counters.terms.end());
  for (size_t k = 1; k < lines.size(); ++k)
    for (CounterTerm term : terms) {
      term.line = lines[k];
      term.counter = c;
      c_.result.counters.terms.push_back(term);
    }
}

void Counting::raiseGuardedIssue(const Instruction& i) {
  if (plan_.facts.counters && i.guard && i.raisesIssue) countLanes(Counter::ThreadInstructions, values_.guardedMask(i));
}

namespace {

/// To the end of the kernel, or forwards around it; not a loop's branch back, behind which the kernel ends.
bool isPredicatedExit(const ir::Function& f, const ir::Terminator& end) {
  const unsigned side = simt::exitSide(f, end);
  const bool goesBack = f.blocks[end.target[0]].line <= end.line;
  return side == 0 || (side == 1 && !goesBack);
}

}  // namespace

/// A barrier and a conditional branch count, a predicated exit does not.
void Counting::raiseEnd(const ir::Terminator& end, const Parts& mask) {
  if (!plan_.facts.counters) return;
  using Kind = ir::Terminator::Kind;
  if (end.kind == Kind::Barrier && end.barrier.op == isa::Op::BarWarpSync) return;
  if (end.kind == Kind::Barrier) return countWarps(Counter::Barriers, 1, mask);
  if (end.kind != Kind::Branch || !end.isInstruction || isPredicatedExit(f_, end)) return;
  countWarps(Counter::Branches, 1, mask);
}

/// Lanes that take a branch execute it, as those of an instruction whose guard holds. Where all take it, a word says
/// how often.
void Counting::raiseTaken(const ir::Terminator& end, const Parts& mask) {
  if (!plan_.facts.counters || end.kind != ir::Terminator::Kind::Branch || !end.isInstruction) return;
  const uint32_t block = blockWord_;
  if (mask.empty()) openWord();
  countLanes(Counter::ThreadInstructions, mask);
  blockWord_ = block;
}

/// Of the lanes of `mask`, those of `taken` take the branch.
void Counting::raiseParted(const ir::Terminator& end, const Parts& mask, const Parts& taken) {
  if (!plan_.facts.counters || !end.isInstruction) return;
  countLanes(Counter::ThreadInstructions, taken);
  if (isPredicatedExit(f_, end)) return;
  LlvmValue sum = b_.getInt64(0);
  for (unsigned p = 0; p < coarsening_; ++p) {
    LlvmValue lanes = masks_.laneBits(taken[p]), some = b_.CreateICmpNE(lanes, b_.getInt32(0));
    LlvmValue mixed = b_.CreateAnd(some, b_.CreateICmpNE(lanes, masks_.lanesOrAll(mask, p)));
    sum = b_.CreateAdd(sum, b_.CreateZExt(mixed, b_.getInt64Ty()));
  }
  count(Counter::DivergentBranches, sum);
}

/// Lanes end at the exit `end`, of which no code is emitted.
void Counting::raiseExit(const ir::Terminator& end, const Parts& mask) {
  if (!plan_.facts.counters || !end.isInstruction) return;
  const uint32_t block = blockWord_;
  openWord();
  countLines(Counter::WarpInstructions, {end.line}, [&] { countWarps(Counter::WarpInstructions, 1, mask); });
  countLines(Counter::ThreadInstructions, {end.line}, [&] { countLanes(Counter::ThreadInstructions, mask); });
  blockWord_ = block;
}

/// Room for the words; how many there are is known at the end.
void Counting::begin() {
  if (listens()) counters_ = llvm::IRBuilder<>(c_.entry).CreateAlloca(b_.getInt64Ty(), b_.getInt64(1), "counters");
}

/// Hands the counters over; the block may go on later.
void Counting::flush() {
  if (!plan_.facts.counters) return;
  LlvmValue out = b_.CreateLoad(
      b_.getPtrTy(), b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), c_.frame, offsetof(machine::BlockFrame, counters)));
  auto* call =
      llvm::cast<llvm::CallInst>(c_.helper("ordito_add_counters", b_.getVoidTy(), {out, counters_, b_.getInt64(0)}));
  call->addParamAttr(1, llvm::Attribute::NoCapture);  // so that LLVM knows that no other pointer leads to them
  counterFlushes_.push_back(call);
}

/// Now it is known how many there are.
void Counting::finish() {
  if (!plan_.facts.counters) return;
  LlvmValue words = b_.getInt64(std::max(1u, c_.result.counters.words));
  counters_->setOperand(0, words);
  for (llvm::CallInst* call : counterFlushes_) call->setArgOperand(2, words);
  llvm::IRBuilder<>(c_.entry).CreateMemSet(counters_, b_.getInt8(0),
                                           uint64_t{8} * std::max(1u, c_.result.counters.words), llvm::MaybeAlign(8));
}

}  // namespace ordito::jit
