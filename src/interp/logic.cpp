// PTX ISA, "Logic and Shift Instructions", and prmt, which the manual files under data movement but which is a logic
// operation on bytes.
#include "interp/executor.hpp"

namespace ordito::interp {

using isa::mod;
using isa::ModifierKind;
using isa::Type;

void Executor::And() { write(0, type(), read(1, type()) & read(2, type())); }
void Executor::Or() { write(0, type(), read(1, type()) | read(2, type())); }
void Executor::Xor() { write(0, type(), read(1, type()) ^ read(2, type())); }
void Executor::Not() { write(0, type(), ~read(1, type())); }
void Executor::Cnot() { write(0, type(), read(1, type()) == 0); }

namespace {

/// For each bit position, the bit of the table that the three input bits select.
uint64_t lookup(uint64_t a, uint64_t b, uint64_t c, uint64_t table) {
  uint64_t result = 0;
  for (unsigned i = 0; i < 32; ++i) {
    unsigned index = unsigned((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1));
    result |= (table >> index & 1) << i;
  }
  return result;
}

}  // namespace

void Executor::Lop3() {
  write(0, Type::b32, lookup(read(1, Type::b32), read(2, Type::b32), read(3, Type::b32), read(4, Type::b32)));
}

/// lop3 with a predicate: p = (d != 0) BoolOp r.
void Executor::Lop3Bool() {
  uint64_t result = lookup(read(2, Type::b32), read(3, Type::b32), read(4, Type::b32), read(5, Type::b32));
  bool r = readPredicate(6);
  write(0, Type::b32, result);
  if (present(1)) writePredicate(1, combine(result != 0, r));
}

/// Shifts the 64-bit value b:a.
void Executor::Shf() {
  uint64_t value = read(2, Type::b32) << 32 | read(1, Type::b32);
  uint64_t amount = read(3, Type::b32);
  amount = is(mod<ModifierKind::ShiftMode>("wrap")) ? amount & 31 : std::min<uint64_t>(amount, 32);
  write(0, Type::b32, is(mod<ModifierKind::ShiftDirection>("l")) ? value << amount >> 32 : value >> amount);
}

/// Amounts beyond the width act as the width.
void Executor::Shl() {
  uint64_t amount = read(2, Type::u32);
  write(0, type(), amount >= isa::bits(type()) ? 0 : read(1, type()) << amount);
}

void Executor::Shr() {
  uint64_t amount = read(2, Type::u32);
  unsigned width = isa::bits(type());
  if (isa::isSigned(type()))
    return write(0, type(), uint64_t(readSigned(1, type()) >> std::min<uint64_t>(amount, width - 1)));
  write(0, type(), amount >= width ? 0 : read(1, type()) >> amount);
}

namespace {

/// The selectors, lowest byte first, that prmt's special modes stand for, by the low two bits of c.
uint32_t selectorsOf(uint8_t mode, unsigned c) {
  static constexpr uint32_t kForward4[] = {0x3210, 0x4321, 0x5432, 0x6543};
  static constexpr uint32_t kBackward4[] = {0x5670, 0x6701, 0x7012, 0x0123};
  static constexpr uint32_t kReplicate8[] = {0x0000, 0x1111, 0x2222, 0x3333};
  static constexpr uint32_t kClampLeft[] = {0x3210, 0x3211, 0x3222, 0x3333};
  static constexpr uint32_t kClampRight[] = {0x0000, 0x1110, 0x2210, 0x3210};
  static constexpr uint32_t kReplicate16[] = {0x1010, 0x3232, 0x1010, 0x3232};
  switch (mode) {
    case mod<ModifierKind::PrmtMode>("f4e").value: return kForward4[c];
    case mod<ModifierKind::PrmtMode>("b4e").value: return kBackward4[c];
    case mod<ModifierKind::PrmtMode>("rc8").value: return kReplicate8[c];
    case mod<ModifierKind::PrmtMode>("ecl").value: return kClampLeft[c];
    case mod<ModifierKind::PrmtMode>("ecr").value: return kClampRight[c];
    default: return kReplicate16[c];
  }
}

}  // namespace

/// Picks four of the eight bytes of b:a. Bit 3 of a selector asks for eight copies of the byte's sign instead (general
/// mode only).
void Executor::Prmt() {
  uint64_t bytes = read(2, Type::b32) << 32 | read(1, Type::b32);
  uint64_t c = read(3, Type::b32);
  uint8_t mode = instruction_->mods[ModifierKind::PrmtMode];
  uint64_t selectors = mode ? selectorsOf(mode, unsigned(c & 3)) : c;
  uint64_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    uint64_t selector = selectors >> 4 * i & 15;
    uint64_t byte = bytes >> 8 * (selector & 7) & 0xFF;
    if (selector & 8) byte = byte & 0x80 ? 0xFF : 0;
    result |= byte << 8 * i;
  }
  write(0, Type::b32, result);
}

}  // namespace ordito::interp
