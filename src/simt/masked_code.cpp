// See masked_code.hpp.
#include "simt/masked_code.hpp"

#include <algorithm>

#include "ir/liveness.hpp"
#include "simt/free_phis.hpp"

namespace ordito::simt {

using ir::isAmong;
using ir::kNoBlock;
using Kind = ir::Terminator::Kind;

void runBlock(CodeWriter& writer, const CodeInputs& in, const OutlivingValues& outliving, BlockId b, MaskId lanes,
              bool hasLane) {
  CodeOperation& run = writer.addFor(CodeOp::Run, b, lanes);
  run.isWhole = hasLane;
  for (const Instruction& i : in.function.blocks[b].code)
    ir::forEachDefinition(i, [&](ValueId v, unsigned) {
      if (outliving[v]) run.values.push_back(v);
    });
  writer.addFor(CodeOp::EndEvent, b, lanes);
}

void writeTogether(CodeWriter& w, const CodeInputs& in, const OutlivingValues& outliving,
                   const std::vector<BlockId>& blocks, MaskId lanes, const std::vector<CodeBlockId>& at,
                   const Leave& leave) {
  for (BlockId b : blocks) {
    w.continueAt(at[b]);
    runBlock(w, in, outliving, b, lanes, true);
    const ir::Terminator& end = in.function.blocks[b].end;
    auto goTo = [&](BlockId to) {
      if (!isAmong(blocks, to)) return leave(b, to);
      w.assign(b, to, kAllLanes);
      w.branch(at[to]);
    };
    if (end.kind == Kind::Jump) {
      goTo(end.target[0]);
      continue;
    }
    const CodeBlockId side[2] = {w.newBlock("taken", w.here()), w.newBlock("other", w.here())};
    w.branchUniform(end, side[0], side[1]);
    for (unsigned k = 0; k < 2; ++k) {
      w.continueAt(side[k]);
      if (k == 0) w.addFor(CodeOp::TakenEvent, b, lanes);
      goTo(end.target[k]);
    }
  }
}

/// Where the iterations of a masked loop begin: where lanes come in first, which is in its middle if a region starts
/// there. One that spins has iterations from its own header on, where its lanes can stop.
BlockId MaskedCode::headerOf(const std::vector<BlockId>& loop) const {
  for (BlockId n : loop)
    if (const auto* spin = in_.syncPoints.spinAt(n);
        spin && std::ranges::all_of(loop, [&](BlockId m) { return spin->members[m] != 0; }))
      return n;
  return *std::ranges::min_element(loop, {}, [&](BlockId b) { return place_.region.position(b); });
}

bool MaskedCode::repeats(const std::vector<BlockId>& component, BlockId header) const {
  return std::ranges::any_of(component, [&](BlockId n) { return isAmong(in_.regions.graph.successors[n], header); });
}

/// The region's graph, in which the synchronisation points among `nodes` lead to where their lanes will come back to
/// one of `nodes`. So such a point belongs to the loops around it, as in the kernel, also if the way back leads over
/// the region's start, `cut`; and lanes reach it in the iteration in which they set out for it: at its end, what they
/// have computed dies.
ir::Graph MaskedCode::graphWithSyncPoints(const std::vector<BlockId>& nodes, BlockId cut) const {
  ir::Graph graph = in_.regions.graph;
  std::vector<char> isNode(f_.blocks.size(), 0);
  for (BlockId n : nodes) isNode[n] = 1;
  for (BlockId b : nodes) {
    if (f_.blocks[b].end.kind != Kind::Barrier) continue;
    std::vector<char> seen(f_.blocks.size(), 0);
    std::vector<BlockId> work{b};
    while (!work.empty()) {
      const ir::Terminator& end = f_.blocks[work.back()].end;
      work.pop_back();
      for (unsigned k = 0; k < end.targetCount(); ++k) {
        const BlockId to = end.target[k];
        if (seen[to]) continue;
        seen[to] = 1;
        if (isNode[to] && to != cut)
          graph.edge(b, to);
        else
          work.push_back(to);
      }
    }
  }
  return graph;
}

/// Masked blocks in topological order, loops as loops. Edges into `cut`, the header of the loop around `nodes`, do not
/// count.
void MaskedCode::writeSequence(const std::vector<BlockId>& nodes, BlockId cut) {
  const bool stops = std::ranges::any_of(nodes, [&](BlockId n) { return f_.blocks[n].end.kind == Kind::Barrier; });
  const ir::Graph& graph = in_.regions.graph;
  for (const auto& component : ir::components(stops ? graphWithSyncPoints(nodes, cut) : graph, nodes, cut)) {
    const BlockId header = headerOf(component);
    const bool isLoop = header != cut && repeats(component, header);
    if (const Stretch* stretch = in_.stretches.with(header)) {
      if (header == stretch->first) writeStretch(*stretch);
    } else if (!isLoop && component.size() == 1) {
      writeBlock(component[0]);
    } else if (!isLoop) {
      writeSequence(component, header);  // who comes back to the header has stopped on the way
    } else if (!writeUniformLoop(component)) {
      writeLoop(component, header);
    }
  }
}

void MaskedCode::writeLoop(const std::vector<BlockId>& loop, BlockId header) {
  noteOutliving(loop, partedPlaces(loop, header));
  if (place_.isScheduled) noteOutliving(loop, waitingPlaces(loop, header));
  const CodeBlockId first = w_.newBlock("loop"), after = w_.newBlock("afterloop");
  const bool spins = in_.syncPoints.spinAt(header) != nullptr;
  if (!spins && !place_.isScheduled) {
    const FreePhis free = findFreePhis(in_, loop, header);
    free_[{free.latch, header}] = free.phis;
  }
  if (spins) w_.add(CodeOp::BeginSpin, header);
  w_.branch(first);
  w_.continueAt(first);
  writeSequence(loop, header);
  w_.add(CodeOp::Forget).values = deadAtEndOf(loop);
  const MaskId again = w_.waiting(header);
  if (spins) {
    CodeOperation& end = w_.addFor(CodeOp::BranchSpin, header, again);
    end.targets[0] = first, end.targets[1] = after;
  } else {
    w_.branchAny(again, first, after);
  }
  w_.continueAt(after);
}

void MaskedCode::writeStretch(const Stretch& stretch) {
  const CodeBlockId some = w_.newBlock("threads"), after = w_.newBlock("afterloop");
  const MaskId lanes = w_.waiting(stretch.first);
  w_.branchAny(lanes, some, after);
  w_.continueAt(some);
  w_.add(CodeOp::ClearWaiting, stretch.first);
  w_.runThreads(stretch, lanes);
  goOn(stretch.exit, lanes);
  w_.branch(after);
  w_.continueAt(after);
}

/// In a natural loop a value reaches other iterations, and code behind the loop, through phis only, which each lane is
/// given for itself. Around synchronisation points a loop need not be natural: it may begin in the middle of one of the
/// kernel's loops, and some lanes are already in that one's next iteration while others still wait, in front of the
/// loop's header or behind it, to read what they have computed in the last.
std::vector<BlockId> MaskedCode::waitingPlaces(const std::vector<BlockId>& loop, BlockId header) const {
  std::vector<BlockId> waits{header};
  for (BlockId b : loop)
    for (BlockId s : in_.regions.graph.successors[b])
      if (!isAmong(loop, s) && !isAmong(waits, s)) waits.push_back(s);
  return waits;
}

/// Does the block read nothing but phis, as those that gather what lanes bring from a natural loop?
bool MaskedCode::isClosed(BlockId behind) const {
  const ir::Block& block = f_.blocks[behind];
  return block.code.empty() && block.predecessors.size() == 1 && block.end.condition == ir::kNoValue;
}

/// So it is where a branch in the middle of a natural loop has just parted lanes that were together: those that
/// `continue` are at the header, and the masked loop begins with them, while the others wait where they were to go on.
/// Those may also wait behind the masked loop, but within the natural one, if all lanes come there in the end: two
/// calls of one function share a loop around its body, which no lane leaves but by the branches of its return.
std::vector<BlockId> MaskedCode::partedPlaces(const std::vector<BlockId>& loop, BlockId header) const {
  std::vector<BlockId> waits;
  for (BlockId b : loop) {
    for (BlockId s : in_.regions.graph.successors[b])
      if (!isAmong(loop, s) && !isClosed(s)) waits.push_back(s);
    const ir::Terminator& end = f_.blocks[b].end;
    if (end.kind != Kind::Branch || !in_.shapes.isDivergent(b)) continue;
    for (unsigned k = 0; k < 2; ++k) {
      const BlockId other = end.target[1 - k];
      if (end.target[k] == header && other != header && isAmong(loop, other)) waits.push_back(other);
    }
  }
  return waits;
}

/// What the loop computes and lanes that wait at these blocks will read is written under masks, and kept.
void MaskedCode::noteOutliving(const std::vector<BlockId>& loop, const std::vector<BlockId>& waits) {
  if (waits.empty()) return;
  std::vector<char> isComputed(f_.values.size(), 0);
  for (BlockId b : loop)
    for (const Instruction& i : f_.blocks[b].code)
      ir::forEachDefinition(i, [&](ValueId v, unsigned) { isComputed[v] = 1; });
  for (const auto& live : ir::liveIns(f_, waits))
    for (ValueId v : live)
      if (isComputed[v]) outliving_[v] = 1;
}

/// What an instruction of the loop computed, no block reads in the next iteration, or behind the loop, but through a
/// phi, or it is known to be read. Unless it is said that it dies, LLVM would carry the old values of all skipped
/// blocks around the loop, more than there are registers.
std::vector<ValueId> MaskedCode::deadAtEndOf(const std::vector<BlockId>& loop) const {
  std::vector<ValueId> dead;
  for (BlockId b : loop)
    for (const Instruction& i : f_.blocks[b].code)
      ir::forEachDefinition(i, [&](ValueId v, unsigned) {
        if (!outliving_[v]) dead.push_back(v);
      });
  return dead;
}

void MaskedCode::writeBlock(BlockId b) {
  const CodeBlockId body = w_.newBlock("body"), skip = w_.newBlock("skip");
  const MaskId lanes = w_.waiting(b);
  w_.branchAny(lanes, body, skip);
  w_.continueAt(body);
  w_.add(CodeOp::ClearWaiting, b);
  runBlock(w_, in_, outliving_, b, lanes, true);
  writeEnd(b, lanes);
  if (!w_.isEnded()) w_.branch(skip);
  w_.continueAt(skip);
}

/// The lanes go on at `to`, whose phis have their values.
void MaskedCode::goOn(BlockId to, MaskId lanes) {
  if (ir::isExitOnly(f_.blocks[to])) {
    w_.addFor(CodeOp::ExitEvent, to, lanes);
    w_.addFor(CodeOp::Retire, lanes);
  } else if (place_.masks.masked[to]) {
    w_.addFor(CodeOp::Wait, to, lanes);
  }
}

void MaskedCode::leave(BlockId from, BlockId to, MaskId lanes) {
  w_.assign(from, to, lanes, free_[{from, to}]);
  goOn(to, lanes);
}

void MaskedCode::writeEnd(BlockId b, MaskId lanes) {
  const ir::Terminator& end = f_.blocks[b].end;
  switch (end.kind) {
    case Kind::Jump: return leave(b, end.target[0], lanes);
    case Kind::Exit: w_.addFor(CodeOp::Retire, lanes); return;
    case Kind::Trap: w_.add(CodeOp::Trap, b); return;
    case Kind::Barrier:
      w_.addFor(CodeOp::Park, b, lanes);
      w_.addFor(CodeOp::Retire, lanes);
      return;
    case Kind::Branch: break;
  }
  const MaskId holds = w_.condition(end, end.negated);
  const MaskId taken = w_.both(lanes, holds), other = w_.butNot(lanes, holds);
  if (in_.shapes.isDivergent(b))
    w_.addPart(b, lanes, taken);
  else
    w_.addFor(CodeOp::TakenEvent, b, taken);
  leave(b, end.target[0], taken);
  leave(b, end.target[1], other);
}

/// The header of a loop that lanes which enter it together leave together; none if they may part.
BlockId MaskedCode::uniformHeader(const std::vector<BlockId>& loop) const {
  BlockId header = kNoBlock;
  for (BlockId n : loop) {
    const ir::Terminator& end = f_.blocks[n].end;
    if (in_.syncPoints.spinAt(n) || in_.stretches.with(n) || (end.kind != Kind::Jump && end.kind != Kind::Branch) ||
        in_.shapes.isDivergent(n) || exitSide(f_, end) < 2)
      return kNoBlock;
    for (BlockId p : f_.blocks[n].predecessors) {
      if (isAmong(loop, p)) continue;
      if (header != kNoBlock && header != n) return kNoBlock;
      header = n;
    }
  }
  return header;
}

/// A loop under a mask whose own branches all lanes take alike stays a plain loop: the mask is tested once, before it.
bool MaskedCode::writeUniformLoop(const std::vector<BlockId>& loop) {
  const BlockId header = uniformHeader(loop);
  if (header == kNoBlock) return false;
  const CodeBlockId after = w_.newBlock("afterloop");
  std::vector<CodeBlockId> at(f_.blocks.size(), kNoCodeBlock);
  for (BlockId n : loop) at[n] = w_.newBlock("uniformloop");
  const MaskId lanes = w_.waiting(header);
  w_.add(CodeOp::ClearWaiting, header);
  w_.branchAny(lanes, at[header], after);
  writeTogether(w_, in_, outliving_, loop, lanes, at, [&](BlockId from, BlockId to) {
    leave(from, to, lanes);
    w_.branch(after);
  });
  w_.continueAt(after);
  return true;
}

}  // namespace ordito::simt
