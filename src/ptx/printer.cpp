// The printer writes each name once and flat: scopes are gone in a Module, and the parser made names unique. Immediates
// are written by their bits, so that nothing is lost.
#include "ptx/printer.hpp"

#include <fmt/format.h>

#include <cstring>
#include <iterator>

#include "ptx/opcode.hpp"

namespace ordito::ptx {
namespace {

std::string_view linkageWord(Linkage linkage) {
  constexpr std::string_view kWords[] = {"", ".visible ", ".extern ", ".weak ", ".common "};
  return kWords[static_cast<int>(linkage)];
}

std::string_view spaceWord(Space space) {
  constexpr std::string_view kWords[] = {".generic", ".reg", ".const", ".global", ".local", ".param", ".shared"};
  return kWords[static_cast<int>(space)];
}

class Printer {
 public:
  explicit Printer(const Module& module) : module_(module) {}

  void all() {
    moduleHeader();
    if (needsDeclarations()) functionDeclarations();
    for (const Variable& v : module_.variables) variable(v);
    for (const Function& f : module_.functions)
      if (f.hasBody) definition(f);
  }

  void declarations() {
    moduleHeader();
    functionDeclarations();
    for (const Variable& v : module_.variables) variable(v);
  }

  void header(const Function& f) {
    put("{}{} ", linkageWord(f.linkage), f.isEntry ? ".entry" : ".func");
    if (!f.returns.empty()) parameters(f.returns), put(" ");
    put("{}", f.name);
    parameters(f.parameters);
    if (f.maxntid[0]) put(" .maxntid {}, {}, {}", f.maxntid[0], f.maxntid[1], f.maxntid[2]);
    if (f.reqntid[0]) put(" .reqntid {}, {}, {}", f.reqntid[0], f.reqntid[1], f.reqntid[2]);
    if (f.minnctapersm) put(" .minnctapersm {}", f.minnctapersm);
    if (f.maxnreg) put(" .maxnreg {}", f.maxnreg);
    if (f.noReturn) put(" .noreturn");
  }

  void variable(const Function& f, const Variable& v) {
    function_ = &f;
    variable(v);
    out_.pop_back();
  }

  void instruction(const Function& f, const Instruction& i) {
    function_ = &f;
    if (i.guard) put("@{}{} ", i.guard.negated ? "!" : "", f.registers[i.guard.reg].name);
    put("{}", spellOpcode(i));
    if (i.op == isa::Op::Call) {
      callOperands(i);
    } else {
      for (size_t k = 0; k < i.operands.size(); ++k) {
        if (i.operands[k].is(Operand::Kind::None)) continue;
        put("{}", i.info().form.operands[k].paired ? "|" : k == 0 ? " " : ", ");
        if (i.info().form.operands[k].kind == isa::OperandForm::Kind::Image)
          list(i.operands[k], '[', ']');
        else if (i.op == isa::Op::BrxIdx && k == 1)
          put("{}", function_->branchTargets[i.operands[k].bits].name);
        else
          operand(i.operands[k]);
      }
    }
    put(";");
  }

  std::string take() { return std::move(out_); }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  void moduleHeader() {
    put(".version {}.{}\n.target {}\n.address_size {}\n\n", module_.version / 10, module_.version % 10, module_.target,
        module_.addressSize);
    for (size_t i = 0; i < module_.files.size(); ++i) put(".file {} \"{}\"\n", i + 1, module_.files[i]);
  }

  void functionDeclarations() {
    for (const Function& f : module_.functions) header(f), put(";\n");
  }

  // A function may be called above its definition, and its number must not change.
  bool needsDeclarations() const {
    for (const Function& f : module_.functions)
      if (!f.isEntry || !f.hasBody) return true;
    return false;
  }

  void align(uint32_t alignment, isa::Type type) {
    if (alignment != isa::bytes(type)) put(".align {} ", alignment);
  }

  void parameter(const Parameter& p) {
    if (p.isRegister) {
      put(".reg .{} {}", isa::name(p.type), p.name);
    } else {
      put(".param ");
      align(p.alignment, p.type);
      put(".{} {}", isa::name(p.type), p.name);
      if (p.count) put("[{}]", p.count);
    }
  }

  void parameters(const std::vector<Parameter>& list) {
    put("(");
    for (size_t i = 0; i < list.size(); ++i) {
      if (i) put(", ");
      parameter(list[i]);
    }
    put(")");
  }

  void definition(const Function& f) {
    function_ = &f;
    put("\n");
    header(f);
    put("\n{{\n");
    registers(f);
    for (const Variable& v : f.variables) put("\t"), variable(v);
    for (const Prototype& p : f.prototypes) prototype(p);
    put("\n");
    body(f);
    for (const BranchTargets& t : f.branchTargets) branchTargets(f, t);
    put("}}\n");
  }

  void registers(const Function& f) {
    std::vector<bool> isParameter(f.registers.size());
    for (auto* list : {&f.returns, &f.parameters})
      for (const Parameter& p : *list)
        if (p.isRegister) isParameter[p.reg] = true;
    for (size_t i = 0; i < f.registers.size(); ++i)
      if (!isParameter[i]) put("\t.reg .{} {};\n", isa::name(f.registers[i].type), f.registers[i].name);
  }

  void prototype(const Prototype& p) {
    put("\t{}: .callprototype ", p.name);
    if (!p.returns.empty()) parameters(p.returns), put(" ");
    put("_ ");
    parameters(p.parameters);
    put(";\n");
  }

  void branchTargets(const Function& f, const BranchTargets& t) {
    put("{}: .branchtargets ", t.name);
    for (size_t i = 0; i < t.labels.size(); ++i) put("{}{}", i ? ", " : "", f.labels[t.labels[i]].name);
    put(";\n");
  }

  void body(const Function& f) {
    uint32_t location = 0;
    size_t label = 0;
    auto labelsBefore = [&](size_t index) {
      for (; label < f.labels.size() && f.labels[label].instruction == index; ++label)
        put("{}:\n", f.labels[label].name);
    };
    for (size_t k = 0; k < f.instructions.size(); ++k) {
      const Instruction& i = f.instructions[k];
      labelsBefore(k);
      if (i.location != location) {
        location = i.location;
        const SourceLocation& at = module_.locations[location];
        put("\t.loc {} {} {}\n", at.file + 1, at.line, at.column);
      }
      put("\t");
      instruction(f, i);
      put("\n");
    }
    labelsBefore(f.instructions.size());
  }

  void variable(const Variable& v) {
    put("{}{} {}", linkageWord(v.linkage), spaceWord(v.space), v.managed ? ".attribute(.managed) " : "");
    align(v.alignment, v.type);
    put(".{} {}", isa::name(v.type), v.name);
    if (v.count == 0) put("[]");
    if (v.count > 1) put("[{}]", v.count);
    if (!v.initial.empty()) put(" = "), initialiser(v);
    put(";\n");
  }

  /// Elements that are left out at the end are zero.
  uint64_t elementsToWrite(const Variable& v) const {
    uint64_t end = v.initial.size();
    uint64_t written = v.relocations.empty() ? 1 : v.relocations.back().offset + 1;
    while (end > written && v.initial[end - 1] == 0) --end;
    return (end + isa::bytes(v.type) - 1) / isa::bytes(v.type);
  }

  void initialiser(const Variable& v) {
    if (v.count > 1) put("{{");
    auto relocation = v.relocations.begin();
    for (uint64_t i = 0, end = elementsToWrite(v); i < end; ++i) {
      uint64_t offset = i * isa::bytes(v.type);
      if (i) out_ += i % 16 ? ", " : ",\n\t";
      if (relocation != v.relocations.end() && relocation->offset == offset)
        address(*relocation++);
      else
        element(v, offset);
    }
    if (v.count > 1) put("}}");
  }

  void address(const Relocation& r) {
    std::string_view name = symbolName(r.symbol);
    r.generic ? put("generic({})", name) : put("{}", name);
    if (r.addend) put("{:+}", r.addend);
  }

  void element(const Variable& v, uint64_t offset) {
    uint64_t bits = 0;
    std::memcpy(&bits, v.initial.data() + offset, isa::bytes(v.type));
    if (v.type == isa::Type::f32)
      put("0f{:08X}", bits);
    else if (v.type == isa::Type::f64)
      put("0d{:016X}", bits);
    else
      put("{}", bits);
  }

  // Operands

  std::string_view symbolName(const Symbol& s) const {
    switch (s.kind) {
      case Symbol::Kind::ModuleVariable: return module_.variables[s.index].name;
      case Symbol::Kind::LocalVariable: return function_->variables[s.index].name;
      case Symbol::Kind::Parameter: return function_->parameters[s.index].name;
      case Symbol::Kind::ReturnParameter: return function_->returns[s.index].name;
      case Symbol::Kind::Function: return module_.functions[s.index].name;
      case Symbol::Kind::None: break;
    }
    return "";
  }

  void list(const Operand& o, char open, char close) {
    put("{}", open);
    for (size_t i = 0; i < o.elements.size(); ++i) {
      if (i) put(", ");
      operand(o.elements[i]);
    }
    put("{}", close);
  }

  void memory(const Operand& o) {
    if (o.reg != kNoRegister)
      put("[{}", function_->registers[o.reg].name);
    else if (o.symbol.kind != Symbol::Kind::None)
      put("[{}", symbolName(o.symbol));
    else
      return put("[{}]", o.offset);
    if (o.offset) put("{:+}", o.offset);
    put("]");
  }

  void operand(const Operand& o) {
    switch (o.kind) {
      case Operand::Kind::None: break;
      case Operand::Kind::Register: return named(o);
      case Operand::Kind::Special: return put("{}", isa::info(o.special).spelling);
      case Operand::Kind::Integer: return put("{}{}", o.negated ? "-" : "", static_cast<int64_t>(o.bits));
      case Operand::Kind::Float: return put("0d{:016X}", o.bits);
      case Operand::Kind::Symbol:
        put("{}", symbolName(o.symbol));
        if (o.offset) put("{:+}", o.offset);
        return;
      case Operand::Kind::Address: return memory(o);
      case Operand::Kind::Vector: return list(o, '{', '}');
      case Operand::Kind::Label: return put("{}", function_->labels[o.label].name);
      case Operand::Kind::Sink: return put("_");
    }
  }

  void named(const Operand& o) {
    const Register& r = function_->registers[o.reg];
    put("{}{}", !o.negated ? "" : isa::isPredicate(r.type) ? "!" : "-", r.name);
    if (!o.selector) return;
    put(".{}", o.selector >> 15 ? 'h' : 'b');
    for (int k = (o.selector >> 12 & 7) - 1; k >= 0; --k) put("{}", o.selector >> 3 * k & 7);
  }

  void callOperands(const Instruction& i) {
    put(" ");
    if (i.operands[0].is(Operand::Kind::Vector)) list(i.operands[0], '(', ')'), put(", ");
    operand(i.operands[1]);
    if (i.operands[2].is(Operand::Kind::Vector)) put(", "), list(i.operands[2], '(', ')');
    if (i.operands[3].is(Operand::Kind::Integer)) put(", {}", function_->prototypes[i.operands[3].bits].name);
  }

  const Module& module_;
  const Function* function_ = nullptr;
  std::string out_;
};

}  // namespace

std::string print(const Module& module) {
  Printer printer(module);
  printer.all();
  return printer.take();
}

std::string print(const Module& module, const Function& function, const Instruction& instruction) {
  Printer printer(module);
  printer.instruction(function, instruction);
  return printer.take();
}

std::string printDeclarations(const Module& module) {
  Printer printer(module);
  printer.declarations();
  return printer.take();
}

std::string printHeader(const Module& module, const Function& function) {
  Printer printer(module);
  printer.header(function);
  return printer.take();
}

std::string print(const Module& module, const Function& function, const Variable& variable) {
  Printer printer(module);
  printer.variable(function, variable);
  return printer.take();
}

}  // namespace ordito::ptx
