// The verifier walks every instruction of every body once: modifiers, guard, each operand's kind and type, then what is
// special to addresses, vectors and calls. The rules were compared with ptxas, one instruction at a time.
#include "ptx/verifier.hpp"

#include "isa/needs.hpp"
#include "ptx/matrix.hpp"
#include "ptx/printer.hpp"
#include "ptx/verifier_impl.hpp"

namespace ordito::ptx {
namespace {

using isa::Op;
using isa::Type;
using Kind = Operand::Kind;
using FormKind = isa::OperandForm::Kind;

/// A register may be wider than the instruction's type only here: the upper bits are filled or ignored.
bool allowsWiderRegister(Op op) {
  return op == Op::Ld || op == Op::Ldu || op == Op::St || op == Op::Cvt || op == Op::Suld || op == Op::Sust;
}

/// The manual's table "Operand type checking": sizes agree, bits go with everything, signed with unsigned, floats only
/// with their own type.
bool compatible(Type reg, Type wanted, bool mayBeWider) {
  if (isa::isPredicate(reg) || isa::isPredicate(wanted)) return reg == wanted;
  if (mayBeWider ? isa::bits(reg) < isa::bits(wanted) : isa::bits(reg) != isa::bits(wanted)) return false;
  if (isa::isBits(reg) || isa::isBits(wanted)) return true;
  return isa::isFloat(reg) ? reg == wanted : !isa::isFloat(wanted);
}

bool floatImmediateFits(Type wanted) {
  return wanted == Type::f32 || wanted == Type::f64 || wanted == Type::b32 || wanted == Type::b64;
}

bool takesSymbol(Op op) { return op == Op::Mov || op == Op::Cvta || op == Op::Istypep; }

class Verifier {
 public:
  explicit Verifier(const Module& module) : module_(module) {}

  Expected<> all() {
    for (const Function& f : module_.functions) {
      function_ = &f;
      for (const Instruction& i : f.instructions) {
        instruction_ = &i;
        instruction();
        if (problem_.empty()) continue;
        constexpr int kInvalidPtx = 218;  // CUDA_ERROR_INVALID_PTX
        return failWith(kInvalidPtx, "{} '{}', line {}: {}, in '{}'", f.isEntry ? "kernel" : "function", f.name, i.line,
                        problem_, print(module_, f, i));
      }
    }
    return {};
  }

 private:
  template <class... Args>
  void fail(fmt::format_string<Args...> format, Args&&... args) {
    if (problem_.empty()) problem_ = fmt::format(format, std::forward<Args>(args)...);
  }

  Type typeOf(RegisterId reg) const { return function_->registers[reg].type; }

  void instruction() {
    const Instruction& i = *instruction_;
    if (i.guard && typeOf(i.guard.reg) != Type::pred)
      fail("the guard '{}' is no predicate", function_->registers[i.guard.reg].name);
    if (const char* problem = modifierProblem(i)) fail("{}", problem);
    target();
    if (i.op == Op::Call) return call();
    for (size_t k = 0; k < i.operands.size(); ++k) position(k);
    if (i.op == Op::Mov) return move();
    if (!i.operands.empty()) pair();
  }

  /// Is the module's PTX version and target enough for the instruction? NVIDIA's compiler refuses it otherwise.
  void target() {
    isa::Need need = isa::needOf(instruction_->op, instruction_->mods, instruction_->type);
    addNeedOfOperands(need);
    constexpr int kOldestVersion = 30;
    if (need.since > kOldestVersion && static_cast<int>(module_.version) < need.since)
      fail("this needs PTX {}.{}, and the module is of .version {}.{}; compile it with a newer compiler",
           need.since / 10, need.since % 10, module_.version / 10, module_.version % 10);
    if (!isa::fits(need.target, module_.isaTarget()))
      fail("this needs .target {} or later, and the module's is {}; compile it with -arch={}", isa::spell(need.target),
           module_.target, isa::spell(need.target));
  }

  /// Operands of texture instructions that are younger than these.
  void addNeedOfOperands(isa::Need& need) const {
    const Instruction& i = *instruction_;
    for (size_t k = 1; k < i.operands.size() && i.info().unit == isa::Unit::Texture; ++k) {
      if (i.operands[k].is(Kind::None)) continue;
      const isa::OperandForm& form = i.info().form.operands[k];
      const isa::Need wanted = form.paired ? isa::Need{71, {60}} : form.name == "e" ? isa::Need{43, {30}} : isa::Need{};
      need = {std::max(need.since, wanted.since), std::max(need.target, wanted.target)};
    }
  }

  /// Where a second result is required and where there is none.
  void pair() {
    const Instruction& i = *instruction_;
    if (i.operands.size() < 2 || !i.info().form.operands[1].paired) return;
    if (i.operands[1].is(Kind::None))
      return i.op == Op::Lop3Bool ? fail("lop3 with .and or .or needs a predicate result") : void();
    Type t = i.type[0];
    if (i.op == Op::Match && i.mods.name(isa::ModifierKind::MatchMode) == "any")
      fail("match.any has no predicate result");
    if ((i.op == Op::Setp || i.op == Op::SetpBool) && (t == Type::f16 || t == Type::bf16))
      fail("a comparison of type .{} has one result", isa::name(t));
  }

  void position(size_t k) {
    const Instruction& i = *instruction_;
    const Operand& o = i.operands[k];
    if (o.selector && i.info().anchor.find("video") == std::string_view::npos)
      return fail("only video instructions select parts of a register");
    const isa::OperandForm& form = i.info().form.operands[k];
    if (o.is(Kind::None)) {
      if (!form.optional) fail("operand '{}' is missing", form.name);
      return;
    }
    if (form.name == "f" && i.info().unit == isa::Unit::Texture)
      return fail("comparison with a depth is not supported by Ordito: no texture of CUDA holds depths");
    if (form.kind == FormKind::Label) return;
    if (form.kind == FormKind::Address) return address(o, k);
    if (form.kind == FormKind::Image) return image(o);
    Type wanted = operandType(i, k);
    if (o.is(Kind::Vector) && i.op != Op::Mov) return vector(k, o, wanted);
    if (i.op == Op::Mov && o.is(Kind::Vector)) return;
    if (size_t length = vectorLength(i, k); length > 1 && i.has(isa::ModifierKind::Vector))
      return fail(".v{} needs a vector of {} registers", length, length);
    else if (length > 0)
      return fail("a vector of {} register{} is needed", length, length > 1 ? "s" : "");
    if (form.kind == FormKind::Destination)
      destination(o, form, wanted);
    else
      source(k, o, wanted);
  }

  void registerType(const Operand& o, Type wanted) {
    Type type = typeOf(o.reg);
    if (!compatible(type, wanted, allowsWiderRegister(instruction_->op)))
      fail("register '{}' of type .{} where .{} is expected", function_->registers[o.reg].name, isa::name(type),
           isa::name(wanted));
    if (o.negated && !isa::isPredicate(type) && instruction_->op != Op::Vmad) fail("'!' needs a predicate");
  }

  void destination(const Operand& o, const isa::OperandForm& form, Type wanted) {
    if (o.is(Kind::Register) && !o.negated) return registerType(o, wanted);
    if (!o.is(Kind::Sink)) return fail("the destination must be a register");
    Op op = instruction_->op;
    bool pair = op == Op::Setp || op == Op::SetpBool || op == Op::Lop3Bool || op == Op::Elect ||
                instruction_->info().form.mnemonic == "mbarrier";
    if (!form.paired && !pair && instruction_->info().effect != isa::Effect::Atomic)
      fail("'_' cannot be the destination here");
  }

  void source(size_t k, const Operand& o, Type wanted) {
    Op op = instruction_->op;
    switch (o.kind) {
      case Kind::Register:
        if (instruction_->has(isa::ModifierKind::Sparse) && k == 5) return fail("the selector must be a constant");
        if (op == Op::Lop3 && k == 4) return fail("the look-up table must be a constant");
        if (op == Op::CpAsync && k == 3 && typeOf(o.reg) == Type::pred) return;
        return registerType(o, wanted);
      case Kind::Integer:
        if (isa::isFloat(wanted))
          fail("an integer constant where .{} is expected; write 0f… or 0d…", isa::name(wanted));
        return numbered(k, o);
      case Kind::Float:
        if (!floatImmediateFits(wanted)) fail("a floating-point constant where .{} is expected", isa::name(wanted));
        return;
      case Kind::Special: return special(o, wanted);
      case Kind::Symbol: return symbol(o, wanted);
      default: fail("operand '{}' must be a register or a constant", instruction_->info().form.operands[k].name);
    }
  }

  /// Constants that name one of a few.
  void numbered(size_t k, const Operand& o) {
    Op op = instruction_->op;
    if (instruction_->has(isa::ModifierKind::Sparse) && k == 5 && o.bits >= sparseSelectors(*instruction_))
      return fail("the selector of the metadata's lanes is below {} here", sparseSelectors(*instruction_));
    size_t number = op == Op::BarRed || op == Op::BarrierRed ? 1 : 0;
    bool barrier = number == 1 || isa::info(op).effect == isa::Effect::Barrier;
    if (barrier && k == number && o.bits > 15)
      fail("barrier {} does not exist: they are numbered 0 to 15", static_cast<int64_t>(o.bits));
  }

  // Only mov reads special registers. The 16- and 32-bit forms of registers that grew later stay legal.
  void special(const Operand& o, Type wanted) {
    const isa::SpecialInfo& info = isa::info(o.special);
    if (instruction_->op != Op::Mov && instruction_->op != Op::Cvt)
      return fail("special register {} can only be read by mov", info.spelling);
    bool narrow =
        isa::bits(wanted) < isa::bits(info.type) && (info.type == Type::u32 || o.special == isa::Special::Gridid);
    if (!compatible(info.type, wanted, false) && !(narrow && !isa::isFloat(wanted) && wanted != Type::pred))
      fail("special register {} of type .{} where .{} is expected", info.spelling, isa::name(info.type),
           isa::name(wanted));
  }

  void symbol(const Operand& o, Type wanted) {
    if (!takesSymbol(instruction_->op)) return fail("the address of a variable must be moved to a register first");
    if (isa::isFloat(wanted) || (isa::bits(wanted) != 64 && isa::bits(wanted) != 32))
      fail("an address does not fit type .{}", isa::name(wanted));
    if (instruction_->op == Op::Cvta && instruction_->has(isa::ModifierKind::To)) fail("cvta.to needs a register");
    if (o.symbol.kind == Symbol::Kind::LocalVariable && spaceOfSymbol(o.symbol) == Space::Param)
      fail("the address of '{}', a .param variable of a call, cannot be taken",
           function_->variables[o.symbol.index].name);
    if (o.symbol.kind == Symbol::Kind::Function && o.offset) fail("a function's address takes no offset");
  }

  // Memory

  Space spaceOfSymbol(const Symbol& s) const {
    switch (s.kind) {
      case Symbol::Kind::ModuleVariable: return module_.variables[s.index].space;
      case Symbol::Kind::LocalVariable: return function_->variables[s.index].space;
      case Symbol::Kind::Parameter:
      case Symbol::Kind::ReturnParameter: return Space::Param;
      default: return Space::Generic;
    }
  }

  /// A texture or surface and, with a sampler between them, coordinates.
  void image(const Operand& o) {
    const Instruction& i = *instruction_;
    const Operand& handle = o.elements[0];
    handleOf(handle);
    if (o.elements.size() == 3) handleOf(o.elements[1]);
    const Operand& at = o.elements.back();
    const Type type = i.info().form.mnemonic == "tex" || i.info().form.mnemonic == "tld4" ? i.type[3] : Type::b32;
    const size_t least = coordinateCount(i);
    if (!at.is(Kind::Vector)) return least == 1 ? source(0, at, type) : fail("{} coordinates are needed", least);
    if (at.elements.size() < least || at.elements.size() > 4 || (least < 3 && at.elements.size() != least))
      return fail("{} coordinates where {} are needed", at.elements.size(), least);
    const bool isLayered = i.mods.name(isa::ModifierKind::Geometry).starts_with("a");
    for (size_t k = 0; k < at.elements.size(); ++k) source(0, at.elements[k], k == 0 && isLayered ? Type::u32 : type);
  }

  void handleOf(const Operand& o) {
    const bool isVariable = o.is(Kind::Symbol) && o.symbol.kind == Symbol::Kind::ModuleVariable &&
                            isa::isOpaque(module_.variables[o.symbol.index].type);
    const bool isObject = o.is(Kind::Register) && isa::bits(typeOf(o.reg)) == 64 && !isa::isFloat(typeOf(o.reg));
    if (!isVariable && !isObject)
      fail(
          "a texture, sampler or surface is a variable of type .texref, .samplerref or .surfref, or a 64-bit register");
  }

  void address(const Operand& o, size_t k) {
    const Instruction& i = *instruction_;
    if (!o.is(Kind::Address)) return fail("an address in brackets is expected");
    if (i.info().unit == isa::Unit::Texture && o.symbol.kind != Symbol::Kind::None) return;
    Space space = spaceOf(i, k);
    bool window = space != Space::Generic && space != Space::Global;  // its addresses fit 32 bits
    if (o.reg != kNoRegister) {
      Type type = typeOf(o.reg);
      bool fits = isa::bits(type) == 64 || (window && isa::bits(type) == 32);
      if (isa::isFloat(type) || !fits)
        fail("register '{}' of type .{} cannot be an address here", function_->registers[o.reg].name, isa::name(type));
    } else if (o.symbol.kind != Symbol::Kind::None) {
      addressOfSymbol(o.symbol, space);
    }
  }

  void addressOfSymbol(const Symbol& s, Space space) {
    if (s.kind == Symbol::Kind::Function) return fail("a function's code can be neither read nor written");
    Space actual = spaceOfSymbol(s);
    bool genericIsEnough = actual == Space::Global || actual == Space::Shared || actual == Space::Local;
    if (actual != space && !(space == Space::Generic && genericIsEnough))
      return fail("the variable lies in another state space than the instruction names");
    bool store = instruction_->op != Op::Ld && instruction_->op != Op::Ldu;
    if (store && s.kind == Symbol::Kind::Parameter) fail("a parameter cannot be written");
  }

  // Vectors

  void vector(size_t k, const Operand& o, Type wanted) {
    const Instruction& i = *instruction_;
    const size_t length = vectorLength(i, k);
    if (!length) return fail("a vector cannot stand here");
    if (o.elements.size() != length && i.has(isa::ModifierKind::Vector))
      return fail(".v{} needs a vector of {} registers", length, length);
    if (o.elements.size() != length)
      return fail("a vector of {} registers where {} are needed", o.elements.size(), length);
    if (i.has(isa::ModifierKind::Vector) && length * isa::bits(i.type[0]) > 128)
      return fail("a vector access has at most 128 bits");
    if (length == 8 && (i.op == Op::Ld || i.op == Op::St))
      return fail(".v8 needs a type of 32 bits, and a GPU younger than those that Ordito describes");
    const bool isWritten = i.info().form.operands[k].kind == FormKind::Destination;
    const bool mayDrop = isWritten && i.info().unit != isa::Unit::Tensor;
    for (const Operand& element : o.elements) {
      if (element.is(Kind::Sink) && mayDrop) continue;
      isWritten ? destination(element, i.info().form.operands[k], wanted) : source(k, element, wanted);
    }
  }

  /// mov.b32 d, {a, b} packs and mov.b32 {d, e}, a unpacks.
  void move() {
    const Instruction& i = *instruction_;
    bool packs = i.operands[1].is(Kind::Vector), unpacks = i.operands[0].is(Kind::Vector);
    if (!packs && !unpacks) return;
    if (packs && unpacks) return fail("only one side of a mov can be a vector");
    if (!isa::isBits(i.type[0])) return fail("packing needs a type of bits");
    const std::vector<Operand>& elements = i.operands[packs ? 1 : 0].elements;
    unsigned width = elements.size() == 2 || elements.size() == 4 ? isa::bits(i.type[0]) / elements.size() : 0;
    Type part = width == 8    ? Type::b8
                : width == 16 ? Type::b16
                : width == 32 ? Type::b32
                : width == 64 ? Type::b64
                              : Type::None;
    if (part == Type::None) return fail(".{} is no vector of {} elements", isa::name(i.type[0]), elements.size());
    for (const Operand& element : elements) {
      if (element.is(Kind::Register))
        registerType(element, part);
      else if (!(unpacks && element.is(Kind::Sink)) &&
               !(packs && (element.is(Kind::Integer) || element.is(Kind::Float))))
        fail("an element of the vector must be a register");
    }
  }

  // Calls

  void call() {
    const Instruction& i = *instruction_;
    const Operand& target = i.operands[1];
    if (target.is(Kind::Symbol)) {
      const Function& f = module_.functions[target.symbol.index];
      if (f.isEntry) return fail("a kernel cannot be called");
      return arguments(f.returns, f.parameters);
    }
    if (isa::bits(typeOf(target.reg)) != 64) return fail("the address of a function needs a 64-bit register");
    const Prototype& prototype = function_->prototypes[i.operands[3].bits];
    arguments(prototype.returns, prototype.parameters);
  }

  void arguments(const std::vector<Parameter>& returns, const std::vector<Parameter>& parameters) {
    static const std::vector<Operand> kNone;
    const Operand& r = instruction_->operands[0];
    const Operand& a = instruction_->operands[2];
    list("returned values", r.is(Kind::Vector) ? r.elements : kNone, returns, true);
    list("arguments", a.is(Kind::Vector) ? a.elements : kNone, parameters, false);
  }

  void list(std::string_view what, const std::vector<Operand>& given, const std::vector<Parameter>& wanted,
            bool written) {
    if (given.size() != wanted.size())
      return fail("{} {} where the function has {}", given.size(), what, wanted.size());
    for (size_t k = 0; k < given.size(); ++k) argument(given[k], wanted[k], written);
  }

  /// A .param formal takes a .param variable of its size or, if it is a scalar, a register or constant.
  void argument(const Operand& o, const Parameter& wanted, bool written) {
    if (o.is(Kind::Symbol)) {
      bool local =
          o.symbol.kind == Symbol::Kind::LocalVariable && function_->variables[o.symbol.index].space == Space::Param;
      bool own = o.symbol.kind == Symbol::Kind::Parameter && !written;
      if (!local && !own) return fail("an argument must be a .param variable, a register or a constant");
      uint64_t size = local ? function_->variables[o.symbol.index].size : function_->parameters[o.symbol.index].size;
      if (wanted.isRegister || size != wanted.size)
        fail("argument of {} bytes where parameter '{}' has {}", size, wanted.name, wanted.size);
    } else if (wanted.count) {
      fail("parameter '{}' is an array and needs a .param variable", wanted.name);
    } else if (o.is(Kind::Register)) {
      registerType(o, wanted.type);
    } else if (written ? !o.is(Kind::Sink) : !o.is(Kind::Integer) && !o.is(Kind::Float)) {
      fail("an argument must be a .param variable, a register or a constant");
    } else if (o.is(Kind::Float) && !floatImmediateFits(wanted.type)) {
      fail("a floating-point constant where .{} is expected", isa::name(wanted.type));
    }
  }

  const Module& module_;
  const Function* function_ = nullptr;
  const Instruction* instruction_ = nullptr;
  std::string problem_;
};

/// PTX ISA, "Constant State Space": variables of a fixed size have 64 KB together.
Expected<> constantsFit(const Module& module) {
  constexpr uint64_t kMost = 65536;
  uint64_t bytes = 0;
  for (const Variable& v : module.variables) {
    if (v.space != Space::Const || v.linkage == Linkage::Extern) continue;
    bytes = (bytes + v.alignment - 1) / v.alignment * v.alignment + v.size;
    if (bytes > kMost)
      return ordito::fail("line {}: with '{}' the variables in constant memory take {} bytes, and there are {}", v.line,
                          v.name, bytes, kMost);
  }
  return {};
}

}  // namespace

Expected<> verify(const Module& module) {
  if (auto fit = constantsFit(module); !fit) return fit;
  return Verifier(module).all();
}

}  // namespace ordito::ptx
