// PTX ISA, "Video Instructions": one or several small integers out of each operand, a wide result, optional saturation,
// and a second operation or a merge with operand c.
#include <algorithm>

#include "interp/executor.hpp"

namespace ordito::interp {

using isa::mod;
using isa::ModifierKind;
using isa::Type;
using ptx::Operand;

namespace {

__extension__ using Wide = __int128;

/// The numbers that a selector names, the lowest first; `standard` (in the same coding) where it is absent.
struct Selection {
  unsigned width = 32;  // bits of a part
  std::array<unsigned, 4> part{};
  unsigned count = 1;

  Selection(uint16_t selector, uint16_t standard) {
    const unsigned s = selector ? selector : standard;
    if (!s) return;
    width = s >> 15 ? 16 : 8;
    count = s >> 12 & 7;
    for (unsigned i = 0; i < count; ++i) part[i] = s >> 3 * i & 7;
  }
};

/// .h10, .h32, .b3210, .b7654 as selectors.
constexpr uint16_t selectorFor(unsigned count, unsigned first) {
  unsigned digits = 0;
  for (unsigned i = 0; i < count; ++i) digits |= (first + i) << 3 * i;
  return uint16_t((count == 2) << 15 | count << 12 | digits);
}

int64_t extended(uint64_t bits, unsigned width, Type t) {
  bits = lowBits(bits, width);
  return isa::isSigned(t) ? signExtend(bits, width) : int64_t(bits);
}

Wide clampTo(Wide value, unsigned width, bool isSigned) {
  const Wide one = 1;
  const Wide high = isSigned ? (one << (width - 1)) - 1 : (one << width) - 1,
             low = isSigned ? -(one << (width - 1)) : 0;
  return std::clamp(value, low, high);
}

}  // namespace

/// A source of a scalar video instruction.
int64_t Executor::videoSource(size_t k, Type t) const {
  const Selection s(operand(k).selector, 0);
  return extended(read(k, Type::u32) >> s.part[0] * s.width, s.width, t);
}

/// .sat, then the second operation with c or the merge into it.
void Executor::finishVideo(Wide result, bool isSigned) {
  const Operand& d = operand(0);
  const Selection into(d.selector, 0);
  if (is(mod<ModifierKind::Saturate>("sat"))) result = clampTo(result, into.width, isSigned);
  uint64_t value = lowBits(uint64_t(result), 32);
  const uint64_t c = instruction_->operands.size() > 3 && present(3) ? read(3, Type::u32) : 0;
  if (has(ModifierKind::SecondOp)) {
    const bool less = isSigned ? signExtend(value, 32) < signExtend(c, 32) : value < c;
    if (is(mod<ModifierKind::SecondOp>("add"))) value += c;
    if (is(mod<ModifierKind::SecondOp>("min"))) value = less ? value : c;
    if (is(mod<ModifierKind::SecondOp>("max"))) value = less ? c : value;
  } else if (d.selector) {
    const unsigned at = into.part[0] * into.width;
    const uint64_t mask = lowBits(~uint64_t{0}, into.width) << at;
    value = (c & ~mask) | (value << at & mask);
  }
  Operand whole = d;
  whole.selector = 0;
  write(whole, Type::u32, {lowBits(value, 32), 0});
}

template <class F>
void Executor::video(F body) {
  finishVideo(body(Wide(videoSource(1, type(1))), Wide(videoSource(2, type(2)))), isa::isSigned(type(0)));
}

void Executor::Vadd() {
  video([](Wide a, Wide b) { return a + b; });
}
void Executor::VaddThen() { Vadd(); }
void Executor::Vsub() {
  video([](Wide a, Wide b) { return a - b; });
}
void Executor::VsubThen() { Vsub(); }
void Executor::Vabsdiff() {
  video([](Wide a, Wide b) { return a < b ? b - a : a - b; });
}
void Executor::VabsdiffThen() { Vabsdiff(); }
void Executor::Vmin() {
  video([](Wide a, Wide b) { return std::min(a, b); });
}
void Executor::VminThen() { Vmin(); }
void Executor::Vmax() {
  video([](Wide a, Wide b) { return std::max(a, b); });
}
void Executor::VmaxThen() { Vmax(); }

void Executor::videoShift(bool left) {
  video([&](Wide a, Wide b) {
    const bool wraps = is(mod<ModifierKind::ShiftMode>("wrap"));
    const unsigned amount = wraps ? unsigned(b) & 31 : unsigned(std::min<Wide>(b, 32));
    return left ? a * (Wide{1} << amount) : a >> amount;
  });
}

void Executor::Vshl() { videoShift(true); }
void Executor::VshlThen() { videoShift(true); }
void Executor::Vshr() { videoShift(false); }
void Executor::VshrThen() { videoShift(false); }

/// Comparisons give 0 or 1 as an unsigned number.
bool Executor::videoCompare(int64_t a, int64_t b) const {
  switch (instruction_->mods[ModifierKind::Compare]) {
    case mod<ModifierKind::Compare>("eq").value: return a == b;
    case mod<ModifierKind::Compare>("ne").value: return a != b;
    case mod<ModifierKind::Compare>("lt").value: return a < b;
    case mod<ModifierKind::Compare>("le").value: return a <= b;
    case mod<ModifierKind::Compare>("gt").value: return a > b;
    default: return a >= b;
  }
}

void Executor::Vset() { finishVideo(videoCompare(videoSource(1, type(1)), videoSource(2, type(2))), false); }
void Executor::VsetThen() { Vset(); }

/// The manual's pseudo-code: a negated product or addend is its complement plus one, and .po adds one.
void Executor::Vmad() {
  const bool negatesProduct = operand(1).negated != operand(2).negated, negatesC = operand(3).negated;
  const bool isSigned = isa::isSigned(type(1)) || isa::isSigned(type(2)) || negatesProduct || negatesC;
  auto source = [&](size_t k, Type t) {
    Operand plain = operand(k);
    plain.negated = false;
    const Selection s(plain.selector, 0);
    return Wide(extended(read(plain, Type::u32).lo >> s.part[0] * s.width, s.width, t));
  };
  Wide product = source(1, type(1)) * source(2, type(2)), c = source(3, isSigned ? Type::s32 : Type::u32);
  if (negatesProduct) product = -product;
  if (negatesC) c = -c;
  Wide result = product + c + (has(ModifierKind::PlusOne) ? 1 : 0);
  if (is(mod<ModifierKind::VideoShift>("shr7"))) result >>= 7;
  if (is(mod<ModifierKind::VideoShift>("shr15"))) result >>= 15;
  if (has(ModifierKind::Saturate)) result = clampTo(result, 32, isSigned);
  write(0, Type::u32, lowBits(uint64_t(result), 32));
}

/// The SIMD forms: `parts` numbers out of a and b side by side; results go to the parts that d's mask names, or their
/// sum is added to c.
template <class F>
void Executor::videoParts(unsigned parts, F body) {
  const unsigned width = 32 / parts;
  const uint64_t both = read(1, Type::u32) | read(2, Type::u32) << 32, c = read(3, Type::u32);
  const Selection a(operand(1).selector, selectorFor(parts, 0)), b(operand(2).selector, selectorFor(parts, parts));
  const Selection into(operand(0).selector, selectorFor(parts, 0));
  const bool adds = has(ModifierKind::AddInVideo);
  uint64_t result = c;
  for (unsigned k = 0; k < into.count; ++k) {
    const unsigned i = into.part[k], at = i * width;
    Wide r =
        body(extended(both >> a.part[i] * width, width, type(1)), extended(both >> b.part[i] * width, width, type(2)));
    if (has(ModifierKind::Saturate)) r = clampTo(r, width, isa::isSigned(type(0)));
    const uint64_t mask = lowBits(~uint64_t{0}, width) << at;
    result = adds ? result + uint64_t(r) : (result & ~mask) | (uint64_t(r) << at & mask);
  }
  Operand whole = operand(0);
  whole.selector = 0;
  write(whole, Type::u32, {lowBits(result, 32), 0});
}

namespace {

Wide sum(int64_t a, int64_t b) { return a + b; }
Wide difference(int64_t a, int64_t b) { return a - b; }
/// Rounded up unless negative.
Wide average(int64_t a, int64_t b) { return (a + b + (a + b >= 0)) >> 1; }
Wide distance(int64_t a, int64_t b) { return a < b ? b - a : a - b; }
Wide smaller(int64_t a, int64_t b) { return std::min(a, b); }
Wide larger(int64_t a, int64_t b) { return std::max(a, b); }

}  // namespace

void Executor::Vadd2() { videoParts(2, sum); }
void Executor::Vadd4() { videoParts(4, sum); }
void Executor::Vsub2() { videoParts(2, difference); }
void Executor::Vsub4() { videoParts(4, difference); }
void Executor::Vavrg2() { videoParts(2, average); }
void Executor::Vavrg4() { videoParts(4, average); }
void Executor::Vabsdiff2() { videoParts(2, distance); }
void Executor::Vabsdiff4() { videoParts(4, distance); }
void Executor::Vmin2() { videoParts(2, smaller); }
void Executor::Vmin4() { videoParts(4, smaller); }
void Executor::Vmax2() { videoParts(2, larger); }
void Executor::Vmax4() { videoParts(4, larger); }
void Executor::Vset2() {
  videoParts(2, [&](int64_t a, int64_t b) { return Wide(videoCompare(a, b)); });
}
void Executor::Vset4() {
  videoParts(4, [&](int64_t a, int64_t b) { return Wide(videoCompare(a, b)); });
}

}  // namespace ordito::interp
