// PTX passes arguments through .param variables of the call site: the caller stores them, the callee's parameter names
// read the same memory. So inlining renames: the callee's parameter symbols become the caller's variables, its
// registers, labels and variables get fresh numbers, and its `ret` becomes a branch behind the call. A guarded call
// becomes a branch around the body. The bodies of functions that the kernel has once (ir/call_graph.hpp) follow its
// own.
//
// A device function may take the address of a parameter (mov) and use it as one of local memory (PTX ISA, "Device
// Function Parameters"). The variables of the call site lie there too, so ld.param and st.param at such an address
// become ld.local and st.local.
#include "ir/inline.hpp"

#include <algorithm>
#include <map>

#include "ir/build.hpp"
#include "ir/call_graph.hpp"
#include "ir/ir.hpp"
#include "ir/shared_functions.hpp"
#include "ir/stack.hpp"
#include "ptx/local_objects.hpp"
#include "ptx/reads.hpp"

namespace ordito::ir {
namespace {

using ptx::Operand;
using ptx::Symbol;

class Inliner {
 public:
  Inliner(const ptx::Module& module, bool announces, bool hasZones)
      : module_(module), announces_(announces), hasZones_(hasZones), calls_(callGraph(module)) {}

  Expected<Inlined> run(const ptx::Function& kernel) {
    kernel_ = &kernel;
    once_ = keptOnce(module_, calls_, kernel);
    out_ = kernel;
    out_.instructions.clear();
    out_.labels.clear();
    out_.variables.clear();
    out_.registers.clear();
    Scope scope{&kernel, {}, {}, ptx::kNoRegister};
    if (auto ok = copyBody(scope); !ok) return tl::unexpected(ok.error());
    if (!needed_.empty()) out_.instructions.push_back(plain(isa::Op::Ret, kernel.line));
    std::vector<SharedBody> bodies;
    for (size_t k = 0; k < needed_.size(); ++k) {
      auto body = copyShared(needed_[k]);
      if (!body) return tl::unexpected(body.error());
      bodies.push_back(std::move(*body));
    }
    Stack stack;
    if (!bodies.empty()) stack = lowerCalls(out_, bodies, origin_, hasZones_);
    lowerStack(out_, origin_);
    return Inlined{std::move(out_), std::move(origin_), std::move(stack)};
  }

 private:
  /// One activation: how names of `callee` map to names of the function being built.
  struct Scope {
    const ptx::Function* callee;
    std::vector<Operand> arguments, returns;
    uint32_t returnLabel;
    uint32_t registerBase = 0, labelBase = 0, variableBase = 0;
    const std::vector<uint32_t>* objects =
        nullptr;  // of the callee's instructions, if they are wanted and there are any
  };

  uint32_t indexOf(const ptx::Function* f) const { return static_cast<uint32_t>(f - module_.functions.data()); }

  uint32_t newLabel(std::string name) {
    out_.labels.push_back({std::move(name), 0});
    return static_cast<uint32_t>(out_.labels.size() - 1);
  }

  Expected<> copyBody(Scope scope) {
    const ptx::Function& f = *scope.callee;
    scope.registerBase = static_cast<uint32_t>(out_.registers.size());
    scope.labelBase = static_cast<uint32_t>(out_.labels.size());
    scope.variableBase = static_cast<uint32_t>(out_.variables.size());
    if (hasZones_) scope.objects = objectsOf(f);
    out_.registers.insert(out_.registers.end(), f.registers.begin(), f.registers.end());
    out_.labels.insert(out_.labels.end(), f.labels.begin(), f.labels.end());
    out_.variables.insert(out_.variables.end(), f.variables.begin(), f.variables.end());
    for (uint32_t i = 0; i < f.variables.size(); ++i) origin_.push_back({indexOf(&f), i});

    const bool isCalled = scope.returnLabel != ptx::kNoRegister;
    for (size_t k = 0; isCalled && k < f.parameters.size(); ++k)
      if (f.parameters[k].isRegister)
        access(isa::Op::Ld, f.parameters[k].type, scope.arguments[k], ownRegister(scope, f.parameters[k]), f.line);
    // What a function takes from the stack it gives back when it returns.
    const bool takes = isCalled && usesStack(f);
    Operand top;
    top.kind = Operand::Kind::Register;
    if (takes) {
      top.reg = static_cast<ptx::RegisterId>(out_.registers.size());
      out_.registers.push_back({"%stack", isa::Type::b64});
      keepStack(isa::Op::StackSave, top, f.line);
    }
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
    if (isCalled) out_.labels[scope.returnLabel].instruction = here();
    if (takes) keepStack(isa::Op::StackRestore, top, f.line);
    for (size_t k = 0; isCalled && k < f.returns.size(); ++k)
      if (f.returns[k].isRegister)
        access(isa::Op::St, f.returns[k].type, scope.returns[k], ownRegister(scope, f.returns[k]), f.line);
    return {};
  }

  void keepStack(isa::Op op, const Operand& top, uint32_t line) {
    ptx::Instruction i = plain(op, line);
    i.type[0] = isa::Type::u64;
    i.operands[0] = top;
    out_.instructions.push_back(std::move(i));
  }

  /// A .reg parameter of the scope's function.
  static Operand ownRegister(const Scope& scope, const ptx::Parameter& p) {
    return registerOperand(p.reg + scope.registerBase);
  }

  uint32_t here() const { return static_cast<uint32_t>(out_.instructions.size()); }

  Expected<> copyInstruction(const Scope& scope, const ptx::Instruction& original) {
    ptx::Instruction inst = original;
    inst.isReduction = ptx::isReduction(original, readRegistersOf(*scope.callee));
    if (scope.objects) {
      const uint32_t object = (*scope.objects)[static_cast<size_t>(&original - scope.callee->instructions.data())];
      if (object != ptx::kNoVariable) inst.object = object + scope.variableBase;
    }
    if (inst.guard) inst.guard.reg += scope.registerBase;
    for (Operand& operand : inst.operands) rename(scope, operand);
    if (usesParameterAddress(inst, scope))
      inst.mods[isa::ModifierKind::Space] = isa::modifierValue(isa::ModifierKind::Space, "local");
    if (inst.op == isa::Op::Ret && scope.returnLabel != ptx::kNoRegister) {
      announce(inst);
      out_.instructions.push_back(branch(inst.guard, false, scope.returnLabel, inst));
      return {};
    }
    if (inst.op == isa::Op::BrxIdx) return copyIndexedBranch(scope, inst), Expected<>{};
    if (inst.op == isa::Op::Call) {
      if (isReplaced(inst)) announce(inst);
      return copyCall(inst, *scope.callee);
    }
    out_.instructions.push_back(std::move(inst));
    return {};
  }

  const std::vector<char>& readRegistersOf(const ptx::Function& f) {
    auto [it, isNew] = readRegisters_.try_emplace(&f);
    if (isNew) it->second = ptx::readRegisters(f);
    return it->second;
  }

  /// Null if it has no variables in local memory.
  const std::vector<uint32_t>* objectsOf(const ptx::Function& f) {
    auto [it, isNew] = objects_.try_emplace(&f);
    if (isNew) it->second = ptx::localObjects(f);
    return it->second.empty() ? nullptr : &it->second;
  }

  /// A call of a function with a body, or of one that is known only when the kernel runs.
  bool isReplaced(const ptx::Instruction& call) const {
    const Symbol& target = call.operands[1].symbol;
    return target.kind != Symbol::Kind::Function || module_.functions[target.index].hasBody;
  }

  void announce(const ptx::Instruction& inst) {
    if (announces_) out_.instructions.push_back(announcement(inst));
  }

  /// Does the instruction work with the address of a device function's parameter in a register? In a device function
  /// .param means .param::func (PTX ISA, "ld").
  static bool usesParameterAddress(const ptx::Instruction& i, const Scope& scope) {
    const auto space = i.mods.name(isa::ModifierKind::Space);
    if (space != "param::func" && (space != "param" || scope.returnLabel == ptx::kNoRegister)) return false;
    switch (i.op) {
      case isa::Op::Ld: return i.operands[1].reg != ptx::kNoRegister;
      case isa::Op::St: return i.operands[0].reg != ptx::kNoRegister;
      case isa::Op::Cvta: return i.operands[1].reg != ptx::kNoRegister;
      default: return false;
    }
  }

  /// One comparison for each function of the prototype's form whose address is taken.
  Expected<> copyIndirectCall(const ptx::Instruction& inst, const ptx::Function& caller) {
    const uint32_t after = newLabel("after_call");
    if (inst.guard) out_.instructions.push_back(branch(inst.guard, true, after, inst));
    const Operand& proto = inst.operands[3];
    for (uint32_t f : calls_.targets) {
      if (proto.kind == Operand::Kind::Integer && !matches(caller.prototypes[proto.bits], module_.functions[f]))
        continue;
      const auto isTarget = compare(inst.operands[1], isa::Type::u64, addressOf(f, inst.line), inst.line);
      const uint32_t next = newLabel("next_target");
      out_.instructions.push_back(branch(isTarget, true, next, inst));
      ptx::Instruction direct = made(inst);
      direct.guard = {};
      direct.operands[1] = {};
      direct.operands[1].kind = Operand::Kind::Symbol;
      direct.operands[1].symbol = {Symbol::Kind::Function, f};
      direct.operands[3] = {};
      if (auto ok = copyCall(direct, caller); !ok) return ok;
      out_.instructions.push_back(branch({}, false, after, inst));
      out_.labels[next].instruction = here();
    }
    trap(Terminator::Cause::BadCall, inst.line);
    out_.labels[after].instruction = here();
    return {};
  }

  /// brx.idx: a comparison and a branch for each target.
  void copyIndexedBranch(const Scope& scope, const ptx::Instruction& inst) {
    const uint32_t after = newLabel("no_target");
    announce(inst);
    if (inst.guard) out_.instructions.push_back(branch(inst.guard, true, after, inst));
    const auto& targets = scope.callee->branchTargets[inst.operands[1].bits].labels;
    for (size_t k = 0; k < targets.size(); ++k)
      out_.instructions.push_back(branch(compare(inst.operands[0], isa::Type::u32, integerOperand(k), inst.line), false,
                                         targets[k] + scope.labelBase, inst));
    trap(Terminator::Cause::BadIndex, inst.line);
    out_.labels[after].instruction = here();
  }

  void trap(Terminator::Cause cause, uint32_t line) {
    ptx::Instruction i = plain(isa::Op::Trap, line);
    i.operands.emplace_back();
    i.operands[0].bits = static_cast<uint64_t>(cause);
    out_.instructions.push_back(std::move(i));
  }

  /// mov.u64: a register with the address of a function.
  Operand addressOf(uint32_t function, uint32_t line) {
    out_.registers.push_back({"%function", isa::Type::b64});
    ptx::Instruction i = plain(isa::Op::Mov, line);
    i.type[0] = isa::Type::u64;
    i.operands[0].kind = Operand::Kind::Register;
    i.operands[0].reg = static_cast<ptx::RegisterId>(out_.registers.size() - 1);
    i.operands[1].kind = Operand::Kind::Symbol;
    i.operands[1].symbol = {Symbol::Kind::Function, function};
    out_.instructions.push_back(i);
    return i.operands[0];
  }

  /// setp.eq: a new predicate.
  ptx::Guard compare(const Operand& a, isa::Type type, const Operand& b, uint32_t line) {
    out_.registers.push_back({"%is", isa::Type::pred});
    const auto p = static_cast<ptx::RegisterId>(out_.registers.size() - 1);
    ptx::Instruction i = plain(isa::Op::Setp, line);
    i.mods[isa::ModifierKind::Compare] = isa::modifierValue(isa::ModifierKind::Compare, "eq");
    i.type[0] = type;
    i.operands[0].kind = Operand::Kind::Register;
    i.operands[0].reg = p;
    i.operands[2] = a;
    i.operands[3] = b;
    out_.instructions.push_back(std::move(i));
    return {p, false};
  }

  Expected<> copyCall(const ptx::Instruction& inst, const ptx::Function& caller) {
    const Operand& target = inst.operands[1];
    if (target.kind != Operand::Kind::Symbol) return copyIndirectCall(inst, caller);
    const ptx::Function& callee = module_.functions[target.symbol.index];
    if (!callee.hasBody) {
      out_.instructions.push_back(inst);
      return {};
    }
    if (callee.isEntry)
      return failWith(801, "kernel '{}', PTX line {}: launching kernel '{}' from a kernel is not supported yet",
                      kernel_->name, inst.line, callee.name);
    const auto& arguments = inst.operands[2].elements;
    const auto& results = inst.operands[0].elements;
    if (arguments.size() != callee.parameters.size() ||
        (results.size() != callee.returns.size() && !callee.returns.empty()))
      return fail("kernel '{}', PTX line {}: call of '{}' with {} arguments and {} results; it has {} and {}",
                  kernel_->name, inst.line, callee.name, arguments.size(), results.size(), callee.parameters.size(),
                  callee.returns.size());
    const uint32_t after = newLabel("after_" + callee.name), done = newLabel("done_" + callee.name);
    if (inst.guard) out_.instructions.push_back(branch(inst.guard, true, done, inst));
    ptx::Instruction call = inst;
    call.guard = {};
    // Whatever is passed lies in variables from here on.
    for (size_t k = 0; k < arguments.size(); ++k)
      if (!isVariable(arguments[k])) {
        call.operands[2].elements[k] = newVariable(callee.parameters[k]);
        access(isa::Op::St, callee.parameters[k].type, call.operands[2].elements[k], arguments[k], inst.line);
      }
    // Linkers of PTX look at names only: a module may declare a result that the other module's function does not have.
    if (callee.returns.empty()) call.operands[0].elements.clear();
    const size_t given = call.operands[0].elements.size();
    for (size_t k = 0; k < given; ++k)
      if (!isVariable(results[k])) call.operands[0].elements[k] = newVariable(callee.returns[k]);
    if (once_.contains(target.symbol.index)) {
      if (std::find(needed_.begin(), needed_.end(), target.symbol.index) == needed_.end())
        needed_.push_back(target.symbol.index);
      out_.instructions.push_back(call);
    } else {
      for (size_t k = 0; k < arguments.size(); ++k)
        if (isVariable(arguments[k]) && mayWriteTo(callee, k))
          call.operands[2].elements[k] = copyOf(arguments[k], callee.parameters[k], inst.line);
      Scope inner{&callee, call.operands[2].elements, call.operands[0].elements, after};
      if (auto ok = copyBody(inner); !ok) return ok;
    }
    for (size_t k = 0; k < given; ++k)
      if (results[k].kind == Operand::Kind::Register)
        access(isa::Op::Ld, callee.returns[k].type, call.operands[0].elements[k], results[k], inst.line);
    out_.labels[done].instruction = here();
    return {};
  }

  static bool isVariable(const Operand& o) { return o.symbol.kind == Symbol::Kind::LocalVariable; }

  /// Does the function take the address of its parameter `k` and write to memory, or call what may? What it changes is
  /// a copy of its own.
  static bool mayWriteTo(const ptx::Function& f, size_t k) {
    bool takesAddress = false, writes = false;
    for (const ptx::Instruction& i : f.instructions) {
      const isa::Effect effect = i.info().effect;
      const bool isNamed = !i.operands.empty() && i.operands[0].symbol.kind != Symbol::Kind::None;
      writes |= i.op == isa::Op::Call || effect == isa::Effect::Atomic || (effect == isa::Effect::Store && !isNamed);
      for (const Operand& o : i.operands)
        takesAddress |=
            o.kind == Operand::Kind::Symbol && o.symbol.kind == Symbol::Kind::Parameter && o.symbol.index == k;
    }
    return takesAddress && writes;
  }

  /// A new variable with what `argument` holds.
  Operand copyOf(const Operand& argument, const ptx::Parameter& p, uint32_t line) {
    Operand copy = newVariable(p), from = argument, to = copy;
    for (uint64_t done = 0; done < p.size;) {
      unsigned piece = std::min(8u, std::max(p.alignment, 1u));
      while (piece > p.size - done) piece /= 2;
      const isa::Type type = isa::untyped(piece);
      Operand word;
      word.kind = Operand::Kind::Register;
      word.reg = static_cast<ptx::RegisterId>(out_.registers.size());
      out_.registers.push_back({"%word", piece < 2 ? isa::Type::b16 : type});
      from.offset = argument.offset + static_cast<int64_t>(done);
      to.offset = static_cast<int64_t>(done);
      access(isa::Op::Ld, type, from, word, line);
      access(isa::Op::St, type, to, word, line);
      done += piece;
    }
    return copy;
  }

  /// A variable that holds what is passed for `p`.
  Operand newVariable(const ptx::Parameter& p) {
    ptx::Variable v;
    v.name = p.name.substr(p.name.starts_with("%") ? 1 : 0);  // registers are called so
    v.space = ptx::Space::Param;
    v.type = p.type == isa::Type::pred ? isa::Type::b8 : p.type;
    v.count = std::max(p.count, 1u);
    v.alignment = std::max(p.alignment, 1u);
    v.size = std::max<uint64_t>(p.size, 1);  // a predicate takes a byte
    Operand o;
    o.kind = Operand::Kind::Symbol;
    o.symbol = {Symbol::Kind::LocalVariable, static_cast<uint32_t>(out_.variables.size())};
    out_.variables.push_back(std::move(v));
    origin_.push_back({~0u, 0});
    return o;
  }

  /// st.param [variable], value; or ld.param value, [variable].
  void access(isa::Op op, isa::Type type, Operand variable, const Operand& value, uint32_t line) {
    ptx::Instruction i = plain(op, line);
    i.type[0] = type == isa::Type::pred ? isa::Type::b8 : type;
    i.mods[isa::ModifierKind::Space] = isa::modifierValue(isa::ModifierKind::Space, "param");
    variable.kind = Operand::Kind::Address;
    i.operands[op == isa::Op::St ? 0 : 1] = variable;
    i.operands[op == isa::Op::St ? 1 : 0] = value;
    out_.instructions.push_back(std::move(i));
  }

  /// The body of a function that the kernel has once, with its parameters as variables.
  Expected<SharedBody> copyShared(uint32_t function) {
    const ptx::Function& f = module_.functions[function];
    SharedBody body;
    body.function = function;
    body.registers.first = static_cast<uint32_t>(out_.registers.size());
    body.variables.first = static_cast<uint32_t>(out_.variables.size());
    auto addVariables = [&](const std::vector<ptx::Parameter>& list, std::vector<uint32_t>& numbers,
                            std::vector<Operand>& names) {
      for (const ptx::Parameter& p : list) {
        names.push_back(newVariable(p));
        numbers.push_back(names.back().symbol.index);
      }
    };
    Scope scope{&f, {}, {}, newLabel("return_" + f.name)};
    addVariables(f.parameters, body.parameters, scope.arguments);
    addVariables(f.returns, body.returns, scope.returns);
    body.entryLabel = newLabel(f.name);
    body.first = out_.labels[body.entryLabel].instruction = here();
    if (auto ok = copyBody(scope); !ok) return tl::unexpected(ok.error());
    out_.instructions.push_back(plain(isa::Op::Ret, f.line));
    body.last = here();
    body.registers.second = static_cast<uint32_t>(out_.registers.size());
    body.variables.second = static_cast<uint32_t>(out_.variables.size());
    return body;
  }

  static ptx::Instruction made(ptx::Instruction i) {
    i.raisesIssue = i.raisesAccess = false;
    return i;
  }

  static ptx::Instruction plain(isa::Op op, uint32_t line) {
    ptx::Instruction i = made({});
    i.op = op;
    i.line = line;
    i.operands.resize(i.info().form.operandCount);
    return i;
  }

  static ptx::Instruction branch(ptx::Guard guard, bool invert, uint32_t label, const ptx::Instruction& from) {
    ptx::Instruction bra = made({});
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
  const bool announces_, hasZones_;
  std::map<const ptx::Function*, std::vector<uint32_t>> objects_;
  std::map<const ptx::Function*, std::vector<char>> readRegisters_;
  const ptx::Function* kernel_ = nullptr;
  ptx::Function out_;
  std::vector<std::pair<uint32_t, uint32_t>> origin_;
  const CallGraph calls_;
  std::set<uint32_t> once_;       // functions that are not repeated
  std::vector<uint32_t> needed_;  // those of them that the kernel calls
};

}  // namespace

Expected<Inlined> inlineCalls(const ptx::Module& module, const ptx::Function& kernel, bool announces, bool hasZones) {
  return Inliner(module, announces, hasZones).run(kernel);
}

ptx::Instruction announcement(const ptx::Instruction& of) {
  ptx::Instruction i;
  i.op = isa::Op::Pmevent;
  i.guard = of.guard;
  i.line = of.line;
  i.location = of.location;
  i.raisesIssue = of.raisesIssue;
  i.operands.emplace_back();
  i.operands[0].kind = Operand::Kind::Integer;
  return i;
}

}  // namespace ordito::ir
