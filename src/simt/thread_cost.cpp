// See thread_cost.hpp.
#include "simt/thread_cost.hpp"

#include <algorithm>
#include <cstdlib>

#include "simt/access_plan.hpp"

namespace ordito::simt {
namespace {

using isa::Op;
using ptx::Operand;

/// Is it a sequence of many instructions, or a call, which takes a vector as it takes a number?
bool isLong(const Instruction& i) {
  switch (i.op) {
    case Op::Div:
    case Op::Rem:
    case Op::DivF:
    case Op::Rcp:
    case Op::Sqrt:
    case Op::Rsqrt:
    case Op::Sin:
    case Op::Cos:
    case Op::Lg2:
    case Op::Ex2:
    case Op::Tanh: return true;
    default: return false;
  }
}

bool definesGeneral(const Instruction& i, const ir::Shapes& shapes) {
  bool general = false;
  ir::forEachDefinition(i, [&](ValueId v, unsigned) { general |= shapes[v].isGeneral(); });
  return general;
}

}  // namespace

ThreadCost ThreadCosts::of(const ir::Loop& loop) const {
  ThreadCost cost;
  for (BlockId b = 0; b < f_.blocks.size(); ++b) {
    if (!loop.contains(b)) continue;
    const Share share = shareOf(b, loop);
    for (const Instruction& i : f_.blocks[b].code) {
      const ptx::MemoryAccesses accesses(i);
      for (const ptx::MemoryAccess& m : accesses) addAccess(cost, i, m, b, share);
      if (accesses.empty()) addArithmetic(cost, i, share);
    }
    addBranch(cost, b, share);
  }
  return cost;
}

ThreadCosts::Share ThreadCosts::shareOf(BlockId block, const ir::Loop& loop) const {
  Share share{1, kLanes};
  for (uint32_t k : nest_.around(block)) {
    const ir::Loop& around = nest_.loops()[k];
    if (!loop.contains(around.header)) continue;
    if (around.header != loop.header) share.iterations *= cost::kInnerIterations;
    if (partsLanes(around)) share.lanes *= cost::kBusyLanes / 100.0;
  }
  return share;
}

/// Do lanes leave the loop at different times?
bool ThreadCosts::partsLanes(const ir::Loop& loop) const {
  for (BlockId b = 0; b < f_.blocks.size(); ++b)
    if (loop.contains(b) && shapes_.isDivergent(b) && leaves(b, loop)) return true;
  return false;
}

bool ThreadCosts::leaves(BlockId b, const ir::Loop& loop) const {
  const ir::Terminator& end = f_.blocks[b].end;
  return std::any_of(end.target.begin(), end.target.begin() + end.targetCount(),
                     [&](BlockId to) { return !loop.contains(to); });
}

/// Does each thread read on at `address`, one thread not where another does?
bool ThreadCosts::isWalk(ValueId address, BlockId block) const {
  const auto step = stepOf(address, block);
  return step && *step != 0 && std::abs(*step) <= cost::kWalkedBytes;
}

std::optional<int64_t> ThreadCosts::stepOf(ValueId address, BlockId block) const {
  if (nest_.around(block).empty()) return std::nullopt;
  return advance(address, nest_.loops()[nest_.around(block).back()], cost::kTracedDefinitions);
}

/// How many bytes `v` moves in each iteration; nothing if that is no constant.
std::optional<int64_t> ThreadCosts::advance(ValueId v, const ir::Loop& loop, unsigned depth) const {
  const ir::Definition& d = definitions_[v];
  if (d.kind == ir::Definition::Kind::None || !loop.contains(d.block)) return 0;
  if (depth == 0) return std::nullopt;
  if (d.phi) return d.block == loop.header ? counterStep(v, *d.phi, loop) : std::nullopt;
  const Instruction* i = definitions_.decisive(v);
  const ir::Sum sum = i ? ir::sumOf(*i) : ir::Sum{};
  if (sum.count == 0) return std::nullopt;
  int64_t total = 0;
  for (const ir::Term& t : sum) {
    const auto step = advance(*t.value, loop, depth - 1);
    const auto other = t.factor ? advance(*t.factor, loop, depth - 1) : 0;
    const auto factor = t.constantFactor();
    if (!step || !other || *other != 0 || (*step != 0 && !factor)) return std::nullopt;
    if (*step != 0) total += (sum.subtracts && &t != sum.begin() ? -1 : 1) * *factor * *step;
  }
  return total;
}

std::optional<int64_t> ThreadCosts::advance(const Operand& o, const ir::Loop& loop, unsigned depth) const {
  return o.kind == Operand::Kind::Register ? advance(o.reg, loop, depth) : 0;
}

/// phi(start, phi + constant), the same constant on all ways back.
std::optional<int64_t> ThreadCosts::counterStep(ValueId v, const ir::Phi& phi, const ir::Loop& loop) const {
  std::optional<int64_t> step;
  for (size_t p = 0; p < phi.incoming.size(); ++p) {
    if (!loop.contains(f_.blocks[loop.header].predecessors[p])) continue;
    const auto added = constantAdded(phi.incoming[p], v);
    if (!added || (step && *step != *added)) return std::nullopt;
    step = added;
  }
  return step;
}

std::optional<int64_t> ThreadCosts::constantAdded(ValueId sum, ValueId v) const {
  const Instruction* add = definitions_.decisive(sum);
  if (!add || add->op != Op::Add) return std::nullopt;
  for (size_t k : {size_t{1}, size_t{2}})
    if (add->operands[k].kind == Operand::Kind::Register && add->operands[k].reg == v &&
        add->operands[3 - k].kind == Operand::Kind::Integer) {
      const unsigned unused = 64 - isa::bits(add->type[0]);
      return static_cast<int64_t>(add->operands[3 - k].bits << unused) >> unused;
    }
  return std::nullopt;
}

void ThreadCosts::addAccess(ThreadCost& cost, const Instruction& i, const ptx::MemoryAccess& m, BlockId block,
                            Share share) const {
  const Operand& o = i.operands[m.operand];
  const AddressForm form = addressForm(f_, shapes_, i, m.operand);
  const double words = std::max(1.0, m.bytes / 4.0);
  double vector = form.isSegmented() && form.patternless() ? cost::kScalarAccess : cost::kVectorAccess * words;
  if (!form.isSegmented()) vector = cost::kScatteredAccess * words;
  const bool walks = !form.isSegmented() && o.reg != ir::kNoValue && isWalk(o.reg, block);
  cost.walks += walks;
  cost.scattered += !form.isSegmented();
  cost.asVectors += share.iterations * vector;
  cost.byThread += share.iterations * share.lanes * cost::kScalarAccess;
}

void ThreadCosts::addArithmetic(ThreadCost& cost, const Instruction& i, Share share) const {
  const bool isWide = isa::bits(i.type[0]) == 64;
  const double vector = cost::kVectorOperation * (isWide ? 2 : 1) * (processor_.avx512 ? 1 : 2);
  const double times = isLong(i) ? cost::kLongOperation : 1;
  cost.asVectors += share.iterations * times * (definesGeneral(i, shapes_) ? vector : cost::kScalarOperation);
  // A call for one number takes as long as one for a vector of sixteen.
  cost.byThread += share.iterations * share.lanes * times * cost::kScalarOperation;
}

/// A branch that lanes do not take alike costs masks, and a processor that runs one after the other a wrong guess here
/// and there.
void ThreadCosts::addBranch(ThreadCost& cost, BlockId block, Share share) const {
  if (f_.blocks[block].end.kind != ir::Terminator::Kind::Branch) return;
  const bool parts = shapes_.isDivergent(block);
  cost.asVectors += share.iterations * (parts ? cost::kMaskedBranch : cost::kScalarOperation);
  cost.byThread += share.iterations * share.lanes *
                   (cost::kScalarOperation + (parts ? double{cost::kWrongGuess} / cost::kGuesses : 0));
}

}  // namespace ordito::simt
