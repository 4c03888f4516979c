// Sums are made in f32, which holds the sum of two such numbers so exactly that rounding again is harmless. The lesser
// and the greater of two are found by comparing them as integers: numbers of one sign are in the order of their bits.
#include "jit/half_atomics.hpp"

namespace ordito::jit {
namespace {

using isa::Type;

constexpr uint64_t kNan = 0x7FFF;

/// Operations on one value of 16 bits, or on the two of a pair.
class Halves {
 public:
  Halves(llvm::IRBuilder<>& b, Type element, llvm::Type* bits) : b_(b), isBfloat_(element == Type::bf16), bits_(bits) {}

  llvm::Value* sum(llvm::Value* x, llvm::Value* y) {
    llvm::Value* wide = b_.CreateFAdd(widened(x), widened(y));
    return b_.CreateSelect(b_.CreateFCmpUNO(wide, wide), number(kNan), narrowed(wide));
  }

  /// Of a number and a NaN the number, and of two zeros -0 is less.
  llvm::Value* extreme(llvm::Value* x, llvm::Value* y, bool isMax) {
    llvm::Value* first = isMax ? b_.CreateICmpSGT(place(x), place(y)) : b_.CreateICmpSLT(place(x), place(y));
    llvm::Value* picked = b_.CreateSelect(b_.CreateOr(first, isNan(y)), x, y);
    return b_.CreateSelect(isNan(x), b_.CreateSelect(isNan(y), number(kNan), y), picked);
  }

 private:
  llvm::IRBuilder<>& b_;
  bool isBfloat_;
  llvm::Type* bits_;

  llvm::Value* number(uint64_t n) { return llvm::ConstantInt::get(bits_, n); }
  llvm::Type* like(llvm::Type* scalar) { return bits_->getWithNewType(scalar); }

  llvm::Value* widened(llvm::Value* v) {
    if (!isBfloat_) return b_.CreateFPExt(b_.CreateBitCast(v, like(b_.getHalfTy())), like(b_.getFloatTy()));
    return b_.CreateBitCast(b_.CreateShl(b_.CreateZExt(v, like(b_.getInt32Ty())), 16), like(b_.getFloatTy()));
  }

  /// To the nearest, to even between two.
  llvm::Value* narrowed(llvm::Value* v) {
    if (!isBfloat_) return b_.CreateBitCast(b_.CreateFPTrunc(v, like(b_.getHalfTy())), bits_);
    llvm::Type* words = like(b_.getInt32Ty());
    llvm::Value* whole = b_.CreateBitCast(v, words);
    llvm::Value* isOdd = b_.CreateAnd(b_.CreateLShr(whole, 16), llvm::ConstantInt::get(words, 1));
    llvm::Value* rounded = b_.CreateAdd(b_.CreateAdd(whole, isOdd), llvm::ConstantInt::get(words, 0x7FFF));
    return b_.CreateTrunc(b_.CreateLShr(rounded, 16), bits_);
  }

  llvm::Value* isNan(llvm::Value* v) {
    return b_.CreateICmpUGT(b_.CreateAnd(v, number(0x7FFF)), number(isBfloat_ ? 0x7F80 : 0x7C00));
  }
  /// In the order of the numbers, as signed integers.
  llvm::Value* place(llvm::Value* v) { return b_.CreateXor(v, b_.CreateLShr(b_.CreateAShr(v, 15), 1)); }
};

}  // namespace

llvm::Value* combinedHalves(llvm::IRBuilder<>& b, std::string_view operation, Type type, llvm::Value* old,
                            llvm::Value* x) {
  llvm::Type* whole = old->getType();
  llvm::Type* bits = b.getInt16Ty();
  if (isa::isPacked(type)) bits = llvm::FixedVectorType::get(bits, 2);
  Halves halves(b, isa::element(type), bits);
  llvm::Value *first = b.CreateBitCast(old, bits), *second = b.CreateBitCast(x, bits);
  llvm::Value* result =
      operation == "add" ? halves.sum(first, second) : halves.extreme(first, second, operation == "max");
  return b.CreateBitCast(result, whole);
}

}  // namespace ordito::jit
