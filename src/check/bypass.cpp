// See bypass.hpp.
#include "check/bypass.hpp"

#include <algorithm>
#include <array>

#include "check/launch.hpp"
#include "ir/block_forms.hpp"
#include "ir/graph.hpp"
#include "machine/lanes.hpp"
#include "ptx/operands.hpp"

namespace ordito::check {

using ir::BlockId;

namespace {

constexpr unsigned kMost = 64;

/// Do listeners hear of the instruction?
bool isTold(const ir::Instruction& i) {
  const ptx::MemoryAccesses accesses(i);
  const auto isInMemory = [](const ptx::MemoryAccess& m) {
    return m.space == ptx::Space::Global || m.space == ptx::Space::Shared || m.space == ptx::Space::Generic;
  };
  return ir::guardOperands(i) || std::ranges::any_of(accesses, isInMemory);
}

/// What compilers make of two instructions, one of them perhaps in front of a return, belongs to line 0.
bool isOfOneLine(const ptx::Module& module, const ir::Instruction& i) { return module.locations[i.location].line > 0; }

bool canReach(const ir::Graph& graph, BlockId from, BlockId to) {
  std::vector<char> seen(graph.size(), 0);
  std::vector<BlockId> left = graph.successors[from];
  while (!left.empty()) {
    const BlockId b = left.back();
    left.pop_back();
    if (b == to) return true;
    if (seen[b]) continue;
    seen[b] = 1;
    left.insert(left.end(), graph.successors[b].begin(), graph.successors[b].end());
  }
  return false;
}

/// How often each line is there: code that was inlined twice is at two places.
std::unordered_map<uint32_t, unsigned> placesOf(const ir::Function& f) {
  std::unordered_map<uint32_t, unsigned> places;
  for (const ir::Block& block : f.blocks) {
    for (const ir::Instruction& i : block.code) ++places[i.line];
    if (block.end.kind == ir::Terminator::Kind::Barrier) ++places[block.end.line];
  }
  return places;
}

}  // namespace

std::shared_ptr<const BypassPlan> BypassPlan::of(const ir::Function& kernel) {
  return std::shared_ptr<const BypassPlan>(new BypassPlan(kernel));
}

BypassPlan::BypassPlan(const ir::Function& f) {
  const std::vector<uint32_t> postDominator = ir::immediatePostDominators(f);
  const auto places = placesOf(f);
  for (BlockId b = 0; b < f.blocks.size(); ++b) {
    const ir::Block& block = f.blocks[b];
    for (size_t k = 0; k < block.code.size(); ++k)
      if (block.code[k].info().form.memberMask >= 0 && places.at(block.code[k].line) == 1)
        add(f, postDominator, b, k + 1, block.code[k].line);
    if (block.end.kind == ir::Terminator::Kind::Barrier && places.at(block.end.line) == 1)
      add(f, postDominator, b, block.code.size(), block.end.line);
  }
  std::erase_if(behind_, [&](const auto& entry) { return places.at(entry.first) > 1; });
}

/// A synchronisation in front of instruction `from` of a block.
void BypassPlan::add(const ir::Function& f, const std::vector<uint32_t>& postDominator, BlockId block, size_t from,
                     uint32_t line) {
  const ir::Graph graph = ir::controlFlow(f);
  if (bits_.size() == kMost) return;
  const uint64_t bit = uint64_t{1} << bits_.size();
  bool isAny = false;
  const auto take = [&](const ir::Instruction& i) {
    if (isTold(i) && isOfOneLine(*f.module, i)) behind_[i.line] |= bit, isAny = true;
  };
  if (!canReach(graph, block, block))
    for (size_t k = from; k < f.blocks[block].code.size(); ++k) take(f.blocks[block].code[k]);
  for (BlockId b = postDominator[block]; b < f.blocks.size(); b = postDominator[b])
    if (!canReach(graph, b, block)) std::ranges::for_each(f.blocks[b].code, take);
  if (isAny) bits_[line] = bit;
}

std::vector<Bypass::Seen>& Bypass::threadsOf(const machine::BlockFrame& frame) {
  std::vector<Seen>& threads = blocks_[numberOf(frame)];
  if (threads.empty()) threads.resize(frame.ntid[0] * frame.ntid[1] * frame.ntid[2]);
  return threads;
}

std::optional<Bypass::Late> Bypass::comesTo(const machine::WarpSite& at) {
  const uint64_t bits = plan_ ? plan_->behind(at.line) : 0;
  if (!bits) return std::nullopt;
  std::optional<Late> late;
  std::vector<Seen>& threads = threadsOf(at.frame);
  machine::forEachLane(at.lanes, [&](uint32_t lane) {
    const uint32_t thread = at.warp * machine::kWarpSize + lane;
    Seen& seen = threads[thread];
    if (!seen.bits) seen.line = at.line;
    seen.bits |= bits;
    if (bits & seen.awaited & ~seen.met) late = Late{thread, seen.awaitedAt, seen.awaitedBy};
    seen.awaited &= ~bits;
  });
  return late;
}

void Bypass::met(const machine::WarpSite& at, uint32_t mask) {
  const uint64_t bit = plan_ ? plan_->bitOf(at.line) : 0;
  if (!bit) return;
  std::vector<Seen>& threads = threadsOf(at.frame);
  const uint32_t first = at.warp * machine::kWarpSize;
  machine::forEachLane(at.lanes, [&](uint32_t lane) { threads[first + lane].met |= bit; });
  machine::forEachLane(mask & ~at.lanes, [&](uint32_t lane) {
    if (first + lane >= threads.size()) return;
    Seen& seen = threads[first + lane];
    seen.awaited |= bit;
    seen.awaitedAt = at.line, seen.awaitedBy = first + static_cast<uint32_t>(std::countr_zero(at.lanes));
  });
}

std::optional<Bypass::Thread> Bypass::past(uint64_t block, uint32_t warp, uint32_t lanes, uint32_t line) const {
  const uint64_t bit = plan_ ? plan_->bitOf(line) : 0;
  const auto threads = blocks_.find(block);
  if (!bit || threads == blocks_.end()) return std::nullopt;
  for (; lanes; lanes &= lanes - 1) {
    const uint32_t thread = warp * machine::kWarpSize + static_cast<uint32_t>(std::countr_zero(lanes));
    if (thread < threads->second.size() && (threads->second[thread].bits & ~threads->second[thread].met) & bit)
      return Thread{thread, threads->second[thread].line};
  }
  return std::nullopt;
}

}  // namespace ordito::check
