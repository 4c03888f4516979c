// PTX ISA, "Integer Arithmetic Instructions" and "Extended-Precision Integer Arithmetic Instructions".
//
// Values travel as 64-bit patterns; write() cuts them to the type's width, so that wrapping needs no code of its own.
#include "interp/executor.hpp"

namespace ordito::interp {

using isa::mod;
using isa::ModifierKind;
using isa::Type;

namespace {

__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

Type doubled(Type type) {
  switch (type) {
    case Type::u16: return Type::u32;
    case Type::s16: return Type::s32;
    case Type::u32: return Type::u64;
    default: return Type::s64;
  }
}

uint64_t clampToS32(Wide value) {
  return uint64_t(int64_t(std::max<Wide>(INT32_MIN, std::min<Wide>(INT32_MAX, value))));
}

}  // namespace

/// body(a, b, type) on both halves of packed types, on the whole otherwise. Signed operands arrive sign-extended.
template <class F>
void Executor::packedInteger(F body) {
  Type element = isa::element(type());
  unsigned width = isa::bits(element);
  auto value = [&](uint64_t bits) {
    return isa::isSigned(element) ? uint64_t(signExtend(lowBits(bits, width), width)) : lowBits(bits, width);
  };
  uint64_t a = read(1, type()), b = read(2, type());
  uint64_t result = body(value(a), value(b));
  if (isa::isPacked(type())) result = lowBits(result, 16) | lowBits(body(value(a >> 16), value(b >> 16)), 16) << 16;
  write(0, type(), result);
}

void Executor::Add() {
  if (has(ModifierKind::Saturate))
    return write(0, type(), clampToS32(Wide(readSigned(1, type())) + readSigned(2, type())));
  packedInteger([](uint64_t a, uint64_t b) { return a + b; });
}

void Executor::Sub() {
  if (has(ModifierKind::Saturate))
    return write(0, type(), clampToS32(Wide(readSigned(1, type())) - readSigned(2, type())));
  write(0, type(), read(1, type()) - read(2, type()));
}

/// a + b + carryIn in the type's width; sets CC.CF to the carry out.
uint64_t Executor::addCarry(uint64_t a, uint64_t b, bool carryIn) {
  UnsignedWide sum = UnsignedWide(a) + b + carryIn;
  thread_->carry = (sum >> isa::bits(type())) & 1;
  return uint64_t(sum);
}

/// add.cc, addc, sub.cc, subc. A subtraction adds the complement; CC.CF then holds the borrow, which is the inverted
/// carry.
void Executor::carryChain(bool usesCarry, bool subtracts) {
  bool before = thread_->carry;
  uint64_t a = read(1, type()), b = read(2, type());
  uint64_t result;
  if (subtracts) {
    result = addCarry(a, lowBits(~b, isa::bits(type())), !(usesCarry && before));
    thread_->carry = !thread_->carry;
  } else {
    result = addCarry(a, b, usesCarry && before);
  }
  if (!has(ModifierKind::Carry)) thread_->carry = before;
  write(0, type(), result);
}

void Executor::AddCc() { carryChain(false, false); }
void Executor::Addc() { carryChain(true, false); }
void Executor::SubCc() { carryChain(false, true); }
void Executor::Subc() { carryChain(true, true); }

/// The part of a × b that .lo, .hi or .wide asks for.
uint64_t Executor::product(uint64_t a, uint64_t b) const {
  unsigned width = isa::bits(type());
  Wide p = isa::isSigned(type()) ? Wide(signExtend(a, width)) * signExtend(b, width) : Wide(UnsignedWide(a) * b);
  return uint64_t(is(mod<ModifierKind::MulMode>("hi")) ? p >> width : p);
}

void Executor::multiplyAddCarry(bool usesCarry) {
  bool before = thread_->carry;
  uint64_t low = lowBits(product(read(1, type()), read(2, type())), isa::bits(type()));
  uint64_t result = addCarry(low, read(3, type()), usesCarry && before);
  if (!has(ModifierKind::Carry)) thread_->carry = before;
  write(0, type(), result);
}

void Executor::MadCc() { multiplyAddCarry(false); }
void Executor::Madc() { multiplyAddCarry(true); }

void Executor::Mul() {
  bool wide = is(mod<ModifierKind::MulMode>("wide"));
  write(0, wide ? doubled(type()) : type(), product(read(1, type()), read(2, type())));
}

void Executor::Mad() {
  Type result = is(mod<ModifierKind::MulMode>("wide")) ? doubled(type()) : type();
  uint64_t p = product(read(1, type()), read(2, type()));
  if (has(ModifierKind::Saturate)) return write(0, result, clampToS32(Wide(int64_t(p)) + readSigned(3, result)));
  write(0, result, p + read(3, result));
}

/// The 48-bit product of the sources' low 24 bits: .lo is its bits 31..0, .hi its bits 47..16.
void Executor::multiply24(bool adds) {
  bool isSigned = isa::isSigned(type());
  auto narrow = [&](size_t i) {
    return isSigned ? signExtend(lowBits(read(i, type()), 24), 24) : int64_t(lowBits(read(i, type()), 24));
  };
  int64_t p = narrow(1) * narrow(2);
  int64_t part = is(mod<ModifierKind::MulMode>("hi")) ? p >> 16 : p;
  if (!adds) return write(0, type(), uint64_t(part));
  if (has(ModifierKind::Saturate))
    return write(0, type(), clampToS32(Wide(signExtend(lowBits(part, 32), 32)) + readSigned(3, type())));
  write(0, type(), uint64_t(part) + read(3, type()));
}

void Executor::Mul24() { multiply24(false); }
void Executor::Mad24() { multiply24(true); }

void Executor::Sad() {
  uint64_t a = read(1, type()), b = read(2, type());
  bool less = isa::isSigned(type()) ? readSigned(1, type()) < readSigned(2, type()) : a < b;
  write(0, type(), read(3, type()) + (less ? b - a : a - b));
}

/// Division by zero is unspecified in the manual; GPUs return all ones.
void Executor::Div() {
  uint64_t a = read(1, type()), b = read(2, type());
  if (b == 0) return write(0, type(), ~uint64_t{0});
  if (!isa::isSigned(type())) return write(0, type(), a / b);
  write(0, type(), uint64_t(Wide(readSigned(1, type())) / readSigned(2, type())));
}

/// By zero, all ones as well.
void Executor::Rem() {
  uint64_t a = read(1, type()), b = read(2, type());
  if (b == 0) return write(0, type(), ~uint64_t{0});
  if (!isa::isSigned(type())) return write(0, type(), a % b);
  write(0, type(), uint64_t(Wide(readSigned(1, type())) % readSigned(2, type())));
}

void Executor::Abs() {
  uint64_t a = uint64_t(readSigned(1, type()));
  write(0, type(), int64_t(a) < 0 ? -a : a);
}

void Executor::Neg() { write(0, type(), -read(1, type())); }

void Executor::minMax(bool wantsMax) {
  bool isSigned = isa::isSigned(type()), relu = has(ModifierKind::Relu);
  packedInteger([=](uint64_t a, uint64_t b) {
    bool less = isSigned ? int64_t(a) < int64_t(b) : a < b;
    uint64_t chosen = less != wantsMax ? a : b;
    return relu && int64_t(chosen) < 0 ? 0 : chosen;
  });
}

void Executor::Min() { minMax(false); }
void Executor::Max() { minMax(true); }

void Executor::Popc() { write(0, Type::u32, std::popcount(read(1, type()))); }
void Executor::Clz() { write(0, Type::u32, std::countl_zero(read(1, type())) - (64 - isa::bits(type()))); }

/// The position of the highest bit that is not a sign bit, or all ones; .shiftamt counts from the top instead.
void Executor::Bfind() {
  unsigned width = isa::bits(type());
  uint64_t a = read(1, type());
  if (isa::isSigned(type()) && readSigned(1, type()) < 0) a = lowBits(~a, width);
  if (a == 0) return write(0, Type::u32, ~uint64_t{0});
  unsigned position = 63 - std::countl_zero(a);
  write(0, Type::u32, has(ModifierKind::ShiftAmount) ? width - 1 - position : position);
}

/// Find the n-th set bit, from `base` upwards (offset > 0) or downwards.
void Executor::Fns() {
  uint64_t mask = read(1, Type::b32), base = read(2, Type::b32);
  int64_t offset = readSigned(3, Type::s32);
  auto bit = [&](int64_t position) { return mask >> position & 1; };
  if (offset == INT32_MIN) return write(0, Type::b32, 0);  // has no absolute value; GPUs give 0
  if (offset == 0) return write(0, Type::b32, base < 32 && bit(int64_t(base)) ? base : ~uint64_t{0});
  int64_t count = std::abs(offset) - 1, step = offset > 0 ? 1 : -1;
  for (int64_t position = int64_t(base); position >= 0 && position < 32; position += step) {
    if (!bit(position)) continue;
    if (count-- == 0) return write(0, Type::b32, uint64_t(position));
  }
  write(0, Type::b32, ~uint64_t{0});
}

void Executor::Brev() {
  uint64_t a = read(1, type()), result = 0;
  unsigned width = isa::bits(type());
  for (unsigned i = 0; i < width; ++i) result |= (a >> i & 1) << (width - 1 - i);
  write(0, type(), result);
}

/// Where a bit field begins or how long it is: 8 bits of the operand for 32-bit types. For 64-bit types GPUs look at
/// the whole operand, which the manual does not say.
unsigned Executor::fieldNumber(size_t k) const {
  uint64_t n = read(k, Type::u32);
  return unsigned(isa::bits(type()) == 32 ? n & 0xFF : std::min<uint64_t>(n, 0xFF));
}

void Executor::Bfe() {
  unsigned width = isa::bits(type()), top = width - 1;
  uint64_t a = read(1, type());
  unsigned position = fieldNumber(2), length = fieldNumber(3);
  uint64_t sign = isa::isSigned(type()) && length != 0 ? a >> std::min(position + length - 1, top) & 1 : 0;
  uint64_t result = 0;
  for (unsigned i = 0; i < width; ++i)
    result |= (i < length && position + i <= top ? a >> (position + i) & 1 : sign) << i;
  write(0, type(), result);
}

void Executor::Bfi() {
  unsigned width = isa::bits(type());
  uint64_t a = read(1, type()), result = read(2, type());
  unsigned position = fieldNumber(3), length = fieldNumber(4);
  for (unsigned i = 0; i < length && position + i < width; ++i) {
    uint64_t bit = uint64_t{1} << (position + i);
    result = a >> i & 1 ? result | bit : result & ~bit;
  }
  write(0, type(), result);
}

/// A mask of b ones from bit a on; .wrap takes both modulo 32, .clamp cuts off what lies beyond bit 31.
void Executor::Bmsk() {
  uint64_t a = read(1, Type::u32), b = read(2, Type::u32);
  if (is(mod<ModifierKind::ShiftMode>("wrap"))) a &= 31, b &= 31;
  a = std::min<uint64_t>(a, 32), b = std::min<uint64_t>(b, 32);
  write(0, Type::b32, lowBits(~uint64_t{0}, unsigned(b)) << a);
}

/// Extends the low b bits of a.
void Executor::Szext() {
  uint64_t a = read(1, type()), b = read(2, Type::u32);
  if (is(mod<ModifierKind::ShiftMode>("wrap"))) b &= 31;
  if (b == 0) return write(0, type(), 0);
  if (b >= 32) return write(0, type(), a);
  uint64_t low = lowBits(a, unsigned(b));
  write(0, type(), isa::isSigned(type()) ? uint64_t(signExtend(low, unsigned(b))) : low);
}

/// Two of a's 16-bit numbers times two of b's bytes, the lower or the upper pair.
void Executor::Dp2a() {
  uint64_t a = read(1, Type::b32), b = read(2, Type::b32), sum = read(3, Type::b32);
  if (is(mod<ModifierKind::HalfOfDot>("hi"))) b >>= 16;
  auto part = [](uint64_t value, unsigned i, unsigned width, Type t) {
    uint64_t bits = lowBits(value >> width * i, width);
    return isa::isSigned(t) ? signExtend(bits, width) : int64_t(bits);
  };
  for (unsigned i = 0; i < 2; ++i) sum += uint64_t(part(a, i, 16, type(1)) * part(b, i, 8, type(2)));
  write(0, Type::b32, sum);
}

void Executor::Dp4a() {
  uint64_t a = read(1, Type::b32), b = read(2, Type::b32), sum = read(3, Type::b32);
  auto byteOf = [](uint64_t value, unsigned i, Type t) {
    uint64_t bits = value >> 8 * i & 0xFF;
    return isa::isSigned(t) ? signExtend(bits, 8) : int64_t(bits);
  };
  for (unsigned i = 0; i < 4; ++i) sum += uint64_t(byteOf(a, i, type(1)) * byteOf(b, i, type(2)));
  write(0, Type::b32, sum);
}

}  // namespace ordito::interp
