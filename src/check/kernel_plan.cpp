// See kernel_plan.hpp.
#include "check/kernel_plan.hpp"

#include <algorithm>
#include <bit>
#include <map>

#include "ir/analyses.hpp"
#include "ir/spin_loops.hpp"
#include "machine/memory_order.hpp"
#include "ptx/operands.hpp"
#include "ptx/roots.hpp"
#include "ptx/source_lines.hpp"

namespace ordito::check {

namespace {

using isa::Effect;
using isa::Op;
using ptx::Space;

/// A call of a function that computes; others are seen from outside.
bool isMath(const ptx::Module& module, const ir::Instruction& i) {
  const ptx::Symbol& callee = i.operands[1].symbol;
  return callee.kind == ptx::Symbol::Kind::Function && module.functions[callee.index].name.starts_with("__nv_");
}

bool canRunAgain(const ptx::Module& module, const ir::Function& f) {
  return std::ranges::all_of(f.blocks, [&](const ir::Block& block) {
    return std::ranges::all_of(block.code, [&](const ir::Instruction& i) {
      const bool isImage = i.info().unit == isa::Unit::Texture && i.info().effect != Effect::Load;
      return !isImage && (i.info().effect != Effect::Call || isMath(module, i));
    });
  });
}

/// Does it wait for what the host or a later launch does? Whoever listens lets them in. `f` gets SSA form.
bool waitsForOthers(ir::Function& f) {
  ir::buildSsa(f);
  const ir::Analyses analyses(f);
  const ir::SpinLoops loops = ir::findSpinLoops(f, analyses.graph(), analyses.definitions());
  return loops.polls || !loops.spins.empty();
}

bool goesRound(const ir::Function& f) {
  for (ir::BlockId b = 0; b < f.blocks.size(); ++b)
    for (unsigned k = 0; k < f.blocks[b].end.targetCount(); ++k)
      if (f.blocks[b].end.target[k] <= b) return true;
  return false;
}

/// Fills a plan from a kernel.
class Planner {
 public:
  Planner(const ptx::Module& module, const ir::Function& f) : module_(module), f_(f) {}

  std::optional<TrialPlan> run() {
    for (const ir::Block& block : f_.blocks) {
      for (const ir::Instruction& i : block.code)
        if (!take(i)) return std::nullopt;
      if (block.end.kind == ir::Terminator::Kind::Barrier && !isOfAll(block.end.barrier)) return std::nullopt;
    }
    return std::move(plan_);
  }

 private:
  bool take(const ir::Instruction& i) {
    if (i.op == Op::BarWarpSync) return true;
    switch (i.info().effect) {
      case Effect::Pure:
      case Effect::Warp: return true;
      case Effect::Load:
      case Effect::Store:
      case Effect::Atomic: break;
      case Effect::Call: return isMath(module_, i);
      default: return false;
    }
    const bool isSynchronisation = i.info().unit == isa::Unit::Sync, isImage = i.info().unit == isa::Unit::Texture;
    if (isImage) return i.info().effect == Effect::Load;
    const ptx::MemoryAccesses accesses(i);
    return !isSynchronisation && accesses.size() == 1 && takeAccess(i, accesses[0]);
  }

  bool takeAccess(const ir::Instruction& i, const ptx::MemoryAccess& m) {
    using Pattern = ptx::MemoryAccess::Pattern;
    using Kind = ptx::MemoryAccess::Kind;
    if (m.isAsync || m.pattern == Pattern::Image || m.pattern == Pattern::Matrix) return false;
    if (m.space == Space::Param || m.space == Space::Const || m.space == Space::Local) return true;
    const bool isAtomic = m.kind == Kind::Atomic || m.kind == Kind::Reduction;
    // The host may see by it that the work is done.
    if (isAtomic && machine::memoryScope(i) == machine::MemoryScope::System) return false;
    const unsigned bytes = m.pattern == Pattern::Rows ? 16 : m.bytes;
    if (!std::has_single_bit(bytes) || bytes > 16) return false;
    // A vector of atomic operations is told as one, but each element is atomic by itself.
    if (isAtomic && (std::exchange(atomicBytes_, atomicBytes_ ? atomicBytes_ : bytes) | bytes) != atomicBytes_)
      return false;
    const auto shift = static_cast<unsigned>(std::countr_zero(std::max(bytes, 1u)));
    const bool isShared = m.space == Space::Shared;
    unsigned& least = isShared ? plan_.sharedShift : plan_.globalShift;
    least = std::min(least, shift);
    if (m.space == Space::Generic) plan_.sharedShift = std::min(plan_.sharedShift, shift);
    if (!isShared && m.kind != Kind::Load) {
      const ptx::Located at = ptx::instructionAt(module_, *f_.kernel, i.line);
      plan_.writes.push_back({at.function ? at.function : f_.kernel, i.line});
    }
    return true;
  }

  static bool isOfAll(const ir::Instruction& barrier) {
    if (barrier.op == Op::BarWarpSync) return true;
    if (barrier.info().form.mnemonic.find("cluster") != std::string_view::npos) return false;
    const auto forms = barrier.info().form.operandList();
    for (size_t k = 0; k < barrier.operands.size() && k < forms.size(); ++k) {
      if (barrier.operands[k].kind == ptx::Operand::Kind::None) continue;
      if (forms[k].name == "b") return false;
      if (forms[k].name == "a" && (barrier.operands[k].kind != ptx::Operand::Kind::Integer || barrier.operands[k].bits))
        return false;
    }
    return true;
  }

  const ptx::Module& module_;
  const ir::Function& f_;
  TrialPlan plan_;
  unsigned atomicBytes_ = 0;
};

/// May one of its stores go to a constant variable, by the pointers that its address is made of?
bool storesToConstants(const ptx::Module& module, const ir::Function& function) {
  const auto isConstant = [](const ptx::Variable& v) { return v.space == Space::Const; };
  if (std::ranges::none_of(module.variables, isConstant)) return false;
  std::map<const ptx::Function*, ptx::FunctionRoots> roots;
  const auto mayBeConstant = [&](const ptx::Root& root) {
    return root.kind == ptx::Root::Kind::ModuleVariable && isConstant(module.variables[root.index]);
  };
  const auto mayWriteOne = [&](const ir::Instruction& i) {
    const auto isLoad = [](const ptx::MemoryAccess& m) { return m.kind == ptx::MemoryAccess::Kind::Load; };
    if (std::ranges::all_of(ptx::MemoryAccesses(i), isLoad)) return false;
    const ptx::Located at = ptx::instructionAt(module, *function.kernel, i.line);
    const ptx::Function* const in = at.function ? at.function : function.kernel;
    return std::ranges::any_of(roots.try_emplace(in, *in).first->second.at(i.line), mayBeConstant);
  };
  return std::ranges::any_of(function.blocks,
                             [&](const ir::Block& b) { return std::ranges::any_of(b.code, mayWriteOne); });
}

}  // namespace

std::optional<TrialPlan> TrialPlan::of(const ptx::Module& module, const ir::Function& function) {
  return Planner(module, function).run();
}

KernelPlan KernelPlan::of(const ptx::Module& module, const ptx::Function& kernel) {
  auto function = ir::buildCfg(module, kernel);
  if (!function) return {};
  KernelPlan plan{canRunAgain(module, *function), goesRound(*function), storesToConstants(module, *function),
                  BypassPlan::of(*function), TrialPlan::of(module, *function)};
  if (plan.mayWriteConstants || waitsForOthers(*function)) plan.trial.reset();
  return plan;
}

}  // namespace ordito::check
