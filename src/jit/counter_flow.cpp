// See counter_flow.hpp.
#include "jit/counter_flow.hpp"

#include <llvm/ADT/EquivalenceClasses.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/BlockFrequencyInfo.h>
#include <llvm/Analysis/BranchProbabilityInfo.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace ordito::jit {

namespace {

using llvm::BasicBlock;
using llvm::CallInst;
using llvm::Value;

std::vector<CallInst*> callsOf(llvm::Function& f, llvm::StringRef name) {
  std::vector<CallInst*> calls;
  for (BasicBlock& block : f)
    for (llvm::Instruction& i : block)
      if (auto* call = llvm::dyn_cast<CallInst>(&i))
        if (call->getCalledFunction() && call->getCalledFunction()->getName() == name) calls.push_back(call);
  return calls;
}

/// The blocks from which the function may return: only what they count is ever handed over.
std::set<BasicBlock*> blocksThatReturn(llvm::Function& f) {
  std::set<BasicBlock*> found;
  std::vector<BasicBlock*> left;
  for (BasicBlock& block : f)
    if (llvm::isa<llvm::ReturnInst>(block.getTerminator())) left.push_back(&block);
  while (!left.empty()) {
    BasicBlock* block = left.back();
    left.pop_back();
    if (found.insert(block).second) left.insert(left.end(), llvm::pred_begin(block), llvm::pred_end(block));
  }
  return found;
}

/// An edge of LLVM's flow graph.
struct Branch {
  BasicBlock *from, *to;
};

/// All ways from one counted block to another that lead through none. It is taken as often as its branches together.
struct Edge {
  BasicBlock *from, *to;
  uint64_t frequency;
  std::vector<Branch> branches;
};

using EdgeSet = std::set<size_t>;

/// The flow graph, reduced to the blocks that count, and a spanning tree of it as a parent for each block.
class Flow {
 public:
  Flow(llvm::Function& f, const std::set<BasicBlock*>& marked)
      : entry_(&f.getEntryBlock()), returning_(blocksThatReturn(f)) {
    findEdges(f);
    reduce(f, marked);
    growTree();
  }

  const Edge& edge(size_t e) const { return edges_[e]; }
  size_t edges() const { return edges_.size(); }
  bool counts(BasicBlock* block) const { return returning_.contains(block); }
  bool isInTree(size_t edge) const { return inTree_[edge]; }
  BasicBlock* entry() const { return entry_; }
  const EdgeSet& into(BasicBlock* block) { return into_[block]; }
  const EdgeSet& outOf(BasicBlock* block) { return outOf_[block]; }
  /// The end of an edge of the tree that is further from the entry: what else runs in and out there says how often the
  /// edge is taken.
  BasicBlock* lowerEnd(size_t edge) {
    BasicBlock* from = edges_[edge].from;
    const auto parent = parent_.find(from);
    return parent != parent_.end() && parent->second == edge ? from : edges_[edge].to;
  }

 private:
  void findEdges(llvm::Function& f) {
    llvm::DominatorTree dominators(f);
    llvm::LoopInfo loops(dominators);
    llvm::BranchProbabilityInfo probabilities(f, loops);
    llvm::BlockFrequencyInfo frequencies(f, probabilities, loops);
    for (BasicBlock& from : f) {
      std::set<BasicBlock*> seen;
      for (BasicBlock* to : llvm::successors(&from)) {
        if (!counts(&from) || !counts(to) || !seen.insert(to).second) continue;
        const auto frequency = frequencies.getBlockFreq(&from) * probabilities.getEdgeProbability(&from, to);
        add({&from, to, frequency.getFrequency(), {{&from, to}}});
      }
    }
  }

  /// Two edges between the same blocks are one.
  void add(Edge edge) {
    for (size_t e : outOf_[edge.from])
      if (edges_[e].to == edge.to) {
        edges_[e].frequency += edge.frequency;
        edges_[e].branches.insert(edges_[e].branches.end(), edge.branches.begin(), edge.branches.end());
        return;
      }
    outOf_[edge.from].insert(edges_.size()), into_[edge.to].insert(edges_.size());
    edges_.push_back(std::move(edge));
  }

  /// Takes blocks out that nobody asks for, until all that are left have several edges in and out.
  void reduce(llvm::Function& f, const std::set<BasicBlock*>& marked) {
    bool isDone = false;
    while (!std::exchange(isDone, true))
      for (BasicBlock& block : f) {
        const EdgeSet in = into_[&block], out = outOf_[&block];
        if (marked.contains(&block) || in.empty() || out.empty() || (in.size() > 1 && out.size() > 1)) continue;
        if (std::ranges::any_of(in, [&](size_t e) { return out.contains(e); })) continue;
        isDone = false;
        for (size_t e : in)
          for (size_t d : out) {
            const Edge& several = edges_[in.size() > 1 ? e : d];
            add({edges_[e].from, edges_[d].to, several.frequency, several.branches});
          }
        for (size_t e : in) outOf_[edges_[e].from].erase(e);
        for (size_t d : out) into_[edges_[d].to].erase(d);
        into_[&block].clear(), outOf_[&block].clear();
      }
  }

  /// Kruskal's algorithm, the edges that run most first; then from the entry downwards.
  void growTree() {
    std::vector<size_t> order;
    for (const auto& [block, leaving] : outOf_) order.insert(order.end(), leaving.begin(), leaving.end());
    std::ranges::sort(order, std::less(), [&](size_t e) { return std::pair(~edges_[e].frequency, e); });
    llvm::EquivalenceClasses<BasicBlock*> trees;
    inTree_.assign(edges_.size(), false);
    for (size_t e : order) {
      BasicBlock *from = edges_[e].from, *to = edges_[e].to;
      if (from == to || trees.isEquivalent(from, to)) continue;
      trees.unionSets(from, to);
      inTree_[e] = true;
    }
    std::vector<BasicBlock*> left{entry_};
    std::set<BasicBlock*> reached{entry_};
    while (!left.empty()) {
      BasicBlock* block = left.back();
      left.pop_back();
      for (const EdgeSet* side : {&into_[block], &outOf_[block]})
        for (size_t e : *side) {
          BasicBlock* other = edges_[e].from == block ? edges_[e].to : edges_[e].from;
          if (!inTree_[e] || !reached.insert(other).second) continue;
          parent_[other] = e;
          left.push_back(other);
        }
    }
  }

  BasicBlock* entry_;
  std::set<BasicBlock*> returning_;
  std::vector<Edge> edges_;
  std::vector<bool> inTree_;
  std::map<BasicBlock*, EdgeSet> into_, outOf_;
  std::map<BasicBlock*, size_t> parent_;  // the edge of the tree that leads towards the entry
};

/// Computes, where the function returns, how often its blocks ran.
class Sums {
 public:
  /// `counters`: one for each edge that some sum has asked for, in the order of `counted`.
  Sums(Flow& flow, llvm::SetVector<size_t>& counted, Value* counters, CallInst* handsOver)
      : flow_(flow),
        counted_(counted),
        counters_(counters),
        b_(handsOver),
        returns_(handsOver->getParent()),
        ofEdges_(flow.edges()) {}

  Value* runsOf(BasicBlock* block) {
    Value* sum = b_.getInt64(block == flow_.entry());
    for (size_t e : flow_.into(block)) sum = b_.CreateAdd(sum, runsOf(e));
    return sum;
  }

  llvm::IRBuilder<>& builder() { return b_; }

 private:
  Value* runsOf(size_t edge) {
    if (!ofEdges_[edge]) ofEdges_[edge] = flow_.isInTree(edge) ? followsFor(edge) : counterOf(edge);
    return ofEdges_[edge];
  }

  Value* counterOf(size_t edge) {
    counted_.insert(edge);
    const auto place = static_cast<uint64_t>(std::ranges::find(counted_, edge) - counted_.begin());
    return b_.CreateLoad(b_.getInt64Ty(), b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), counters_, place));
  }

  /// The function is called and returns once.
  Value* followsFor(size_t edge) {
    BasicBlock* at = flow_.lowerEnd(edge);
    Value *in = b_.getInt64(at == flow_.entry()), *out = b_.getInt64(at == returns_);
    for (size_t e : flow_.into(at))
      if (e != edge) in = b_.CreateAdd(in, runsOf(e));
    for (size_t e : flow_.outOf(at))
      if (e != edge) out = b_.CreateAdd(out, runsOf(e));
    return flow_.edge(edge).to == at ? b_.CreateSub(out, in) : b_.CreateSub(in, out);
  }

  Flow& flow_;
  llvm::SetVector<size_t>& counted_;
  Value* counters_;
  llvm::IRBuilder<> b_;
  BasicBlock* returns_;
  std::vector<Value*> ofEdges_;
};

void increment(Value* counters, uint64_t place, llvm::Instruction* before) {
  llvm::IRBuilder<> b(before);
  Value* at = b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), counters, place);
  b.CreateStore(b.CreateAdd(b.CreateLoad(b.getInt64Ty(), at), b.getInt64(1)), at);
}

/// Where code runs exactly as often as the branch is taken.
llvm::Instruction* placeOn(const Branch& edge) {
  if (edge.to->getUniquePredecessor() && edge.from != edge.to) return &*edge.to->getFirstInsertionPt();
  if (edge.from->getUniqueSuccessor()) return edge.from->getTerminator();
  llvm::Instruction* branch = edge.from->getTerminator();
  const auto isIt = [&](unsigned s) { return branch->getSuccessor(s) == edge.to; };
  unsigned which = 0;
  while (!isIt(which)) ++which;
  return llvm::SplitCriticalEdge(branch, which, llvm::CriticalEdgeSplittingOptions().setMergeIdenticalEdges())
      ->getTerminator();
}

uint64_t wordOf(const CallInst* mark) { return llvm::cast<llvm::ConstantInt>(mark->getArgOperand(0))->getZExtValue(); }

}  // namespace

void placeCounters(llvm::Function& f) {
  const std::vector<CallInst*> marks = callsOf(f, kRunsMark);
  if (marks.empty()) return;
  std::map<uint64_t, std::vector<BasicBlock*>> blocksOf;  // of words
  for (CallInst* mark : marks) blocksOf[wordOf(mark)].push_back(mark->getParent());
  for (CallInst* mark : marks) mark->eraseFromParent();

  std::set<BasicBlock*> marked{&f.getEntryBlock()};
  for (const auto& [word, blocks] : blocksOf) marked.insert(blocks.begin(), blocks.end());
  for (CallInst* handsOver : callsOf(f, kAddCounters)) marked.insert(handsOver->getParent());
  Flow flow(f, marked);
  llvm::SetVector<size_t> counted;
  llvm::IRBuilder<> entry(&*f.getEntryBlock().getFirstInsertionPt());
  auto* counters = entry.CreateAlloca(entry.getInt64Ty(), entry.getInt64(1), "edges");
  for (CallInst* handsOver : callsOf(f, kAddCounters)) {
    Sums sums(flow, counted, counters, handsOver);
    Value* words = handsOver->getArgOperand(1);
    for (const auto& [word, blocks] : blocksOf) {
      llvm::IRBuilder<>& b = sums.builder();
      Value* sum = b.getInt64(0);
      for (BasicBlock* block : blocks)
        if (flow.counts(block)) sum = b.CreateAdd(sum, sums.runsOf(block));
      b.CreateStore(sum, b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), words, word));
    }
  }
  if (counted.empty()) return void(counters->eraseFromParent());
  counters->setOperand(0, entry.getInt64(counted.size()));
  entry.CreateMemSet(counters, entry.getInt8(0), uint64_t{8} * counted.size(), llvm::MaybeAlign(8));
  for (size_t k = 0; k < counted.size(); ++k)
    for (const Branch& branch : flow.edge(counted[k]).branches) increment(counters, k, placeOn(branch));
}

}  // namespace ordito::jit
