// Without F16C LLVM calls a function for each lane, 5 ns each way. As integers, a half's exponent and mantissa moved up
// by 13 bits are those of a float that is 2^112 times too small, which a multiplication mends, also for subnormal
// numbers. The other way, a float loses 13 bits and 112 of its exponent; what is added before rounds to nearest even.
// Halves below 2^-14 are fixed-point numbers: adding one half rounds there, since the last bit of 0.5 counts 2^-24. (F.
// Giesen, "Float to half conversions, redux", 2012.)
#include "jit/half_conversions.hpp"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <vector>

namespace ordito::jit {
namespace {

bool isHalves(const llvm::Type* type) { return type->isVectorTy() && type->getScalarType()->isHalfTy(); }

/// Conversions of vectors with the element count of one instruction.
class Converter {
 public:
  explicit Converter(llvm::Instruction& i) : b_(&i) {
    const auto* type = llvm::cast<llvm::FixedVectorType>(i.getOperand(0)->getType());
    words_ = llvm::FixedVectorType::get(b_.getInt32Ty(), type->getNumElements());
    floats_ = like(b_.getFloatTy());
  }

  llvm::Value* widened(llvm::Value* half) {
    llvm::Value* bits = b_.CreateZExt(b_.CreateBitCast(half, like(b_.getInt16Ty())), words_);
    llvm::Value* sign = b_.CreateShl(b_.CreateAnd(bits, word(0x8000)), 16);
    llvm::Value* magnitude = b_.CreateAnd(bits, word(0x7FFF));
    llvm::Value* moved = b_.CreateShl(magnitude, 13);
    llvm::Value* number = b_.CreateBitCast(
        b_.CreateFMul(b_.CreateBitCast(moved, floats_), llvm::ConstantFP::get(floats_, 0x1p112)), words_);
    llvm::Value* quiet =
        b_.CreateSelect(b_.CreateICmpSGT(magnitude, word(kInfinity)), word(0x7FC00000), word(0x7F800000));
    llvm::Value* isFinite = b_.CreateICmpSLT(magnitude, word(kInfinity));
    return b_.CreateBitCast(b_.CreateOr(sign, b_.CreateSelect(isFinite, number, b_.CreateOr(moved, quiet))), floats_);
  }

  llvm::Value* narrowed(llvm::Value* v) {
    llvm::Value* bits = b_.CreateBitCast(v, words_);
    llvm::Value* sign = b_.CreateAnd(b_.CreateLShr(bits, 16), word(0x8000));
    llvm::Value* magnitude = b_.CreateAnd(bits, word(0x7FFFFFFF));
    llvm::Value* isOdd = b_.CreateAnd(b_.CreateLShr(magnitude, 13), word(1));
    llvm::Value* normal = b_.CreateLShr(b_.CreateAdd(b_.CreateAdd(magnitude, isOdd), word(0xFFF - 0x38000000)), 13);
    llvm::Value* fixed = b_.CreateFAdd(b_.CreateBitCast(magnitude, floats_), llvm::ConstantFP::get(floats_, 0.5));
    llvm::Value* small = b_.CreateSub(b_.CreateBitCast(fixed, words_), word(0x3F000000));
    llvm::Value* payload = b_.CreateOr(b_.CreateAnd(b_.CreateLShr(magnitude, 13), word(0x3FF)), word(0x7E00));
    llvm::Value* isNan = b_.CreateICmpSGT(magnitude, word(0x7F800000));
    llvm::Value* large = b_.CreateSelect(isNan, payload, word(kInfinity));
    llvm::Value* number = b_.CreateSelect(b_.CreateICmpSLT(magnitude, word(0x38800000)), small, normal);
    llvm::Value* all = b_.CreateSelect(b_.CreateICmpSLT(magnitude, word(0x47800000)), number, large);
    return b_.CreateBitCast(b_.CreateTrunc(b_.CreateOr(all, sign), like(b_.getInt16Ty())), like(b_.getHalfTy()));
  }

  llvm::IRBuilder<>& builder() { return b_; }

 private:
  static constexpr uint32_t kInfinity = 0x7C00;
  llvm::IRBuilder<> b_;
  llvm::Type *words_, *floats_;

  llvm::Constant* word(uint32_t n) { return llvm::ConstantInt::get(words_, n); }
  llvm::Type* like(llvm::Type* scalar) { return words_->getWithNewType(scalar); }
};

/// What `i` gives, made otherwise; null if it is nothing to be rewritten.
llvm::Value* rewritten(llvm::Instruction& i) {
  if (i.getNumOperands() == 0) return nullptr;
  const bool fromHalves = isHalves(i.getOperand(0)->getType());
  if (llvm::isa<llvm::FPExtInst>(i) && fromHalves) {
    Converter c(i);
    return c.builder().CreateFPCast(c.widened(i.getOperand(0)), i.getType());
  }
  if (llvm::isa<llvm::FPTruncInst>(i) && isHalves(i.getType()) &&
      i.getOperand(0)->getType()->getScalarType()->isFloatTy())
    return Converter(i).narrowed(i.getOperand(0));
  const auto* arithmetic = llvm::dyn_cast<llvm::BinaryOperator>(&i);
  if (!arithmetic || !fromHalves) return nullptr;
  // The float holds the sum, product or quotient of two halves so exactly that rounding again is harmless.
  Converter c(i);
  llvm::Value *x = c.widened(i.getOperand(0)), *y = c.widened(i.getOperand(1));
  return c.narrowed(c.builder().CreateBinOp(arithmetic->getOpcode(), x, y));
}

}  // namespace

void convertHalvesByIntegers(llvm::Function& function) {
  std::vector<llvm::Instruction*> all;
  for (llvm::Instruction& i : llvm::instructions(function)) all.push_back(&i);
  for (llvm::Instruction* i : all)
    if (llvm::Value* v = rewritten(*i)) {
      i->replaceAllUsesWith(v);
      i->eraseFromParent();
    }
}

}  // namespace ordito::jit
