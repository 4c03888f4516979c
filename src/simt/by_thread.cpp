// See by_thread.hpp.
#include "simt/by_thread.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "ir/print.hpp"
#include "simt/stretch_rules.hpp"
#include "simt/thread_cost.hpp"

namespace ordito::simt {
namespace {

using Kind = ir::Terminator::Kind;
using Members = std::vector<char>;  // flags by block

/// The nearest block on the way to the root of the tree from both; dominators give each block its parent.
uint32_t commonDominator(const std::vector<uint32_t>& idom, uint32_t a, uint32_t b) {
  while (!ir::dominates(idom, a, b) && a != idom[a]) a = idom[a];
  return a;
}

class Finder {
 public:
  explicit Finder(const StretchInputs& in)
      : in_(in),
        f_(in.analyses.function()),
        graph_(in.analyses.graph()),
        nest_(in.analyses.loops()),
        costs_(f_, in.shapes, in.analyses.definitions(), nest_, in.facts.processor),
        rules_(in) {}

  Stretches find() {
    if (in_.facts.byThread == ByThread::Contrary) chooseContraryWay();
    chooseLoops();
    for (size_t k = 0; k < chosen_.size();) {
      Members members = chosen_[k]->members;
      BlockId first = chosen_[k]->header;
      if (in_.facts.counters) {
        result_.stretches.push_back(describe(first, members));
        result_.stretches.back().counted = countedIterations(*chosen_[k++], in_, costs_);
        continue;
      }
      for (++k; k < chosen_.size(); ++k) {
        const auto joined = joinedWith(members, first, *chosen_[k]);
        if (!joined) break;
        first = joined->header, members = joined->members;
      }
      result_.stretches.push_back(describe(first, members));
    }
    return std::move(result_);
  }

 private:
  // ---- loops
  /// Close calls that the plan has decided differently all go as vectors, since what it runs thread by thread is inside
  /// of what it does not.
  void chooseContraryWay() {
    closeByThread_ = std::ranges::none_of(nest_.loops(), [&](const ir::Loop& loop) {
      if (!rules_.obstacleTo(loop.header, loop.members).empty()) return false;
      const ThreadCost cost = costs_.of(loop);
      return isClose(cost) && isCheaper(cost);
    });
  }

  void chooseLoops() {
    Members isTaken(f_.blocks.size(), 0);
    for (const ir::Loop& loop : nest_.loops()) {  // outer ones come first
      if (isTaken[loop.header]) continue;
      result_.verdicts.push_back(judge(loop));
      if (!result_.verdicts.back().isChosen) continue;
      chosen_.push_back(&loop);
      for (BlockId b = 0; b < f_.blocks.size(); ++b) isTaken[b] |= loop.contains(b);
    }
    std::ranges::sort(chosen_, {}, &ir::Loop::header);
  }

  Stretches::Verdict judge(const ir::Loop& loop) const {
    Stretches::Verdict v{.header = loop.header, .obstacle = rules_.obstacleTo(loop.header, loop.members)};
    if (v.obstacle.empty() && in_.facts.counters) v.obstacle = obstacleToCounting(loop, in_);
    if (!v.obstacle.empty()) return v;
    const ThreadCost cost = costs_.of(loop);
    v.asVectors = static_cast<unsigned>(cost.asVectors / 4);
    v.byThread = static_cast<unsigned>(cost.byThread / 4);
    v.isClose = isClose(cost);
    v.isChosen = isChosen(cost) && isWorthCounting(cost);
    if (isChosen(cost) && !v.isChosen) v.obstacle = "as vectors it is counted sooner";
    if (cost.walks == 0 && !v.isChosen) v.obstacle = "no thread reads on where it has read";
    return v;
  }

  static bool isClose(const ThreadCost& cost) {
    const auto [less, more] = std::minmax(cost.asVectors, cost.byThread);
    return more <= cost::kCloseCall * less;
  }
  static bool isCheaper(const ThreadCost& cost) { return cost.walks > 0 && cost.byThread < cost.asVectors; }

  bool isChosen(const ThreadCost& cost) const {
    switch (in_.facts.byThread) {
      case ByThread::Possible: return true;
      case ByThread::Contrary: return isClose(cost) ? closeByThread_ : isCheaper(cost);
      default: return isCheaper(cost) || (in_.facts.counters && cost.walks > 0 && isClose(cost));
    }
  }

  /// Where lanes lie anywhere, warps take twice as long to count as lanes to leave what they did, so that a close call
  /// is none. Where all of them only walk on, as along the particles of a cell, it is the other way round
  /// (bench/RESULTS.md, 2026-12-01).
  bool isWorthCounting(const ThreadCost& cost) const {
    if (!in_.facts.counters || in_.facts.byThread == ByThread::Possible) return true;
    return cost.scattered >= cost::kLeastCountedAccesses && cost.scattered > cost.walks;
  }

  // ---- stretches
  /// The stretch that holds both, if there is one and the blocks between them cost less than another call.
  std::optional<ir::Loop> joinedWith(const Members& members, BlockId first, const ir::Loop& loop) {
    if (idom_.empty()) findDominators();
    const uint32_t start = commonDominator(idom_, first, loop.header);
    const uint32_t end = commonDominator(postIdom_, rules_.exitOf(members), rules_.exitOf(loop.members));
    if (end >= f_.blocks.size()) return std::nullopt;
    ir::Loop all{start, Members(f_.blocks.size(), 0)};
    collect(start, end, all.members);
    ir::Loop between = all;
    for (BlockId b = 0; b < f_.blocks.size(); ++b) {
      if ((members[b] || loop.contains(b)) && !all.contains(b)) return std::nullopt;
      if (members[b] || loop.contains(b)) between.members[b] = 0;
    }
    if (rules_.exitOf(all.members) != end || !rules_.obstacleTo(start, all.members).empty()) return std::nullopt;
    const ThreadCost cost = costs_.of(between);
    const bool isCheap = cost.byThread < cost.asVectors + cost::kStretchCall;
    return isCheap || in_.facts.byThread == ByThread::Possible ? std::optional(all) : std::nullopt;
  }

  /// Backwards from a node behind all ends of the kernel.
  void findDominators() {
    idom_ = ir::immediateDominators(graph_, 0);
    const auto end = static_cast<uint32_t>(f_.blocks.size());
    ir::Graph backwards = graph_.reversed();
    backwards.successors.emplace_back();
    for (BlockId b = 0; b < end; ++b)
      if (f_.blocks[b].end.targetCount() == 0) backwards.edge(end, b);
    postIdom_ = ir::immediateDominators(backwards, end);
  }

  /// What can be reached from `start` without going through `end`.
  void collect(BlockId start, BlockId end, Members& members) const {
    std::vector<BlockId> work{start};
    while (!work.empty()) {
      const BlockId b = work.back();
      work.pop_back();
      if (b == end || members[b]) continue;
      members[b] = 1;
      work.insert(work.end(), graph_.successors[b].begin(), graph_.successors[b].end());
    }
  }

  Stretch describe(BlockId first, const Members& members) const {
    Stretch s;
    s.first = first;
    s.exit = rules_.exitOf(members);
    for (BlockId b = 0; b < f_.blocks.size(); ++b)
      if (members[b]) s.blocks.push_back(b);
    for (ValueId v : findsOf(s, members)) addEntry(s, s.finds, v);
    for (ValueId v : rules_.leavesOf(members)) addEntry(s, s.leaves, v);
    return s;
  }

  /// Values that come from elsewhere, the first block's phis among them.
  std::vector<ValueId> findsOf(const Stretch& s, const Members& members) const {
    std::vector<char> isRead(f_.values.size(), 0);
    auto read = [&](ValueId v) {
      const ir::Definition& d = in_.analyses.definitions()[v];
      if (d.kind != ir::Definition::Kind::None && !members[d.block]) isRead[v] = 1;
    };
    for (BlockId b : s.blocks) {
      for (const Instruction& i : f_.blocks[b].code) ir::forEachUse(i, read);
      ir::forEachUse(f_.blocks[b].end, read);
      for (unsigned k = 0; k < f_.blocks[b].end.targetCount(); ++k)
        ir::forEachIncoming(f_, b, f_.blocks[b].end.target[k], read);
    }
    for (const ir::Phi& phi : f_.blocks[s.first].phis) isRead[phi.value] = 1;
    std::vector<ValueId> found;
    for (ValueId v = 0; v < isRead.size(); ++v)
      if (isRead[v]) found.push_back(v);
    return found;
  }

  void addEntry(Stretch& s, std::vector<Stretch::Entry>& entries, ValueId v) const {
    const unsigned bytes = std::max(1u, isa::bits(f_.values[v].type) / 8);
    const bool isShared = in_.shapes[v].isUniform();
    entries.push_back({v, isShared, s.recordBytes});
    s.recordBytes += static_cast<uint32_t>(roundedUp(isShared ? bytes : bytes * kLanes, cost::kCacheLine));
  }

  const StretchInputs& in_;
  const ir::Function& f_;
  const ir::Graph& graph_;
  const ir::LoopNest& nest_;
  const ThreadCosts costs_;
  const StretchRules rules_;
  bool closeByThread_ = false;  // ByThread::Contrary: where the estimates are close
  std::vector<const ir::Loop*> chosen_;
  std::vector<uint32_t> idom_, postIdom_;  // where they are needed
  Stretches result_;
};

}  // namespace

bool Stretch::contains(BlockId b) const { return std::ranges::binary_search(blocks, b); }

const Stretch* Stretches::with(BlockId b) const {
  const auto found = std::ranges::find_if(stretches, [&](const Stretch& s) { return s.contains(b); });
  return found == stretches.end() ? nullptr : &*found;
}

const Stretch* Stretches::from(BlockId b) const {
  const auto found = std::ranges::find(stretches, b, &Stretch::first);
  return found == stretches.end() ? nullptr : &*found;
}

bool Stretches::hasCloseCall() const { return std::ranges::any_of(verdicts, &Verdict::isClose); }

Stretches findStretches(const StretchInputs& in) {
  const Facts& facts = in.facts;
  // Who listens to accesses hears of warps, but for trials; baseline code has one copy of each block.
  const bool isHeard = facts.accesses && (facts.counters || !facts.trial);
  if (facts.byThread == ByThread::Never || isHeard || facts.baseline || in.syncPoints.diverges()) return {};
  return Finder(in).find();
}

std::string print(const Stretches& s, const ir::Function& f) {
  std::string text;
  for (const Stretches::Verdict& v : s.verdicts) {
    text += fmt::format("loop at B{}: {}", v.header, v.isChosen ? "thread by thread" : "as vectors");
    if (v.asVectors) text += fmt::format(", {} cycles as vectors and {} thread by thread", v.asVectors, v.byThread);
    if (v.isClose) text += ", a close call";
    if (!v.obstacle.empty()) text += fmt::format(": {}", v.obstacle);
    text += "\n";
  }
  for (const Stretch& stretch : s.stretches) {
    text += "blocks";
    for (BlockId b : stretch.blocks) text += fmt::format(" B{}", b);
    text += fmt::format(" to B{}\n", stretch.exit);
    auto list = [&](const char* what, const std::vector<Stretch::Entry>& entries) {
      text += fmt::format("  {}:", what);
      for (const Stretch::Entry& e : entries)
        text += fmt::format(" {}{}", ir::valueName(f, e.value), e.isShared ? " (one for all)" : "");
      text += "\n";
    };
    list("find", stretch.finds);
    list("leave", stretch.leaves);
    if (stretch.counted) text += print(*stretch.counted, f);
  }
  return text.empty() ? "nothing\n" : text;
}

}  // namespace ordito::simt
