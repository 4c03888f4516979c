// AVX-512 has one instruction, vpternlog, for any logic of three values, and a mask for its result. LLVM up to 22 makes
// it of `select k, (x & c) | (y & ~c), x`, and gets the table of the function wrong where c comes from memory, as
// constants do, and x is the operand that lanes outside of k keep: two permutations of the table are exchanged in its
// patterns for operands in the orders 2 3 1 and 3 1 2 (LLVM issue 157929). So lanes silently take bits from the wrong
// value. Whether an operand will be read from memory is not known here, so each such pair is kept apart by a fence: the
// logic goes to a register of its own and a masked move follows it, one instruction more.
#include "jit/masked_logic.hpp"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace ordito::jit {
namespace {

using llvm::dyn_cast;

llvm::Value* withoutCasts(llvm::Value* v) {
  for (auto* cast = dyn_cast<llvm::BitCastInst>(v); cast; cast = dyn_cast<llvm::BitCastInst>(v))
    v = cast->getOperand(0);
  return v;
}

/// What LLVM makes one or more operations of logic of. Signs are bits, and the constant that tells where they are is in
/// memory.
bool isLogic(const llvm::Value* v) {
  const auto* i = dyn_cast<llvm::Instruction>(v);
  if (i == nullptr || !i->getType()->isVectorTy()) return false;
  if (i->isBitwiseLogicOp() || i->getOpcode() == llvm::Instruction::FNeg) return true;
  const auto* call = dyn_cast<llvm::IntrinsicInst>(i);
  return call != nullptr &&
         (call->getIntrinsicID() == llvm::Intrinsic::copysign || call->getIntrinsicID() == llvm::Intrinsic::fabs);
}

/// A tree of three values has two operations below its root at most, and a negation beside each.
constexpr unsigned kDeepest = 4;

/// Is `value` among what the tree of logic at `root` is made from?
bool isMadeFrom(llvm::Value* root, const llvm::Value* value, unsigned depth = 0) {
  root = withoutCasts(root);
  if (root == value) return true;
  if (depth == kDeepest || !isLogic(root)) return false;
  auto& operation = llvm::cast<llvm::Instruction>(*root);
  return std::any_of(operation.op_begin(), operation.op_end(),
                     [&](llvm::Value* operand) { return isMadeFrom(operand, value, depth + 1); });
}

/// One operation alone becomes an instruction with two operands, which has no table. copysign is three operations.
bool hasSeveralOperations(llvm::Value* root) {
  root = withoutCasts(root);
  if (!isLogic(root)) return false;
  auto& operation = llvm::cast<llvm::Instruction>(*root);
  return llvm::isa<llvm::CallInst>(operation) ||
         std::any_of(operation.op_begin(), operation.op_end(),
                     [](llvm::Value* operand) { return isLogic(withoutCasts(operand)); });
}

/// A number type as wide as `element`: only values of such types can be fenced.
llvm::Type* numberAsWideAs(llvm::Type* element) {
  llvm::LLVMContext& context = element->getContext();
  return element->getScalarSizeInBits() == 64 ? llvm::Type::getDoubleTy(context) : llvm::Type::getFloatTy(context);
}

llvm::Value* fenced(llvm::IRBuilder<>& b, llvm::Value* logic) {
  auto* type = llvm::cast<llvm::FixedVectorType>(logic->getType());
  llvm::Type* number = numberAsWideAs(type->getElementType());
  const unsigned bits = static_cast<unsigned>(type->getPrimitiveSizeInBits().getFixedValue());
  auto* numbers = llvm::FixedVectorType::get(number, bits / number->getScalarSizeInBits());
  llvm::Value* opaque = b.CreateArithmeticFence(b.CreateBitCast(logic, numbers), numbers);
  return b.CreateBitCast(opaque, type);
}

/// Does it choose from two values lane by lane? A select, or a blend of lanes.
bool isChoice(const llvm::Instruction& i) {
  const auto* type = dyn_cast<llvm::FixedVectorType>(i.getType());
  if (type == nullptr || type->getPrimitiveSizeInBits() % 32 != 0 || type->getElementType()->isIntegerTy(1))
    return false;
  if (llvm::isa<llvm::SelectInst>(i)) return i.getOperand(0)->getType()->isVectorTy();
  const auto* shuffle = dyn_cast<llvm::ShuffleVectorInst>(&i);
  return shuffle != nullptr && shuffle->isSelect();
}

}  // namespace

void keepLogicUnmasked(llvm::Function& function) {
  std::vector<llvm::Instruction*> choices;
  for (llvm::Instruction& i : llvm::instructions(function))
    if (isChoice(i)) choices.push_back(&i);
  for (llvm::Instruction* choice : choices) {
    const unsigned first = llvm::isa<llvm::SelectInst>(choice) ? 1 : 0, second = first + 1;
    for (const auto& [chosen, other] : {std::pair{first, second}, std::pair{second, first}}) {
      llvm::Value* logic = choice->getOperand(chosen);
      if (!hasSeveralOperations(logic) || !isMadeFrom(logic, withoutCasts(choice->getOperand(other)))) continue;
      llvm::IRBuilder<> b(choice);
      choice->setOperand(chosen, fenced(b, logic));
    }
  }
}

}  // namespace ordito::jit
