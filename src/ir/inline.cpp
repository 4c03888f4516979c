// PTX passes arguments through .param variables of the call site: the caller stores them, the callee's parameter names
// read the same memory. So inlining renames: the callee's parameter symbols become the caller's variables, its
// registers, labels and variables get fresh numbers, and its `ret` becomes a branch behind the call. A guarded call
// becomes a branch around the body.
#include "ir/inline.hpp"

#include <algorithm>

namespace ordito::ir {
namespace {

using ptx::Operand;
using ptx::Symbol;

class Inliner {
 public:
  explicit Inliner(const ptx::Module& module) : module_(module) {}

  Expected<Inlined> run(const ptx::Function& kernel) {
    kernel_ = &kernel;
    out_ = kernel;
    out_.instructions.clear();
    out_.labels.clear();
    out_.variables.clear();
    out_.registers.clear();
    Scope scope{&kernel, {}, {}, ptx::kNoRegister};
    if (auto ok = copyBody(scope); !ok) return tl::unexpected(ok.error());
    return Inlined{std::move(out_), std::move(origin_)};
  }

 private:
  /// One activation: how names of `callee` map to names of the function being built.
  struct Scope {
    const ptx::Function* callee;
    std::vector<Operand> arguments, returns;
    uint32_t returnLabel;
    uint32_t registerBase = 0, labelBase = 0, variableBase = 0;
  };

  uint32_t indexOf(const ptx::Function* f) const { return static_cast<uint32_t>(f - module_.functions.data()); }

  uint32_t newLabel(std::string name) {
    out_.labels.push_back({std::move(name), 0});
    return static_cast<uint32_t>(out_.labels.size() - 1);
  }

  Expected<> copyBody(Scope scope) {
    const ptx::Function& f = *scope.callee;
    if (std::find(active_.begin(), active_.end(), &f) != active_.end())
      return failWith(801,
                      "kernel '{}', PTX line {}: recursive function '{}' is not supported by the JIT; run with "
                      "ORDITO_ENGINE=interp",
                      kernel_->name, f.line, f.name);
    active_.push_back(&f);
    scope.registerBase = static_cast<uint32_t>(out_.registers.size());
    scope.labelBase = static_cast<uint32_t>(out_.labels.size());
    scope.variableBase = static_cast<uint32_t>(out_.variables.size());
    out_.registers.insert(out_.registers.end(), f.registers.begin(), f.registers.end());
    out_.labels.insert(out_.labels.end(), f.labels.begin(), f.labels.end());
    out_.variables.insert(out_.variables.end(), f.variables.begin(), f.variables.end());
    for (uint32_t i = 0; i < f.variables.size(); ++i) origin_.push_back({indexOf(&f), i});

    size_t nextLabel = 0;
    std::vector<uint32_t> order(f.labels.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return std::pair(f.labels[a].instruction, a) < std::pair(f.labels[b].instruction, b);
    });
    auto placeLabels = [&](size_t upTo) {
      for (; nextLabel < order.size() && f.labels[order[nextLabel]].instruction <= upTo; ++nextLabel)
        out_.labels[scope.labelBase + order[nextLabel]].instruction = here();
    };
    for (size_t i = 0; i < f.instructions.size(); ++i) {
      placeLabels(i);
      if (auto ok = copyInstruction(scope, f.instructions[i]); !ok) return ok;
    }
    placeLabels(f.instructions.size());
    active_.pop_back();
    return {};
  }

  uint32_t here() const { return static_cast<uint32_t>(out_.instructions.size()); }

  Expected<> copyInstruction(const Scope& scope, const ptx::Instruction& original) {
    ptx::Instruction inst = original;
    if (inst.guard) inst.guard.reg += scope.registerBase;
    for (Operand& operand : inst.operands) rename(scope, operand);
    if (inst.op == isa::Op::Ret && scope.returnLabel != ptx::kNoRegister) {
      out_.instructions.push_back(branch(inst.guard, false, scope.returnLabel, inst));
      return {};
    }
    if (inst.op == isa::Op::Call) return copyCall(inst);
    out_.instructions.push_back(std::move(inst));
    return {};
  }

  Expected<> copyCall(const ptx::Instruction& inst) {
    const Operand& target = inst.operands[1];
    if (target.kind != Operand::Kind::Symbol)
      return failWith(
          801, "kernel '{}', PTX line {}: an indirect call is not supported by the JIT; run with ORDITO_ENGINE=interp",
          kernel_->name, inst.line);
    const ptx::Function& callee = module_.functions[target.symbol.index];
    if (!callee.hasBody) {
      out_.instructions.push_back(inst);
      return {};
    }
    if (callee.isEntry)
      return failWith(801, "kernel '{}', PTX line {}: launching kernel '{}' from a kernel is not supported yet",
                      kernel_->name, inst.line, callee.name);
    uint32_t after = newLabel("after_" + callee.name);
    if (inst.guard) out_.instructions.push_back(branch(inst.guard, true, after, inst));
    for (const auto* list : {&callee.parameters, &callee.returns})
      for (const ptx::Parameter& parameter : *list)
        if (parameter.isRegister)
          return failWith(801,
                          "kernel '{}', PTX line {}: function '{}' has a .reg parameter, which the JIT does not "
                          "support; declare it .param",
                          kernel_->name, inst.line, callee.name);
    Scope inner{&callee, inst.operands[2].elements, inst.operands[0].elements, after};
    if (inner.arguments.size() != callee.parameters.size() || inner.returns.size() != callee.returns.size())
      return fail("kernel '{}', PTX line {}: call of '{}' with {} arguments and {} results; it has {} and {}",
                  kernel_->name, inst.line, callee.name, inner.arguments.size(), inner.returns.size(),
                  callee.parameters.size(), callee.returns.size());
    if (auto ok = copyBody(inner); !ok) return ok;
    out_.labels[after].instruction = here();
    return {};
  }

  static ptx::Instruction branch(ptx::Guard guard, bool invert, uint32_t label, const ptx::Instruction& from) {
    ptx::Instruction bra;
    bra.op = isa::Op::Bra;
    bra.guard = guard;
    if (invert) bra.guard.negated = !bra.guard.negated;
    bra.line = from.line;
    bra.location = from.location;
    Operand operand;
    operand.kind = Operand::Kind::Label;
    operand.label = label;
    bra.operands.push_back(operand);
    return bra;
  }

  void rename(const Scope& scope, Operand& operand) {
    if (operand.reg != ptx::kNoRegister) operand.reg += scope.registerBase;
    if (operand.kind == Operand::Kind::Label) operand.label += scope.labelBase;
    for (Operand& element : operand.elements) rename(scope, element);
    if (operand.symbol.kind == Symbol::Kind::LocalVariable) operand.symbol.index += scope.variableBase;
    if (scope.returnLabel == ptx::kNoRegister) return;  // the kernel's own parameters keep their names
    if (operand.symbol.kind == Symbol::Kind::Parameter) bind(operand, scope.arguments[operand.symbol.index]);
    if (operand.symbol.kind == Symbol::Kind::ReturnParameter) bind(operand, scope.returns[operand.symbol.index]);
  }

  /// `operand` names a parameter of the callee; `actual` is what the call site passes for it.
  static void bind(Operand& operand, const Operand& actual) {
    operand.symbol = actual.symbol;
    operand.offset += actual.offset;
    if (actual.kind == Operand::Kind::Register) operand.reg = actual.reg;
  }

  const ptx::Module& module_;
  const ptx::Function* kernel_ = nullptr;
  ptx::Function out_;
  std::vector<std::pair<uint32_t, uint32_t>> origin_;
  std::vector<const ptx::Function*> active_;
};

}  // namespace

Expected<Inlined> inlineCalls(const ptx::Module& module, const ptx::Function& kernel) {
  return Inliner(module).run(kernel);
}

}  // namespace ordito::ir
