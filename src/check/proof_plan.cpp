// See proof_plan.hpp.
#include "check/proof_plan.hpp"

#include <algorithm>

#include "check/covers.hpp"
#include "check/inside.hpp"
#include "ptx/operands.hpp"

namespace ordito::check {

using ir::BlockForm;
using ir::BlockForms;
using ir::BlockStep;

namespace {

/// Fills a plan from a kernel; refuses what it cannot answer for.
class Planner {
 public:
  Planner(const ir::Function& f, const ir::LaunchNumbers& launch)
      : f_(f), forms_(f, launch), covers_(f, forms_), inside_(f, launch.block) {
    findExtremes();
  }

  std::optional<ProofPlan> run() {
    for (ir::BlockId b = 0; b < f_.blocks.size(); ++b) {
      for (size_t k = 0; k < f_.blocks[b].code.size(); ++k)
        if (!take(b, k)) return std::nullopt;
      const bool meets = f_.blocks[b].end.kind == ir::Terminator::Kind::Barrier;
      if (meets && (forms_.isVarying(b) || !isSame(f_.blocks[b].end.barrier))) return std::nullopt;
    }
    return std::move(plan_);
  }

 private:
  bool take(ir::BlockId b, size_t number) {
    const ir::Instruction& i = f_.blocks[b].code[number];
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
    if (i.info().unit == isa::Unit::Texture && effect == isa::Effect::Load) return takeFetch(i);
    return (forms_.isAlike(b, i) && takeAccesses(i, accesses)) || takeOpen(b, i, accesses) || takeCovered(b, number);
  }

  /// Whoever calls inlined functions has lines of several.
  bool isOfKernel(const ir::Instruction& i) const {
    return std::ranges::find(f_.kernel->instructions, i.line, &ptx::Instruction::line) != f_.kernel->instructions.end();
  }

  /// The texture unit keeps coordinates in the image, however often it is asked.
  bool takeFetch(const ir::Instruction& i) {
    const ptx::MemoryAccesses accesses(i);
    if (accesses.begin()->kind != ptx::MemoryAccess::Kind::Load || i.operands.size() < 3) return false;
    const ptx::Operand& place = i.operands[accesses.begin()->operand];
    if (!place.is(ptx::Operand::Kind::Vector) || !isOfKernel(i)) return false;
    const auto handle = forms_.formOf(place.elements[0]).number;
    if (!handle || plan_.sites.contains(i.line)) return false;
    const auto number = static_cast<uint64_t>(*handle);
    return plan_.textures.try_emplace(i.line, number).first->second == number;
  }

  bool takeOpen(ir::BlockId b, const ir::Instruction& i, const ptx::MemoryAccesses& accesses) {
    using Kind = ptx::MemoryAccess::Kind;
    const ptx::MemoryAccess& m = *accesses.begin();
    if (accesses.size() > 1 || m.pattern != ptx::MemoryAccess::Pattern::Lanes || m.isAsync || !isOfKernel(i))
      return false;
    const bool isAtomic = m.kind == Kind::Atomic || m.kind == Kind::Reduction;
    if (m.space == ptx::Space::Shared) {
      if (!forms_.isAlike(b, i)) return false;
    } else if (isAtomic && forms_.isVarying(b)) {
      return false;  // it may wait for another block
    } else if ((m.space != ptx::Space::Global && m.space != ptx::Space::Const) || m.kind == Kind::Store) {
      return false;
    }
    if (plan_.covered.contains(i.line)) return false;
    const bool isShared = m.space == ptx::Space::Shared;
    if (!isShared || !inside_.contains(i.operands[m.operand], m.bytes)) plan_.told.insert(i.line);
    return !plan_.sites.contains(i.line) && plan_.open.try_emplace(i.line, isAtomic).first->second == isAtomic;
  }

  bool takeCovered(ir::BlockId b, size_t number) {
    const ir::Instruction& i = f_.blocks[b].code[number];
    const ptx::MemoryAccesses accesses(i);
    const ptx::MemoryAccess& m = accesses[0];
    if (m.space != ptx::Space::Shared || !forms_.formOf(i.operands[m.operand]).isSame() || isTaken(i.line))
      return false;
    const auto covering = covers_.of(b, number);
    if (!covering) return false;
    plan_.covered.insert(i.line);
    if (m.kind == ptx::MemoryAccess::Kind::Store)
      for (const ir::Instruction* const c : *covering) plan_.covering.insert(c->line);
    return true;
  }
  /// By another instance of the same line.
  bool isTaken(uint32_t line) const { return plan_.sites.contains(line) || plan_.open.contains(line); }

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
    if (!step || plan_.open.contains(i.line) || plan_.covered.contains(i.line)) return false;
    return plan_.sites.try_emplace(i.line, *step).first->second == *step;
  }

  bool takeGuard(const ir::Instruction& i, const ir::GuardOperands& what) {
    Guard guard{what, termOf(i.operands[what.a], what, 0), {.shifts = {BlockStep{}}}};
    if (what.a != what.b) guard.b = termOf(i.operands[what.b], what, 0);
    if (guard.a.shifts.empty() || guard.b.shifts.empty()) return true;
    return plan_.guards.try_emplace(i.line, guard).first->second == guard;
  }

  /// Minima and maxima whose operands are told by a line of their own.
  void findExtremes() {
    std::unordered_map<uint32_t, size_t> count;
    for (const ir::Block& block : f_.blocks)
      for (const ir::Instruction& i : block.code) ++count[i.line];
    for (const ir::Block& block : f_.blocks)
      for (const ir::Instruction& i : block.code)
        if ((i.op == isa::Op::Min || i.op == isa::Op::Max) && !i.guard && count[i.line] == 1 && ir::guardOperands(i) &&
            i.operands[0].is(ptx::Operand::Kind::Register))
          extremes_.try_emplace(i.operands[0].reg, &i);
  }

  Term termOf(const ptx::Operand& operand, const ir::GuardOperands& guard, unsigned depth) {
    constexpr unsigned kDeepest = 3;
    const BlockForm form = forms_.formOf(operand);
    Term term{.shifts = form.shifts()};
    if (form.kind != BlockForm::Kind::Between || !operand.is(ptx::Operand::Kind::Register) || depth == kDeepest)
      return term;
    const auto found = extremes_.find(operand.reg);
    if (found == extremes_.end() || found->second->type[0] != guard.type) return term;
    const ir::Instruction& chooses = *found->second;
    std::vector<Term> of{termOf(chooses.operands[1], guard, depth + 1), termOf(chooses.operands[2], guard, depth + 1)};
    if (of[0].shifts.empty() || of[1].shifts.empty()) return term;
    term.kind = chooses.op == isa::Op::Max ? Term::Kind::Greatest : Term::Kind::Least;
    term.line = chooses.line, term.of = std::move(of);
    plan_.chosen.insert(chooses.line);
    return term;
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
  const Covers covers_;
  const Inside inside_;
  std::unordered_map<ir::ValueId, const ir::Instruction*> extremes_;  // by what they define
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
  if (plan)
    std::erase_if(plan->guards, [&](const auto& g) { return g.second.a.shifts == none && g.second.b.shifts == none; });
  return plan;
}

}  // namespace ordito::check
