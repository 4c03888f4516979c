// scalarAddresses (combined_atomics.hpp) takes words out of a vector in pairs, 64 bits at a time. Where the words are
// widened bytes or halves, maybe times a power of two, the narrow ones are taken instead, and shifts and masks make
// words of them.
#include "jit/narrow_lanes.hpp"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PatternMatch.h>

#include <optional>
#include <vector>

namespace ordito::jit {
namespace {

using llvm::dyn_cast;

constexpr unsigned kPair = 64, kWord = 32;

/// `narrow`, widened to words and shifted to the left.
struct Widened {
  llvm::Value* narrow = nullptr;
  unsigned bits = 0, shift = 0;
};

std::optional<Widened> widenedBytes(llvm::Value* words) {
  using namespace llvm::PatternMatch;
  Widened w;
  const llvm::APInt* shift = nullptr;
  llvm::Value* wide = words;
  if (match(words, m_Shl(m_Value(wide), m_APInt(shift)))) w.shift = static_cast<unsigned>(shift->getZExtValue());
  if (!match(wide, m_ZExt(m_Value(w.narrow)))) return std::nullopt;
  const auto* type = dyn_cast<llvm::FixedVectorType>(w.narrow->getType());
  if (type == nullptr) return std::nullopt;
  w.bits = type->getScalarSizeInBits();
  if ((w.bits != 8 && w.bits != 16) || w.bits + w.shift >= kWord) return std::nullopt;
  if (type->getPrimitiveSizeInBits() % kPair != 0) return std::nullopt;
  return w;
}

/// The words of a vector that leave it in pairs.
class Pairs {
 public:
  Pairs(llvm::BitCastInst& pairs, const Widened& words) : pairs_(pairs), words_(words), b_(&pairs) {
    const auto bits = static_cast<unsigned>(words.narrow->getType()->getPrimitiveSizeInBits().getFixedValue());
    packed_ = b_.CreateBitCast(words.narrow, llvm::FixedVectorType::get(b_.getInt64Ty(), bits / kPair));
  }

  void replace() {
    const std::vector<llvm::User*> users(pairs_.user_begin(), pairs_.user_end());
    for (llvm::User* user : users)
      if (auto* pair = dyn_cast<llvm::ExtractElementInst>(user)) replace(*pair);
  }

 private:
  void replace(llvm::ExtractElementInst& pair) {
    const auto* index = dyn_cast<llvm::ConstantInt>(pair.getIndexOperand());
    if (index == nullptr) return;
    const auto first = static_cast<unsigned>(2 * index->getZExtValue());
    const std::vector<llvm::User*> users(pair.user_begin(), pair.user_end());
    for (llvm::User* user : users) {
      auto* half = llvm::cast<llvm::Instruction>(user);
      b_.SetInsertPoint(half);
      if (llvm::Value* word = halfOf(*half, first)) half->replaceAllUsesWith(word), half->eraseFromParent();
    }
    if (pair.use_empty()) pair.eraseFromParent();
  }

  /// What `i` takes of the pair that begins with lane `first`, in its own type; null if that is neither half.
  llvm::Value* halfOf(llvm::Instruction& i, unsigned first) {
    using namespace llvm::PatternMatch;
    const llvm::APInt* mask = nullptr;
    if (match(&i, m_Shr(m_Value(), m_SpecificInt(kWord)))) return word(first + 1);
    if (match(&i, m_Trunc(m_Value())) && i.getType()->isIntegerTy(kWord))
      return b_.CreateTrunc(word(first), i.getType());
    if (match(&i, m_And(m_Value(), m_APInt(mask))) && mask->getActiveBits() <= kWord) {
      const llvm::APInt all = llvm::APInt::getLowBitsSet(kPair, words_.bits).shl(words_.shift);
      return all.isSubsetOf(*mask) ? word(first) : b_.CreateAnd(word(first), b_.getInt(*mask));
    }
    return nullptr;
  }

  /// The word of a lane, as 64 bits.
  llvm::Value* word(unsigned lane) {
    const unsigned inOne = kPair / words_.bits, at = words_.bits * (lane % inOne);
    llvm::Value* several = b_.CreateExtractElement(packed_, uint64_t{lane / inOne});
    llvm::Value* one = at ? b_.CreateLShr(several, at) : several;
    if (at + words_.bits < kPair) one = b_.CreateAnd(one, (uint64_t{1} << words_.bits) - 1);
    return words_.shift ? b_.CreateShl(one, words_.shift, "", true, true) : one;
  }

  llvm::BitCastInst& pairs_;
  Widened words_;
  llvm::IRBuilder<> b_;
  llvm::Value* packed_;
};

bool isPairs(const llvm::BitCastInst& cast) {
  const auto* to = dyn_cast<llvm::FixedVectorType>(cast.getType());
  const auto* from = dyn_cast<llvm::FixedVectorType>(cast.getOperand(0)->getType());
  return to != nullptr && from != nullptr && to->getElementType()->isIntegerTy(kPair) &&
         from->getElementType()->isIntegerTy(kWord);
}

}  // namespace

void takeNarrowLanes(llvm::Function& function) {
  std::vector<llvm::BitCastInst*> casts;
  for (llvm::Instruction& i : llvm::instructions(function))
    if (auto* cast = dyn_cast<llvm::BitCastInst>(&i); cast != nullptr && isPairs(*cast)) casts.push_back(cast);
  for (llvm::BitCastInst* cast : casts)
    if (const auto words = widenedBytes(cast->getOperand(0))) Pairs(*cast, *words).replace();
}

}  // namespace ordito::jit
