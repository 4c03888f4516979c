// See lane_questions.hpp.
#include "jit/lane_questions.hpp"

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace ordito::jit {
namespace {

using llvm::APInt;
using llvm::dyn_cast;
using Predicate = llvm::CmpInst::Predicate;

/// The numbers of the lanes: `base`, or nothing, plus a constant for each. No lane's sum wraps around in the orders
/// that are named.
struct Lanes {
  llvm::Value* base = nullptr;
  std::vector<APInt> constants;
  bool keepsUnsigned = true, keepsSigned = true;

  APInt least() const { return *std::ranges::min_element(constants, isLess); }
  /// What the greatest constant has more than the least, if every number between them is some lane's.
  std::optional<APInt> extent() const {
    std::vector<APInt> distances;
    for (const APInt& c : constants) distances.push_back(c - least());
    std::ranges::sort(distances, isLess);
    distances.erase(std::ranges::unique(distances).begin(), distances.end());
    return distances.back() == distances.size() - 1 ? std::optional(distances.back()) : std::nullopt;
  }

 private:
  static bool isLess(const APInt& a, const APInt& b) { return a.ult(b); }
};

std::optional<std::vector<APInt>> constantsOf(const llvm::Value* v) {
  const auto* constant = dyn_cast<llvm::Constant>(v);
  const auto* type = dyn_cast<llvm::FixedVectorType>(v->getType());
  if (constant == nullptr || type == nullptr) return std::nullopt;
  std::vector<APInt> result;
  for (unsigned lane = 0; lane < type->getNumElements(); ++lane) {
    const auto* number = llvm::dyn_cast_or_null<llvm::ConstantInt>(constant->getAggregateElement(lane));
    if (number == nullptr) return std::nullopt;
    result.push_back(number->getValue());
  }
  return result;
}

/// `or` of what has no bit in common, or a sum.
std::optional<Lanes> lanesOf(llvm::Value* v) {
  if (auto constants = constantsOf(v)) return Lanes{nullptr, std::move(*constants)};
  auto* sum = dyn_cast<llvm::BinaryOperator>(v);
  if (sum == nullptr) return std::nullopt;
  Lanes lanes;
  auto constants = constantsOf(sum->getOperand(1));
  lanes.base = llvm::getSplatValue(sum->getOperand(0));
  if (!constants || lanes.base == nullptr) return std::nullopt;
  lanes.constants = std::move(*constants);
  if (const auto* disjoint = dyn_cast<llvm::PossiblyDisjointInst>(sum); disjoint != nullptr && disjoint->isDisjoint()) {
    // Bits that are added below the sign keep both orders.
    lanes.keepsSigned = std::ranges::none_of(lanes.constants, [](const APInt& c) { return c.isNegative(); });
    return lanes;
  }
  if (sum->getOpcode() != llvm::Instruction::Add) return std::nullopt;
  lanes.keepsUnsigned = sum->hasNoUnsignedWrap(), lanes.keepsSigned = sum->hasNoSignedWrap();
  return lanes;
}

/// Asks about masks, in scalars that are made at one place.
class Questions {
 public:
  explicit Questions(llvm::IRBuilder<>& b) : b_(b) {}

  /// Has `mask`, or its complement, any lane? Null if that cannot be told by scalars.
  llvm::Value* any(llvm::Value* mask, bool complement) {
    using namespace llvm::PatternMatch;
    if (++masks_ > kMostMasks) return nullptr;
    llvm::Value *x = nullptr, *y = nullptr;
    if (match(mask, m_Not(m_Value(x)))) return any(x, !complement);
    if (complement ? match(mask, m_LogicalAnd(m_Value(x), m_Value(y)))
                   : match(mask, m_LogicalOr(m_Value(x), m_Value(y)))) {
      llvm::Value* first = any(x, complement);
      llvm::Value* second = first ? any(y, complement) : nullptr;
      return second ? b_.CreateLogicalOr(first, second) : nullptr;
    }
    auto* comparison = dyn_cast<llvm::ICmpInst>(mask);
    return comparison ? any(*comparison, complement) : nullptr;
  }

 private:
  llvm::Value* any(llvm::ICmpInst& comparison, bool complement) {
    Predicate p = complement ? comparison.getInversePredicate() : comparison.getPredicate();
    llvm::Value* number = llvm::getSplatValue(comparison.getOperand(1));
    llvm::Value* others = comparison.getOperand(0);
    if (number == nullptr) {
      number = llvm::getSplatValue(others), others = comparison.getOperand(1);
      p = llvm::CmpInst::getSwappedPredicate(p);
    }
    const auto lanes = number && !number->getType()->isPointerTy() ? lanesOf(others) : std::nullopt;
    if (!lanes) return nullptr;
    if (llvm::CmpInst::isEquality(p)) return anyEqual(*lanes, number, p == Predicate::ICMP_NE);
    const bool isSigned = llvm::CmpInst::isSigned(p);
    if (!(isSigned ? lanes->keepsSigned : lanes->keepsUnsigned)) return anyOfCircle(*lanes, number, p);
    const bool least = llvm::ICmpInst::isLT(p) || llvm::ICmpInst::isLE(p);
    const auto less = [&](const APInt& a, const APInt& b) { return isSigned ? a.slt(b) : a.ult(b); };
    const auto [first, last] = std::ranges::minmax_element(lanes->constants, less);
    return b_.CreateICmp(p, lane(*lanes, least ? *first : *last), number);
  }

  /// Is any lane's number `number`, or another one?
  llvm::Value* anyEqual(const Lanes& lanes, llvm::Value* number, bool another) {
    const APInt first = lanes.constants.front();
    const bool differ = std::ranges::any_of(lanes.constants, [&](const APInt& c) { return c != first; });
    if (another) return differ ? b_.getTrue() : b_.CreateICmpNE(lane(lanes, first), number);
    const auto extent = lanes.extent();
    if (!extent) return nullptr;  // a number between is no lane's
    llvm::Value* distance = b_.CreateSub(number, lane(lanes, lanes.least()));
    return b_.CreateICmpULE(distance, b_.getInt(*extent));
  }

  /// The same for sums that may wrap around: the lanes' numbers are then a piece of a circle, from `first` on, which
  /// may hold both the greatest number and 0. Signed numbers are compared as unsigned ones that are half a circle
  /// further.
  llvm::Value* anyOfCircle(const Lanes& lanes, llvm::Value* number, Predicate p) {
    const auto extent = lanes.extent();
    if (!extent) return nullptr;
    llvm::Value *first = lane(lanes, lanes.least()), *length = b_.getInt(*extent);
    if (llvm::CmpInst::isSigned(p)) {
      llvm::Value* half = b_.getInt(APInt::getSignMask(extent->getBitWidth()));
      first = b_.CreateXor(first, half), number = b_.CreateXor(number, half);
    }
    llvm::Value* holdsZero = b_.CreateICmpULE(b_.CreateNeg(first), length);
    switch (llvm::ICmpInst::getUnsignedPredicate(p)) {
      case Predicate::ICMP_ULT:
        return b_.CreateOr(b_.CreateICmpULT(first, number), b_.CreateAnd(holdsZero, b_.CreateIsNotNull(number)));
      case Predicate::ICMP_ULE: return b_.CreateOr(b_.CreateICmpULE(first, number), holdsZero);
      case Predicate::ICMP_UGE:  // not all are less
        return b_.CreateOr(b_.CreateICmpUGE(first, number), b_.CreateICmpULE(b_.CreateSub(number, first), length));
      default:  // not all are less or equal, which are all if `number` is the greatest there is
        return b_.CreateAnd(
            b_.CreateOr(b_.CreateICmpUGT(first, number), b_.CreateICmpULT(b_.CreateSub(number, first), length)),
            b_.CreateIsNotNull(b_.CreateNot(number)));
    }
  }

  llvm::Value* lane(const Lanes& lanes, const APInt& constant) {
    llvm::Value* c = b_.getInt(constant);
    return lanes.base ? b_.CreateAdd(lanes.base, c) : c;
  }

  /// The masks of eight warps that advance together are asked about at once, each perhaps with its complement.
  static constexpr unsigned kMostMasks = 32;
  llvm::IRBuilder<>& b_;
  unsigned masks_ = 0;  // looked at
};

/// `icmp eq (bitcast mask), 0` and its like.
struct Question {
  llvm::ICmpInst* asked;
  llvm::BitCastInst* bits;
};

std::vector<Question> questionsIn(llvm::Function& function) {
  std::vector<Question> result;
  for (llvm::Instruction& i : llvm::instructions(function)) {
    auto* asked = dyn_cast<llvm::ICmpInst>(&i);
    auto* bits = asked && asked->isEquality() ? dyn_cast<llvm::BitCastInst>(asked->getOperand(0)) : nullptr;
    const auto* constant = bits ? dyn_cast<llvm::ConstantInt>(asked->getOperand(1)) : nullptr;
    if (constant == nullptr || !(constant->isZero() || constant->isMinusOne())) continue;
    const auto* mask = dyn_cast<llvm::FixedVectorType>(bits->getOperand(0)->getType());
    if (mask != nullptr && mask->getElementType()->isIntegerTy(1)) result.push_back({asked, bits});
  }
  return result;
}

llvm::Value* answer(const Question& q) {
  llvm::IRBuilder<> b(q.asked);
  const bool ofAll = llvm::cast<llvm::ConstantInt>(q.asked->getOperand(1))->isMinusOne();
  llvm::Value* any = Questions(b).any(q.bits->getOperand(0), ofAll);  // none is out, or none is in
  if (any == nullptr) return nullptr;
  return q.asked->getPredicate() == Predicate::ICMP_EQ ? b.CreateNot(any) : any;
}

/// The block that alone reads `i`; null if several do, or its own.
llvm::BasicBlock* onlyReader(const llvm::Instruction& i) {
  llvm::BasicBlock* reader = nullptr;
  for (const llvm::User* user : i.users()) {
    const auto* by = llvm::cast<llvm::Instruction>(user);
    if (llvm::isa<llvm::PHINode>(by) || (reader != nullptr && by->getParent() != reader)) return nullptr;
    reader = const_cast<llvm::BasicBlock*>(by->getParent());
  }
  return reader == i.getParent() ? nullptr : reader;
}

/// Moves what a mask is made of to where it is read, unless that is deeper in loops.
void sink(llvm::Value* v, const llvm::LoopInfo& loops) {
  auto* i = dyn_cast<llvm::Instruction>(v);
  if (i == nullptr || i->mayReadOrWriteMemory() || llvm::isa<llvm::PHINode>(i) || i->isTerminator()) return;
  llvm::BasicBlock* reader = onlyReader(*i);
  if (reader == nullptr || loops.getLoopDepth(reader) > loops.getLoopDepth(i->getParent())) return;
  i->moveBefore(*reader, reader->getFirstInsertionPt());
  for (llvm::Value* operand : i->operands()) sink(operand, loops);
}

}  // namespace

llvm::PreservedAnalyses LaneQuestions::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  std::vector<llvm::WeakTrackingVH> masks;
  llvm::SmallVector<llvm::WeakTrackingVH> unread;
  for (const Question& q : questionsIn(function)) {
    llvm::Value* answered = answer(q);
    if (answered == nullptr) continue;
    masks.emplace_back(q.bits->getOperand(0));
    q.asked->replaceAllUsesWith(answered);
    unread.emplace_back(q.asked);
  }
  if (masks.empty()) return llvm::PreservedAnalyses::all();
  llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(unread);
  const auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  for (const llvm::WeakTrackingVH& mask : masks)
    if (mask) sink(mask, loops);
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
}

}  // namespace ordito::jit
