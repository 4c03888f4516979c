// See iteration_logs.hpp.
#include "jit/iteration_logs.hpp"

#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <bit>

#include "jit/issued_lines.hpp"
#include "jit/space_counters.hpp"
#include "simt/early_exits.hpp"

namespace ordito::jit {

using machine::Counter;
using rt::CountedLoop;
using rt::IterationLog;
using rt::kSectorBytes;

void IterationLogs::clear(llvm::IRBuilder<>& b, const Counted& counted, LlvmValue log) {
  const IterationLog layout = layoutOf(counted);
  LlvmValue begin = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), log, layout.window(0));
  b.CreateMemSet(begin, b.getInt8(0), (counted.lists + 1) * sizeof(uint64_t), llvm::MaybeAlign(8));
}

// ---- what is counted
void IterationLogs::begin(const Counted& counted, LlvmValue log) {
  counted_ = &counted, log_ = log;
  table_ = makeTable();
  llvm::IRBuilder<> entry(c_.entry);
  rows_.clear(), windows_.clear();
  for (uint32_t k = 0; k < counted.rows; ++k) rows_.push_back(entry.CreateAlloca(b_.getInt64Ty(), nullptr, "row"));
  for (uint32_t k = 0; k < counted.lists; ++k)
    windows_.push_back(entry.CreateAlloca(b_.getInt64Ty(), nullptr, "window"));
  begun_ = entry.CreateAlloca(b_.getInt32Ty(), nullptr, "begun");
  lanes_ = entry.CreateAlloca(b_.getInt32Ty(), nullptr, "lanes");
  unfinished_ = entry.CreateAlloca(b_.getInt32Ty(), nullptr, "unfinished");
}

llvm::GlobalVariable* IterationLogs::makeTable() {
  std::vector<uint32_t> numbers;
  const auto add = [&](const auto& entry) {
    static_assert(std::has_unique_object_representations_v<std::remove_cvref_t<decltype(entry)>>);
    const auto* words = reinterpret_cast<const uint32_t*>(&entry);
    numbers.insert(numbers.end(), words, words + sizeof entry / sizeof *words);
  };
  const auto count = [](const auto& entries) { return static_cast<uint32_t>(entries.size()); };
  warps_.clear();
  add(CountedLoop{counted_->rows, counted_->lists, count(counted_->blocks), count(counted_->guards),
                  count(counted_->accesses)});
  for (const Counted::Block& block : counted_->blocks) add(describe(block));
  for (const Counted::Guard& guard : counted_->guards) add(describe(guard));
  for (const Counted::Access& access : counted_->accesses) add(describe(access));
  auto* data = llvm::ConstantDataArray::get(b_.getContext(), numbers);
  return new llvm::GlobalVariable(c_.module, data->getType(), true, llvm::GlobalValue::PrivateLinkage, data);
}

CountedLoop::Block IterationLogs::describe(const Counted::Block& b) {
  using Block = CountedLoop::Block;
  const ir::Block& block = f_.blocks[b.block];
  const ir::Terminator& end = block.end;
  Block entry{Block::kJumps, {b.targets[0], b.targets[1]}, newWord(),
              newWord(),     CountedLoop::kNone,           CountedLoop::kNone};
  warps_.push_back(entry.warps);
  const IssuedLines issued = issuedLines(block);
  for (uint32_t line : issued.all) term(entry.warps, line, Counter::WarpInstructions);
  for (uint32_t line : issued.unguarded) term(entry.lanes, line, Counter::ThreadInstructions);
  switch (b.decision) {
    case Counted::Decision::Jumps: return entry;
    case Counted::Decision::LeavesIfTaken: entry.decision = Block::kLeavesIfTaken; break;
    case Counted::Decision::LeavesElse: entry.decision = Block::kLeavesElse; break;
    case Counted::Decision::Logged: entry.decision = b.row; break;
  }
  if (!end.isInstruction) return entry;
  term(entry.taken = newWord(), end.line, Counter::ThreadInstructions);
  if (simt::isPredicatedExit(f_, end)) return entry;
  term(entry.warps, end.line, Counter::Branches);
  term(entry.parted = newWord(), end.line, Counter::DivergentBranches);
  return entry;
}

CountedLoop::Guard IterationLogs::describe(const Counted::Guard& guard) {
  const CountedLoop::Guard entry{guard.block, guard.row, newWord()};
  term(entry.word, guard.instruction->line, Counter::ThreadInstructions);
  return entry;
}

int32_t IterationLogs::offsetOf(const Instruction& i) {
  const ptx::MemoryAccesses all(i);
  return static_cast<int32_t>(i.operands[all.begin()->operand].offset);
}

CountedLoop::Access IterationLogs::describe(const Counted::Access& access) {
  const Instruction& i = *access.instruction;
  CountedLoop::Access entry{
      access.block, static_cast<CountedLoop::Kind>(access.kind), access.place, access.step, offsetOf(i), newWord()};
  if (access.element) {
    entry.shift = static_cast<uint32_t>(std::countr_zero(kSectorBytes / access.element->bytes));
    entry.flip = access.element->isSigned ? 1u << 31 : 0;
  }
  const auto kind = access.isStore ? machine::AccessKind::Store : machine::AccessKind::Load;
  const SpaceCounters counters = countersOf(kind, ptx::Space::Global);
  term(warps_[access.block], i.line, counters.requests);
  term(entry.word, i.line, counters.units);
  return entry;
}

// ---- what a lane leaves
void IterationLogs::beginLog() {
  for (llvm::AllocaInst* slot : {lanes_, unfinished_}) b_.CreateStore(b_.getInt32(0), slot);
  for (const Counted::Access& access : counted_->accesses) {
    if (!access.isLogged || !access.element) continue;
    LlvmValue begin = b_.CreateAdd(values_.baseOf(access.element->array, 0, 0),
                                   b_.getInt64(static_cast<uint64_t>(offsetOf(*access.instruction))));
    LlvmValue first = b_.CreateUDiv(b_.CreateAnd(begin, kSectorBytes - 1), b_.getInt64(access.element->bytes));
    b_.CreateStore(first, inLog(layoutOf(*counted_).window(access.place)));
  }
}

void IterationLogs::beginLane(llvm::BasicBlock* full) {
  full_ = full;
  lane_ = b_.CreateLoad(b_.getInt32Ty(), lanes_);
  b_.CreateStore(b_.CreateAdd(lane_, b_.getInt32(1)), lanes_);
  b_.CreateStore(b_.getInt32(0), begun_);
  for (llvm::AllocaInst* row : rows_) b_.CreateStore(b_.getInt64(0), row);
  const IterationLog layout = layoutOf(*counted_);
  auto* list = llvm::ArrayType::get(b_.getInt32Ty(), IterationLog::kListStride);
  lists_ = b_.CreateInBoundsGEP(list, inLog(layout.list(0)), lane_);
  for (uint32_t k = 0; k < windows_.size(); ++k)
    b_.CreateStore(b_.CreateLoad(b_.getInt64Ty(), inLog(layout.window(k))), windows_[k]);
}

void IterationLogs::interruptLane() {
  LlvmValue others = b_.CreateLoad(b_.getInt32Ty(), unfinished_);
  b_.CreateStore(b_.CreateOr(others, b_.CreateShl(b_.getInt32(1), lane_)), unfinished_);
}

void IterationLogs::endLane() {
  LlvmValue begun = b_.CreateLoad(b_.getInt32Ty(), begun_);
  LlvmValue isFull = b_.CreateICmpEQ(begun, b_.getInt32(IterationLog::kIterations));
  LlvmValue low = b_.CreateSub(b_.CreateShl(b_.getInt64(1), b_.CreateZExt(begun, b_.getInt64Ty())), b_.getInt64(1));
  b_.CreateStore(b_.CreateSelect(isFull, b_.getInt64(~uint64_t{0}), low), rows_[rt::kBegunRow]);
  for (uint32_t k = 0; k < rows_.size(); ++k)
    b_.CreateStore(b_.CreateLoad(b_.getInt64Ty(), rows_[k]),
                   b_.CreateInBoundsGEP(b_.getInt64Ty(), inLog(IterationLog::row(k)), lane_));
}

void IterationLogs::count() {
  LlvmValue lanes = b_.CreateLoad(b_.getInt32Ty(), lanes_), unfinished = b_.CreateLoad(b_.getInt32Ty(), unfinished_);
  c_.helper("ordito_count_iterations", b_.getVoidTy(), {table_, log_, c_.launchCounters(), lanes, unfinished});
}

/// The header begins an iteration.
void IterationLogs::enter(const ir::Block& block) {
  if (&block != &f_.blocks[counted_->blocks[0].block]) return;
  now_ = b_.CreateLoad(b_.getInt32Ty(), begun_);
  auto* next = c_.newBlock("iteration");
  b_.CreateCondBr(b_.CreateICmpEQ(now_, b_.getInt32(IterationLog::kIterations)), full_, next,
                  llvm::MDBuilder(b_.getContext()).createUnlikelyBranchWeights());
  b_.SetInsertPoint(next);
  b_.CreateStore(b_.CreateAdd(now_, b_.getInt32(1)), begun_);
}

/// Sets the iteration's bit where the condition holds; null: always.
void IterationLogs::mark(uint32_t row, LlvmValue condition) {
  LlvmValue bit = b_.CreateShl(b_.getInt64(1), b_.CreateZExt(now_, b_.getInt64Ty()));
  if (condition) bit = b_.CreateSelect(condition, bit, b_.getInt64(0));
  b_.CreateStore(b_.CreateOr(b_.CreateLoad(b_.getInt64Ty(), rows_[row]), bit), rows_[row]);
}

void IterationLogs::guard(const Instruction& i) {
  const auto found = std::ranges::find(counted_->guards, &i, &Counted::Guard::instruction);
  LlvmValue holds = values_.baseOf(i.guard.reg, 0, 0);
  mark(found->row, i.guard.negated ? b_.CreateNot(holds) : holds);
}

void IterationLogs::take(const ir::Terminator& end) {
  const auto found =
      std::ranges::find_if(counted_->blocks, [&](const auto& b) { return &f_.blocks[b.block].end == &end; });
  if (found->decision == Counted::Decision::Logged) mark(found->row, nullptr);
}

void IterationLogs::access(const Instruction& i, const AccessEvent& e) {
  const auto found = std::ranges::find(counted_->accesses, &i, &Counted::Access::instruction);
  if (found == counted_->accesses.end() || !found->isLogged) return;
  LlvmValue address = e.at.bases[0][0];
  if (found->kind == Counted::Kind::Walk) return void(b_.CreateStore(address, rows_[found->place]));
  address = b_.CreateAdd(address, b_.getInt64(static_cast<uint64_t>(e.offset)));
  LlvmValue number = found->element ? values_.baseOf(found->element->index, 0, 0) : sectorOf(*found, address);
  // All lists are reached from one register.
  LlvmValue place = b_.CreateInBoundsGEP(b_.getInt32Ty(), lists_, now_);
  const size_t apart = layoutOf(*counted_).list(found->place) - layoutOf(*counted_).list(0);
  b_.CreateStore(number, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), place, apart));
}

/// Its number in the list's window, nearly always.
LlvmValue IterationLogs::sectorOf(const Counted::Access& access, LlvmValue address) {
  llvm::AllocaInst* window = windows_[access.place];
  LlvmValue within = b_.CreateSub(address, b_.CreateLoad(b_.getInt64Ty(), window));
  LlvmValue near = b_.CreateTrunc(b_.CreateUDiv(within, b_.getInt64(kSectorBytes)), b_.getInt32Ty());
  LlvmValue isNear = b_.CreateICmpULT(within, b_.getInt64(rt::kSectorsInWindow * kSectorBytes));
  auto* from = b_.GetInsertBlock();
  auto *far = c_.newBlock("far"), *known = c_.newBlock("sector");
  b_.CreateCondBr(isNear, known, far, llvm::MDBuilder(b_.getContext()).createLikelyBranchWeights());
  b_.SetInsertPoint(far);
  LlvmValue number = c_.helper("ordito_sector_elsewhere", b_.getInt32Ty(),
                               {table_, log_, b_.getInt32(access.place), lane_, now_, address});
  b_.CreateStore(b_.CreateLoad(b_.getInt64Ty(), inLog(layoutOf(*counted_).window(access.place))), window);
  b_.CreateBr(known);
  b_.SetInsertPoint(known);
  auto* phi = b_.CreatePHI(b_.getInt32Ty(), 2, "sector");
  phi->addIncoming(near, from);
  phi->addIncoming(number, far);
  return phi;
}

}  // namespace ordito::jit
