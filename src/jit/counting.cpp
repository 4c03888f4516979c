// The events of instructions, branches and barriers: what their only listener here, the counters, makes of them,
// compiled in on request. Definitions are in machine/counters.hpp, the contract in docs/events.md.
#include "jit/counting.hpp"

#include "jit/counter_flow.hpp"
#include "jit/issued_lines.hpp"

namespace ordito::jit {

using isa::ModifierKind;
using machine::Counter;

/// A word that counts how often the code from here on runs: see counter_flow.hpp.
uint32_t Counting::openWord() {
  blockWord_ = c_.result.counters.words++;
  auto* mark = llvm::cast<llvm::CallInst>(c_.helper(kRunsMark, b_.getVoidTy(), {b_.getInt32(blockWord_)}));
  mark->setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly());
  mark->addFnAttr(llvm::Attribute::WillReturn);
  mark->addFnAttr(llvm::Attribute::NoMerge);
  return blockWord_;
}

void Counting::addToWord(uint32_t word, LlvmValue amount) {
  LlvmValue at = b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), counters_, word);
  b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt64Ty(), at), amount), at);
}

/// Adds to the counter of the site being emitted. What is the same each time needs no code: the block's word stands for
/// it.
std::optional<uint32_t> Counting::count(Counter c, LlvmValue amount) {
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(amount)) {
    const auto factor = static_cast<uint32_t>(constant->getZExtValue());
    if (factor) c_.result.counters.terms.push_back({blockWord_, c_.at.line, factor, c});
    return std::nullopt;
  }
  const uint32_t word = newWord();
  countInto(word, c, amount);
  return word;
}

void Counting::countInto(uint32_t word, Counter c, LlvmValue amount) {
  addToWord(word, amount);
  countWith(word, c);
}

/// How many bits are set in all elements of a vector. Masks of all parts are counted as one vector.
LlvmValue Counting::sumOfBits(LlvmValue words) {
  return b_.CreateZExt(b_.CreateAddReduce(b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, words)), b_.getInt64Ty());
}

/// How many elements of a vector of i1 hold.
LlvmValue Counting::partsOf(LlvmValue which) {
  LlvmValue bits = b_.CreateBitCast(which, b_.getIntNTy(warps()));
  return b_.CreateZExt(b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, b_.CreateZExt(bits, b_.getInt32Ty())),
                       b_.getInt64Ty());
}

/// Adds `factor` times what `sum` computes of the mask. Several instructions in a row are counted under one mask: one
/// word serves them all, since each addition to a word costs a load and a store.
void Counting::countSum(Counter c, uint32_t factor, Sum& last, const Parts& mask, llvm::function_ref<LlvmValue()> sum) {
  if (last.block != b_.GetInsertBlock() || last.mask != mask) {
    last = {b_.GetInsertBlock(), mask, c_.result.counters.words++};
    addToWord(last.word, sum());
  }
  c_.result.counters.terms.push_back({last.word, c_.at.line, factor, c});
}

/// Adds the active lanes of all parts.
void Counting::countLanes(Counter c, const Parts& mask) {
  if (mask.empty()) return void(count(c, b_.getInt64(uint64_t{kLanes} * warps())));
  countSum(c, 1, lanes_, mask, [&] { return sumOfBits(masks_.laneBits(mask)); });
}

/// Adds `times` for every part with an active lane.
void Counting::countWarps(Counter c, uint32_t times, const Parts& mask) {
  if (times == 0) return;
  if (mask.empty()) return void(count(c, b_.getInt64(uint64_t{times} * warps())));
  if (c_.at.hasLane && warps() == 1 && mask == c_.at.mask) return void(count(c, b_.getInt64(times)));
  countSum(c, times, warps_, mask, [&] {
    LlvmValue bits = masks_.laneBits(mask);
    return partsOf(b_.CreateICmpNE(bits, llvm::Constant::getNullValue(bits->getType())));
  });
}

/// All instructions of the block, but for the lanes of guarded ones and of its conditional branch.
void Counting::raiseIssues(const ir::Block& block) {
  if (!listens()) return;
  if (byThread_) return iterations_.enter(block);
  const auto& [issued, unguarded] = issuedLines(block);
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
  if (!listens() || !i.guard || !i.raisesIssue) return;
  if (byThread_) return iterations_.guard(i);
  countLanes(Counter::ThreadInstructions, values_.guardedMask(i));
}

/// A barrier and a conditional branch count, a predicated exit does not.
void Counting::raiseEnd(const ir::Terminator& end, const Parts& mask) {
  if (!listens() || byThread_) return;
  using Kind = ir::Terminator::Kind;
  if (end.kind == Kind::Barrier && end.barrier.op == isa::Op::BarWarpSync) return;
  if (end.kind == Kind::Barrier) return countWarps(Counter::Barriers, 1, mask);
  if (end.kind != Kind::Branch || !end.isInstruction || simt::isPredicatedExit(f_, end)) return;
  countWarps(Counter::Branches, 1, mask);
}

/// Lanes that take a branch execute it, as those of an instruction whose guard holds. Where all take it, a word says
/// how often.
void Counting::raiseTaken(const ir::Terminator& end, const Parts& mask) {
  if (!listens() || end.kind != ir::Terminator::Kind::Branch) return;
  if (byThread_) return iterations_.take(end);
  if (!end.isInstruction) return;
  const uint32_t block = blockWord_;
  if (mask.empty()) openWord();
  countLanes(Counter::ThreadInstructions, mask);
  blockWord_ = block;
}

/// Of the lanes of `mask`, those of `taken` take the branch.
void Counting::raiseParted(const ir::Terminator& end, const Parts& mask, const Parts& taken) {
  if (!listens() || !end.isInstruction) return;
  countLanes(Counter::ThreadInstructions, taken);
  if (simt::isPredicatedExit(f_, end)) return;
  LlvmValue lanes = masks_.laneBits(taken), before = llvm::Constant::getAllOnesValue(lanes->getType());
  if (!mask.empty()) before = masks_.laneBits(mask);
  LlvmValue some = b_.CreateICmpNE(lanes, llvm::Constant::getNullValue(lanes->getType()));
  count(Counter::DivergentBranches, partsOf(b_.CreateAnd(some, b_.CreateICmpNE(lanes, before))));
}

/// Lanes end at the exit `end`, of which no code is emitted.
void Counting::raiseExit(const ir::Terminator& end, const Parts& mask) {
  if (!listens() || !end.isInstruction) return;
  const uint32_t block = blockWord_;
  openWord();
  countLines(Counter::WarpInstructions, {end.line}, [&] { countWarps(Counter::WarpInstructions, 1, mask); });
  countLines(Counter::ThreadInstructions, {end.line}, [&] { countLanes(Counter::ThreadInstructions, mask); });
  blockWord_ = block;
}

/// Room for the words; how many there are is known at the end.
void Counting::begin() {
  if (!listens() || byThread_) return;
  counters_ = llvm::IRBuilder<>(c_.entry).CreateAlloca(b_.getInt64Ty(), b_.getInt64(1), "counters");
  rows_.begin(counters_);
}

/// Hands the counters over; the block may go on later.
void Counting::flush() {
  if (!listens()) return;
  rows_.flush();
  auto* call = llvm::cast<llvm::CallInst>(
      c_.helper(kAddCounters, b_.getVoidTy(), {c_.launchCounters(), counters_, b_.getInt64(0)}));
  call->addParamAttr(1, llvm::Attribute::NoCapture);  // so that LLVM knows that no other pointer leads to them
  counterFlushes_.push_back(call);
}

/// Now it is known how many there are.
void Counting::finish() {
  if (!listens() || byThread_) return;
  rows_.finish();
  LlvmValue words = b_.getInt64(std::max(1u, c_.result.counters.words));
  counters_->setOperand(0, words);
  for (llvm::CallInst* call : counterFlushes_) call->setArgOperand(2, words);
  llvm::IRBuilder<>(c_.entry).CreateMemSet(counters_, b_.getInt8(0),
                                           uint64_t{8} * std::max(1u, c_.result.counters.words), llvm::MaybeAlign(8));
}

}  // namespace ordito::jit
