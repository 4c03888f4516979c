// See proof_plan.hpp.
#include "check/proof_plan.hpp"

#include <algorithm>
#include <bit>

#include "ptx/operands.hpp"

namespace ordito::check {

using ir::BlockForm;
using ir::BlockForms;
using ir::BlockStep;
using GuardKind = ir::GuardOperands::Kind;

namespace {

/// Fills a plan from a kernel; refuses what it cannot answer for.
class Planner {
 public:
  Planner(const ir::Function& f, const ir::LaunchNumbers& launch) : f_(f), forms_(f, launch) {}

  std::optional<ProofPlan> run() {
    for (ir::BlockId b = 0; b < f_.blocks.size(); ++b) {
      for (const ir::Instruction& i : f_.blocks[b].code)
        if (!take(b, i)) return std::nullopt;
      const bool meets = f_.blocks[b].end.kind == ir::Terminator::Kind::Barrier;
      if (meets && (forms_.isVarying(b) || !isSame(f_.blocks[b].end.barrier))) return std::nullopt;
    }
    return std::move(plan_);
  }

 private:
  bool take(ir::BlockId b, const ir::Instruction& i) {
    const isa::Effect effect = i.info().effect;
    if (const auto guard = ir::guardOperands(i)) return takeGuard(i, guard);
    const bool isMeeting = i.info().form.memberMask >= 0 || effect == isa::Effect::Warp;
    const ptx::MemoryAccesses accesses(i);
    const auto isPlain = [](const ptx::MemoryAccess& m) {
      return m.space == ptx::Space::Global || m.space == ptx::Space::Param || m.space == ptx::Space::Const;
    };
    plan_.usesGlobalAlone &= !isMeeting && std::ranges::all_of(accesses, isPlain);
    if (isMeeting && accesses.empty()) return forms_.isAlike(b, i) && isNamedAlike(i);
    const bool isCopy = i.op == isa::Op::CpAsync || i.op == isa::Op::CpAsyncCommit || i.op == isa::Op::CpAsyncWait ||
                        i.op == isa::Op::CpAsyncWaitAll;
    if (effect == isa::Effect::Call || effect == isa::Effect::Fence || i.info().unit == isa::Unit::Sync)
      if (!isCopy) return false;
    if (isCopy && accesses.empty()) return forms_.isAlike(b, i);
    if (accesses.empty()) return true;
    if (std::ranges::all_of(accesses, [](const auto& m) { return m.space == ptx::Space::Param; })) return true;
    return (forms_.isAlike(b, i) && takeAccesses(i, accesses)) || takeOpen(b, i, accesses);
  }

  /// Whoever calls inlined functions has lines of several.
  bool takeOpen(ir::BlockId b, const ir::Instruction& i, const ptx::MemoryAccesses& accesses) {
    using Kind = ptx::MemoryAccess::Kind;
    const ptx::MemoryAccess& m = *accesses.begin();
    const bool isOfKernel =
        std::ranges::find(f_.kernel->instructions, i.line, &ptx::Instruction::line) != f_.kernel->instructions.end();
    if (accesses.size() > 1 || m.pattern != ptx::MemoryAccess::Pattern::Lanes || m.isAsync || !isOfKernel) return false;
    const bool isAtomic = m.kind == Kind::Atomic || m.kind == Kind::Reduction;
    if (m.space == ptx::Space::Shared) {
      if (!forms_.isAlike(b, i)) return false;
    } else if (isAtomic && forms_.isVarying(b)) {
      return false;  // it may wait for another block
    } else if ((m.space != ptx::Space::Global && m.space != ptx::Space::Const) || m.kind == Kind::Store) {
      return false;
    }
    return !plan_.sites.contains(i.line) && plan_.open.try_emplace(i.line, isAtomic).first->second == isAtomic;
  }

  bool takeAccesses(const ir::Instruction& i, const ptx::MemoryAccesses& accesses) {
    std::optional<BlockStep> step;
    for (const ptx::MemoryAccess& m : accesses) {
      const BlockForm form = forms_.formOf(i.operands[m.operand]);
      if (m.pattern == ptx::MemoryAccess::Pattern::Image || form.kind != BlockForm::Kind::Shifted) return false;
      if (m.space == ptx::Space::Shared || m.space == ptx::Space::Local) {
        if (!form.isSame()) return false;
        if (accesses.size() > 1) continue;
      }
      if (step) return false;
      step = form.step;
    }
    return step && !plan_.open.contains(i.line) && plan_.sites.try_emplace(i.line, *step).first->second == *step;
  }

  bool takeGuard(const ir::Instruction& i, const ir::GuardOperands& what) {
    ProofPlan::Guard guard{what, forms_.formOf(i.operands[what.a]).shifts(), {BlockStep{}}};
    if (what.a != what.b) guard.b = forms_.formOf(i.operands[what.b]).shifts();
    if (guard.a.empty() || guard.b.empty()) return true;
    return plan_.guards.try_emplace(i.line, guard).first->second == guard;
  }

  bool isNamedAlike(const ir::Instruction& i) const {
    const int8_t mask = i.info().form.memberMask;
    return mask < 0 || forms_.formOf(i.operands[static_cast<size_t>(mask)]).isSame();
  }
  /// Its number and its threads; what it reduces may be anything.
  bool isSame(const ir::Instruction& barrier) const {
    const auto forms = barrier.info().form.operandList();
    for (size_t k = 0; k < barrier.operands.size() && k < forms.size(); ++k)
      if ((forms[k].name == "a" || forms[k].name == "b") && !forms_.formOf(barrier.operands[k]).isSame()) return false;
    return true;
  }

  const ir::Function& f_;
  const BlockForms forms_;
  ProofPlan plan_;
};

}  // namespace

int64_t distance(const BlockStep& step, const BlockNumber& from, const BlockNumber& to) {
  int64_t sum = 0;
  for (size_t d = 0; d < step.size(); ++d) sum += step[d] * (int64_t{to[d]} - int64_t{from[d]});
  return sum;
}

std::optional<ProofPlan> ProofPlan::of(const machine::LaunchEvent& launch) {
  auto function = ir::buildCfg(launch.module, launch.function);
  if (!function) return std::nullopt;
  ir::buildSsa(*function);
  const ir::LaunchNumbers numbers{.grid = {launch.grid.x, launch.grid.y, launch.grid.z},
                                  .block = {launch.block.x, launch.block.y, launch.block.z},
                                  .parameters = launch.parameters};
  auto plan = Planner(*function, numbers).run();
  const std::vector<BlockStep> none{BlockStep{}};  // where nothing is shifted a guard says nothing
  if (plan) plan->function = &launch.function;
  if (plan) std::erase_if(plan->guards, [&](const auto& g) { return g.second.a == none && g.second.b == none; });
  return plan;
}

void Margin::add(GuardKind kind, int64_t a, int64_t b) {
  lowA_ = std::min(lowA_, a), highA_ = std::max(highA_, a);
  lowB_ = std::min(lowB_, b), highB_ = std::max(highB_, b);
  if (kind == GuardKind::Or) {
    bitsOfA_ |= static_cast<uint64_t>(a), bitsOfB_ |= static_cast<uint64_t>(b);
    overlaps_ |= (a & b) != 0;
    return;
  }
  const int64_t difference = static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  isZero_ |= difference == 0;
  if (difference < 0) below_ = std::max(below_.value_or(difference), difference);
  if (difference > 0) above_ = std::min(above_.value_or(difference), difference);
}

void Margin::addLimits(const ProofPlan::Guard& guard, std::vector<Limit>& limits) const {
  if (lowA_ > highA_) return;  // nobody came there
  for (const BlockStep& a : guard.a)
    for (const BlockStep& b : guard.b) addLimits(guard.what, a, b, limits);
}

/// The operands stay numbers of their type, of 64 bits in its middle half; the difference keeps its sign. Operands of
/// an `or` stay apart if one is shifted by multiples of more than the other has.
void Margin::addLimits(const ir::GuardOperands& what, const BlockStep& a, const BlockStep& b,
                       std::vector<Limit>& limits) const {
  constexpr int64_t kHuge = INT64_C(1) << 61;
  if (what.kind == GuardKind::Or) {
    const auto keep = [&](const BlockStep& step, uint64_t others) {
      const uint64_t mask = std::bit_width(others) > 62 ? ~uint64_t{0} : std::bit_ceil(others + 1) - 1;
      const bool isFree =
          std::ranges::all_of(step, [&](int64_t by) { return (static_cast<uint64_t>(by) & mask) == 0; });
      if (!isFree || overlaps_) limits.push_back({step, 0, 0});
    };
    return keep(a, bitsOfB_), keep(b, bitsOfA_);
  }
  const bool isWide = isa::bits(what.type) == 64, isSigned = isa::isSigned(what.type);
  const int64_t least = !isSigned ? 0
                        : isWide  ? -kHuge
                                  : INT32_MIN,
                most = isWide     ? kHuge
                       : isSigned ? INT32_MAX
                                  : int64_t{UINT32_MAX};
  const auto stay = [&](const BlockStep& step, int64_t low, int64_t high) {
    if (low < least || high > most)
      limits.push_back({step, 0, 0});
    else if (step != BlockStep{})
      limits.push_back({step, least - low, most - high});
  };
  stay(a, lowA_, highA_), stay(b, lowB_, highB_);
  // Who is outside of that middle is not shifted, and nobody in it gets past him.
  const bool isFar = isWide && (std::min(lowA_, lowB_) < -kHuge || std::max(highA_, highB_) > kHuge);
  if (what.kind == GuardKind::Widen || isFar) return;
  BlockStep step = a;
  for (size_t d = 0; d < step.size(); ++d) step[d] -= b[d];
  if (step == BlockStep{}) return;
  Limit limit{step, INT64_MIN, INT64_MAX};
  if (below_) limit.high = -*below_ - (what.kind == GuardKind::LessOrEqual ? 0 : 1);
  if (above_) limit.low = -*above_ + (what.kind == GuardKind::Less ? 0 : 1);
  if (isZero_ && what.kind != GuardKind::Less) limit.high = std::min<int64_t>(limit.high, 0);
  if (isZero_ && what.kind != GuardKind::LessOrEqual) limit.low = std::max<int64_t>(limit.low, 0);
  limits.push_back(limit);
}

}  // namespace ordito::check
