// See verify_code.hpp.
#include "simt/verify_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ordito::simt {
namespace {

class Verifier {
 public:
  Verifier(const RegionCode& region, const CodeInputs& inputs)
      : region_(region), in_(inputs), graph_(region.blocks.size() + 1), place_(region.masks) {}

  std::optional<std::string> run() {
    makeGraph();
    if (problem_) return problem_;
    idom_ = ir::immediateDominators(graph_, root());
    for (block_ = 0; block_ < region_.blocks.size(); ++block_)
      if (idom_[block_] == ir::kNoNode) error("nothing leads there");
    if (problem_) return problem_;
    predecessors_ = graph_.reversed();
    define();
    for (block_ = 0; block_ < region_.blocks.size() && !problem_; ++block_) {
      inherits();
      for (at_ = 0; at_ < operations().size(); ++at_) operation(operations()[at_]);
    }
    for (block_ = 0; block_ < region_.blocks.size() && !problem_; ++block_)
      for (at_ = 0; at_ < operations().size(); ++at_)
        if (operations()[at_].op == CodeOp::Wait && !isServed(operations()[at_].block))
          error("nobody looks for lanes that wait at B{}", operations()[at_].block);
    return problem_;
  }

 private:
  /// Where an operation stands.
  struct Place {
    CodeBlockId block = kNoCodeBlock;
    size_t at = 0;
  };

  template <class... Args>
  void error(fmt::format_string<Args...> format, Args&&... args) {
    if (!problem_) problem_ = fmt::format(".{}: {}", block_, fmt::format(format, std::forward<Args>(args)...));
  }

  /// A node from which all entries are reached.
  uint32_t root() const { return static_cast<uint32_t>(region_.blocks.size()); }
  const std::vector<CodeOperation>& operations() const { return region_.blocks[block_].operations; }
  bool dominates(CodeBlockId a, CodeBlockId b) const { return ir::dominates(idom_, a, b); }

  void makeGraph() {
    for (const CodeEntry& entry : region_.entries)
      entry.block < root() ? graph_.edge(root(), entry.block) : error("an entry leads to no block");
    for (block_ = 0; block_ < root(); ++block_) {
      if (operations().empty() || !operations().back().isTerminator()) return error("the block has no end");
      const CodeOperation& end = operations().back();
      for (unsigned k = 0; k < end.targetCount(); ++k) {
        if (end.targets[k] == kRegionEnd) continue;
        if (end.targets[k] >= root()) return error("it goes to no block");
        graph_.edge(block_, end.targets[k]);
      }
    }
  }

  void define() {
    for (block_ = 0; block_ < root(); ++block_)
      for (at_ = 0; at_ < operations().size(); ++at_) {
        const CodeOperation& o = operations()[at_];
        if (!o.givesMask()) continue;
        if (o.result >= region_.masks) return error("m{} has no number of the region's", o.result);
        if (place_[o.result].block != kNoCodeBlock) return error("m{} is defined twice", o.result);
        place_[o.result] = {block_, at_};
      }
  }

  void inherits() {
    const CodeBlockId from = region_.blocks[block_].inherits;
    if (from == kNoCodeBlock) return;
    if (from >= root() || from == block_ || !dominates(from, block_))
      return error("it inherits from .{}, which does not dominate it", from);
    for (CodeBlockId p : predecessors_.successors[block_])
      if (!hasValuesOf(p, from)) return error("it inherits from .{}, but .{} leads there too", from, p);
  }

  /// Are the values in registers at the end of `b` those at the end of `from`?
  bool hasValuesOf(CodeBlockId b, CodeBlockId from) const {
    while (b != from && b != kNoCodeBlock && !runsCode(b)) b = region_.blocks[b].inherits;
    return b == from;
  }

  bool runsCode(CodeBlockId b) const {
    for (const CodeOperation& o : region_.blocks[b].operations)
      if (o.op == CodeOp::Run) return true;
    return false;
  }

  void operation(const CodeOperation& o) {
    if (o.isTerminator() && at_ + 1 != operations().size()) error("{} in the middle", nameOf(o.op));
    for (MaskId mask : {o.a, o.b}) {
      if (mask == kAllLanes) continue;
      if (mask >= region_.masks || place_[mask].block == kNoCodeBlock)
        error("{} of m{}, which has no definition", nameOf(o.op), mask);
      else if (place_[mask].block == block_ ? place_[mask].at >= at_ : !dominates(place_[mask].block, block_))
        error("{} of m{}, whose definition does not dominate it", nameOf(o.op), mask);
    }
    if (o.block != ir::kNoBlock && o.op != CodeOp::ExitEvent && !region_.region.contains(o.block))
      error("{} of B{}, which the region does not have", nameOf(o.op), o.block);
    if (o.resumePoint >= in_.regions.resumePoints.size()) error("{} names no resume point", nameOf(o.op));
    if (o.op == CodeOp::RunThreads && !in_.stretches.from(o.block))
      error("{} of B{}, where nothing begins that is run so", nameOf(o.op), o.block);
    for (ValueId v : o.values)
      if (v >= in_.function.values.size()) error("{} names no value", nameOf(o.op));
  }

  /// Is there a way from here to where the lanes that wait at `b` are taken up? Such as there is none for are lost.
  bool isServed(BlockId b) const {
    std::vector<char> isSeen(region_.blocks.size(), 0);
    std::vector<CodeBlockId> work{block_};
    for (size_t first = at_ + 1; !work.empty(); first = 0) {
      const CodeBlockId n = work.back();
      work.pop_back();
      const auto& ops = region_.blocks[n].operations;
      const auto it = std::find_if(ops.begin() + static_cast<std::ptrdiff_t>(first), ops.end(), [&](const auto& o) {
        return o.block == b && (o.op == CodeOp::Waiting || o.op == CodeOp::ClearWaiting);
      });
      if (it != ops.end() && it->op == CodeOp::Waiting) return true;
      if (it != ops.end()) continue;
      for (CodeBlockId next : graph_.successors[n])
        if (!isSeen[next]) isSeen[next] = 1, work.push_back(next);
    }
    return false;
  }

  const RegionCode& region_;
  const CodeInputs& in_;
  ir::Graph graph_, predecessors_;
  std::vector<Place> place_;  // of each mask's definition
  std::vector<uint32_t> idom_;
  CodeBlockId block_ = 0;
  size_t at_ = 0;
  std::optional<std::string> problem_;
};

}  // namespace

std::optional<std::string> verify(const Code& code, const CodeInputs& inputs) {
  for (const RegionCode& region : code.regions)
    if (auto problem = Verifier(region, inputs).run()) return problem;
  return std::nullopt;
}

}  // namespace ordito::simt
