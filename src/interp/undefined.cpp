// Follows what is made of memory that nobody has written: a bit for each bit of a register, and for each byte of memory
// (machine/undefined.hpp). Instructions that move bits move these too; those that compute make the whole result
// undefined. Listeners hear of it where such a value decides something (machine/events.hpp, UndefinedEvent), so copies
// of structs with holes, loads that a compiler has moved in front of a test, and garbage in lanes whose results are
// thrown away are no news. What is undefined after a use counts as defined, so that one mistake is told once.
//
// Which bits of a result depend on undefined bits is found by trying: a body that moves bits is executed with these
// bits cleared and set, and what differs is undefined. This holds for masks, shifts, permutes and selections alike.
#include "machine/undefined.hpp"

#include <algorithm>

#include "interp/executor.hpp"
#include "machine/listener.hpp"

namespace ordito::interp {

using isa::Effect;
using isa::Op;
using isa::OperandForm;
using machine::AccessKind;
using machine::AccessSpace;
using machine::UndefinedBytes;
using machine::undefinedMemory;
using ptx::Operand;
using ptx::RegisterId;

namespace {

bool isAny(const Slot& bits) { return (bits.lo | bits.hi) != 0; }

Slot operator&(const Slot& a, const Slot& b) { return {a.lo & b.lo, a.hi & b.hi}; }
Slot operator|(const Slot& a, const Slot& b) { return {a.lo | b.lo, a.hi | b.hi}; }
Slot operator^(const Slot& a, const Slot& b) { return {a.lo ^ b.lo, a.hi ^ b.hi}; }
Slot operator~(const Slot& a) { return {~a.lo, ~a.hi}; }

/// All bits of a register of so many.
Slot ones(unsigned bits) { return {lowBits(~uint64_t{0}, std::min(bits, 64u)), bits > 64 ? ~uint64_t{0} : 0}; }

/// Calls visit(register) for those of an operand.
template <class F>
void forEachRegister(const Operand& o, F visit) {
  if (o.is(Operand::Kind::Register)) visit(o.reg);
  for (const Operand& element : o.elements) forEachRegister(element, visit);
}

/// Do bits of the result stem from bits of the sources, each by itself?
bool movesBits(const ptx::Instruction& i) {
  switch (i.op) {
    case Op::Mov:
    case Op::Selp:
    case Op::And:
    case Op::Or:
    case Op::Xor:
    case Op::Not:
    case Op::Lop3:
    case Op::Shf:
    case Op::Shl:
    case Op::Shr:
    case Op::Prmt:
    case Op::Bfe:
    case Op::Bfi:
    case Op::Brev: return true;
    case Op::Cvt: return !isa::isFloat(i.type[0]) && !isa::isFloat(i.type[1]) && !i.has(isa::ModifierKind::Saturate);
    default: return false;
  }
}

/// Eight bits for each byte.
uint64_t spread(uint64_t bytes) {
  uint64_t bits = 0;
  for (unsigned k = 0; k < 8; ++k)
    if (bytes >> k & 1) bits |= uint64_t{0xFF} << 8 * k;
  return bits;
}

}  // namespace

void undefineVariables(const Activation& activation) {
  const auto& variables = activation.plan->source->variables;
  for (size_t i = 0; i < variables.size(); ++i)
    if (variables[i].space == ptx::Space::Local)
      undefinedMemory()->undefine(
          reinterpret_cast<uint64_t>(activation.memory.get()) + activation.plan->variableOffset[i], variables[i].size);
}

void forgetVariables(const Activation& activation) {
  undefinedMemory()->define(reinterpret_cast<uint64_t>(activation.memory.get()), activation.plan->memoryBytes);
}

void Block::undefineMemory() const {
  undefinedMemory()->undefine(reinterpret_cast<uint64_t>(frame.shared), frame.totalSharedBytes);
  for (const Warp& warp : warps)
    for (const Thread& thread : warp.threads) undefineVariables(thread.top());
}

Block::~Block() {
  if (!isHeard) return;
  undefinedMemory()->define(reinterpret_cast<uint64_t>(frame.shared), frame.totalSharedBytes);
  for (const Warp& warp : warps)
    for (const Thread& thread : warp.threads) {
      for (const Activation& a : thread.stack) forgetVariables(a);
      if (thread.allocated) undefinedMemory()->define(reinterpret_cast<uint64_t>(thread.allocated.get()), kAllocaBytes);
    }
}

/// Null if it is defined.
const Undefined* Executor::undefinedIn(RegisterId reg) const {
  const auto& all = thread_->top().undefined;
  return !all.empty() && isAny(all[reg].bits) ? &all[reg] : nullptr;
}

void Executor::setUndefined(RegisterId reg, const Undefined& undefined) {
  Activation& top = thread_->top();
  const Slot bits = undefined.bits & ones(isa::bits(top.plan->source->registers[reg].type));
  if (top.undefined.empty() && !isAny(bits)) return;
  top.undefined.resize(top.registers.size());
  top.undefined[reg] = {bits, undefined.origin, undefined.isComputed};
}

/// Calls visit(register, undefined) for each that the instruction takes as a value.
template <class F>
void Executor::forEachUndefinedSource(F visit) const {
  const auto forms = instruction_->info().form.operandList();
  for (size_t k = 0; k < forms.size() && k < instruction_->operands.size(); ++k)
    if (forms[k].kind == OperandForm::Kind::Source)
      forEachRegister(operand(k), [&](RegisterId reg) {
        if (const Undefined* u = undefinedIn(reg)) visit(reg, *u);
      });
}

std::vector<RegisterId> Executor::resultRegisters() const {
  std::vector<RegisterId> all;
  const auto forms = instruction_->info().form.operandList();
  for (size_t k = 0; k < forms.size() && k < instruction_->operands.size(); ++k)
    if (forms[k].kind == OperandForm::Kind::Destination)
      forEachRegister(operand(k), [&](RegisterId reg) { all.push_back(reg); });
  return all;
}

void Executor::useUndefined(const Undefined& undefined, UndefinedUse use) const {
  const UndefinedOrigin& from = block_.origins[undefined.origin];
  machine::raise(machine::UndefinedEvent{.at = site(1u << thread_->lane),
                                         .use = use,
                                         .readIn = from.function,
                                         .readLine = from.line,
                                         .readBytes = from.bytes,
                                         .space = from.space,
                                         .address = from.address});
}

/// An undefined predicate decides whether the lanes execute the instruction.
void Executor::judgeGuard(uint32_t group) {
  for (uint32_t lane : Lanes(group)) {
    select(lane);
    const RegisterId reg = instruction_->guard.reg;
    if (const Undefined* u = undefinedIn(reg)) useUndefined(*u, UndefinedUse::Branch), setUndefined(reg, {});
  }
  select(*Lanes(group).begin());
}

/// Addresses, indices of jumps, and what atomic operations take.
void Executor::judgeOperands() {
  const auto forms = instruction_->info().form.operandList();
  const Effect effect = instruction_->info().effect;
  std::vector<std::pair<RegisterId, UndefinedUse>> uses;
  for (size_t k = 0; k < forms.size() && k < instruction_->operands.size(); ++k)
    if (const RegisterId reg = operand(k).reg; forms[k].kind == OperandForm::Kind::Address && reg != ptx::kNoRegister)
      uses.emplace_back(reg, UndefinedUse::Address);
  if (effect == Effect::Atomic || instruction_->op == Op::BrxIdx)
    forEachUndefinedSource([&](RegisterId reg, const Undefined&) {
      uses.emplace_back(reg, effect == Effect::Atomic ? UndefinedUse::Atomic : UndefinedUse::Branch);
    });
  for (const auto& [reg, use] : uses)
    if (const Undefined* u = undefinedIn(reg)) useUndefined(*u, use), setUndefined(reg, {});
}

/// Told before the instruction is executed, since it may overwrite its sources. Nothing for one whose results are not
/// a matter of its registers alone.
std::vector<Executor::Result> Executor::undefinedResults() {
  const Effect effect = instruction_->info().effect;
  const bool isShuffle = instruction_->op == Op::Shfl || instruction_->op == Op::ShflOld;
  if (effect == Effect::Warp || effect == Effect::Barrier) {
    const bool looks = instruction_->op == Op::Vote || instruction_->op == Op::VoteOld ||
                       instruction_->op == Op::Match || instruction_->op == Op::Redux;
    if (looks && isAnySourceUndefined(active_))
      taintResults(active_);
    else if (!isShuffle)
      defineResults(active_);
    return {};
  }
  if (thread_->top().undefined.empty()) return {};
  judgeOperands();
  if (effect == Effect::Call || effect == Effect::Control || effect == Effect::Store) return {};
  std::vector<RegisterId> sources;
  if (effect == Effect::Pure) forEachUndefinedSource([&](RegisterId reg, const Undefined&) { sources.push_back(reg); });
  if (!sources.empty()) return movesBits(*instruction_) ? movedResults(sources) : computedResults();
  std::vector<Result> defined;
  for (RegisterId reg : resultRegisters()) defined.push_back({reg, {}});
  return defined;
}

/// Does the predicate of `setp.bool` alone decide?
bool Executor::isDecidedBy(const Operand& predicate) const {
  if (!predicate.is(Operand::Kind::Register) || undefinedIn(predicate.reg)) return false;
  const bool c = read(predicate, isa::Type::pred).lo & 1;
  return combine(false, c) == combine(true, c);
}

/// Of a sum, the bits below the lowest undefined one are what they are.
std::vector<Executor::Result> Executor::computedResults() const {
  Undefined made{.bits = ones(128), .isComputed = true};
  uint64_t sources = 0;
  forEachUndefinedSource([&](RegisterId, const Undefined& u) { made.origin = u.origin, sources |= u.bits.lo; });
  const bool isSum = instruction_->op == Op::Add || instruction_->op == Op::Sub;
  if (isSum && sources != 0) made.bits.lo &= ~uint64_t{0} << std::countr_zero(sources);
  if (instruction_->op == Op::SetpBool && isDecidedBy(instruction_->operands.back())) made = {};
  std::vector<Result> all;
  for (RegisterId reg : resultRegisters()) all.push_back({reg, made});
  return all;
}

std::vector<Executor::Result> Executor::movedResults(const std::vector<RegisterId>& sources) {
  std::vector<Slot>& registers = thread_->top().registers;
  const std::vector<RegisterId> targets = resultRegisters();
  std::vector<std::pair<RegisterId, Slot>> saved;
  for (const auto* list : {&targets, &sources})
    for (RegisterId reg : *list) saved.emplace_back(reg, registers[reg]);
  // What the results are with the undefined bits of these sources at `value`.
  const auto attempt = [&](std::span<const RegisterId> changed, Slot value) {
    for (RegisterId reg : changed) {
      const Slot bits = undefinedIn(reg)->bits;
      registers[reg] = (registers[reg] & ~bits) | (value & bits);
    }
    (this->*kBodies[static_cast<size_t>(instruction_->op)])();
    std::vector<Slot> made;
    for (RegisterId reg : targets) made.push_back(registers[reg]);
    for (const auto& [reg, old] : saved) registers[reg] = old;
    return made;
  };
  std::vector<Result> results;
  for (RegisterId reg : targets) results.push_back({reg, {}});
  const auto compare = [&](std::span<const RegisterId> changed) {
    const std::vector<Slot> zeros = attempt(changed, {}), all = attempt(changed, ones(128));
    for (size_t k = 0; k < targets.size(); ++k) {
      Undefined& u = results[k].undefined;
      const Slot differs = zeros[k] ^ all[k];
      if (!isAny(differs)) continue;
      u.bits = u.bits | differs;
      for (RegisterId reg : changed) u.origin = undefinedIn(reg)->origin, u.isComputed |= undefinedIn(reg)->isComputed;
    }
  };
  // Each by itself, since two may cancel out; all together, since one may hide another.
  for (const RegisterId& reg : sources) compare({&reg, 1});
  if (sources.size() > 1) compare(sources);
  return results;
}

void Executor::keepUndefined(const std::vector<Result>& results) {
  for (const Result& r : results) setUndefined(r.reg, r.undefined);
}

bool Executor::isAnySourceUndefined(uint32_t lanes) {
  bool any = false;
  for (uint32_t lane : Lanes(lanes)) {
    select(lane);
    forEachUndefinedSource([&](RegisterId, const Undefined&) { any = true; });
  }
  select(*Lanes(lanes).begin());
  return any;
}

void Executor::defineResults(uint32_t lanes) {
  for (uint32_t lane : Lanes(lanes)) {
    select(lane);
    for (RegisterId reg : resultRegisters()) setUndefined(reg, {});
  }
  select(*Lanes(lanes).begin());
}

/// Each lane's result depends on all lanes' sources.
void Executor::taintResults(uint32_t lanes) {
  Undefined made{.bits = ones(128), .isComputed = true};
  for (uint32_t lane : Lanes(lanes)) {
    select(lane);
    forEachUndefinedSource([&](RegisterId, const Undefined& u) { made.origin = u.origin; });
  }
  for (uint32_t lane : Lanes(lanes)) {
    select(lane);
    for (RegisterId reg : resultRegisters()) setUndefined(reg, made);
  }
  select(*Lanes(lanes).begin());
}

/// Operand `to` of each lane gets operand `from` of the lane that `sources` names; of the lanes in `absent` there is no
/// such lane, so that what they get is anything.
void Executor::moveUndefined(size_t to, size_t from, const std::array<uint32_t, 32>& sources, uint32_t absent) {
  std::array<Undefined, 32> found{};
  for (uint32_t lane : Lanes(active_)) {
    select(lane);
    if (const Operand& o = operand(from); o.is(Operand::Kind::Register))
      if (const Undefined* u = undefinedIn(o.reg)) found[lane] = *u;
  }
  for (uint32_t lane : Lanes(active_)) {
    select(lane);
    for (RegisterId reg : resultRegisters()) setUndefined(reg, {});
    if (!operand(to).is(Operand::Kind::Register)) continue;
    const bool isAbsent = absent >> lane & 1;
    AccessLog::Entry nothing{};
    nothing.bytes = 4;
    setUndefined(operand(to).reg, isAbsent ? Undefined{ones(32), originOf(nothing), true} : found[sources[lane]]);
  }
}

uint64_t Executor::hostAddress(const AccessLog::Entry& entry) const {
  return entry.address + (entry.space == AccessSpace::Shared ? window() : 0);
}

/// What the current lane's accesses from the `first` on have found and left in memory.
void Executor::followAccesses(size_t first) {
  const auto entries = accesses_.entries();
  for (size_t i = first; i < entries.size(); ++i) {
    const AccessLog::Entry& e = entries[i];
    const uint64_t at = hostAddress(e);
    if (e.bytes == 0) continue;  // an access to a surface that is dropped
    if (e.space == AccessSpace::Texture) {
      followTexels(e);
    } else if (instruction_->op == Op::Ld || instruction_->op == Op::Ldu || instruction_->op == Op::Suld) {
      followLoad(at, e);
    } else if (instruction_->op == Op::St || instruction_->op == Op::Sust) {
      followStore(at, e);
    } else if (e.kind == AccessKind::Atomic || e.kind == AccessKind::Reduction) {
      followAtomic(at, e);
    } else if (e.kind == AccessKind::Copy) {
      undefinedMemory()->copy(e.to + window(), at, e.copied);
      undefinedMemory()->define(e.to + window() + e.copied, e.bytes - e.copied);
    } else if (e.kind != AccessKind::Load && e.kind != AccessKind::MatrixLoad) {
      undefinedMemory()->define(at, e.bytes, e.bytes);
    }
  }
}

uint32_t Executor::originOf(const AccessLog::Entry& entry) const {
  const ptx::Function* function = thread_->top().plan->source;
  const auto known = std::ranges::find_if(
      block_.origins, [&](const UndefinedOrigin& o) { return o.function == function && o.line == instruction_->line; });
  if (known != block_.origins.end()) return static_cast<uint32_t>(known - block_.origins.begin());
  block_.origins.push_back({function, instruction_->line, entry.bytes, entry.space, entry.address});
  return static_cast<uint32_t>(block_.origins.size() - 1);
}

void Executor::followLoad(uint64_t at, const AccessLog::Entry& entry) {
  const UndefinedBytes found = undefinedMemory()->at(at, entry.bytes);
  if (!found.any && thread_->top().undefined.empty()) return;
  const uint32_t origin = found.any ? originOf(entry) : 0;
  const unsigned each = isa::bytes(type()), width = isa::bits(type());
  const Operand& d = operand(0);
  const bool isVector = d.is(Operand::Kind::Vector);
  for (unsigned i = 0; i * each < entry.bytes; ++i) {
    const Operand& target = isVector ? d.elements[i] : d;
    if (!target.is(Operand::Kind::Register)) continue;
    const uint64_t bytes = lowBits(found.any >> i * each, each);
    Slot bits{spread(bytes), spread(bytes >> 8)};
    if (isa::isSigned(type()) && width < 64 && bits.lo >> (width - 1) & 1) bits.lo |= ~lowBits(~uint64_t{0}, width);
    setUndefined(target.reg, {bits, origin, lowBits(found.computed >> i * each, each) != 0});
  }
}

/// What a filter makes of texels depends on all of their bits.
void Executor::followTexels(const AccessLog::Entry& entry) {
  if (!entry.address) return;
  for (const Operand& element : operand(0).elements)
    if (element.is(Operand::Kind::Register)) setUndefined(element.reg, {ones(128), originOf(entry), true});
}

/// A byte that is wholly made of moved undefined bits is as if nobody had written it. A computed one is news if it goes
/// to global memory; elsewhere it waits for its use.
void Executor::followStore(uint64_t at, const AccessLog::Entry& entry) {
  const unsigned each = isa::bytes(type());
  const Operand& b = operand(1);
  UndefinedBytes left;
  for (unsigned i = 0; i * each < entry.bytes; ++i) {
    const Operand& value = b.is(Operand::Kind::Vector) ? b.elements[i] : b;
    const Undefined* u = value.is(Operand::Kind::Register) ? undefinedIn(value.reg) : nullptr;
    if (!u) continue;
    uint64_t bytes = 0;
    for (unsigned k = 0; k < each; ++k) {
      const uint64_t byte = (k < 8 ? u->bits.lo >> 8 * k : u->bits.hi >> 8 * (k - 8)) & 0xFF;
      if (u->isComputed ? byte != 0 : byte == 0xFF) bytes |= uint64_t{1} << k;
    }
    if (!bytes) continue;
    if (u->isComputed && entry.space == AccessSpace::Global) {
      useUndefined(*u, UndefinedUse::Result);
      continue;
    }
    left.any |= bytes << i * each;
    if (u->isComputed) left.computed |= bytes << i * each;
  }
  undefinedMemory()->write(at, entry.bytes, left);
}

/// An exchange needs nothing in memory; what it gives back is as a load's.
void Executor::followAtomic(uint64_t at, const AccessLog::Entry& entry) {
  const UndefinedBytes found = undefinedMemory()->at(at, entry.bytes);
  if (!found.any) return;
  const bool isExchange = instruction_->mods.name(isa::ModifierKind::AtomOp) == "exch";
  const Undefined old{{spread(found.any), spread(found.any >> 8)}, originOf(entry), found.computed != 0};
  if (!isExchange)
    useUndefined(old, UndefinedUse::Atomic);
  else if (operand(0).is(Operand::Kind::Register))
    setUndefined(operand(0).reg, old);
  undefinedMemory()->define(at, entry.bytes, entry.bytes);
}

}  // namespace ordito::interp
