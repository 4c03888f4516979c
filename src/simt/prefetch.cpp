// See prefetch.hpp.
#include "simt/prefetch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "ir/block_forms.hpp"
#include "ir/loops.hpp"
#include "ir/print.hpp"
#include "ptx/operands.hpp"
#include "simt/accesses.hpp"

namespace ordito::simt {
namespace {

using isa::Op;
using ptx::Operand;

/// An address's way back to a loop's counter in it.
struct Walk {
  Advance advance;
  BlockId header = ir::kNoBlock;  // of the loop
};

/// What is added to `v` if `sum` is the sum of the two; null otherwise.
const Operand* addedTo(ValueId v, ValueId sum, const ir::Definitions& definitions) {
  const Instruction* add = definitions.decisive(sum);
  if (!add || add->op != Op::Add) return nullptr;
  for (size_t k : {size_t{1}, size_t{2}})
    if (add->operands[k].kind == Operand::Kind::Register && add->operands[k].reg == v) return &add->operands[3 - k];
  return nullptr;
}

/// From an address back to the loop's counter in it.
class Tracer {
 public:
  Tracer(const ir::Shapes& shapes, const ir::Definitions& definitions) : shapes_(shapes), definitions_(definitions) {}

  /// A step that is a constant has no value. Nothing where there is no counter, or more than one.
  std::optional<Walk> walk(ValueId v, int64_t factor, unsigned depth) const {
    if (depth == 0) return std::nullopt;
    if (const ir::Phi* phi = definitions_.phi(v)) return counter(v, *phi, factor);
    const Instruction* i = definitions_.decisive(v);
    if (!i || i->op == Op::Mad) return std::nullopt;
    const ir::Sum sum = ir::sumOf(*i);
    if (sum.subtracts) return std::nullopt;
    std::optional<Walk> found;
    for (const ir::Term& t : sum) {
      const auto times = t.constantFactor();
      if (!times || t.value->kind != Operand::Kind::Register) continue;
      const auto here = walk(t.value->reg, factor * *times, depth - 1);
      if (here && found) return std::nullopt;
      if (here) found = here;
    }
    return found;
  }

 private:
  /// phi(start, phi + step)
  std::optional<Walk> counter(ValueId v, const ir::Phi& phi, int64_t factor) const {
    for (ValueId next : phi.incoming) {
      const Operand* step = addedTo(v, next, definitions_);
      if (!step) continue;
      const bool isConstant = step->kind != Operand::Kind::Register;
      if (!isConstant && !shapes_[step->reg].isUniform()) return std::nullopt;
      return Walk{Advance{isConstant ? ir::kNoValue : step->reg, factor}, definitions_[v].block};
    }
    return std::nullopt;
  }

  const ir::Shapes& shapes_;
  const ir::Definitions& definitions_;
};

/// What is known of a loop before it begins.
class LoopBounds {
 public:
  LoopBounds(const ir::Analyses& analyses, const ir::Shapes& shapes)
      : f_(analyses.function()), definitions_(analyses.definitions()), shapes_(shapes), nest_(analyses.loops()) {}

  /// Is a value known before the loop of this header?
  bool isKnown(ValueId v, BlockId header) const {
    const ir::Loop* loop = loopAt(header);
    return loop && !loop->contains(definitions_[v].block);
  }

  /// Nothing where the loop ends otherwise. Behind a barrier the counter may be gone.
  std::optional<StaysWhile> staysWhile(BlockId header) const {
    const ir::Loop* loop = loopAt(header);
    if (!loop) return std::nullopt;
    std::optional<StaysWhile> found;
    for (BlockId b = 0; b < f_.blocks.size(); ++b) {
      if (!loop->contains(b)) continue;
      const ir::Terminator& end = f_.blocks[b].end;
      if (end.kind == ir::Terminator::Kind::Barrier) return std::nullopt;
      bool isLeft = false;
      for (unsigned k = 0; k < end.targetCount(); ++k) isLeft |= !loop->contains(end.target[k]);
      if (isLeft && end.condition != ir::kNoValue && !found) found = comparison(end.condition, header);
    }
    return found;
  }

 private:
  /// Null where the graph's node is no loop's header.
  const ir::Loop* loopAt(BlockId header) const {
    const auto loop = std::ranges::find(nest_.loops(), header, &ir::Loop::header);
    return loop == nest_.loops().end() ? nullptr : &*loop;
  }

  /// counter < limit, or counter + step < limit, whichever of the two the loop goes on for; or that they differ, where
  /// the counter grows.
  std::optional<StaysWhile> comparison(ValueId condition, BlockId header) const {
    const Instruction* i = definitions_.decisive(condition);
    const ir::GuardOperands compared = i && i->op == Op::Setp ? ir::guardOperands(*i) : ir::GuardOperands();
    if (!compared) return std::nullopt;
    for (const auto& [own, other] : {std::pair(compared.a, compared.b), std::pair(compared.b, compared.a)}) {
      const Operand &counter = i->operands[own], &limit = i->operands[other];
      if (!isKnown(limit, header)) continue;
      for (const ir::Phi& phi : f_.blocks[header].phis) {
        const Operand* step = stepOf(phi, counter);
        if (!step || !isKnown(*step, header) || !shapes_[phi.value].isSegmented()) continue;
        const bool grows = step->kind == Operand::Kind::Integer && static_cast<int64_t>(step->bits) > 0;
        if (compared.kind == ir::GuardOperands::Kind::Equal && !grows) continue;
        return StaysWhile{phi.value, *step, limit, compared.type};
      }
    }
    return std::nullopt;
  }

  /// What is added to the phi in each iteration, if `compared` is the phi or the sum.
  const Operand* stepOf(const ir::Phi& phi, const Operand& compared) const {
    if (compared.kind != Operand::Kind::Register) return nullptr;
    for (ValueId next : phi.incoming)
      if (compared.reg == phi.value || compared.reg == next)
        if (const Operand* step = addedTo(phi.value, next, definitions_)) return step;
    return nullptr;
  }

  /// And the same for all lanes?
  bool isKnown(const Operand& o, BlockId header) const {
    if (o.kind == Operand::Kind::Integer) return true;
    return o.kind == Operand::Kind::Register && shapes_[o.reg].isUniform() && isKnown(o.reg, header);
  }

  const ir::Function& f_;
  const ir::Definitions& definitions_;
  const ir::Shapes& shapes_;
  const ir::LoopNest& nest_;
};

bool isSuited(const Instruction& i, const ir::Shapes& shapes) {
  if (i.op != Op::Ld) return false;
  const Operand& from = i.operands[1];
  if (from.kind != Operand::Kind::Address || from.reg == ir::kNoValue || !shapes[from.reg].isSegmented()) return false;
  const ptx::Space space = ptx::spaceOf(i, 1);
  return space == ptx::Space::Global || space == ptx::Space::Generic;
}

/// From a block of the grid to the next, which has the next blockIdx.x.
class NextBlock {
 public:
  NextBlock(const ir::Analyses& analyses, const ir::Shapes& shapes, const ir::LaunchShape& launch)
      : f_(analyses.function()),
        definitions_(analyses.definitions()),
        shapes_(shapes),
        nest_(analyses.loops()),
        warps_(launch.warps()),
        forms_(analyses.function(), acrossX(launch)) {}

  /// Bytes to the next block, where the warps of a block read one piece next to the other, and the next block behind
  /// it; 0 otherwise.
  int64_t readsOn(const Instruction& i) const {
    const int64_t shift = shiftOf(i);
    return isWarpVarying(i) && std::abs(shift) == pieceOf(i) ? shift : 0;
  }

  /// Nothing where the blocks read on, or all the same piece: such streams the hardware follows, unless the block stays
  /// with its piece in a loop with barriers meanwhile.
  std::optional<Advance> advance(BlockId b, const Instruction& i) const {
    const bool isInLoop = !nest_.around(b).empty();
    if (isInLoop && !staysWith(b, i.operands[1].reg)) return std::nullopt;
    const int64_t shift = shiftOf(i), step = std::abs(shift), piece = pieceOf(i);
    if (!isWarpVarying(i) || step < cost::kCacheLine) return std::nullopt;
    const bool skips = step >= 2 * piece;  // as it does for other loads; members of structures leave little out
    if (isInLoop && step != piece) return std::nullopt;
    if (!isInLoop && (skips ? step > cost::kNextBlockBytes : step >= piece || step > cost::kPrefetchedBytes))
      return std::nullopt;
    return Advance{ir::kNoValue, shift, skips ? Advance::When::Among : Advance::When::Ahead};
  }

 private:
  bool isWarpVarying(const Instruction& i) const { return shapes_[i.operands[1].reg].warpVarying; }

  /// Bytes by which the address is further in the next block; 0 where that is not known.
  int64_t shiftOf(const Instruction& i) const {
    const ir::BlockForm form = forms_.formOf(i.operands[1]);
    return form.kind == ir::BlockForm::Kind::Shifted ? form.step[0] : 0;
  }

  /// What the warps of the block read, if each has a piece next to the other's.
  int64_t pieceOf(const Instruction& i) const {
    const auto [low, high] = std::ranges::minmax(shapes_.pattern(shapes_[i.operands[1].reg].pattern));
    const size_t elements = std::max<size_t>(1, i.operands[0].elements.size());
    return (high - low + static_cast<int64_t>(isa::bytes(i.type[0]) * elements)) * warps_;
  }

  /// Does the outermost loop around the block have barriers, and the address from before it?
  bool staysWith(BlockId b, ValueId address) const {
    const ir::Loop& loop = nest_.loops()[nest_.around(b).front()];
    const ir::Definition& from = definitions_[address];
    if (from.kind == ir::Definition::Kind::None || loop.contains(from.block)) return false;
    for (BlockId member = 0; member < f_.blocks.size(); ++member)
      if (loop.contains(member) && f_.blocks[member].end.kind == ir::Terminator::Kind::Barrier) return true;
    return false;
  }

  /// Blocks that differ in blockIdx.x alone.
  static ir::LaunchNumbers acrossX(const ir::LaunchShape& launch) { return {{0, 1, 1}, launch.block, nullptr}; }

  const ir::Function& f_;
  const ir::Definitions& definitions_;
  const ir::Shapes& shapes_;
  const ir::LoopNest& nest_;
  const int64_t warps_;
  const ir::BlockForms forms_;
};

}  // namespace

Prefetches findPrefetches(const ir::Analyses& analyses, const ir::Shapes& shapes, const ir::LaunchShape& launch) {
  const ir::Function& f = analyses.function();
  Prefetches result;
  const Tracer tracer(shapes, analyses.definitions());
  const LoopBounds bounds(analyses, shapes);
  const NextBlock nextBlock(analyses, shapes, launch);
  const auto advanceOf = [&](BlockId b, const Instruction& i) -> std::optional<Advance> {
    auto inLoop = tracer.walk(i.operands[1].reg, 1, cost::kTracedDefinitions);
    if (!inLoop || inLoop->advance.isToNextBlock()) return nextBlock.advance(b, i);  // not a step of the program's
    if (!bounds.isKnown(inLoop->advance.step, inLoop->header)) return std::nullopt;
    inLoop->advance.nextBlock = nextBlock.readsOn(i);
    if (inLoop->advance.nextBlock) inLoop->advance.staysWhile = bounds.staysWhile(inLoop->header);
    return inLoop->advance;
  };
  for (BlockId b = 0; b < f.blocks.size(); ++b)
    for (const Instruction& i : f.blocks[b].code) {
      auto advance = isSuited(i, shapes) ? advanceOf(b, i) : std::nullopt;
      if (!advance) continue;
      if (shapes[i.operands[1].reg].segments > 1) advance->when = Advance::When::Behind;
      result[&i] = *advance;
    }
  return result;
}

namespace {

std::string print(const Advance& advance, const ir::Function& f) {
  constexpr std::string_view kWhen[] = {"", ", asked for among its vectors", ", asked for behind it"};
  std::string text = advance.isToNextBlock()
                         ? fmt::format("{} bytes to the next block", advance.factor)
                         : fmt::format("{} * {} bytes", ir::valueName(f, advance.step), advance.factor);
  text += kWhen[static_cast<size_t>(advance.when)];
  if (const auto& stays = advance.staysWhile) {
    const auto& limit = stays->limit;
    if (advance.nextBlock) text += fmt::format(", or {} bytes to the next block", advance.nextBlock);
    text += fmt::format(", while {} is below {}", ir::valueName(f, stays->counter),
                        limit.kind == Operand::Kind::Register ? ir::valueName(f, limit.reg)
                                                              : std::to_string(static_cast<int64_t>(limit.bits)));
  }
  return text;
}

}  // namespace

std::string print(const Prefetches& prefetches, const ir::Function& f) {
  std::string text;
  for (const ir::Block& block : f.blocks)
    for (const Instruction& i : block.code)
      if (const auto found = prefetches.find(&i); found != prefetches.end())
        text += fmt::format("{} advances by {}\n", instructionName(i), print(found->second, f));
  return text.empty() ? "nothing\n" : text;
}

}  // namespace ordito::simt
