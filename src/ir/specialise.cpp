// See specialise.hpp. In the copy for multiples of 32 a lane's number stays in the low five bits:
//   t & (distance - 1)  is  (t & (distance - 32)) + (t & 31)
//   t % distance        is  (t & ~31) % distance + (t & 31)
//   t / distance        is  (t & ~31) / distance
// where what is not t & 31 is the same for all lanes, if t is 32 times something plus the lane's number.
#include "ir/specialise.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "ir/analyses.hpp"
#include "ir/build.hpp"
#include "ir/section.hpp"
#include "ptx/operands.hpp"

namespace ordito::ir {
namespace {

using isa::Op;
using isa::Type;
using ptx::Operand;
using OperandKind = Operand::Kind;

/// Instructions of a section that is worth copies, and sections of a kernel.
constexpr size_t kLongest = 64;
constexpr unsigned kMostSections = 2;

constexpr uint64_t kLaneBits = kLanes - 1;

bool isNumber(const Operand& o, int64_t n, unsigned bits) {
  return o.kind == OperandKind::Integer && (o.bits ^ static_cast<uint64_t>(n)) << (64 - bits) == 0;
}

bool isRegister(const Operand& o) { return o.kind == OperandKind::Register; }

/// An operation on whole numbers modulo 2^32 or 2^64, whose operands are all as wide as its result.
bool isWord(const Instruction& i) {
  switch (i.op) {
    case Op::Mov:
    case Op::Add:
    case Op::Sub:
    case Op::Neg:
    case Op::Not:
    case Op::And:
    case Op::Or:
    case Op::Xor:
    case Op::Shl:
    case Op::Shr:
    case Op::Div:
    case Op::Rem: break;
    default: return false;
  }
  const bool isNumber = !isa::isFloat(i.type[0]) && (isa::bits(i.type[0]) == 32 || isa::bits(i.type[0]) == 64);
  const bool isModular = !i.has(isa::ModifierKind::Saturate) && i.carryIn == kNoValue && i.carryOut == kNoValue;
  return isNumber && isModular && !i.guard && i.operands.size() > 1 && isRegister(i.operands[0]);
}

/// An instruction that the program has not, so that nobody counts it.
Instruction added(Op op, Type type, std::vector<Operand> operands, uint32_t line) {
  Instruction i = makeInstruction(op, type, std::move(operands), line);
  i.raisesIssue = i.raisesAccess = false;
  return i;
}

/// Another one in its place, which counts as it did.
void replace(Instruction& i, Op op, Type type, std::vector<Operand> operands) {
  const bool raisesIssue = i.raisesIssue;
  i = makeInstruction(op, type, std::move(operands), i.line);
  i.raisesIssue = raisesIssue;
}

/// Of which value it is one less; kNoValue for other instructions.
ValueId oneMoreThan(const Instruction* i) {
  if (!i || !isWord(*i) || i->operands.size() < 3 || !isRegister(i->operands[1])) return kNoValue;
  const unsigned bits = isa::bits(i->type[0]);
  const bool isLess = (i->op == Op::Add && isNumber(i->operands[2], -1, bits)) ||
                      (i->op == Op::Sub && isNumber(i->operands[2], 1, bits));
  return isLess ? i->operands[1].reg : kNoValue;
}

/// Of which value it is the negative, written as such or as the bits that one less has not.
ValueId negativeOf(const Instruction* i, const Definitions& definitions) {
  if (!i || !isWord(*i)) return kNoValue;
  if (i->op == Op::Neg && isRegister(i->operands[1])) return i->operands[1].reg;
  if (i->op == Op::Sub && isNumber(i->operands[1], 0, isa::bits(i->type[0])) && isRegister(i->operands[2]))
    return i->operands[2].reg;
  if (i->op == Op::Not && isRegister(i->operands[1])) return oneMoreThan(definitions.decisive(i->operands[1].reg));
  return kNoValue;
}

/// A distance, what is made of it, and where.
struct Distance {
  ValueId value = kNoValue;
  BlockId block = kNoBlock;  // of the first instruction that makes places of it
  size_t position = 0;       // of that instruction in the block
  std::vector<BlockId> accesses;
};

/// Finds distances.
class Finder {
 public:
  Finder(const Function& f, const LaunchShape& launch)
      : f_(f), analyses_(f), shapes_(analyses_, launch), definitions_(analyses_.definitions()) {}
  const Definitions& definitions() const { return definitions_; }

  /// In the order of their first uses.
  std::vector<Distance> find() const {
    std::vector<Distance> found;
    for (BlockId b = 0; b < f_.blocks.size(); ++b)
      for (size_t k = 0; k < f_.blocks[b].code.size(); ++k) {
        const ValueId distance = distanceIn(f_.blocks[b].code[k]);
        if (distance == kNoValue) continue;
        auto it = std::ranges::find(found, distance, &Distance::value);
        if (it == found.end()) it = found.insert(it, {distance, b, k, {}});
        addAccesses(it->accesses, f_.blocks[b].code[k].operands[0].reg);
      }
    std::erase_if(found, [](const Distance& d) { return d.accesses.empty(); });
    return found;
  }

 private:
  bool isPlace(const Operand& o) const {
    const Shape s = shapes_.shapeOf(o);
    return s.isSegmented() && s.pattern != 0;
  }
  bool isShared(const Operand& o) const {
    return isRegister(o) && shapes_[o.reg].isUniform() && !shapes_[o.reg].warpVarying;
  }

  /// The distance by which lanes change places in the instruction.
  ValueId distanceIn(const Instruction& i) const {
    const bool isBits = i.op == Op::And || i.op == Op::Xor;
    const bool isDivision = (i.op == Op::Div || i.op == Op::Rem) && !isa::isSigned(i.type[0]);
    if (!isWord(i) || !(isBits || isDivision) || !shapes_[i.operands[0].reg].isGeneral()) return kNoValue;
    size_t at = 2;
    if (isBits && isPlace(i.operands[2])) at = 1;
    if (!isPlace(i.operands[3 - at]) || !isShared(i.operands[at])) return kNoValue;
    const ValueId v = i.operands[at].reg;
    if (i.op != Op::And) return v;
    const Instruction* made = definitions_.decisive(v);
    const ValueId more = oneMoreThan(made);
    return more != kNoValue ? more : negativeOf(made, definitions_);
  }

  /// The blocks with accesses at addresses that are made of `place`.
  void addAccesses(std::vector<BlockId>& accesses, ValueId place) const {
    std::set<ValueId> made{place};
    for (BlockId b = 0; b < f_.blocks.size(); ++b)
      for (const Instruction& i : f_.blocks[b].code) {
        bool reads = false;
        forEachUse(i, [&](ValueId v) { reads |= made.contains(v); });
        if (!reads) continue;
        if (i.info().effect == isa::Effect::Pure && !isa::isFloat(i.type[0]))
          forEachDefinition(i, [&](ValueId v, unsigned) { made.insert(v); });
        for (const ptx::MemoryAccess& m : ptx::MemoryAccesses(i))
          if (made.contains(i.operands[m.operand].reg)) accesses.push_back(b);
      }
  }

  const Function& f_;
  const Analyses analyses_;
  const Shapes shapes_;
  const Definitions& definitions_;
};

/// Values that are numbers in a copy.
class Numbers {
 public:
  void add(ValueId v, uint64_t n) { known_[v] = n; }

  /// Puts numbers in place of operands, and notes the result if it is one.
  void fold(Instruction& i) {
    if (!isWord(i)) return;
    for (size_t k = 1; k < i.operands.size(); ++k)
      if (const auto it = known_.find(i.operands[k].reg); isRegister(i.operands[k]) && it != known_.end())
        i.operands[k] = integerOperand(it->second);
    const bool isCommutative = i.op == Op::Add || i.op == Op::And || i.op == Op::Or || i.op == Op::Xor;
    // Constants come second, where shapes look for them.
    if (isCommutative && i.operands[1].kind == OperandKind::Integer) std::swap(i.operands[1], i.operands[2]);
    if (const auto n = resultOf(i)) known_[i.operands[0].reg] = *n;
    if (i.operands.size() > 2 && i.operands[2].kind == OperandKind::Integer) strengthen(i, i.operands[2].bits);
  }

 private:
  static std::optional<uint64_t> resultOf(const Instruction& i) {
    for (size_t k = 1; k < i.operands.size(); ++k)
      if (i.operands[k].kind != OperandKind::Integer) return std::nullopt;
    auto in = [&](size_t k) { return i.operands[k].bits; };
    uint64_t n = 0;
    switch (i.op) {
      case Op::Mov: n = in(1); break;
      case Op::Add: n = in(1) + in(2); break;
      case Op::Sub: n = in(1) - in(2); break;
      case Op::Neg: n = -in(1); break;
      case Op::Not: n = ~in(1); break;
      case Op::And: n = in(1) & in(2); break;
      case Op::Shl: n = in(2) < isa::bits(i.type[0]) ? in(1) << in(2) : 0; break;
      default: return std::nullopt;
    }
    const unsigned unused = 64 - isa::bits(i.type[0]);
    return static_cast<uint64_t>(static_cast<int64_t>(n << unused) >> unused);
  }

  /// Division by a power of two.
  static void strengthen(Instruction& i, uint64_t by) {
    if ((i.op != Op::Div && i.op != Op::Rem) || isa::isSigned(i.type[0]) || !std::has_single_bit(by)) return;
    const Type bits = isa::bits(i.type[0]) == 64 ? Type::b64 : Type::b32;
    if (i.op == Op::Rem)
      replace(i, Op::And, bits, {i.operands[0], i.operands[1], integerOperand(by - 1)});
    else
      replace(i, Op::Shr, i.type[0],
              {i.operands[0], i.operands[1], integerOperand(static_cast<uint64_t>(std::countr_zero(by)))});
  }

  std::map<ValueId, uint64_t> known_;
};

/// Makes the copies of the section that depends on a distance, and the branches that choose one.
class Specialiser {
 public:
  Specialiser(Function& f, const Section& section, const Distance& distance, const Definitions& definitions)
      : f_(f),
        section_(section),
        copies_(f, section),
        distance_(distance),
        line_(f.blocks[section.first].line),
        isWide_(isa::bits(f.values[distance.value].type) == 64) {
    for (ValueId v = 0; v < definitions.size(); ++v)
      if (oneMoreThan(definitions.decisive(v)) == distance.value) lesser_.push_back(v);
  }

  void run() {
    const BlockId multiples = forMultiples();
    // A remainder by 0 has no bits of the lane.
    BlockId last = branch(distance_.block, distance_.value, 0, section_.first);
    const ValueId low = newWord();
    f_.blocks[last].code.push_back(added(
        Op::And, bits(), {registerOperand(low), registerOperand(distance_.value), integerOperand(kLaneBits)}, line_));
    last = branch(last, low, 0, multiples);
    for (uint64_t distance = kLanes / 2; distance > 0; distance /= 2)
      last = branch(last, distance_.value, distance, forNumber(distance));
    f_.blocks[last].end = jumpTo(section_.first);
    f_.blocks[section_.first].predecessors.push_back(last);
    copies_.finish();
  }

 private:
  Type bits() const { return isWide_ ? Type::b64 : Type::b32; }
  Type word() const { return isWide_ ? Type::u64 : Type::u32; }
  ValueId newWord() { return copies_.newValue(distance_.value); }

  Terminator jumpTo(BlockId to) const {
    Terminator end;
    end.kind = Terminator::Kind::Jump;
    end.target[0] = to;
    end.line = line_;
    return end;
  }

  BlockId newBlock(std::vector<BlockId> predecessors) {
    f_.blocks.emplace_back();
    f_.blocks.back().line = line_;
    f_.blocks.back().predecessors = std::move(predecessors);
    return static_cast<BlockId>(f_.blocks.size() - 1);
  }

  /// Behind `from`: to `block` if `v` is `n`, else to the block that is returned.
  BlockId branch(BlockId from, ValueId v, uint64_t n, BlockId block) {
    const ValueId isIt = newWord();
    f_.values[isIt].type = Type::pred;
    Instruction compare =
        added(Op::Setp, bits(), {registerOperand(isIt), {}, registerOperand(v), integerOperand(n)}, line_);
    compare.mods[isa::ModifierKind::Compare] = isa::mod<isa::ModifierKind::Compare>("eq").value;
    f_.blocks[from].code.push_back(std::move(compare));
    const BlockId next = newBlock({from});
    Terminator& end = f_.blocks[from].end;
    end = jumpTo(block);
    end.kind = Terminator::Kind::Branch;
    end.target[1] = next;
    end.condition = isIt;
    f_.blocks[block].predecessors = {from};
    return next;
  }

  /// A copy behind a block that holds `code`, which is returned.
  BlockId copyBehind(std::vector<Instruction> code, const std::map<ValueId, ValueId>& names,
                     const SectionCopies::Change& change) {
    const BlockId before = newBlock({});
    f_.blocks[before].code = std::move(code);
    const BlockId first = copies_.add(names, change);
    f_.blocks[before].end = jumpTo(first);
    f_.blocks[first].predecessors = {before};
    return before;
  }

  BlockId forNumber(uint64_t n) {
    Numbers numbers;
    std::map<ValueId, ValueId> names;
    std::vector<Instruction> code;
    auto define = [&](ValueId v, uint64_t is) {
      names[v] = newWord();
      numbers.add(names[v], is);
      code.push_back(added(Op::Mov, word(), {registerOperand(names[v]), integerOperand(is)}, line_));
    };
    define(distance_.value, n);
    for (ValueId v : lesser_) define(v, n - 1);
    return copyBehind(std::move(code), names, [&](Instruction& i, std::vector<Instruction>&) { numbers.fold(i); });
  }

  /// In which `multiple_` is the distance, known to be a multiple of 32, and `less_` are values one less.
  BlockId forMultiples() {
    multiple_ = newWord();
    std::map<ValueId, ValueId> names{{distance_.value, multiple_}};
    std::vector<Instruction> code{
        added(Op::And, bits(),
              {registerOperand(multiple_), registerOperand(distance_.value), integerOperand(~kLaneBits)}, line_)};
    for (ValueId v : lesser_) {
      names[v] = newWord();
      code.push_back(added(Op::Add, word(),
                           {registerOperand(names[v]), registerOperand(multiple_), integerOperand(~uint64_t{0})},
                           line_));
      less_.insert(names[v]);
    }
    return copyBehind(std::move(code), names,
                      [&](Instruction& i, std::vector<Instruction>& before) { keepLaneBits(i, before); });
  }

  bool isLess(const Operand& o) const { return isRegister(o) && less_.contains(o.reg); }
  bool isMultiple(const Operand& o) const { return isRegister(o) && o.reg == multiple_; }

  void keepLaneBits(Instruction& i, std::vector<Instruction>& before) {
    if (!isWord(i)) return;
    if (oneMoreThan(&i) == multiple_) less_.insert(i.operands[0].reg);
    const bool isNegative =
        (i.op == Op::Neg && isMultiple(i.operands[1])) || (i.op == Op::Not && isLess(i.operands[1]));
    if (isNegative) replace(i, Op::Sub, word(), {i.operands[0], integerOperand(0), registerOperand(multiple_)});
    auto made = [&](Op op, Type type, Operand a, Operand b) {
      const ValueId v = newWord();
      before.push_back(added(op, type, {registerOperand(v), std::move(a), std::move(b)}, i.line));
      return registerOperand(v);
    };
    auto lowBits = [&](const Operand& t) { return made(Op::And, bits(), t, integerOperand(kLaneBits)); };
    auto others = [&](const Operand& t) { return made(Op::And, bits(), t, integerOperand(~kLaneBits)); };
    if (i.op == Op::And && (isLess(i.operands[1]) || isLess(i.operands[2]))) {
      const Operand t = isLess(i.operands[1]) ? i.operands[2] : i.operands[1];
      const Operand high = made(Op::Add, word(), registerOperand(multiple_), integerOperand(~kLaneBits));
      const Operand rest = made(Op::And, bits(), t, high);
      replace(i, Op::Add, word(), {i.operands[0], rest, lowBits(t)});
    } else if (i.op == Op::Rem && !isa::isSigned(i.type[0]) && isMultiple(i.operands[2])) {
      const Operand rest = made(Op::Rem, word(), others(i.operands[1]), i.operands[2]);
      replace(i, Op::Add, word(), {i.operands[0], rest, lowBits(i.operands[1])});
    } else if (i.op == Op::Div && !isa::isSigned(i.type[0]) && isMultiple(i.operands[2])) {
      i.operands[1] = others(i.operands[1]);
    }
  }

  Function& f_;
  const Section section_;
  SectionCopies copies_;
  const Distance distance_;
  const uint32_t line_;
  const bool isWide_;
  std::vector<ValueId> lesser_;  // values of the kernel that are one less than the distance
  ValueId multiple_ = kNoValue;
  std::set<ValueId> less_;
};

size_t lengthOf(const Function& f, const Section& section) {
  size_t length = 0;
  for (BlockId b : section.blocks) length += f.blocks[b].code.size();
  return length;
}

/// One distance of the kernel that is not among those `done`; false if there is none. Values from `values` on are those
/// of copies.
bool specialiseOnce(Function& f, const LaunchShape& launch, size_t values, std::set<ValueId>& done) {
  const Finder finder(f, launch);
  for (Distance& d : finder.find()) {
    if (d.value >= values || !done.insert(d.value).second) continue;
    Function trial = f;
    const BlockId first = splitBlock(trial, d.block, d.position);
    for (BlockId& b : d.accesses)
      if (b == d.block) b = first;
    const auto section = findSection(trial, first, d.accesses);
    if (!section || lengthOf(trial, *section) > kLongest) continue;
    Specialiser(trial, *section, d, finder.definitions()).run();
    f = std::move(trial);
    return true;
  }
  return false;
}

}  // namespace

void specialise(Function& f, const LaunchShape& launch) {
  std::set<ValueId> done;
  const size_t values = f.values.size();
  for (unsigned k = 0; k < kMostSections && specialiseOnce(f, launch, values, done); ++k) {
  }
}

}  // namespace ordito::ir
