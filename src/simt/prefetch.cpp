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

/// From an address back to the loop's counter in it.
class Tracer {
 public:
  Tracer(const ir::Shapes& shapes, const ir::Definitions& definitions) : shapes_(shapes), definitions_(definitions) {}

  /// A step that is a constant has no value. Nothing where there is no counter, or more than one.
  std::optional<Advance> advance(ValueId v, int64_t factor, unsigned depth) const {
    if (depth == 0) return std::nullopt;
    if (const ir::Phi* phi = definitions_.phi(v)) return counter(v, *phi, factor);
    const Instruction* i = definitions_.decisive(v);
    if (!i || i->op == Op::Mad) return std::nullopt;
    const ir::Sum sum = ir::sumOf(*i);
    if (sum.subtracts) return std::nullopt;
    std::optional<Advance> found;
    for (const ir::Term& t : sum) {
      const auto times = t.constantFactor();
      if (!times || t.value->kind != Operand::Kind::Register) continue;
      const auto here = advance(t.value->reg, factor * *times, depth - 1);
      if (here && found) return std::nullopt;
      if (here) found = here;
    }
    return found;
  }

 private:
  /// phi(start, phi + step)
  std::optional<Advance> counter(ValueId v, const ir::Phi& phi, int64_t factor) const {
    for (ValueId next : phi.incoming) {
      const Instruction* add = definitions_.decisive(next);
      if (!add || add->op != Op::Add) continue;
      for (size_t k : {size_t{1}, size_t{2}}) {
        if (add->operands[k].kind != Operand::Kind::Register || add->operands[k].reg != v) continue;
        const Operand& step = add->operands[3 - k];
        if (step.kind != Operand::Kind::Register) return Advance{ir::kNoValue, factor};
        if (!shapes_[step.reg].isUniform()) return std::nullopt;
        return Advance{step.reg, factor};
      }
    }
    return std::nullopt;
  }

  const ir::Shapes& shapes_;
  const ir::Definitions& definitions_;
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
      : shapes_(shapes),
        nest_(analyses.loops()),
        warps_(launch.warps()),
        forms_(analyses.function(), acrossX(launch)) {}

  /// Nothing where the warps of the block read one piece next to the other, or all the same one: such streams the
  /// hardware follows.
  std::optional<Advance> advance(BlockId b, const Instruction& i) const {
    if (!nest_.around(b).empty()) return std::nullopt;
    const ir::BlockForm form = forms_.formOf(i.operands[1]);
    if (form.kind != ir::BlockForm::Kind::Shifted) return std::nullopt;
    const int64_t step = std::abs(form.step[0]);
    if (step < cost::kCacheLine || step > cost::kPrefetchedBytes) return std::nullopt;
    const ir::Shape& shape = shapes_[i.operands[1].reg];
    const auto [low, high] = std::ranges::minmax(shapes_.pattern(shape.pattern));
    const int64_t piece = high - low + isa::bytes(i.type[0]);
    if (!shape.warpVarying || step >= piece * warps_) return std::nullopt;
    return Advance{ir::kNoValue, form.step[0]};
  }

 private:
  /// Blocks that differ in blockIdx.x alone.
  static ir::LaunchNumbers acrossX(const ir::LaunchShape& launch) { return {{0, 1, 1}, launch.block, nullptr}; }

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
  const NextBlock nextBlock(analyses, shapes, launch);
  for (BlockId b = 0; b < f.blocks.size(); ++b)
    for (const Instruction& i : f.blocks[b].code) {
      if (!isSuited(i, shapes)) continue;
      const auto advance = tracer.advance(i.operands[1].reg, 1, cost::kTracedDefinitions);
      if (advance && advance->step != ir::kNoValue)
        result[&i] = *advance;
      else if (const auto next = nextBlock.advance(b, i))
        result[&i] = *next;
    }
  return result;
}

std::string print(const Prefetches& prefetches, const ir::Function& f) {
  std::string text;
  for (const ir::Block& block : f.blocks)
    for (const Instruction& i : block.code)
      if (const auto found = prefetches.find(&i); found != prefetches.end()) {
        const auto& [step, factor] = found->second;
        text += found->second.isToNextBlock()
                    ? fmt::format("{} advances by {} bytes to the next block\n", instructionName(i), factor)
                    : fmt::format("{} advances by {} * {} bytes\n", instructionName(i), ir::valueName(f, step), factor);
      }
  return text.empty() ? "nothing\n" : text;
}

}  // namespace ordito::simt
