// See merged_checks.hpp.
#include "jit/merged_checks.hpp"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <optional>
#include <vector>

namespace ordito::jit {
namespace {

using namespace llvm::PatternMatch;

constexpr const char* kFails = "ordito_misaligned";  // (frame, line), and does not return

/// The end of a block that goes on to `next` if `bits` are zero, and else ends the launch.
struct Check {
  llvm::BranchInst* branch;
  llvm::Value* bits;
  llvm::CallInst* failure;
  llvm::BasicBlock* next;
  llvm::BasicBlock* block() const { return branch->getParent(); }
};

llvm::CallInst* failureIn(llvm::BasicBlock* b) {
  if (!b->getSinglePredecessor() || !llvm::isa<llvm::UnreachableInst>(b->getTerminator())) return nullptr;
  auto* call = llvm::dyn_cast<llvm::CallInst>(b->getFirstNonPHIOrDbg());
  const bool fails = call && call->getCalledFunction() && call->getCalledFunction()->getName() == kFails &&
                     llvm::isa<llvm::Constant>(call->getArgOperand(1));  // not merged already
  return fails && call->getNextNonDebugInstruction() == b->getTerminator() ? call : nullptr;
}

std::optional<Check> checkAtEndOf(llvm::BasicBlock& b) {
  auto* branch = llvm::dyn_cast<llvm::BranchInst>(b.getTerminator());
  llvm::ICmpInst::Predicate predicate{};
  llvm::Value* bits = nullptr;
  if (!branch || !branch->isConditional() ||
      !match(branch->getCondition(), m_ICmp(predicate, m_Value(bits), m_Zero())) || bits->getType()->isVectorTy())
    return std::nullopt;
  if (predicate != llvm::ICmpInst::ICMP_EQ && predicate != llvm::ICmpInst::ICMP_NE) return std::nullopt;
  const unsigned bad = predicate == llvm::ICmpInst::ICMP_EQ ? 1 : 0;
  auto* failure = failureIn(branch->getSuccessor(bad));
  if (!failure) return std::nullopt;
  return Check{branch, bits, failure, branch->getSuccessor(1 - bad)};
}

/// What has to be made for a value before the end of the first block of a chain; false where something of it must stay
/// where it is.
bool collect(llvm::Value* v, const llvm::SetVector<llvm::BasicBlock*>& behind,
             llvm::SetVector<llvm::Instruction*>& needed) {
  auto* i = llvm::dyn_cast<llvm::Instruction>(v);
  if (!i || !behind.contains(i->getParent()) || needed.contains(i)) return true;
  if (llvm::isa<llvm::PHINode>(i) || i->mayReadOrWriteMemory() || !llvm::isSafeToSpeculativelyExecute(i)) return false;
  if (!llvm::all_of(i->operands(), [&](llvm::Value* operand) { return collect(operand, behind, needed); }))
    return false;
  needed.insert(i);  // after its operands
  return true;
}

/// Checks of which nothing that the kernel does comes between one and the next.
class Chain {
 public:
  explicit Chain(const Check& first) : checks_{first} {
    while (std::optional<Check> next = following()) checks_.push_back(*next);
  }

  bool isLong() const { return checks_.size() > 1; }

  /// Leaves blocks without use and blocks that go on to one without any choice.
  void merge() {
    for (llvm::Instruction* i : needed_) {
      i->moveBefore(checks_[0].branch);
      i->dropPoisonGeneratingFlags();  // they may rest on what was asked before
    }
    llvm::IRBuilder<> b(checks_[0].branch);
    llvm::Value* bad = allBits(b);
    auto* merged = llvm::BranchInst::Create(checks_[0].next, checks_[0].failure->getParent(),
                                            b.CreateICmpEQ(bad, llvm::Constant::getNullValue(bad->getType())));
    merged->setDebugLoc(checks_[0].branch->getDebugLoc());
    merged->setMetadata(llvm::LLVMContext::MD_prof, likely(merged->getContext()));
    sayWhich();
    llvm::ReplaceInstWithInst(checks_[0].branch, merged);
    for (size_t k = 1; k < checks_.size(); ++k)
      llvm::ReplaceInstWithInst(checks_[k].branch, llvm::BranchInst::Create(checks_[k].next));
  }

  void addLeftovers(std::vector<llvm::BasicBlock*>& unused, std::vector<llvm::BasicBlock*>& joined) const {
    for (size_t k = 1; k < checks_.size(); ++k) {
      unused.push_back(checks_[k].failure->getParent());
      joined.push_back(checks_[k].next);
    }
  }

 private:
  std::optional<Check> following() {
    llvm::BasicBlock* next = checks_.back().next;
    if (next->getSinglePredecessor() != checks_.back().block() || next == checks_[0].block()) return std::nullopt;
    std::optional<Check> check = checkAtEndOf(*next);
    if (!check || check->failure->getArgOperand(0) != checks_[0].failure->getArgOperand(0)) return std::nullopt;
    if (llvm::any_of(*next, [](const llvm::Instruction& i) { return i.mayHaveSideEffects(); })) return std::nullopt;
    behind_.insert(next);
    llvm::SetVector<llvm::Instruction*> needed = needed_;
    if (!collect(check->bits, behind_, needed)) return std::nullopt;
    needed_ = std::move(needed);
    return check;
  }

  /// Not zero if those of any check are not.
  llvm::Value* allBits(llvm::IRBuilder<>& b) const {
    llvm::Value* all = checks_[0].bits;
    for (size_t k = 1; k < checks_.size(); ++k) {
      llvm::Value *bits = checks_[k].bits, *x = nullptr, *y = nullptr;
      const llvm::APInt *low = nullptr, *same = nullptr;
      if (bits->getType() != all->getType())
        all = b.CreateOr(b.CreateZExt(b.CreateIsNotNull(all), b.getInt64Ty()),
                         b.CreateZExt(b.CreateIsNotNull(bits), b.getInt64Ty()));
      else if (match(all, m_And(m_Value(x), m_APInt(low))) && match(bits, m_And(m_Value(y), m_APInt(same))) &&
               *low == *same)
        all = b.CreateAnd(b.CreateOr(x, y), *low);
      else
        all = b.CreateOr(all, bits);
    }
    return all;
  }

  static llvm::MDNode* likely(llvm::LLVMContext& context) {
    return llvm::MDBuilder(context).createLikelyBranchWeights();
  }

  /// The first access that fails is the one that is named.
  void sayWhich() const {
    llvm::CallInst* call = checks_[0].failure;
    llvm::IRBuilder<> b(call);
    llvm::Value* line = checks_.back().failure->getArgOperand(1);
    for (size_t k = checks_.size() - 1; k-- > 0;)
      line = b.CreateSelect(b.CreateIsNotNull(checks_[k].bits), checks_[k].failure->getArgOperand(1), line);
    call->setArgOperand(1, line);
  }

  std::vector<Check> checks_;
  llvm::SetVector<llvm::BasicBlock*> behind_;   // all but the first check's
  llvm::SetVector<llvm::Instruction*> needed_;  // of these, what the checks ask
};

}  // namespace

void mergeMisalignmentChecks(llvm::Function& f) {
  std::vector<llvm::BasicBlock*> unused, joined;
  for (llvm::BasicBlock* b : llvm::ReversePostOrderTraversal<llvm::Function*>(&f)) {
    std::optional<Check> check = checkAtEndOf(*b);
    if (!check) continue;
    Chain chain(*check);
    if (!chain.isLong()) continue;
    chain.addLeftovers(unused, joined);
    chain.merge();
  }
  for (llvm::BasicBlock* b : unused) llvm::DeleteDeadBlock(b);
  for (llvm::BasicBlock* b : joined) llvm::MergeBlockIntoPredecessor(b);
}

}  // namespace ordito::jit
