// AVX-512's masks are made of integers by one instruction, and LLVM 19 has two foldings for that, each of which undoes
// the other: `or (bitcast a), (bitcast b)` becomes `bitcast (or a, b)`, and that becomes the former again if there are
// such bitcasts of a and of b for others. Selects between two masks by one bit count as bitcasts, too. It does so for
// ever, and the compiler never ends. So one of the two sides gets an integer of its own: it goes through an assembly
// text without instructions, of which LLVM knows nothing.
#include "jit/integer_masks.hpp"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>

#include <algorithm>
#include <vector>

namespace ordito::jit {
namespace {

using llvm::dyn_cast;

/// Of lanes for which there is an integer type.
bool isMask(const llvm::Type* type) {
  const auto* vector = dyn_cast<llvm::FixedVectorType>(type);
  if (vector == nullptr || !vector->getElementType()->isIntegerTy(1)) return false;
  const unsigned lanes = vector->getNumElements();
  return lanes == 8 || lanes == 16 || lanes == 32 || lanes == 64;
}

bool isFolded(const llvm::Value* v) {
  const auto* i = dyn_cast<llvm::BinaryOperator>(v);
  return i != nullptr && (i->getOpcode() == llvm::Instruction::Or || i->getOpcode() == llvm::Instruction::Xor);
}

constexpr unsigned kDeepest = 6;  // foldings look no further

/// Does LLVM take the mask for a bitcast of an integer?
bool isOfInteger(const llvm::Value* mask, unsigned depth = 0) {
  if (depth == kDeepest) return false;
  if (llvm::isa<llvm::Constant>(mask)) return true;
  if (const auto* cast = dyn_cast<llvm::BitCastInst>(mask)) return cast->getOperand(0)->getType()->isIntegerTy();
  const auto* i = dyn_cast<llvm::Instruction>(mask);
  if (i == nullptr) return false;
  const auto isSo = [&](const llvm::Value* operand) { return isOfInteger(operand, depth + 1); };
  if (const auto* select = dyn_cast<llvm::SelectInst>(i))
    return select->getCondition()->getType()->isIntegerTy() && isSo(select->getTrueValue()) &&
           isSo(select->getFalseValue());
  return i->isBitwiseLogicOp() && isSo(i->getOperand(0)) && isSo(i->getOperand(1));
}

/// Is the integer, or what it is made from, a mask to somebody?
bool isMaskToo(const llvm::Value* integer, unsigned depth = 0) {
  const auto isCast = [](const llvm::User* user) {
    return llvm::isa<llvm::BitCastInst>(user) && isMask(user->getType());
  };
  if (std::any_of(integer->user_begin(), integer->user_end(), isCast)) return true;
  const auto* i = dyn_cast<llvm::Instruction>(integer);
  if (i == nullptr || depth == kDeepest || !i->isBitwiseLogicOp()) return false;
  return isMaskToo(i->getOperand(0), depth + 1) || isMaskToo(i->getOperand(1), depth + 1);
}

llvm::Value* opaque(llvm::IRBuilder<>& b, llvm::Value* integer) {
  auto* type = llvm::FunctionType::get(integer->getType(), {integer->getType()}, false);
  return b.CreateCall(type, llvm::InlineAsm::get(type, "", "=r,0", false), {integer});
}

/// `or` or `xor` of two masks.
void part(llvm::BinaryOperator& logic) {
  llvm::Value *a = logic.getOperand(0), *b = logic.getOperand(1);
  if (llvm::isa<llvm::Constant>(a) || llvm::isa<llvm::Constant>(b) || !isOfInteger(a) || !isOfInteger(b)) return;
  if (a->hasOneUse() && b->hasOneUse()) return;
  const unsigned side = llvm::isa<llvm::BitCastInst>(b) ? 1 : 0;
  llvm::IRBuilder<> builder(&logic);
  auto* mask = llvm::cast<llvm::FixedVectorType>(logic.getType());
  llvm::Value* integer = builder.CreateBitCast(logic.getOperand(side), builder.getIntNTy(mask->getNumElements()));
  logic.setOperand(side, builder.CreateBitCast(opaque(builder, integer), mask));
}

/// A mask of an integer that is logic itself.
void part(llvm::BitCastInst& cast) {
  auto* logic = dyn_cast<llvm::BinaryOperator>(cast.getOperand(0));
  if (logic == nullptr || !isFolded(logic)) return;
  if (!isMaskToo(logic->getOperand(0)) && !isMaskToo(logic->getOperand(1))) return;
  llvm::IRBuilder<> b(&cast);
  cast.setOperand(0, opaque(b, logic));
}

}  // namespace

void keepMasksFromIntegers(llvm::Function& function) {
  std::vector<llvm::Instruction*> masks;
  for (llvm::Instruction& i : llvm::instructions(function))
    if (isMask(i.getType())) masks.push_back(&i);
  for (llvm::Instruction* i : masks) {
    if (auto* cast = dyn_cast<llvm::BitCastInst>(i); cast && cast->getOperand(0)->getType()->isIntegerTy()) part(*cast);
    if (isFolded(i)) part(llvm::cast<llvm::BinaryOperator>(*i));
  }
}

}  // namespace ordito::jit
