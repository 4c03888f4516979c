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
    if (isMeeting && accesses.empty()) return forms_.isAlike(b, i) && isNamedAlike(i);
    const bool isCopy = i.op == isa::Op::CpAsync || i.op == isa::Op::CpAsyncCommit || i.op == isa::Op::CpAsyncWait ||
                        i.op == isa::Op::CpAsyncWaitAll;
    if (effect == isa::Effect::Call || effect == isa::Effect::Fence || i.info().unit == isa::Unit::Sync)
      if (!isCopy) return false;
    if (isCopy && accesses.empty()) return forms_.isAlike(b, i);
    if (accesses.empty()) return true;
    if (std::ranges::all_of(accesses, [](const auto& m) { return m.space == ptx::Space::Param; })) return true;
    return forms_.isAlike(b, i) && takeAccesses(i, accesses);
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
    return step && plan_.sites.try_emplace(i.line, *step).first->second == *step;
  }

  /// Where no operand shifts the guard says nothing.
  bool takeGuard(const ir::Instruction& i, const ir::GuardOperands& what) {
    const BlockForm a = forms_.formOf(i.operands[what.a]), b = forms_.formOf(i.operands[what.b]);
    if (a.kind != BlockForm::Kind::Shifted || b.kind != BlockForm::Kind::Shifted) return true;
    const ProofPlan::Guard guard{what, a.step, what.a == what.b ? BlockStep{} : b.step};
    const auto& known = plan_.guards.try_emplace(i.line, guard).first->second;
    return known.a == guard.a && known.b == guard.b && known.what.kind == what.kind;
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
  if (plan)
    std::erase_if(plan->guards, [](const auto& g) { return g.second.a == BlockStep{} && g.second.b == BlockStep{}; });
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
  if (difference < 0) below_ = std::max(below_, difference);
  if (difference > 0) above_ = std::min(above_, difference);
}

/// Do the operands stay numbers of their type? Of 64 bits a quarter on each side is never used.
bool Margin::staysInside(isa::Type type, int64_t a, int64_t b) const {
  constexpr int64_t kHuge = INT64_C(1) << 62;
  const bool isWide = isa::bits(type) == 64, isSigned = isa::isSigned(type);
  const int64_t low = isWide     ? -kHuge
                      : isSigned ? INT32_MIN
                                 : 0,
                high = isWide     ? kHuge
                       : isSigned ? INT32_MAX
                                  : int64_t{UINT32_MAX};
  const auto is = [&](int64_t from, int64_t to, int64_t by) {
    if (by == 0 && !isWide) return true;
    return from >= -kHuge && to <= kHuge && by >= -kHuge && by <= kHuge && from + by >= low && to + by <= high;
  };
  return is(lowA_, highA_, a) && is(lowB_, highB_, b);
}

bool Margin::holds(const ir::GuardOperands& what, int64_t a, int64_t b) const {
  if (lowA_ > highA_) return true;  // nobody came there
  if (what.kind == GuardKind::Or) {
    const auto isFree = [](int64_t by, uint64_t others) {
      const int width = std::bit_width(others);
      return by == 0 || (width < 64 && (static_cast<uint64_t>(by) & ((uint64_t{1} << width) - 1)) == 0);
    };
    return !overlaps_ && isFree(a, bitsOfB_) && isFree(b, bitsOfA_);
  }
  if (!staysInside(what.type, a, b)) return false;
  if (what.kind == GuardKind::Widen) return true;
  const int64_t by = a - b;
  const bool staysBelow = below_ == INT64_MIN || below_ + by < (what.kind == GuardKind::LessOrEqual ? 1 : 0);
  const bool staysAbove = above_ == INT64_MAX || above_ + by > (what.kind == GuardKind::Less ? -1 : 0);
  if (!isZero_) return staysBelow && staysAbove;
  if (what.kind == GuardKind::Equal) return by == 0;
  return staysBelow && staysAbove && (what.kind == GuardKind::Less ? by >= 0 : by <= 0);
}

}  // namespace ordito::check
