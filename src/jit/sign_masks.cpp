// AVX2 blends, loads and stores by the sign bits of vector elements. LLVM keeps <32 x i1> between blocks, and wherever
// it is computed with, as bytes instead: a mask goes through packs, exchanges of halves and widenings at every block of
// divergent code, more instructions than the block itself has. So each vector of i1 becomes a vector of words here, all
// ones or all zeros, and is compared with zero where it is used, which costs nothing: only signs are looked at.
#include "jit/sign_masks.hpp"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/IR/ValueHandle.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace ordito::jit {
namespace {

using namespace llvm::PatternMatch;
using llvm::dyn_cast;
using llvm::isa;

constexpr unsigned kRegister = 8;  // words

class Rewriter {
 public:
  explicit Rewriter(llvm::Function& function) : function_(function), b_(function.getContext()) {}

  void run() {
    for (llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&function_))
      for (llvm::Instruction& i : *block)
        if (isMask(i.getType())) masks_.push_back(&i);
    for (llvm::Instruction* mask : masks_) words_[mask] = makeWords(*mask);
    for (llvm::Instruction* mask : masks_)
      if (auto* phi = dyn_cast<llvm::PHINode>(mask)) fillPhi(*phi);
    findWhole();
    findMade();
    for (llvm::Instruction* mask : masks_) replaceUses(*mask);
    for (llvm::Instruction* i : dead_) i->eraseFromParent();
    for (llvm::Instruction* mask : masks_)
      if (isRewritten(*mask)) mask->replaceAllUsesWith(llvm::PoisonValue::get(mask->getType()));
    for (llvm::Instruction* mask : masks_)
      if (isRewritten(*mask) || mask->use_empty()) mask->eraseFromParent();
  }

 private:
  static bool isMask(llvm::Type* type) {
    auto* vector = dyn_cast<llvm::FixedVectorType>(type);
    return vector && vector->getElementType()->isIntegerTy(1) && vector->getNumElements() % 4 == 0;
  }
  static llvm::Type* wordsType(llvm::Type* mask) {
    return llvm::FixedVectorType::get(llvm::Type::getInt32Ty(mask->getContext()),
                                      llvm::cast<llvm::FixedVectorType>(mask)->getNumElements());
  }
  /// Is it made of words wholly? Else, as a comparison, it goes on to exist beside its words.
  static bool isRewritten(const llvm::Instruction& mask) {
    if (isa<llvm::ShuffleVectorInst>(mask)) return isMask(mask.getOperand(0)->getType());
    return isa<llvm::PHINode, llvm::SelectInst, llvm::FreezeInst, llvm::TruncInst>(mask) || mask.isBitwiseLogicOp();
  }

  llvm::Value* wordsOf(llvm::Value* mask) {
    if (auto known = words_.find(mask); known != words_.end()) return known->second;
    if (isa<llvm::Constant>(mask)) return b_.CreateSExt(mask, wordsType(mask->getType()));
    // An argument, or from a block that nobody reaches.
    return llvm::PoisonValue::get(wordsType(mask->getType()));
  }

  llvm::Value* makeWords(llvm::Instruction& mask) {
    llvm::Type* type = wordsType(mask.getType());
    if (auto* phi = dyn_cast<llvm::PHINode>(&mask)) {
      b_.SetInsertPoint(phi);
      return b_.CreatePHI(type, phi->getNumIncomingValues());
    }
    b_.SetInsertPoint(mask.getNextNode());
    llvm::ICmpInst::Predicate predicate;
    llvm::Value* signs;
    if (match(&mask, m_ICmp(predicate, m_Value(signs), m_Zero())) && predicate == llvm::ICmpInst::ICMP_SLT &&
        signs->getType() == type)
      return signs;
    if (!isRewritten(mask)) return b_.CreateSExt(&mask, type);
    if (auto* both = dyn_cast<llvm::BinaryOperator>(&mask))
      return b_.CreateBinOp(both->getOpcode(), wordsOf(both->getOperand(0)), wordsOf(both->getOperand(1)));
    if (auto* select = dyn_cast<llvm::SelectInst>(&mask)) return makeSelect(*select);
    if (isa<llvm::FreezeInst>(mask)) return b_.CreateFreeze(wordsOf(mask.getOperand(0)));
    if (auto* shuffle = dyn_cast<llvm::ShuffleVectorInst>(&mask))
      return b_.CreateShuffleVector(wordsOf(shuffle->getOperand(0)), wordsOf(shuffle->getOperand(1)),
                                    shuffle->getShuffleMask());
    llvm::Value* lowest = b_.CreateShl(b_.CreateZExtOrTrunc(mask.getOperand(0), type), 31);
    return b_.CreateAShr(lowest, 31);
  }

  llvm::Value* makeSelect(llvm::SelectInst& select) {
    llvm::Value *yes = wordsOf(select.getTrueValue()), *no = wordsOf(select.getFalseValue());
    if (!isMask(select.getCondition()->getType())) return b_.CreateSelect(select.getCondition(), yes, no);
    llvm::Value* condition = wordsOf(select.getCondition());
    if (match(select.getFalseValue(), m_Zero())) return b_.CreateAnd(condition, b_.CreateFreeze(yes));
    if (match(select.getTrueValue(), m_AllOnes())) return b_.CreateOr(condition, b_.CreateFreeze(no));
    return b_.CreateSelect(isNegative(condition), yes, no);
  }

  void fillPhi(llvm::PHINode& mask) {
    auto* words = llvm::cast<llvm::PHINode>(static_cast<llvm::Value*>(words_.at(&mask)));
    for (unsigned k = 0; k < mask.getNumIncomingValues(); ++k)
      words->addIncoming(wordsOf(mask.getIncomingValue(k)), mask.getIncomingBlock(k));
  }

  llvm::Value* isNegative(llvm::Value* words) {
    return b_.CreateICmpSLT(words, llvm::Constant::getNullValue(words->getType()));
  }

  /// Which vectors of words hold nothing but all ones and all zeros? All that are not found to do otherwise.
  void findWhole() {
    std::vector<llvm::Value*> work;
    for (llvm::BasicBlock& block : function_)
      for (llvm::Instruction& i : block)
        if (mayBeWhole(i.getType()) && !makesWhole(i) && !keepsWhole(i)) notWhole_.insert(&i), work.push_back(&i);
    while (!work.empty()) {
      llvm::Value* v = work.back();
      work.pop_back();
      for (llvm::User* user : v->users())
        if (auto* i = dyn_cast<llvm::Instruction>(user);
            i && mayBeWhole(i->getType()) && !makesWhole(*i) && notWhole_.insert(i).second)
          work.push_back(i);
    }
  }
  static bool mayBeWhole(llvm::Type* type) {
    auto* vector = dyn_cast<llvm::FixedVectorType>(type);
    return vector && vector->getElementType()->isIntegerTy(32);
  }
  /// Is it whole whatever it is made from?
  static bool makesWhole(llvm::Instruction& i) {
    return (isa<llvm::SExtInst>(i) && isMask(i.getOperand(0)->getType())) ||
           match(&i, m_AShr(m_Value(), m_SpecificInt(31)));
  }
  /// Is it whole if its operands are?
  static bool keepsWhole(llvm::Instruction& i) {
    const bool passesOn =
        isa<llvm::PHINode, llvm::SelectInst, llvm::FreezeInst, llvm::ShuffleVectorInst>(i) || i.isBitwiseLogicOp();
    return passesOn &&
           std::all_of(i.op_begin(), i.op_end(), [](const llvm::Use& use) { return isWholeIfConstant(use); });
  }
  static bool isWholeIfConstant(llvm::Value* v) {
    if (!mayBeWhole(v->getType())) return true;
    if (isa<llvm::Argument>(v)) return false;
    auto* constant = dyn_cast<llvm::Constant>(v);
    if (!constant || isa<llvm::PoisonValue>(v)) return true;
    for (unsigned k = 0; k < llvm::cast<llvm::FixedVectorType>(v->getType())->getNumElements(); ++k) {
      llvm::Constant* element = constant->getAggregateElement(k);
      if (!element || !(match(element, m_Zero()) || match(element, m_AllOnes()) || isa<llvm::PoisonValue>(element)))
        return false;
    }
    return true;
  }

  bool isWhole(llvm::Value* words) const { return isa<llvm::Instruction>(words) && !notWhole_.count(words); }
  bool hasWholeWords(llvm::Value* mask) const {
    auto known = words_.find(mask);
    return known != words_.end() && isWhole(known->second);
  }

  /// What LLVM made of words already: shifts that spread a sign over a word that has nothing else, and blends of masks.
  void findMade() {
    for (llvm::BasicBlock& block : function_)
      for (llvm::Instruction& i : block) {
        llvm::Value *words, *mask;
        if (!mayBeWhole(i.getType())) continue;
        b_.SetInsertPoint(&i);
        if (match(&i, m_AShr(m_Value(words), m_SpecificInt(31))) && isWhole(words))
          replace(i, words);
        else if (match(&i, m_Select(m_Value(mask), m_AllOnes(), m_Value(words))) && hasWholeWords(mask))
          replace(i, b_.CreateOr(words_.at(mask), b_.CreateFreeze(words)));
        else if (match(&i, m_Select(m_Value(mask), m_Value(words), m_Zero())) && hasWholeWords(mask))
          replace(i, b_.CreateAnd(words_.at(mask), b_.CreateFreeze(words)));
      }
  }

  void replace(llvm::Instruction& i, llvm::Value* by) {
    if (notWhole_.count(&i)) notWhole_.insert(by);  // it is as new as those that findWhole() has not seen
    i.replaceAllUsesWith(by);
    dead_.push_back(&i);
  }

  void replaceUses(llvm::Instruction& mask) {
    std::vector<llvm::Use*> uses;
    for (llvm::Use& use : mask.uses()) uses.push_back(&use);
    std::map<llvm::BasicBlock*, llvm::Value*> narrow;
    for (llvm::Use* use : uses) {
      auto* user = llvm::cast<llvm::Instruction>(use->getUser());
      if (user == words_.at(&mask) || (isMask(user->getType()) && isRewritten(*user))) continue;
      if (isa<llvm::BitCastInst>(user) && replaceTests(mask, *user)) continue;
      if (auto* whole = dyn_cast<llvm::SExtInst>(user); whole && whole->getType() == wordsType(mask.getType())) {
        replaceWhole(mask, *whole);
        continue;
      }
      if (!isRewritten(mask) && user->getParent() == mask.getParent()) continue;  // compared where it is wanted
      llvm::Value*& here = narrow[user->getParent()];
      if (!here) here = narrowIn(mask, user->getParent());
      use->set(here);
    }
  }

  llvm::Value* narrowIn(llvm::Instruction& mask, llvm::BasicBlock* block) {
    if (mask.getParent() == block && !isa<llvm::PHINode>(mask))
      b_.SetInsertPoint(mask.getNextNode());
    else
      b_.SetInsertPoint(block, block->getFirstInsertionPt());
    // Behind the words, which may follow the mask that they stand for.
    auto* words = dyn_cast<llvm::Instruction>(static_cast<llvm::Value*>(words_.at(&mask)));
    if (words && words->getParent() == block && !isa<llvm::PHINode>(words)) b_.SetInsertPoint(words->getNextNode());
    return isNegative(words_.at(&mask));
  }

  void replaceWhole(llvm::Instruction& mask, llvm::SExtInst& whole) {
    llvm::Value* words = words_.at(&mask);
    if (words == &whole) return;
    if (!isWhole(words)) {
      b_.SetInsertPoint(&whole);
      words = b_.CreateAShr(words, 31);
    }
    replace(whole, words);
  }

  /// Comparisons of all lanes' bits with none and with all need the lanes of one register only. True if the bits are
  /// wanted for nothing else.
  bool replaceTests(llvm::Instruction& mask, llvm::Instruction& bits) {
    std::vector<llvm::ICmpInst*> tests;
    bool onlyTests = true;
    if (llvm::cast<llvm::FixedVectorType>(mask.getType())->getNumElements() < kRegister) return false;
    for (llvm::User* user : bits.users()) {
      auto* test = dyn_cast<llvm::ICmpInst>(user);
      if (test && test->isEquality() &&
          (match(test->getOperand(1), m_Zero()) || match(test->getOperand(1), m_AllOnes())))
        tests.push_back(test);
      else
        onlyTests = false;
    }
    for (llvm::ICmpInst* test : tests) {
      b_.SetInsertPoint(test);
      const bool any = match(test->getOperand(1), m_Zero());
      llvm::Value* together = joined(words_.at(&mask), any);
      auto* integer = b_.getIntNTy(llvm::cast<llvm::FixedVectorType>(together->getType())->getNumElements());
      llvm::Value* lanes = b_.CreateBitCast(isNegative(together), integer);
      llvm::Constant* wanted = any ? llvm::Constant::getNullValue(integer) : llvm::Constant::getAllOnesValue(integer);
      replace(*test, b_.CreateICmp(test->getPredicate(), lanes, wanted));
    }
    if (onlyTests) dead_.push_back(&bits);
    return onlyTests;
  }

  /// All words in one register: a lane's sign is that of any, or of all, of the lanes that it stands for.
  llvm::Value* joined(llvm::Value* words, bool any) {
    for (unsigned count; (count = llvm::cast<llvm::FixedVectorType>(words->getType())->getNumElements()) > kRegister;) {
      std::vector<int> low, high;
      for (unsigned k = 0; k < count / 2; ++k)
        low.push_back(static_cast<int>(k)), high.push_back(static_cast<int>(count / 2 + k));
      llvm::Value *a = b_.CreateShuffleVector(words, low), *b = b_.CreateShuffleVector(words, high);
      words = any ? b_.CreateOr(a, b) : b_.CreateAnd(a, b);
    }
    return words;
  }

  llvm::Function& function_;
  llvm::IRBuilder<> b_;
  std::vector<llvm::Instruction*> masks_, dead_;
  std::map<llvm::Value*, llvm::WeakTrackingVH> words_;  // they follow a value that is replaced
  std::set<llvm::Value*> notWhole_;
};

}  // namespace

void keepMasksAsWords(llvm::Function& function) { Rewriter(function).run(); }

}  // namespace ordito::jit
