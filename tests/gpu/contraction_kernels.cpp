#include "contraction_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "experiment.hpp"

namespace ordito::gpu {
namespace {

using isa::Type;

constexpr std::array kTypes = {Type::f32, Type::f32, Type::f64, Type::f16, Type::f16x2, Type::bf16, Type::bf16x2};
constexpr unsigned kThreads = 64, kInputs = 6, kParts = 4, kOutputs = 4 + kParts;

/// splitmix64 (Steele, Lea, Flood 2014).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
  }
  unsigned below(unsigned n) { return static_cast<unsigned>(next() >> 33) % n; }
  bool oneIn(unsigned n) { return below(n) == 0; }

 private:
  uint64_t state_;
};

struct Format {
  unsigned bits, mantissa;
  uint64_t bias() const { return (uint64_t{1} << (bits - mantissa - 2)) - 1; }
  uint64_t infinity() const { return (2 * bias() + 1) << mantissa; }
};

Format formatOf(Type t) {
  switch (isa::element(t)) {
    case Type::f16: return {16, 10};
    case Type::bf16: return {16, 7};
    case Type::f64: return {64, 52};
    default: return {32, 23};
  }
}

/// Mostly a number between 1/8 and 16 of either sign.
uint64_t number(Random& random, Format f) {
  const uint64_t sign = uint64_t{random.below(2)} << (f.bits - 1), mask = (uint64_t{1} << f.mantissa) - 1;
  const uint64_t digits = random.next() & mask;
  const std::array special = {uint64_t{0}, f.infinity(), f.infinity() | mask / 2 + 1, digits, f.infinity() - 1};
  if (random.oneIn(24)) return sign | special[random.below(special.size())];
  return sign | (f.bias() - 3 + random.below(7)) << f.mantissa | digits;
}

std::vector<uint64_t> inputs(Random& random, Type type) {
  std::vector<uint64_t> values;
  const Format f = formatOf(type);
  for (unsigned i = 0; i < kThreads * kInputs; ++i) {
    uint64_t v = number(random, f);
    if (isa::isPacked(type)) v |= number(random, f) << 16;
    values.push_back(v);
  }
  return values;
}

class Writer {
 public:
  Writer(Random& random, Type type) : random_(random), type_(type) {
    const bool canFlush = type == Type::f32 || isa::element(type) == Type::f16;
    flushes_ = canFlush && random_.oneIn(4);
    isMixed_ = canFlush && random_.oneIn(8);
    for (unsigned k = 0; k < kInputs; ++k) values_.push_back(fmt::format("%i{}", k));
  }

  std::string run() {
    const unsigned parts = 1 + random_.below(kParts);
    for (unsigned p = 0; p < parts; ++p) part();
    std::string text = fmt::format(
        ".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out) {{\n"
        "\t.reg .{0} %i<{1}>, %v<{2}>;\n\t.reg .u64 %in, %out;\n\t.reg .u32 %t, %n, %x;\n\t.reg .pred %p;\n"
        "\tld.param.u64 %in, [in];\n\tld.param.u64 %out, [out];\n\tmov.u32 %t, %tid.x;\n"
        "\tmad.wide.u32 %in, %t, {3}, %in;\n\tmad.wide.u32 %out, %t, {4}, %out;\n",
        plain(), kInputs, count_ + 1, kInputs * bytes(), kOutputs * bytes());
    for (unsigned k = 0; k < kInputs; ++k)
      text += fmt::format("\tld.global.{} %i{}, [%in+{}];\n", plain(), k, k * bytes());
    text += code_;
    for (unsigned k = 0; k < kOutputs - kParts; ++k)
      text += fmt::format("\tst.global.{} [%out+{}], {};\n", plain(), k * bytes(), last(k));
    return text + "\tret;\n}\n";
  }

 private:
  unsigned bytes() const { return isa::bytes(type_); }
  std::string_view plain() const { return bytes() == 2 ? "b16" : isa::isPacked(type_) ? "b32" : isa::name(type_); }

  const std::string& last(unsigned k) const { return values_[values_.size() - 1 - k]; }
  const std::string& operand() {
    const size_t near = random_.oneIn(3) ? values_.size() : std::min<size_t>(values_.size(), 6);
    return values_[values_.size() - 1 - random_.below(static_cast<unsigned>(near))];
  }

  void line(const std::string& text) { code_ += "\t" + text + ";\n"; }

  /// A register for a result: a new one, or one that is written again.
  std::string result() {
    const bool isNew = isInLoop_ || values_.size() < kInputs + 3 || !random_.oneIn(4);
    if (isNew) return values_.emplace_back(fmt::format("%v{}", count_++));
    const auto old = values_.begin() + random_.below(static_cast<unsigned>(values_.size()));
    std::string name = *old;
    values_.erase(old);
    return values_.emplace_back(std::move(name));
  }

  std::string modifiers() {
    std::string text = random_.oneIn(10) ? ".rn" : "";
    if (flushes_ != (isMixed_ && random_.oneIn(3))) text += ".ftz";
    if (type_ != Type::f64 && isa::element(type_) != Type::bf16 && random_.oneIn(24)) text += ".sat";
    return text;
  }

  void arithmetic(const char* name) {
    const std::string a = operand(), b = operand(), mods = modifiers();
    line(fmt::format("{}{}.{} {}, {}, {}", name, mods, isa::name(type_), result(), a, b));
  }

  void step() {
    const unsigned what = random_.below(24);
    if (what < 11) return arithmetic("mul");
    if (what < 16) return arithmetic("add");
    if (what < 20) return arithmetic("sub");
    const std::string a = operand(), b = operand(), c = operand();
    if (what == 20) return line(fmt::format("mov.{} {}, {}", plain(), result(), a));
    if (what == 21) return line(fmt::format("neg.{} {}, {}", isa::name(type_), result(), a));
    if (what == 22) return line(fmt::format("fma.rn.{} {}, {}, {}, {}", isa::name(type_), result(), a, b, c));
    constant(a, b);
  }

  void constant(const std::string& a, const std::string& b) {
    constexpr double kNumbers[] = {1, -1, 1.5, 3, -0.375};
    if (bytes() < 4 || isa::isPacked(type_)) return line(fmt::format("abs.{} {}, {}", isa::name(type_), result(), a));
    const double number = kNumbers[random_.below(std::size(kNumbers))];
    const bool isProduct = random_.oneIn(2);
    const auto text = bytes() == 8 ? fmt::format("0d{:016X}", std::bit_cast<uint64_t>(number))
                                   : fmt::format("0f{:08X}", std::bit_cast<uint32_t>(static_cast<float>(number)));
    line(fmt::format("{}.{} {}, {}, {}", isProduct ? "mul" : "add", isa::name(type_), result(), isProduct ? a : b,
                     text));
  }

  void steps() {
    for (unsigned n = 2 + random_.below(8); n > 0; --n) step();
  }

  void part() {
    switch (random_.below(8)) {
      case 0: return branch();
      case 1: return loop();
      case 2: return guarded();
      case 3: steps(); return line("bar.sync 0");
      default: return steps();
    }
  }

  /// Keeps a branch or a loop from being for nothing: the GPU's compiler drops those.
  void store(const std::string& value) {
    line(fmt::format("st.global.{} [%out+{}], {}", plain(), (kOutputs - ++stored_) * bytes(), value));
  }

  void condition() {
    line(fmt::format("and.b32 %x, %t, {}", 1u << random_.below(4)));
    line("setp.ne.u32 %p, %x, 0");
  }

  void guarded() {
    steps();
    condition();
    const std::string a = operand(), b = operand(), old = operand(), kept = result();
    line(fmt::format("mov.{} {}, {}", plain(), kept, old));
    line(fmt::format("{} {}{}.{} {}, {}, {}", random_.oneIn(2) ? "@%p" : "@!%p", random_.oneIn(2) ? "add" : "sub",
                     modifiers(), isa::name(type_), kept, a, b));
  }

  /// Everything that one side writes has a value on the other.
  void branch() {
    const unsigned label = labels_++;
    steps();
    condition();
    line(fmt::format("@%p bra L{}", label));
    const std::vector<std::string> before = values_;
    steps();
    const std::string a = last(0), b = last(1);
    line(fmt::format("bra M{}", label));
    code_ += fmt::format("L{}:\n", label);
    values_ = before;
    steps();
    line(fmt::format("mov.{} {}, {}", plain(), a, last(0)));
    line(fmt::format("mov.{} {}, {}", plain(), b, last(1)));
    code_ += fmt::format("M{}:\n", label);
    store(a);
    values_ = before;
    for (const std::string& v : {a, b})
      if (std::find(values_.begin(), values_.end(), v) == values_.end()) values_.push_back(v);
  }

  /// What a turn hands to the next is no product: the GPU's compiler unrolls loops and then fuses across turns.
  void loop() {
    const unsigned label = labels_++;
    steps();
    const std::string carried = fmt::format("%v{}", count_++);
    line(fmt::format("mov.{} {}, {}", plain(), carried, last(0)));
    line("and.b32 %n, %t, 3");
    code_ += fmt::format("L{}:\n", label);
    const std::vector<std::string> before = values_;
    values_.push_back(carried);
    isInLoop_ = true;
    steps();
    line(fmt::format("fma.rn.{} {}, {}, {}, {}", isa::name(type_), carried, last(0), before[random_.below(kInputs)],
                     last(1)));
    line("add.u32 %n, %n, 1");
    line("setp.lt.u32 %p, %n, 5");
    line(fmt::format("@%p bra L{}", label));
    store(carried);
    isInLoop_ = false;
    values_ = before;
    values_.push_back(carried);
  }

  Random& random_;
  const Type type_;
  bool flushes_, isMixed_, isInLoop_ = false;
  std::vector<std::string> values_;  // registers that hold something, the newest last
  std::string code_;
  unsigned count_ = 0, labels_ = 0, stored_ = 0;
};

}  // namespace

ContractionKernel contractionKernel(uint64_t number) {
  Random random(number);
  ContractionKernel kernel;
  kernel.type = kTypes[number % kTypes.size()];
  kernel.test.name = fmt::format("contraction {}", number);
  kernel.test.text = Writer(random, kernel.type).run();
  const Type plain = kernel.type == Type::f64 ? Type::b64 : isa::bytes(kernel.type) == 2 ? Type::b16 : Type::b32;
  kernel.launch.grid = {1, 1, 1};
  kernel.launch.block = {kThreads, 1, 1};
  kernel.launch.parameters.push_back(bufferOf("in", plain, inputs(random, kernel.type)));
  kernel.launch.parameters.push_back(bufferOf("out", plain, std::vector<uint64_t>(kThreads * kOutputs, 0)));
  return kernel;
}

uint64_t checksumOf(const ContractionKernel& kernel, const std::vector<uint64_t>& output) {
  const Format f = formatOf(kernel.type);
  const uint64_t sign = uint64_t{1} << (f.bits - 1), mask = sign | (sign - 1);
  uint64_t sum = 0xCBF29CE484222325u;  // FNV-1a
  auto add = [&](uint64_t v) {
    if ((v & (sign - 1)) > f.infinity()) v = f.infinity() + 1;
    sum = (sum ^ v) * 0x100000001B3u;
  };
  for (uint64_t v : output) {
    add(v & mask);
    if (isa::isPacked(kernel.type)) add(v >> 16 & mask);
  }
  return sum;
}

}  // namespace ordito::gpu
