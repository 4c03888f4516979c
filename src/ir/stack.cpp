// The stack grows downwards from the end of its variable. Of guarded instructions only the results are guarded: a size
// of 0 where the guard is false leaves the stack as it is but for alignment.
#include "ir/stack.hpp"

#include <algorithm>

#include "ir/build.hpp"
#include "ir/ir.hpp"

namespace ordito::ir {
namespace {

using isa::ModifierKind;
using isa::Op;
using isa::Type;
using ptx::Operand;

constexpr uint64_t kAlignment = 16;  // where the instruction asks for none

bool isStackInstruction(Op op) { return op == Op::Alloca || op == Op::StackSave || op == Op::StackRestore; }

class Lowering {
 public:
  Lowering(ptx::Function& f, std::vector<std::pair<uint32_t, uint32_t>>& origin) : f_(f), origin_(origin) {}

  void run() {
    top_ = newRegister("%top", Type::b64);
    base_ = newRegister("%bottom", Type::b64);
    addVariable();
    const std::vector<ptx::Instruction> old = std::move(f_.instructions);
    f_.instructions.clear();
    emit(Op::Mov, Type::b64, {registerOperand(base_), variable(0)}, f_.line);
    emit(Op::Mov, Type::b64, {registerOperand(top_), variable(kAllocaBytes)}, f_.line);
    std::vector<uint32_t> now;
    for (const ptx::Instruction& i : old) {
      now.push_back(static_cast<uint32_t>(f_.instructions.size()));
      lower(i);
    }
    now.push_back(static_cast<uint32_t>(f_.instructions.size()));
    for (ptx::Label& label : f_.labels) label.instruction = now[label.instruction];
  }

 private:
  void addVariable() {
    ptx::Variable v;
    v.name = "alloca";
    v.space = ptx::Space::Local;
    v.type = Type::b8;
    v.count = v.size = kAllocaBytes;
    v.alignment = 16;
    stack_ = static_cast<uint32_t>(f_.variables.size());
    f_.variables.push_back(std::move(v));
    origin_.push_back({~0u, 0});
  }

  void lower(const ptx::Instruction& i) {
    switch (i.op) {
      case Op::StackSave: return standFor(i, emit(Op::Mov, Type::b64, {i.operands[0], registerOperand(top_)}, i.line));
      case Op::StackRestore:
        return standFor(i, emit(Op::Mov, Type::b64, {registerOperand(top_), i.operands[0]}, i.line));
      case Op::Alloca: return lowerAlloca(i);
      default: f_.instructions.push_back(i);
    }
  }

  /// `made` is what the program's instruction `i` has become.
  static void standFor(const ptx::Instruction& i, ptx::Instruction& made) {
    made.guard = i.guard;
    made.raisesIssue = i.raisesIssue;
  }

  void lowerAlloca(const ptx::Instruction& i) {
    const bool hasAlignment = i.operands.size() > 2 && i.operands[2].kind == Operand::Kind::Integer;
    const uint64_t alignment = std::max(kAlignment, hasAlignment ? i.operands[2].bits : 1);
    const auto size = newRegister("%size", Type::b64), used = newRegister("%used", Type::b64);
    emit(Op::Mov, Type::b64, {registerOperand(size), integerOperand(0)}, i.line);
    emit(Op::Mov, Type::b64, {registerOperand(size), i.operands[1]}, i.line).guard = i.guard;
    emit(Op::Sub, Type::u64, {registerOperand(top_), registerOperand(top_), registerOperand(size)}, i.line);
    emit(Op::And, Type::b64, {registerOperand(top_), registerOperand(top_), integerOperand(~(alignment - 1))}, i.line);
    emit(Op::Sub, Type::u64, {registerOperand(used), registerOperand(top_), registerOperand(base_)}, i.line);
    const auto isFull = newRegister("%full", Type::pred);
    auto& compare = emit(Op::Setp, Type::u64,
                         {registerOperand(isFull), {}, registerOperand(used), integerOperand(kAllocaBytes)}, i.line);
    compare.mods[ModifierKind::Compare] = isa::modifierValue(ModifierKind::Compare, "gt");
    auto& trap =
        emit(Op::Trap, Type{}, {integerOperand(static_cast<uint64_t>(Terminator::Cause::StackOverflow))}, i.line);
    trap.guard.reg = isFull;
    standFor(i, emit(Op::Mov, Type::b64, {i.operands[0], registerOperand(top_)}, i.line));
  }

  ptx::Instruction& emit(Op op, Type type, std::vector<Operand> operands, uint32_t line) {
    ptx::Instruction i;
    i.raisesIssue = i.raisesAccess = false;
    i.op = op;
    i.type[0] = type;
    i.operands = std::move(operands);
    i.line = line;
    i.operands.resize(std::max<size_t>(i.operands.size(), i.info().form.operandCount));
    f_.instructions.push_back(std::move(i));
    return f_.instructions.back();
  }

  ptx::RegisterId newRegister(const char* name, Type type) {
    f_.registers.push_back({name, type});
    return static_cast<ptx::RegisterId>(f_.registers.size() - 1);
  }

  Operand variable(int64_t offset) const {
    Operand o;
    o.kind = Operand::Kind::Symbol;
    o.symbol = {ptx::Symbol::Kind::LocalVariable, stack_};
    o.offset = offset;
    return o;
  }

  ptx::Function& f_;
  std::vector<std::pair<uint32_t, uint32_t>>& origin_;
  ptx::RegisterId top_ = 0, base_ = 0;
  uint32_t stack_ = 0;
};

}  // namespace

bool usesStack(const ptx::Function& f) {
  return std::any_of(f.instructions.begin(), f.instructions.end(),
                     [](const ptx::Instruction& i) { return isStackInstruction(i.op); });
}

void lowerStack(ptx::Function& kernel, std::vector<std::pair<uint32_t, uint32_t>>& origin) {
  if (usesStack(kernel)) Lowering(kernel, origin).run();
}

}  // namespace ordito::ir
