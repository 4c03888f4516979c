// The matrix instructions: mma on registers of random fragments, wmma from memory and back (its fragments are opaque),
// and the moves of 8×8 matrices. A block of one warp is a round with matrices of its own.
//
// What the manual leaves open is how precisely sums are made. So the rounds are of kinds that tell: numbers whose sums
// are exact, numbers of like and of unlike magnitude, sums that cancel, infinities and NaNs, subnormal numbers.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <span>

#include "experiment.hpp"
#include "forms.hpp"
#include "operands.hpp"
#include "ptx/matrix.hpp"

namespace ordito::gpu {

using isa::ModifierKind;
using isa::Op;
using isa::Type;
using ptx::Fragment;

namespace {

constexpr unsigned kLanes = 32, kRounds = 16, kItemsPerKernel = 8;
constexpr unsigned kAlignment = 256;  // of every matrix in memory

/// Numbers of one type, by the kind of the round.
class Numbers {
 public:
  Numbers(Type type, std::string_view seed) : type_(type), state_(hashOf(seed)) {}

  uint64_t next(unsigned round) {
    const uint64_t noise = random();
    if (!isa::isFloat(type_)) return noise & mask(isa::bits(type_));
    const Format f = format();
    const unsigned mantissa = f.mantissa + f.unread;
    const uint64_t fraction = noise & mask(mantissa);
    const uint64_t sign = (noise >> 60 & 1) << (mantissa + f.exponentBits);
    const int bias = (1 << (f.exponentBits - 1)) - 1;
    auto number = [&](int exponent, uint64_t bits) {
      return sign | uint64_t(std::clamp(exponent + bias, 0, 2 * bias)) << mantissa | bits;
    };
    switch (round % kRounds) {
      case 0: return number(int(noise >> 56 & 1), fraction & mask(1) << (mantissa - 1));  // 1, 1.5, 2, 3
      case 1:
      case 2:
      case 3:
      case 4: return number(int(noise >> 54 & 3) - 2, fraction);
      case 5:
      case 6:
      case 7: return number(int(noise >> 54 & 15) - 8, fraction);
      case 8:
      case 9: return number(int(noise >> 52 & 63) - 32, fraction);  // beyond f16's range on purpose
      case 10: return number(noise >> 50 & 1 ? 0 : -int(noise >> 54 & 31), fraction);
      case 11: return number(0, 0);  // sums that cancel
      case 12: return number(0, fraction & mask(1));
      case 13: return noise >> 48 & 3 ? number(-bias, fraction) : number(4, fraction);  // subnormal ones
      case 14:
        return noise >> 48 & 15 ? number(2, fraction) : number(bias + 1, noise >> 40 & 1 ? 0 : fraction) | special();
      default: return (noise ^ noise >> 32 << 3) & mask(f.bits());
    }
  }

 private:
  struct Format {
    unsigned exponentBits, mantissa, unread = 0;  // tf32 has bits below that no multiplication reads
    unsigned bits() const { return 1 + exponentBits + mantissa + unread; }
  };
  Type type_;
  uint64_t state_;

  static uint64_t mask(unsigned bits) { return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }
  /// All exponent bits of an infinity or a NaN.
  uint64_t special() const {
    const Format f = format();
    return mask(f.exponentBits) << (f.mantissa + f.unread);
  }
  Format format() const {
    switch (type_) {
      case Type::f16: return {5, 10};
      case Type::bf16: return {8, 7};
      case Type::tf32: return {8, 10, 13};
      case Type::e4m3: return {4, 3};
      case Type::e5m2: return {5, 2};
      case Type::f64: return {11, 52};
      default: return {8, 23};
    }
  }
  uint64_t random() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return (state_ ^ state_ >> 31) * 0x9E3779B97F4A7C15u;
  }
};

/// Puts items into one kernel: their code, and where their inputs and results lie.
class Writer {
 public:
  explicit Writer(Op op) : op_(op) {}

  /// `count` numbers of a type for each round, one matrix or one lane's registers after the other; the offset.
  size_t input(Type type, unsigned perRound, const std::string& seed) {
    in_.resize((in_.size() + kAlignment - 1) / kAlignment * kAlignment);
    const size_t offset = in_.size();
    const unsigned bits = isa::bits(type);
    in_.resize(offset + size_t{kRounds} * perRound * bits / 8);
    Numbers numbers(type, seed);
    for (size_t k = 0; k < size_t{kRounds} * perRound; ++k) {
      const uint64_t value = numbers.next(static_cast<unsigned>(k / perRound));
      for (unsigned b = 0; b < bits; b += 8) in_[offset + (k * bits + b) / 8] |= uint8_t(value >> b << k * bits % 8);
    }
    return offset;
  }

  /// A word of metadata for each lane and round: nibbles that choose two different elements of four in their order, for
  /// tf32 one of two; the offset.
  size_t metadata(bool onePerNibble, const std::string& seed) {
    in_.resize((in_.size() + kAlignment - 1) / kAlignment * kAlignment);
    const size_t offset = in_.size();
    constexpr uint8_t kTwo[] = {0x4, 0x8, 0xC, 0x9, 0xD, 0xE}, kOne[] = {0x4, 0xE};
    for (unsigned k = 0; k < kRounds * kLanes * 4; ++k) {
      uint8_t byte = 0;
      for (unsigned half = 0; half < 2; ++half) {
        const uint64_t noise = hashOf(fmt::format("{} {} {}", seed, k, half)) >> 11;
        byte |= uint8_t((onePerNibble ? kOne[noise % 2] : kTwo[noise % 6]) << 4 * half);
      }
      in_.push_back(byte);
    }
    return offset;
  }

  /// Results of the item, in the order of rounds; the offset.
  size_t output(Item& i, Type type, unsigned perRound) {
    end_ = (end_ + kAlignment - 1) / kAlignment * kAlignment;
    i.results.push_back({type, end_, size_t{kRounds} * perRound});
    end_ += i.results.back().bytes();
    return i.results.back().offset;
  }

  void add(Item i) { items_.push_back(std::move(i)); }
  bool isEmpty() const { return items_.empty(); }
  bool isFull() const { return items_.size() >= kItemsPerKernel; }
  unsigned itemCount() const { return static_cast<unsigned>(items_.size()); }

  Experiment finish(unsigned number) {
    Experiment e;
    e.name = fmt::format("{}.matrix.{}", isa::info(op_).name, number);
    std::string code;
    for (const Item& i : items_) code += i.code;
    e.items = std::move(items_);
    std::vector<uint64_t> words((in_.size() + 3) / 4);
    for (size_t k = 0; k < in_.size(); ++k) words[k / 4] |= uint64_t{in_[k]} << k % 4 * 8;
    for (uint64_t w : words) e.fingerprint = (e.fingerprint ^ w) * 0x100000001B3u;
    e.inputs.push_back(words);
    e.launch.grid = {kRounds, 1, 1};
    e.launch.block = {kLanes, 1, 1};
    e.launch.parameters.push_back(bufferOf("in", Type::u32, std::move(words)));
    e.launch.parameters.push_back(bufferOf("out", Type::u32, std::vector<uint64_t>((end_ + 7) / 8 * 2, 0)));
    e.test = {e.name,
              fmt::format(".version 8.8\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 in, .param "
                          ".u64 out)\n{{\n  .shared .align 128 .b8 cells[4096];\n  .reg .b32 %i, %round, %lane, %t;\n"
                          "  .reg .b64 %in, %out, %a;\n"
                          "  ld.param.u64 %in, [in];\n  ld.param.u64 %out, [out];\n  mov.u32 %lane, %tid.x;\n"
                          "  mov.u32 %round, %ctaid.x;\n  mad.lo.u32 %i, %round, 32, %lane;\n{}  ret;\n}}\n",
                          code),
              {}};
    return e;
  }

 private:
  Op op_;
  std::vector<uint8_t> in_;
  size_t end_ = 0;
  std::vector<Item> items_;
};

std::string registers(char name, unsigned count) {
  std::vector<std::string> all;
  for (unsigned r = 0; r < count; ++r) all.push_back(fmt::format("%{}{}", name, r));
  return fmt::format("{{{}}}", fmt::join(all, ", "));
}

std::string declared(char name, const Fragment& f) {
  return fmt::format("  .reg .{} %{}<{}>;\n", isa::name(f.registerType()), name, f.registers);
}

/// The fragments of an mma are what the lanes say they are. `more`: operands behind them, `key`: what tells forms with
/// different ones apart.
void multiply(Writer& w, const Form& form, const std::string& key, const std::string& prepare,
              const std::string& more) {
  Item item;
  item.op = form.op;
  item.key = key;
  std::string loads, stores, declarations;
  for (unsigned k = 1; k < 4; ++k) {
    const Fragment f = ptx::fragmentOf(form.instruction, k);
    const char name = "dabc"[k];
    const unsigned bytes = isa::bits(f.registerType()) / 8;
    const size_t offset = w.input(f.element, kLanes * f.elements(), fmt::format("{} {}", form.opcode, name));
    declarations += declared(name, f);
    loads += fmt::format("  mad.wide.u32 %a, %i, {}, %in;\n", f.registers * bytes);
    for (unsigned r = 0; r < f.registers; ++r)
      loads += fmt::format("  ld.global.b{} %{}{}, [%a+{}];\n", 8 * bytes, name, r, offset + r * bytes);
  }
  const Fragment d = ptx::fragmentOf(form.instruction, 0);
  const Type word = d.element == Type::f16 ? Type::f16x2 : d.element;
  const unsigned bytes = isa::bits(d.registerType()) / 8;
  declarations += declared('d', d);
  stores = fmt::format("  mad.wide.u32 %a, %i, {}, %out;\n", d.registers * bytes);
  const size_t offset = w.output(item, word, kLanes * d.registers);
  for (unsigned r = 0; r < d.registers; ++r)
    stores += fmt::format("  st.global.b{} [%a+{}], %d{};\n", 8 * bytes, offset + r * bytes, r);
  std::string operands = registers('d', d.registers);
  for (unsigned k = 1; k < 4; ++k)
    operands += ", " + registers("dabc"[k], ptx::fragmentOf(form.instruction, k).registers);
  item.code = fmt::format("  {{\n{}{}{}  {} {}{};\n{}  }}\n", declarations, loads, prepare, form.opcode, operands, more,
                          stores);
  w.add(std::move(item));
}

void mma(Writer& w, const Form& form) { multiply(w, form, form.opcode, "", ""); }

/// Each lane has metadata of its own, and each selector says which lanes' counts.
void sparse(Writer& w, const Form& form) {
  for (unsigned selector = 0; selector < ptx::sparseSelectors(form.instruction); ++selector) {
    const std::string key = fmt::format("{} selector {}", form.opcode, selector);
    const size_t offset = w.metadata(form.instruction.type[1] == Type::tf32, key);
    multiply(w, form, key, fmt::format("  mad.wide.u32 %a, %i, 4, %in;\n  ld.global.b32 %t, [%a+{}];\n", offset),
             fmt::format(", %t, {}", selector));
  }
}

/// Matrices in global memory. The layouts of c and d take turns.
void wmma(Writer& w, const Form& form) {
  Item item;
  item.op = form.op;
  item.key = form.opcode;
  const std::string_view shape = form.name(ModifierKind::MatrixShape);
  const char* orders[] = {"row", "col"};
  const char *layoutC = orders[w.itemCount() % 2], *layoutD = orders[w.itemCount() / 2 % 2];
  // For single bits and nibbles the layouts are fixed, and part of the name.
  auto layout = [&](unsigned k) {
    const std::string_view own = form.name(k == 1 ? ModifierKind::LayoutA : ModifierKind::LayoutB);
    return k == 3 ? std::string_view(layoutC) : !own.empty() ? own : k == 1 ? "row" : "col";
  };
  std::string body, declarations;
  auto place = [](const Fragment& f, size_t offset, const char* base) {
    return fmt::format("  mad.wide.u32 %a, %round, {}, {};\n  add.u64 %a, %a, {};\n",
                       f.rows * f.columns * isa::bits(f.element) / 8, base, offset);
  };
  for (unsigned k = 1; k < 4; ++k) {
    const Fragment f = ptx::fragmentOf(form.instruction, k);
    const char name = "dabc"[k];
    const size_t offset = w.input(f.element, f.rows * f.columns, fmt::format("{} {}", form.opcode, name));
    declarations += declared(name, f);
    body += place(f, offset, "%in") + fmt::format("  wmma.load.{}.sync.aligned.{}.{}.global.{} {}, [%a];\n", name,
                                                  layout(k), shape, isa::name(f.element), registers(name, f.registers));
  }
  const Fragment d = ptx::fragmentOf(form.instruction, 0);
  declarations += declared('d', d);
  body += "  " + form.opcode;
  for (unsigned k = 0; k < 4; ++k)
    body += (k ? ", " : " ") + registers("dabc"[k], ptx::fragmentOf(form.instruction, k).registers);
  body += ";\n" + place(d, w.output(item, d.element, d.rows * d.columns), "%out");
  body += fmt::format("  wmma.store.d.sync.aligned.{}.{}.global.{} [%a], {};\n", layoutD, shape, isa::name(d.element),
                      registers('d', d.registers));
  item.code = fmt::format("  {{\n{}{}  }}\n", declarations, body);
  w.add(std::move(item));
}

/// Shared memory is filled with 16 bytes of each lane, and lanes name rows of it in another order each round.
void move(Writer& w, const Form& form) {
  Item item;
  item.op = form.op;
  item.key = form.key();
  const bool isLoad = form.op == Op::LdMatrix, isStore = form.op == Op::StMatrix;
  const std::string_view tiles = form.name(ModifierKind::TileCount);
  const unsigned count = tiles.empty() ? 1 : static_cast<unsigned>(tiles[1] - '0');
  const size_t offset = w.input(Type::u32, kLanes * 4, form.opcode);
  std::string s = fmt::format(
      "  {{\n  .reg .b32 %v<4>, %d<4>, %row, %own;\n  mad.wide.u32 %a, %i, 16, %in;\n"
      "  ld.global.v4.b32 {}, [%a+{}];\n"
      "  mov.u32 %t, cells;\n  mad.lo.u32 %own, %lane, 16, %t;\n  bar.sync 0;\n"
      "  st.shared.v4.b32 [%own], {};\n  bar.sync 0;\n"
      "  mad.lo.u32 %row, %lane, 13, %round;\n  and.b32 %row, %row, 31;\n"
      "  mad.lo.u32 %row, %row, 16, %t;\n",
      registers('v', 4), offset, registers('v', 4));
  // Without a state space the address is a generic one.
  const bool isGeneric = form.name(ModifierKind::Space).empty();
  if (isGeneric) s += "  cvt.u64.u32 %a, %row;\n  cvta.shared.u64 %a, %a;\n";
  const char* row = isGeneric ? "%a" : "%row";
  unsigned results = count;
  if (isLoad) {
    s += fmt::format("  {} {}, [{}];\n", form.opcode, registers('d', count), row);
  } else if (isStore) {
    results = 4;
    s += fmt::format("  {} [{}], {};\n  bar.sync 0;\n  ld.shared.v4.b32 {}, [%own];\n", form.opcode, row,
                     registers('v', count), registers('d', 4));
  } else {
    s += fmt::format("  {} %d0, %v0;\n", form.opcode);
  }
  const size_t to = w.output(item, Type::b32, kLanes * results);
  s += fmt::format("  mad.wide.u32 %a, %i, {}, %out;\n", 4 * results);
  for (unsigned r = 0; r < results; ++r) s += fmt::format("  st.global.b32 [%a+{}], %d{};\n", to + 4 * r, r);
  item.code = s + "  }\n";
  w.add(std::move(item));
}

using Add = void (*)(Writer&, const Form&);

Add adderOf(Op op) {
  switch (op) {
    case Op::MmaHalfQuad:
    case Op::MmaHalf:
    case Op::MmaBfloat:
    case Op::MmaTf32:
    case Op::MmaFloat8:
    case Op::MmaDouble:
    case Op::MmaInt8:
    case Op::MmaInt4:
    case Op::MmaBit: return mma;
    case Op::MmaSparseHalf:
    case Op::MmaSparseBfloat:
    case Op::MmaSparseTf32:
    case Op::MmaSparseFloat8:
    case Op::MmaSparseInt8:
    case Op::MmaSparseInt4: return sparse;
    case Op::WmmaHalf:
    case Op::WmmaHalfSat:
    case Op::WmmaBfloat:
    case Op::WmmaTf32:
    case Op::WmmaDouble:
    case Op::WmmaInt8:
    case Op::WmmaInt4:
    case Op::WmmaBit: return wmma;
    case Op::LdMatrix:
    case Op::StMatrix:
    case Op::MovMatrix: return move;
    default: return nullptr;
  }
}

}  // namespace

std::vector<Experiment> matrixExperiments(Op op) {
  const Add add = adderOf(op);
  if (!add) return {};
  std::vector<Experiment> all;
  Writer writer(op);
  auto finish = [&] {
    if (!writer.isEmpty()) all.push_back(writer.finish(static_cast<unsigned>(all.size())));
    writer = Writer(op);
  };
  for (const Form& f : opcodesOf(op)) {
    add(writer, f);
    if (writer.isFull()) finish();
  }
  finish();
  return all;
}

}  // namespace ordito::gpu
