// Loads, stores and atomic operations in every space, each thread in a cell of its own, plus reductions of many threads
// into one cell where their order does not matter.
#include <fmt/format.h>

#include "experiment.hpp"
#include "forms.hpp"
#include "operands.hpp"
#include "ptx/operands.hpp"

namespace ordito::gpu {

using isa::ModifierKind;
using isa::Op;
using isa::Type;

namespace {

constexpr unsigned kThreads = 64, kBlocks = 2, kTuples = kThreads * kBlocks;
constexpr unsigned kCell = 32;  // bytes that one thread owns in each space
constexpr size_t kItemsPerKernel = 60;

const char* registerType(Type t) {
  const unsigned bits = isa::bits(t);
  return bits <= 16 ? "b16" : bits == 32 ? "b32" : bits == 64 ? "b64" : "b128";
}

/// The register that holds the thread's cell in the form's space.
const char* cellOf(const Form& f) {
  switch (ptx::spaceOf(f.instruction)) {
    case ptx::Space::Shared: return "%cellShared";
    case ptx::Space::Local: return "%cellLocal";
    case ptx::Space::Const: return "%cellConst";
    case ptx::Space::Param: return nullptr;
    default: return "%cell";
  }
}

class Writer {
 public:
  explicit Writer(Op op) : op_(op) {}

  std::vector<Experiment> run() {
    std::vector<Experiment> all;
    for (const Form& f : opcodesOf(op_, {.optional = 1})) {
      if (!cellOf(f) || f.has(ModifierKind::CacheHint)) continue;
      if (op_ == Op::Ld || op_ == Op::Ldu) load(f);
      if (op_ == Op::St) store(f);
      if (op_ == Op::Atom || op_ == Op::Red || op_ == Op::AtomCas) atomic(f);
      if (now_.items.size() >= kItemsPerKernel) all.push_back(finish(static_cast<unsigned>(all.size())));
    }
    if (!now_.items.empty()) all.push_back(finish(static_cast<unsigned>(all.size())));
    return all;
  }

 private:
  Op op_;
  Experiment now_;
  size_t end_ = 0;

  size_t reserve(Item& i, Type type, unsigned perThread) {
    end_ = (end_ + 15) & ~size_t{15};
    i.results.push_back({type, end_, size_t{kTuples} * perThread});
    end_ += i.results.back().bytes();
    return i.results.back().offset;
  }

  /// The cell as it is afterwards, as `count` elements of type `t`.
  std::string readBack(Item& i, const char* space, const char* cell, Type t, unsigned count) {
    const unsigned bytes = isa::bytes(t), bits = isa::bits(t);
    const char* r = bits == 16 ? "%back16" : bits == 32 ? "%t" : "%back64";
    const size_t at = reserve(i, t, count);
    std::string s = fmt::format("  mad.wide.u32 %a, %i, {}, %out;\n", bytes * count);
    for (unsigned w = 0; w < count; ++w)
      s += fmt::format("  ld.{}.b{} {}, [{}+{}];\n  st.global.b{} [%a+{}], {};\n", space, bits, r, cell, bytes * w,
                       bits, at + bytes * w, r);
    return s;
  }

  /// The cell gets its first contents: the input's words.
  static std::string fill(const char* space, const char* cell) {
    if (std::string_view(space) == "const") return "";
    std::string s;
    for (unsigned w = 0; w < kCell / 4; ++w) s += fmt::format("  st.{}.b32 [{}+{}], %w{};\n", space, cell, 4 * w, w);
    return s;
  }

  static const char* spaceName(const Form& f) {
    switch (ptx::spaceOf(f.instruction)) {
      case ptx::Space::Shared: return "shared";
      case ptx::Space::Local: return "local";
      case ptx::Space::Const: return "const";
      default: return "global";
    }
  }

  void add(Item i) { now_.items.push_back(std::move(i)); }

  static unsigned lengthOf(const Form& f) {
    return f.has(ModifierKind::Vector) ? static_cast<unsigned>(f.name(ModifierKind::Vector)[1] - '0') : 1;
  }

  /// Registers one size wider where there is one, so that extension is seen.
  /// Global memory is read from the input: what a kernel writes itself, .nc need not see.
  void load(const Form& f) {
    const char* cell = std::string_view(cellOf(f)) == "%cell" ? "%cellRead" : cellOf(f);
    const Type t = f.instruction.type[0];
    const unsigned n = lengthOf(f);
    if (isa::bits(t) * n > 128 || isa::bits(t) == 128 || n == 8) return;
    const bool widens = isa::bits(t) <= 16 && !isa::isFloat(t);
    const Type held = widens ? Type::b32 : t;
    Item i;
    i.op = op_;
    i.key = f.opcode;
    std::string names, stores;
    const size_t at = reserve(i, held, n);
    for (unsigned k = 0; k < n; ++k) {
      names += fmt::format("{}%d{}", k ? ", " : "", k);
      stores += fmt::format("  st.global.b{} [%a+{}], %d{};\n", isa::bits(held), at + k * isa::bytes(held), k);
    }
    i.code = fmt::format("  {{\n  .reg .{} %d<{}>;\n{}  {} {}, [{}];\n  mad.wide.u32 %a, %i, {}, %out;\n{}  }}\n",
                         registerType(held), n, cell == cellOf(f) ? fill(spaceName(f), cell) : "", f.opcode,
                         n == 1 ? names : "{" + names + "}", cell, n * isa::bytes(held), stores);
    add(std::move(i));
  }

  void store(const Form& f) {
    const Type t = f.instruction.type[0];
    const unsigned n = lengthOf(f);
    if (isa::bits(t) * n > 128 || isa::bits(t) == 128 || n == 8) return;
    Item i;
    i.op = op_;
    i.key = f.opcode;
    std::string names, moves;
    for (unsigned k = 0; k < n; ++k) {
      names += fmt::format("{}%d{}", k ? ", " : "", k);
      moves += isa::bits(t) == 64   ? fmt::format("  mov.b64 %d{0}, {{%v{1}, %v{2}}};\n", k, 2 * k, 2 * k + 1)
               : isa::bits(t) == 32 ? fmt::format("  mov.b32 %d{0}, %v{0};\n", k)
                                    : fmt::format("  cvt.u16.u32 %d{0}, %v{0};\n", k);
    }
    i.code = fmt::format("  {{\n  .reg .{} %d<{}>;\n{}{}  {} [{}], {};\n{}  }}\n", registerType(t), n,
                         fill(spaceName(f), cellOf(f)), moves, f.opcode, cellOf(f), n == 1 ? names : "{" + names + "}",
                         readBack(i, spaceName(f), cellOf(f), Type::u32, kCell / 4));
    add(std::move(i));
  }

  static std::string valueRegister(Type t, unsigned which) {
    const char* kind = t == Type::f32 ? "f" : isa::isFloat(t) && isa::bits(t) == 32 ? "x" : "v";
    if (t == Type::f64) return fmt::format("%g{}", which);
    if (t == Type::f16 || t == Type::bf16) return fmt::format("%h{}{}", t == Type::f16 ? "f" : "b", which);
    if (isa::bits(t) == 16) return fmt::format("%h{}", which);
    if (isa::bits(t) == 64) return fmt::format("%l{}", which);
    if (kind[0] == 'x') return fmt::format("%x{}{}", t == Type::f16x2 ? "f" : "b", which);
    return fmt::format("%{}{}", kind, which);
  }

  void atomic(const Form& f) {
    const Type t = f.instruction.type[0];
    if (isa::bits(t) == 128) return;
    const std::string before = valueRegister(t, 0), operand = valueRegister(t, 1);
    // Half of the comparisons of a compare-and-swap succeed.
    const bool swaps = op_ == Op::AtomCas;
    Item i;
    i.op = op_;
    i.key = f.opcode;
    std::string s = fmt::format("  {{\n  .reg .{} %d0;\n{}  st.{}.b{} [{}], {};\n", registerType(t),
                                fill(spaceName(f), cellOf(f)), spaceName(f), isa::bits(t), cellOf(f), before);
    const std::string compared = valueRegister(t, 2);
    const std::string sources = swaps ? compared + ", " + operand : operand;
    if (op_ == Op::Red) {
      s += fmt::format("  {} [{}], {};\n", f.opcode, cellOf(f), sources);
    } else {
      const size_t at = reserve(i, t, 1);
      s += fmt::format("  {} %d0, [{}], {};\n  mad.wide.u32 %a, %i, {}, %out;\n  st.global.b{} [%a+{}], %d0;\n",
                       f.opcode, cellOf(f), sources, isa::bytes(t), isa::bits(t), at);
    }
    const bool global = std::string_view(spaceName(f)) == "global";
    if (global) s += "  fence.sc.gpu;\n";
    i.code = s + readBack(i, spaceName(f), cellOf(f), t, 1) + "  }\n";
    add(std::move(i));
  }

  Experiment finish(unsigned number) {
    Experiment e = std::move(now_);
    now_ = {};
    e.name = fmt::format("{}.memory.{}", isa::info(op_).name, number);
    std::string code;
    for (const Item& i : e.items) code += i.code;
    std::vector<uint64_t> words, values;
    const auto random =
        operandValues({Type::b32, Type::f32, Type::f16x2, Type::bf16x2, Type::b64, Type::f64}, 3 * kTuples, "memory");
    for (const auto& list : random)
      for (uint64_t v : list) e.fingerprint = (e.fingerprint ^ v) * 0x100000001B3u;
    // Sixteen words for each thread to fill cells and vectors with, then three operands of each kind.
    for (unsigned k = 0; k < 16 * kTuples; ++k) words.push_back(hashOf(fmt::format("word {}", k)) >> 13 & 0xFFFFFFFF);
    for (unsigned i = 0; i < kTuples; ++i)
      for (unsigned which = 0; which < 3; ++which) {
        // The third equals the first in half of the threads.
        const unsigned from = which == 2 && i % 2 ? 0 : which;
        for (const auto& list : random) values.push_back(list[from * kTuples + i]);
      }
    e.inputs = {words, values};
    e.launch.parameters = {bufferOf("words", Type::u32, words), bufferOf("values", Type::u64, values),
                           bufferOf("cells", Type::u32, std::vector<uint64_t>(kTuples * kCell / 4, 0)),
                           bufferOf("out", Type::u32, std::vector<uint64_t>((end_ + 7) / 8 * 2, 0))};
    e.launch.grid = {kBlocks, 1, 1};
    e.launch.block = {kThreads, 1, 1};
    e.test = {e.name, module(code), {}};
    end_ = 0;
    return e;
  }

  static std::string module(const std::string& code) {
    std::string constants;
    for (unsigned k = 0; k < kThreads * kCell; ++k)
      constants += fmt::format("{}{}", k ? "," : "", hashOf(fmt::format("c{}", k)) >> 9 & 255);
    std::string s = fmt::format(
        ".version 8.8\n.target sm_90a\n.address_size 64\n.const .align 32 .b8 table[{0}] = {{{1}}};\n"
        ".visible .entry k(.param .u64 words, .param .u64 values, .param .u64 cells, .param .u64 out)\n{{\n"
        "  .shared .align 32 .b8 sharedCells[{0}];\n  .local .align 32 .b8 localCells[{2}];\n"
        "  .reg .b32 %i, %t, %w<8>, %v<16>;\n  .reg .f32 %f<3>;\n  .reg .b32 %xf<3>, %xb<3>;\n  .reg .b16 %h<3>, "
        "%hf<3>, "
        "%hb<3>;\n  .reg .b64 %a, %out, %cell, %cellRead, %cellShared, %cellLocal, %cellConst, %back64, %l<3>;\n  .reg "
        ".b16 %back16;\n  .reg .f64 %g<3>;\n"
        "  mov.u32 %t, %tid.x;\n  mov.u32 %i, %ctaid.x;\n  mad.lo.u32 %i, %i, {3}, %t;\n"
        "  ld.param.u64 %out, [out];\n  ld.param.u64 %cell, [cells];\n  mad.wide.u32 %cell, %i, {2}, %cell;\n"
        "  mov.u64 %cellShared, sharedCells;\n  mad.wide.u32 %cellShared, %t, {2}, %cellShared;\n"
        "  mov.u64 %cellConst, table;\n  mad.wide.u32 %cellConst, %t, {2}, %cellConst;\n  mov.u64 %cellLocal, "
        "localCells;\n"
        "  ld.param.u64 %a, [words];\n  mad.wide.u32 %a, %i, 64, %a;\n  mov.u64 %cellRead, %a;\n",
        kThreads * kCell, constants, kCell, kThreads);
    for (unsigned w = 0; w < 16; ++w) {
      if (w < 8) s += fmt::format("  ld.global.b32 %w{}, [%a+{}];\n", w, 4 * w);
      s += fmt::format("  ld.global.b32 %v{}, [%a+{}];\n", w, 4 * (15 - w));
    }
    s += "  ld.param.u64 %a, [values];\n  mad.wide.u32 %a, %i, 144, %a;\n";
    for (unsigned k = 0; k < 3; ++k)
      s += fmt::format(
          "  ld.global.b32 %v{0}, [%a+{1}];\n  ld.global.b16 %h{0}, [%a+{1}];\n  ld.global.f32 %f{0}, [%a+{2}];\n"
          "  ld.global.b32 %xf{0}, [%a+{3}];\n  ld.global.b16 %hf{0}, [%a+{3}];\n  ld.global.b32 %xb{0}, [%a+{4}];\n"
          "  ld.global.b16 %hb{0}, [%a+{4}];\n  ld.global.b64 %l{0}, [%a+{5}];\n  ld.global.f64 %g{0}, [%a+{6}];\n",
          k, 48 * k, 48 * k + 8, 48 * k + 16, 48 * k + 24, 48 * k + 32, 48 * k + 40);
    return s + code + "  ret;\n}\n";
  }
};

}  // namespace

std::vector<Experiment> memoryExperiments(Op op) {
  switch (op) {
    case Op::Ld:
    case Op::Ldu:
    case Op::St:
    case Op::Atom:
    case Op::Red:
    case Op::AtomCas: return Writer(op).run();
    default: return {};
  }
}

}  // namespace ordito::gpu
