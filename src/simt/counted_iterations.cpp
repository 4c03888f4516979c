// See counted_iterations.hpp.
#include "simt/counted_iterations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ir/definitions.hpp"
#include "ir/print.hpp"
#include "ptx/operands.hpp"
#include "simt/access_plan.hpp"
#include "simt/accesses.hpp"
#include "simt/by_thread.hpp"
#include "simt/thread_cost.hpp"

namespace ordito::simt {
namespace {

using Counted = CountedIterations;
using Element = Counted::Access::Element;
using Kind = ir::Terminator::Kind;
constexpr auto kMulWide = isa::mod<isa::ModifierKind::MulMode>("wide");

bool isCounted(const Instruction& i, const ptx::MemoryAccess& m) {
  return i.raisesAccess && m.space == ptx::Space::Global;
}

class Maker {
 public:
  Maker(const ir::Loop& loop, const StretchInputs& in, const ThreadCosts& costs)
      : loop_(loop), in_(in), f_(in.analyses.function()), definitions_(in.analyses.definitions()), costs_(costs) {}

  Counted make() {
    orderBlocks(loop_.header);
    std::ranges::reverse(order_);
    for (BlockId b : order_) addBlock(b);
    for (uint32_t b = 0; b < order_.size(); ++b)
      for (const Instruction& i : f_.blocks[order_[b]].code) {
        if (i.guard && i.raisesIssue) counted_.guards.push_back({&i, b, counted_.rows++});
        for (const ptx::MemoryAccess& m : ptx::MemoryAccesses(i))
          if (isCounted(i, m)) addAccess(i, m, b);
      }
    return std::move(counted_);
  }

 private:
  /// Backwards: a block comes behind those to which it leads.
  void orderBlocks(BlockId b) {
    if (std::ranges::find(seen_, b) != seen_.end()) return;
    seen_.push_back(b);
    const ir::Terminator& end = f_.blocks[b].end;
    for (unsigned k = 0; k < end.targetCount(); ++k)
      if (loop_.contains(end.target[k])) orderBlocks(end.target[k]);
    order_.push_back(b);
  }

  uint32_t placeOf(BlockId b) const {
    if (b == loop_.header || !loop_.contains(b)) return Counted::kNone;
    return static_cast<uint32_t>(std::ranges::find(order_, b) - order_.begin());
  }

  void addBlock(BlockId b) {
    const ir::Terminator& end = f_.blocks[b].end;
    Counted::Block block{.block = b};
    for (unsigned k = 0; k < end.targetCount(); ++k) block.targets[k] = placeOf(end.target[k]);
    if (end.kind == Kind::Branch) {
      block.decision = decisionOf(end);
      if (block.decision == Counted::Decision::Logged) block.row = counted_.rows++;
    }
    counted_.blocks.push_back(block);
  }

  Counted::Decision decisionOf(const ir::Terminator& end) const {
    const bool first = !loop_.contains(end.target[0]), second = !loop_.contains(end.target[1]);
    if (first == second || waysOut() != 1) return Counted::Decision::Logged;
    return first ? Counted::Decision::LeavesIfTaken : Counted::Decision::LeavesElse;
  }

  size_t waysOut() const {
    size_t ways = 0;
    for (BlockId b : order_)
      for (unsigned k = 0; k < f_.blocks[b].end.targetCount(); ++k) ways += !loop_.contains(f_.blocks[b].end.target[k]);
    return ways;
  }

  void addAccess(const Instruction& i, const ptx::MemoryAccess& m, uint32_t block) {
    const ptx::Operand& address = i.operands[m.operand];
    Counted::Access access{&i, block, Counted::Kind::Anywhere, m.kind == ptx::MemoryAccess::Kind::Store, true};
    const AddressForm form = addressForm(f_, in_.shapes, i, m.operand);
    const auto step = address.reg == ir::kNoValue ? std::nullopt : costs_.stepOf(address.reg, order_[block]);
    if (form.isSegmented() && form.segments == 1 && form.patternless()) {
      access.kind = Counted::Kind::Same;
      access.isLogged = false;
    } else if (step && std::abs(*step) < INT32_MAX / 2) {
      access.kind = Counted::Kind::Walk;
      access.step = static_cast<int32_t>(*step);
    }
    if (access.kind == Counted::Kind::Anywhere) access.element = elementAt(address.reg);
    if (access.kind != Counted::Kind::Same) findPlace(access, address);
    counted_.accesses.push_back(access);
  }

  std::optional<Element> elementAt(ir::ValueId address) const {
    const Instruction* add = definitions_.decisive(address);
    if (!add || add->op != isa::Op::Add || isa::bits(add->type[0]) != 64) return std::nullopt;
    for (size_t k : {size_t{1}, size_t{2}}) {
      const ptx::Operand &base = add->operands[k], &offset = add->operands[3 - k];
      if (base.kind != ptx::Operand::Kind::Register || offset.kind != ptx::Operand::Kind::Register) continue;
      const ir::Definition& d = definitions_[base.reg];
      const bool isFixed =
          in_.shapes[base.reg].isUniform() && d.kind != ir::Definition::Kind::None && !loop_.contains(d.block);
      auto element = isFixed ? elementOf(definitions_.decisive(offset.reg)) : std::nullopt;
      if (!element || !isMadeHere(element->index)) continue;
      element->array = base.reg;
      return element;
    }
    return std::nullopt;
  }

  bool isMadeHere(ir::ValueId v) const {
    const ir::Definition& d = definitions_[v];
    return d.kind != ir::Definition::Kind::None && loop_.contains(d.block);
  }

  /// A number of 32 bits, times 1, 2, 4 or 8?
  std::optional<Element> elementOf(const Instruction* i) const {
    if (!i) return std::nullopt;
    if (auto index = indexOf(*i)) return index;
    const ir::Sum sum = ir::sumOf(*i);
    const auto factor = sum.count == 1 ? sum.begin()->constantFactor() : std::nullopt;
    if (!factor || *factor < 1 || *factor > 8 || !std::has_single_bit(static_cast<uint64_t>(*factor)))
      return std::nullopt;
    std::optional<Element> element;
    const ptx::Operand& value = *sum.begin()->value;
    if (value.kind != ptx::Operand::Kind::Register) return std::nullopt;
    if (i->op == isa::Op::Mul && isa::bits(i->type[0]) == 32 && i->is(kMulWide))
      element = Element{.index = value.reg, .isSigned = isa::isSigned(i->type[0])};
    else if (const Instruction* widened = i->op == isa::Op::Shl ? definitions_.decisive(value.reg) : nullptr)
      element = indexOf(*widened);
    if (element) element->bytes = static_cast<unsigned>(*factor);
    return element;
  }

  /// What a conversion widens from 32 bits to 64.
  static std::optional<Element> indexOf(const Instruction& i) {
    if (i.op != isa::Op::Cvt || !isa::isInteger(i.type[1]) || isa::bits(i.type[1]) != 32 ||
        isa::bits(i.type[0]) != 64 || i.operands[1].kind != ptx::Operand::Kind::Register)
      return std::nullopt;
    return Element{.index = i.operands[1].reg, .isSigned = isa::isSigned(i.type[1])};
  }

  /// What an access before has left is good for one of the same address; a list, only if that one ran whenever this
  /// does.
  void findPlace(Counted::Access& access, const ptx::Operand& address) {
    for (const Counted::Access& before : counted_.accesses) {
      const ptx::Operand& other = addressOf(before);
      if (before.kind != access.kind || other.reg != address.reg) continue;
      const bool isList = access.kind == Counted::Kind::Anywhere;
      if (before.block != access.block && !(isList && before.block == 0)) continue;
      if (isList && other.offset != address.offset) continue;
      access.place = before.place, access.isLogged = false;
      return;
    }
    access.place = access.kind == Counted::Kind::Walk ? counted_.rows++ : counted_.lists++;
  }

  static const ptx::Operand& addressOf(const Counted::Access& access) {
    const ptx::MemoryAccesses all(*access.instruction);
    return access.instruction->operands[all.begin()->operand];
  }

  const ir::Loop& loop_;
  const StretchInputs& in_;
  const ir::Function& f_;
  const ir::Definitions& definitions_;
  const ThreadCosts& costs_;
  std::vector<BlockId> order_, seen_;
  Counted counted_;
};

std::string_view obstacleIn(const ir::Block& block) {
  for (const Instruction& i : block.code)
    for (const ptx::MemoryAccess& m : ptx::MemoryAccesses(i)) {
      const bool isUncounted = m.space == ptx::Space::Param || m.space == ptx::Space::Const;
      if (m.space != ptx::Space::Global && !isUncounted) return "what a warp asks for together is counted of it";
    }
  return {};
}

}  // namespace

std::string_view obstacleToCounting(const ir::Loop& loop, const StretchInputs& in) {
  const ir::Function& f = in.analyses.function();
  for (const ir::Loop& other : in.analyses.loops().loops())
    if (other.header != loop.header && loop.contains(other.header)) return "lanes do not meet in the loop inside of it";
  size_t blocks = 0, accesses = 0;
  for (BlockId b = 0; b < f.blocks.size(); ++b) {
    if (!loop.contains(b)) continue;
    if (const auto obstacle = obstacleIn(f.blocks[b]); !obstacle.empty()) return obstacle;
    blocks++;
    for (const Instruction& i : f.blocks[b].code) accesses += !ptx::MemoryAccesses(i).empty();
  }
  if (blocks > cost::kMostCountedBlocks || accesses > cost::kMostCountedAccesses) return "it has much to be counted";
  return {};
}

CountedIterations countedIterations(const ir::Loop& loop, const StretchInputs& in, const ThreadCosts& costs) {
  return Maker(loop, in, costs).make();
}

std::string print(const CountedIterations& c, const ir::Function& f) {
  std::string text;
  for (const Counted::Block& b : c.blocks)
    if (b.decision == Counted::Decision::Logged) text += fmt::format("  branch of B{}: row {}\n", b.block, b.row);
  for (const Counted::Guard& g : c.guards)
    text += fmt::format("  guard of {}: row {}\n", instructionName(*g.instruction), g.row);
  for (const Counted::Access& a : c.accesses) {
    text += fmt::format("  {}: ", instructionName(*a.instruction));
    if (a.kind == Counted::Kind::Same) text += "one place for all";
    if (a.kind == Counted::Kind::Walk) text += fmt::format("walks by {}, row {}", a.step, a.place);
    if (a.kind == Counted::Kind::Anywhere) {
      text += fmt::format("anywhere, list {}", a.place);
      if (a.element)
        text += fmt::format(" of {} bytes at {} from {}", a.element->bytes, ir::valueName(f, a.element->index),
                            ir::valueName(f, a.element->array));
    }
    text += a.kind != Counted::Kind::Same && !a.isLogged ? ", as before\n" : "\n";
  }
  return text;
}

}  // namespace ordito::simt
