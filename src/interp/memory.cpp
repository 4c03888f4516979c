// Where an address leads and what a GPU refuses about it; loads, stores and atomic updates of single lanes.
//
// Global memory is shared with other blocks on other host threads, so each element moves with one host instruction and
// atomics are the host's.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "interp/executor.hpp"
#include "machine/wide_atomics.hpp"
#include "ptx/reads.hpp"

namespace ordito::interp {

using isa::mod;
using isa::ModifierKind;
using isa::Type;
using machine::AccessKind;
using machine::FaultKind;
using ptx::Operand;
using ptx::Space;

/// In a device function .param means its own parameters, whose addresses are local (PTX ISA, "Device Function
/// Parameters").
bool Executor::isParameterAddress(size_t operandIndex) const {
  return thread_->stack.size() > 1 && operand(operandIndex).reg != ptx::kNoRegister &&
         instruction_->mods.name(ModifierKind::Space) != "param::entry";
}

bool Executor::inShared(uint64_t address) const {
  return address - reinterpret_cast<uint64_t>(block_.frame.shared) < block_.frame.totalSharedBytes;
}

bool Executor::inParameters(uint64_t address) const {
  const ptx::Function& kernel = block_.program.module->functions[block_.program.kernel];
  return address - reinterpret_cast<uint64_t>(block_.frame.parameters) < kernel.parameterBytes;
}

/// All variables of the thread's activations lie in local memory, parameters of device functions included.
bool Executor::inLocalMemory(uint64_t address) const {
  if (thread_->allocated && address - reinterpret_cast<uint64_t>(thread_->allocated.get()) < kAllocaBytes) return true;
  return std::any_of(thread_->stack.begin(), thread_->stack.end(), [&](const Activation& activation) {
    return address - reinterpret_cast<uint64_t>(activation.memory.get()) < activation.plan->memoryBytes;
  });
}

bool Executor::inConstant(uint64_t address) const {
  const auto& variables = block_.program.module->variables;
  for (size_t i = 0; i < variables.size(); ++i)
    if (variables[i].space == Space::Const &&
        address - reinterpret_cast<uint64_t>(block_.frame.globals[i]) < variables[i].size)
      return true;
  return false;
}

Space Executor::genericSpace(uint64_t address) const {
  if (inShared(address)) return Space::Shared;
  if (inLocalMemory(address)) return Space::Local;
  return Space::Global;
}

machine::AccessSpace accessSpace(Space space) {
  using machine::AccessSpace;
  switch (space) {
    case Space::Global: return AccessSpace::Global;
    case Space::Shared: return AccessSpace::Shared;
    case Space::Local: return AccessSpace::Local;
    case Space::Const: return AccessSpace::Constant;
    case Space::Param: return AccessSpace::Parameter;
    default: return AccessSpace::Generic;
  }
}

/// What an atomic operation is called in events.
AccessKind Executor::atomicKind() const {
  return ptx::isReduction(*instruction_, thread_->top().plan->isRead) ? AccessKind::Reduction : AccessKind::Atomic;
}

/// The current thread's part in the instruction's access.
void Executor::touch(machine::AccessKind kind, const Place& place, unsigned bytes) {
  accesses_.add(kind, accessSpace(place.space), thread_->lane, place.address, bytes);
}

void Executor::touchAtomically(const Place& place, unsigned bytes) { touch(atomicKind(), place, bytes); }

Executor::Place Executor::locate(size_t operandIndex, unsigned bytes, Intent intent) {
  const Space space = isa::spaceOf(instruction_->mods);
  const bool isLocal = space == Space::Param && isParameterAddress(operandIndex);
  return locateIn(isLocal ? Space::Local : space, operandIndex, bytes, intent);
}

/// `bytes` of shared memory from `address` on must exist.
void Executor::checkShared(uint64_t address, unsigned bytes) const {
  if (address > block_.frame.totalSharedBytes || bytes > block_.frame.totalSharedBytes - address)
    fault(FaultKind::IllegalAddress, address,
          fmt::format("{} of {} bytes at offset {:#x} of shared memory, of which the block has {} bytes",
                      instruction_->info().form.mnemonic, bytes, address, block_.frame.totalSharedBytes));
}

Executor::Place Executor::locateIn(Space space, size_t operandIndex, unsigned bytes, Intent intent) {
  // Should the host refuse the address, the fault says where it happened.
  machine::faultHint() = {instruction_->line, true, {thread_->tid[0], thread_->tid[1], thread_->tid[2]}};
  const Operand& o = operand(operandIndex);
  uint64_t address = uint64_t(o.offset);
  if (o.reg != ptx::kNoRegister) {
    address += thread_->top().registers[o.reg].lo;
    if (isa::bits(thread_->top().plan->source->registers[o.reg].type) == 32 && space == Space::Shared)
      address = uint32_t(address);
  } else if (o.symbol.kind != ptx::Symbol::Kind::None) {
    address = symbolAddress(o);
  }
  askListeners(space, address, intent.bytes == kAll ? bytes : intent.bytes, intent.kind);
  if (intent.checksAlignment && space != Space::Param && address % bytes != 0)
    fault(FaultKind::MisalignedAddress, address,
          fmt::format("{} of {} bytes at the misaligned address {:#x}", instruction_->info().form.mnemonic, bytes,
                      address));
  if (space == Space::Shared) {
    checkShared(address, bytes);
    return {Space::Shared, address, block_.frame.shared + address};
  }
  auto* pointer = reinterpret_cast<std::byte*>(address);
  if (space == Space::Generic) space = genericSpace(address);
  if (space == Space::Shared) address -= reinterpret_cast<uint64_t>(block_.frame.shared);
  return {space, address, pointer};
}

namespace {

template <class T>
T atomicLoad(const std::byte* pointer) {
  return __atomic_load_n(reinterpret_cast<const T*>(pointer), __ATOMIC_SEQ_CST);
}

template <class T>
void atomicStore(std::byte* pointer, uint64_t value) {
  __atomic_store_n(reinterpret_cast<T*>(pointer), T(value), __ATOMIC_SEQ_CST);
}

/// Could these bytes be written? If not, the host says so. (An atomic addition of 0 would become a load.)
void tryToWrite(std::byte* pointer, unsigned bytes) {
  auto* byte = reinterpret_cast<uint8_t*>(pointer);
  for (unsigned k = 0; k < bytes; ++k) {
    uint8_t now = 0;
    __atomic_compare_exchange_n(byte + k, &now, uint8_t{0}, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  }
}

}  // namespace

/// Parameters may lie at any address, so they are copied; everything else has been found aligned.
Slot Executor::load(const Place& place, unsigned bytes) const {
  Slot value;
  if (place.space == Space::Param) {
    std::memcpy(&value, place.pointer, bytes);
    return value;
  }
  switch (bytes) {
    case 1: return {atomicLoad<uint8_t>(place.pointer), 0};
    case 2: return {atomicLoad<uint16_t>(place.pointer), 0};
    case 4: return {atomicLoad<uint32_t>(place.pointer), 0};
    case 8: return {atomicLoad<uint64_t>(place.pointer), 0};
    default: return {atomicLoad<uint64_t>(place.pointer), atomicLoad<uint64_t>(place.pointer + 8)};
  }
}

void Executor::store(const Place& place, unsigned bytes, Slot value) const {
  if (place.space == Space::Param) {
    std::memcpy(place.pointer, &value, bytes);
    return;
  }
  if (!mayChange(place)) return tryToWrite(place.pointer, bytes);
  block_.hasChanged |= place.space != Space::Local;
  switch (bytes) {
    case 1: return atomicStore<uint8_t>(place.pointer, value.lo);
    case 2: return atomicStore<uint16_t>(place.pointer, value.lo);
    case 4: return atomicStore<uint32_t>(place.pointer, value.lo);
    case 8: return atomicStore<uint64_t>(place.pointer, value.lo);
    default: atomicStore<uint64_t>(place.pointer, value.lo), atomicStore<uint64_t>(place.pointer + 8, value.hi);
  }
}

void Executor::loadInstruction() {
  const Operand& d = operand(0);
  unsigned each = isa::bytes(type());
  unsigned count = d.is(Operand::Kind::Vector) ? unsigned(d.elements.size()) : 1;
  Place place = locate(1, each * count, {AccessKind::Load});
  touch(machine::AccessKind::Load, place, each * count);
  std::array<Slot, 8> values;  // all are read before one is written: the address register may be a destination
  for (unsigned i = 0; i < count; ++i) values[i] = load({place.space, place.address, place.pointer + i * each}, each);
  for (unsigned i = 0; i < count; ++i)
    write(count == 1 && !d.is(Operand::Kind::Vector) ? d : d.elements[i], type(), values[i]);
}

void Executor::storeInstruction() {
  const Operand& b = operand(1);
  unsigned each = isa::bytes(type());
  unsigned count = b.is(Operand::Kind::Vector) ? unsigned(b.elements.size()) : 1;
  Place place = locate(0, each * count, {AccessKind::Store});
  touch(machine::AccessKind::Store, place, each * count);
  for (unsigned i = 0; i < count; ++i)
    store({place.space, place.address, place.pointer + i * each}, each,
          read(b.is(Operand::Kind::Vector) ? b.elements[i] : b, type()));
}

/// min and max of f16 and bf16, element by element.
uint64_t Executor::atomicExtreme(uint64_t old, uint64_t b, bool wantsMax) const {
  const Type element = isa::element(type());
  if (!isa::isPacked(type())) return minMaxElement(element, old, b, wantsMax);
  return minMaxElement(element, old & 0xFFFF, b & 0xFFFF, wantsMax) |
         minMaxElement(element, old >> 16, b >> 16, wantsMax) << 16;
}

/// What an atomic operation other than cas leaves in memory.
uint64_t Executor::atomicResult(uint64_t old, uint64_t b, Space space) const {
  Type t = type();
  unsigned width = isa::bits(t);
  // Surface reductions have their own vocabulary with the same words.
  const std::string_view surface = instruction_->mods.name(ModifierKind::SurfaceOp);
  switch (surface.empty() ? instruction_->mods[ModifierKind::AtomOp]
                          : isa::modifierValue(ModifierKind::AtomOp, surface)) {
    case mod<ModifierKind::AtomOp>("and").value: return old & b;
    case mod<ModifierKind::AtomOp>("or").value: return old | b;
    case mod<ModifierKind::AtomOp>("xor").value: return old ^ b;
    case mod<ModifierKind::AtomOp>("exch").value: return b;
    case mod<ModifierKind::AtomOp>("inc").value: return old >= b ? 0 : old + 1;
    case mod<ModifierKind::AtomOp>("dec").value: return old == 0 || old > b ? b : old - 1;
    case mod<ModifierKind::AtomOp>("min").value:
      if (isa::isFloat(isa::element(t))) return atomicExtreme(old, b, false);
      return isa::isSigned(t) ? (signExtend(old, width) < signExtend(b, width) ? old : b) : std::min(old, b);
    case mod<ModifierKind::AtomOp>("max").value:
      if (isa::isFloat(isa::element(t))) return atomicExtreme(old, b, true);
      return isa::isSigned(t) ? (signExtend(old, width) > signExtend(b, width) ? old : b) : std::max(old, b);
    default: break;
  }
  if (!isa::isFloat(t)) return old + b;
  Type element = isa::element(t);
  if (isa::isPacked(t))
    return compute(FloatOp::Add, element, old & 0xFFFF, b & 0xFFFF, 0, Rounding::NearestEven) |
           compute(FloatOp::Add, element, old >> 16, b >> 16, 0, Rounding::NearestEven) << 16;
  // On global memory the GPU's atomic f32 adder flushes subnormal numbers; on shared memory it does not.
  Format f = formatOf(element);
  bool flushes = t == Type::f32 && space != Space::Shared;
  if (flushes) old = flush(old, f), b = flush(b, f);
  uint64_t sum = compute(FloatOp::Add, element, old, b, 0, Rounding::NearestEven);
  return flushes ? flush(sum, f) : sum;
}

namespace {

/// Replaces the value at `pointer` by update(old) in one atomic step; returns the old one.
template <class T, class F>
uint64_t exchangeLoop(std::byte* pointer, F update) {
  T* target = reinterpret_cast<T*>(pointer);
  T old = __atomic_load_n(target, __ATOMIC_SEQ_CST);
  while (!__atomic_compare_exchange_n(target, &old, T(update(old)), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
  }
  return old;
}

}  // namespace

/// exch and cas of 128 bits.
void Executor::atomic128(bool compares) {
  Place place = locate(1, 16, {atomicKind()});
  touchAtomically(place, 16);
  const Slot wanted = read(operand(2), Type::b128), value = compares ? read(operand(3), Type::b128) : wanted;
  if (!mayChange(place)) return tryToWrite(place.pointer, 16), write(operand(0), Type::b128, load(place, 16));
  const machine::Word128 old =
      compares ? machine::compareExchange(place.pointer, {wanted.lo, wanted.hi}, {value.lo, value.hi})
               : machine::exchange(place.pointer, {value.lo, value.hi});
  block_.hasChanged |= !compares || (old.lo == wanted.lo && old.hi == wanted.hi);
  write(operand(0), Type::b128, {old.lo, old.hi});
}

/// Each element is an atomic operation of its own.
void Executor::vectorAtomic(bool wantsResult) {
  const size_t address = wantsResult ? 1 : 0;
  const std::vector<Operand>& elements = operand(address + 1).elements;
  const unsigned each = isa::bytes(type());
  Place place = locate(address, each * unsigned(elements.size()), {atomicKind()});
  touchAtomically(place, each * unsigned(elements.size()));
  std::array<uint64_t, 8> values{};
  for (size_t k = 0; k < elements.size(); ++k) values[k] = read(elements[k], type()).lo;
  for (size_t k = 0; k < elements.size(); ++k)
    values[k] = atomicUpdate({place.space, place.address + k * each, place.pointer + k * each}, each, values[k], 0);
  for (size_t k = 0; k < elements.size() && wantsResult; ++k) write(operand(0).elements[k], type(), {values[k], 0});
}

uint64_t Executor::atomicUpdate(const Place& place, unsigned bytes, uint64_t b, uint64_t compare) {
  auto update = [&](uint64_t old) {
    if (!mayChange(place)) return old;
    const bool isCas = instruction_->op == isa::Op::AtomCas;
    const uint64_t made = isCas ? (old == compare ? b : old) : atomicResult(old, b, place.space);
    block_.hasChanged |= made != old;
    return made;
  };
  switch (bytes) {
    case 2: return exchangeLoop<uint16_t>(place.pointer, update);
    case 4: return exchangeLoop<uint32_t>(place.pointer, update);
    default: return exchangeLoop<uint64_t>(place.pointer, update);
  }
}

void Executor::atomicInstruction(bool wantsResult) {
  size_t address = wantsResult ? 1 : 0;
  unsigned bytes = isa::bytes(type());
  Place place = locate(address, bytes, {atomicKind()});
  touchAtomically(place, bytes);
  bool isCas = instruction_->op == isa::Op::AtomCas;
  uint64_t compare = isCas ? read(address + 1, type()) : 0;
  uint64_t b = read(address + (isCas ? 2 : 1), type());
  uint64_t old = atomicUpdate(place, bytes, b, compare);
  if (wantsResult) write(0, type(), old);
}

}  // namespace ordito::interp
