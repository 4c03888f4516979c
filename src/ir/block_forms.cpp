// See block_forms.hpp.
#include "ir/block_forms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "ir/print.hpp"
#include "ptx/operands.hpp"

namespace ordito::ir {
namespace {

using isa::ModifierKind;
using isa::Op;
using Kind = ptx::Operand::Kind;
using GuardKind = GuardOperands::Kind;

constexpr auto kWide = isa::mod<ModifierKind::MulMode>("wide");
constexpr auto kLo = isa::mod<ModifierKind::MulMode>("lo");

const BlockForm kVarying{.kind = BlockForm::Kind::Varying};
const BlockForm kSame{.kind = BlockForm::Kind::Shifted};

BlockForm numbered(int64_t number) { return {.kind = BlockForm::Kind::Shifted, .number = number}; }

/// The low `bits` of a number as a signed one.
int64_t cut(int64_t v, unsigned bits) {
  return bits >= 64 ? v : static_cast<int64_t>(static_cast<uint64_t>(v) << (64 - bits)) >> (64 - bits);
}

int64_t plus(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }
int64_t times(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

BlockForm cut(BlockForm form, unsigned bits) {
  for (int64_t& step : form.step) step = cut(step, bits);
  for (BlockStep& steps : form.steps)
    for (int64_t& step : steps) step = cut(step, bits);
  if (form.number) form.number = cut(*form.number, bits);
  return form;
}

/// a + b × factor.
BlockForm combined(const BlockForm& a, const BlockForm& b, int64_t factor) {
  if (a.isVarying() || b.isVarying()) return kVarying;
  if (a.kind != BlockForm::Kind::Shifted || b.kind != BlockForm::Kind::Shifted) return {};
  BlockForm form = kSame;
  for (size_t d = 0; d < form.step.size(); ++d) form.step[d] = plus(a.step[d], times(b.step[d], factor));
  if (a.number && b.number) form.number = plus(*a.number, times(*b.number, factor));
  return form;
}

BlockForm joined(const BlockForm& a, const BlockForm& b) {
  if (a.kind == BlockForm::Kind::Unknown) return b;
  if (b.kind == BlockForm::Kind::Unknown) return a;
  if (a == b) return a;
  if (a.isVarying() || b.isVarying() || a.step != b.step) return kVarying;
  return {.kind = BlockForm::Kind::Shifted, .step = a.step};
}

bool isWord(isa::Type t) { return !isa::isFloat(t) && !isa::isPacked(t) && (isa::bits(t) == 32 || isa::bits(t) == 64); }

GuardKind comparisonOf(const ptx::Instruction& i) {
  const auto name = i.mods.name(ModifierKind::Compare);
  if (name == "eq" || name == "ne") return GuardKind::Equal;
  if (name == "lt" || name == "ge" || name == "lo" || name == "hs") return GuardKind::Less;
  if (name == "le" || name == "gt" || name == "ls" || name == "hi") return GuardKind::LessOrEqual;
  return GuardKind::None;
}

bool widens(const ptx::Instruction& i) {
  if (i.op == Op::Mul || i.op == Op::Mad) return i.is(kWide) && isa::bits(i.type[0]) == 32;
  return i.op == Op::Cvt && isa::isInteger(i.type[0]) && isa::isInteger(i.type[1]) && isa::bits(i.type[0]) == 64 &&
         isa::bits(i.type[1]) == 32;
}

/// A conversion that keeps the low bits, or extends a word.
bool isPlainConversion(const Instruction& i) {
  return isa::isInteger(i.type[0]) && isa::isInteger(i.type[1]) && isWord(i.type[0]) && isWord(i.type[1]) &&
         !i.has(ModifierKind::Saturate);
}

}  // namespace

GuardOperands guardOperands(const ptx::Instruction& i) {
  if (widens(i)) return {GuardKind::Widen, 1, 1, i.op == Op::Cvt ? i.type[1] : i.type[0]};
  if (i.op == Op::Or && isWord(i.type[0])) return {GuardKind::Or, 1, 2, i.type[0]};
  if ((i.op == Op::Min || i.op == Op::Max) && isWord(i.type[0]) && !isa::isBits(i.type[0]))
    return {GuardKind::Widen, 1, 2, i.type[0]};
  if ((i.op != Op::Setp && i.op != Op::SetpBool) || !isWord(i.type[0])) return {};
  GuardOperands guard{comparisonOf(i), 0, 0, i.type[0]};
  const auto forms = i.info().form.operandList();
  for (size_t k = 0; k < forms.size() && k < i.operands.size(); ++k) {
    if (forms[k].name == "a") guard.a = k;
    if (forms[k].name == "b") guard.b = k;
  }
  return guard;
}

BlockForms::BlockForms(const Function& f, const LaunchNumbers& launch)
    : f_(f), launch_(launch), forms_(f.values.size()), varying_(f.blocks.size(), 0), joins_(f.blocks.size(), 0) {
  postDominator_ = immediatePostDominators(f);
  for (bool changes = true; changes;) {
    changes = false;
    for (BlockId b = 0; b < f.blocks.size(); ++b) changes |= visit(b);
  }
}

/// What lies between a branch on which blocks differ and the place where all ways from it meet again. A loop that never
/// ends has no such place.
void BlockForms::markInfluence(BlockId b) {
  const uint32_t join = postDominator_[b];
  std::vector<BlockId> left;
  const auto meet = [&](BlockId s) {
    if (s == join) return;
    if (!varying_[s]) varying_[s] = joins_[s] = 1, left.push_back(s);
  };
  const Terminator& end = f_.blocks[b].end;
  for (unsigned k = 0; k < end.targetCount(); ++k) meet(end.target[k]);
  while (!left.empty()) {
    const Terminator& next = f_.blocks[left.back()].end;
    left.pop_back();
    for (unsigned k = 0; k < next.targetCount(); ++k) meet(next.target[k]);
  }
  if (join < joins_.size()) joins_[join] = 1;
}

bool BlockForms::set(ValueId v, BlockForm form) {
  form = joined(forms_[v], cut(form, std::max(isa::bits(f_.values[v].type), 32u)));
  if (form == forms_[v]) return false;
  forms_[v] = form;
  return true;
}

bool BlockForms::visit(BlockId b) {
  bool changes = false;
  const Block& block = f_.blocks[b];
  for (const Phi& p : block.phis) changes |= set(p.value, phi(b, p));
  for (const Instruction& i : block.code)
    forEachDefinition(i, [&](ValueId v, unsigned index) {
      BlockForm form = result(i, f_.values[v].type);
      if (i.guard && index < i.prior.size() && i.prior[index] != kNoValue) form = joined(form, forms_[i.prior[index]]);
      if (i.guard && forms_[i.guard.reg].isVarying()) form = kVarying;
      changes |= set(v, form);
    });
  if (block.end.kind == Terminator::Kind::Barrier)
    forEachDefinition(block.end.barrier, [&](ValueId v, unsigned) { changes |= set(v, kVarying); });
  const ValueId condition = block.end.condition;
  if (block.end.kind == Terminator::Kind::Branch && condition != kNoValue && forms_[condition].isVarying()) {
    const auto before = varying_;
    const auto joinsBefore = joins_;
    markInfluence(b);
    changes |= before != varying_ || joinsBefore != joins_;
  }
  return changes;
}

BlockForm BlockForms::phi(BlockId b, const Phi& p) const {
  if (joins_[b]) return kVarying;
  BlockForm form;
  for (ValueId v : p.incoming)
    if (v != kNoValue) form = joined(form, forms_[v]);
  return form;
}

BlockForm BlockForms::formOf(const ptx::Operand& o) const {
  switch (o.kind) {
    case Kind::Register: return forms_[o.reg];
    case Kind::Address: return o.reg != kNoValue ? forms_[o.reg] : kSame;
    case Kind::Special: return special(o.special);
    case Kind::Integer: return numbered(static_cast<int64_t>(o.bits));
    case Kind::Vector: {
      BlockForm form = kSame;
      for (const ptx::Operand& element : o.elements)
        if (const BlockForm e = formOf(element); !e.isSame() && !form.isVarying())
          form = e.kind == BlockForm::Kind::Unknown ? e : kVarying;
      return form;
    }
    default: return kSame;
  }
}

BlockForm BlockForms::special(isa::Special s) const {
  using isa::Special;
  const auto number = [](uint32_t n) { return n ? numbered(n) : kSame; };
  const auto shifted = [&](size_t d) {
    BlockForm form = kSame;
    if (launch_.grid[d] == 1) return form.number = 0, form;
    form.step[d] = 1;
    return form;
  };
  switch (s) {
    case Special::CtaidX: return shifted(0);
    case Special::CtaidY: return shifted(1);
    case Special::CtaidZ: return shifted(2);
    case Special::NctaidX: return number(launch_.grid[0]);
    case Special::NctaidY: return number(launch_.grid[1]);
    case Special::NctaidZ: return number(launch_.grid[2]);
    case Special::NtidX: return number(launch_.block[0]);
    case Special::NtidY: return number(launch_.block[1]);
    case Special::NtidZ: return number(launch_.block[2]);
    case Special::Smid:
    case Special::Clock:
    case Special::ClockHi:
    case Special::Clock64:
    case Special::Globaltimer:
    case Special::GlobaltimerLo:
    case Special::GlobaltimerHi: return kVarying;
    default: return s <= Special::Envreg31 ? kSame : kVarying;
  }
}

BlockForm BlockForms::result(const Instruction& i, isa::Type type) const {
  if (i.info().unit == isa::Unit::Texture) return kVarying;
  switch (i.info().effect) {
    case isa::Effect::Pure: return computed(i);
    case isa::Effect::Load: return loaded(i, type);
    case isa::Effect::Warp: return bits(i);
    default: return kVarying;
  }
}

/// A parameter of the kernel is a number; other memory may hold anything, but for constants.
BlockForm BlockForms::loaded(const Instruction& i, isa::Type type) const {
  const ptx::Operand& from = i.operands[1];
  const ptx::Space space = ptx::spaceOf(i);
  const BlockForm at = formOf(from);
  if (at.kind == BlockForm::Kind::Unknown) return {};
  if (space == ptx::Space::Const) return at.isSame() ? kSame : kVarying;
  if (space != ptx::Space::Param || !at.isSame()) return kVarying;
  // What an inlined function was given or answered lies in a variable, which holds what was stored there.
  const auto isArgument = [](const ptx::Variable& v) { return v.space == ptx::Space::Param; };
  const bool isKernels = from.symbol.kind == ptx::Symbol::Kind::Parameter;
  if (!isKernels && (from.reg == kNoValue || std::ranges::any_of(f_.variables, isArgument))) return kVarying;
  const bool isPlain = from.symbol.kind == ptx::Symbol::Kind::Parameter && from.reg == kNoValue &&
                       i.operands[0].is(Kind::Register) && !isa::isFloat(type);
  if (!isPlain || !launch_.parameters) return kSame;
  const ptx::Parameter& parameter = f_.kernel->parameters[from.symbol.index];
  const size_t bytes = isa::bits(i.type[0]) / 8, offset = parameter.offset + static_cast<size_t>(from.offset);
  if (bytes > sizeof(int64_t) || offset + bytes > f_.kernel->parameterBytes) return kSame;
  int64_t value = 0;
  std::memcpy(&value, launch_.parameters + offset, bytes);
  if (isa::isSigned(i.type[0])) value = cut(value, static_cast<unsigned>(8 * bytes));
  return numbered(value);
}

BlockForm BlockForms::sum(const Instruction& i, int64_t sign) const {
  if (i.has(ModifierKind::Saturate) || i.carryIn != kNoValue || i.carryOut != kNoValue || !isWord(i.type[0]))
    return bits(i);
  return combined(formOf(i.operands[1]), formOf(i.operands[2]), sign);
}

BlockForm BlockForms::product(const Instruction& i) const {
  const bool isWide = i.is(kWide) && isa::bits(i.type[0]) == 32;
  if ((!i.is(kLo) && !isWide) || !isWord(i.type[0]) || i.has(ModifierKind::Saturate)) return bits(i);
  const bool isUnsigned = isWide && !isa::isSigned(i.type[0]);
  const auto factor = [&](const BlockForm& form) {
    return isUnsigned ? *form.number & INT64_C(0xFFFFFFFF) : cut(*form.number, isWide ? 32 : 64);
  };
  const BlockForm a = formOf(i.operands[1]), b = formOf(i.operands[2]);
  const BlockForm c = i.op == Op::Mad ? formOf(i.operands[3]) : numbered(0);
  BlockForm form;
  if (b.number && a.kind == BlockForm::Kind::Shifted)
    form = combined(c, a, factor(b));
  else if (a.number && b.kind == BlockForm::Kind::Shifted)
    form = combined(c, b, factor(a));
  else if (a.isSame() && b.isSame())
    form = combined(c, kSame, 1);
  else
    return bits(i);
  if (isUnsigned) form.number.reset();
  return form;
}

/// What no rule knows is the same in all blocks if all that it is made of is.
BlockForm BlockForms::bits(const Instruction& i) const {
  const auto forms = i.info().form.operandList();
  bool isUnknown = false;
  for (size_t k = 0; k < i.operands.size(); ++k) {
    if (k < forms.size() && forms[k].kind == isa::OperandForm::Kind::Destination) continue;
    const BlockForm form = formOf(i.operands[k]);
    isUnknown |= form.kind == BlockForm::Kind::Unknown;
    if (form.kind != BlockForm::Kind::Unknown && !form.isSame()) return kVarying;
  }
  if (i.carryIn != kNoValue && !forms_[i.carryIn].isSame()) return kVarying;
  return isUnknown ? BlockForm{} : kSame;
}

BlockForm BlockForms::computed(const Instruction& i) const {
  const auto form = [&](size_t k) { return formOf(i.operands[k]); };
  const auto anyUnknown = [&](size_t count) {
    for (size_t k = 1; k <= count; ++k)
      if (form(k).kind == BlockForm::Kind::Unknown) return true;
    return false;
  };
  switch (i.op) {
    case Op::Mov:
      if (i.operands[0].is(Kind::Vector) || i.operands[1].is(Kind::Vector)) return bits(i);
      return form(1);
    case Op::Cvta: return form(1);
    case Op::Cvt: {
      if (!isPlainConversion(i)) return bits(i);
      BlockForm x = form(1);
      if (x.number && !isa::isSigned(i.type[1]) && isa::bits(i.type[1]) == 32) *x.number &= INT64_C(0xFFFFFFFF);
      return x;
    }
    case Op::Add: return sum(i, 1);
    case Op::Sub: return sum(i, -1);
    case Op::Mul:
    case Op::Mad: return product(i);
    case Op::Shl:
      if (const auto n = form(2).number; n && *n >= 0 && *n < 63 && isWord(i.type[0]))
        return combined(numbered(0), form(1), INT64_C(1) << *n);
      return bits(i);
    case Op::And: {  // the low bits, where the steps have none of them
      const BlockForm a = form(1), mask = form(2);
      const bool isLow =
          mask.number && *mask.number >= 0 && std::has_single_bit(static_cast<uint64_t>(*mask.number) + 1);
      if (!isLow || a.kind != BlockForm::Kind::Shifted) return bits(i);
      return std::ranges::all_of(a.step, [&](int64_t s) { return (s & *mask.number) == 0; }) ? kSame : kVarying;
    }
    case Op::Or:  // of a sum's two parts that share no bits: its guard sees to that
      if (anyUnknown(2)) return {};
      if (!isWord(i.type[0]) || (form(1).isSame() && form(2).isSame())) return bits(i);
      if (!form(2).isSame() && !form(1).isSame()) return kVarying;
      return combined(combined(form(1), form(2), 1), kSame, 0);
    case Op::Selp:
      if (anyUnknown(3)) return {};
      return form(3).isSame() ? joined(form(1), form(2)) : kVarying;
    case Op::Min:
    case Op::Max: return extreme(i);
    case Op::Setp:
    case Op::SetpBool: return comparison(i);
    default: return bits(i);
  }
}

/// A comparison that a guard watches is the same for all, where the operands are known to shift.
BlockForm BlockForms::comparison(const Instruction& i) const {
  const GuardOperands guard = guardOperands(i);
  if (!guard) return bits(i);
  const BlockForm a = formOf(i.operands[guard.a]), b = formOf(i.operands[guard.b]);
  if (a.kind == BlockForm::Kind::Varying || b.kind == BlockForm::Kind::Varying) return kVarying;
  bool isUnknown = a.kind == BlockForm::Kind::Unknown || b.kind == BlockForm::Kind::Unknown;
  for (size_t k = guard.b + 1; k < i.operands.size(); ++k) {  // of .and, .or: the other predicate
    const BlockForm other = formOf(i.operands[k]);
    if (other.isVarying()) return kVarying;
    isUnknown |= other.kind == BlockForm::Kind::Unknown;
  }
  return isUnknown ? BlockForm{} : kSame;
}

/// Of two that shift differently it is not known which one it is.
BlockForm BlockForms::extreme(const Instruction& i) const {
  constexpr size_t kMost = 4;
  const BlockForm a = formOf(i.operands[1]), b = formOf(i.operands[2]);
  if (!guardOperands(i) || (a.isSame() && b.isSame())) return bits(i);
  if (a.kind == BlockForm::Kind::Unknown || b.kind == BlockForm::Kind::Unknown) return {};
  BlockForm form{.kind = BlockForm::Kind::Between, .steps = a.shifts()};
  for (const BlockStep& step : b.shifts()) form.steps.push_back(step);
  if (a.shifts().empty() || b.shifts().empty() || form.steps.size() > kMost) return kVarying;
  std::ranges::sort(form.steps);
  form.steps.erase(std::unique(form.steps.begin(), form.steps.end()), form.steps.end());
  if (form.steps.size() > 1) return form;
  return {.kind = BlockForm::Kind::Shifted, .step = form.steps[0]};
}

bool BlockForms::isAlike(BlockId b, const Instruction& i) const {
  return !varying_[b] && !(i.guard && !forms_[i.guard.reg].isSame());
}

std::string print(const BlockForms& forms, const Function& f) {
  std::string text;
  for (ValueId v = 0; v < f.values.size(); ++v) {
    const BlockForm& form = forms[v];
    std::string says = "never defined";
    if (form.isVarying()) says = "varying";
    if (form.kind == BlockForm::Kind::Between) says = fmt::format("between {} steps", form.steps.size());
    if (form.kind == BlockForm::Kind::Shifted) {
      says = "the same for all";
      if (form.number) says += fmt::format(", {}", *form.number);
      if (!form.isSame()) says = fmt::format("{} {} {} for each block", form.step[0], form.step[1], form.step[2]);
    }
    text += fmt::format("{}: {}\n", valueName(f, v), says);
  }
  for (BlockId b = 0; b < f.blocks.size(); ++b)
    if (forms.isVarying(b)) text += fmt::format("B{}: varying\n", b);
  return text;
}

}  // namespace ordito::ir
