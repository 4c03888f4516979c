// Registers come in two sets: those named ...u hold values that the whole block shares and are written only by
// instructions that read such values where all threads are together; the others may differ. Kinds: p predicate, h 16
// bits, r 32 bits, f f32, l 64 bits, d f64.
#include "kernel_generator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <string_view>
#include <utility>

#include "called_functions.hpp"
#include "forms.hpp"
#include "isa/isa.hpp"
#include "structures.hpp"

namespace ordito::fuzz {

using isa::Op;
using isa::Type;

namespace {

constexpr unsigned kOwn = 5, kShared = 2;  // registers of each kind

/// The register kind that operands of a type live in.
char kindOf(Type t) {
  if (t == Type::pred) return 'p';
  if (t == Type::f32) return 'f';
  if (t == Type::f64) return 'd';
  return isa::bits(t) <= 16 ? 'h' : isa::bits(t) == 32 ? 'r' : 'l';
}

std::string declarations() {
  static constexpr std::pair<char, const char*> kTypes[] = {{'p', "pred"}, {'h', "b16"}, {'r', "b32"},
                                                            {'f', "f32"},  {'l', "b64"}, {'d', "f64"}};
  std::string s;
  for (auto [kind, type] : kTypes) s += fmt::format("  .reg .{} %{}<{}>, %{}u<{}>;\n", type, kind, kOwn, kind, kShared);
  return s +
         "  .reg .b32 %me, %gid, %n, %c<16>, %t<8>;\n  .reg .b64 %in32, %in64, %inf64, %out, %mine, %sums, %a<8>;\n  "
         ".reg .pred %q<4>;\n"
         "  .shared .align 16 .b32 cells[1024];\n  .local .align 16 .b32 box[16];\n";
}

/// Rows whose results are approximate, depend on addresses, or are made by hand below.
bool isExcluded(Op op) {
  switch (op) {
    case Op::Sin:
    case Op::Cos:
    case Op::Lg2:
    case Op::Ex2:
    case Op::Tanh:
    case Op::Rsqrt:
    case Op::Isspacep:
    case Op::Istypep:
    case Op::Cvta: return true;
    default: return isa::info(op).effect != isa::Effect::Pure;
  }
}

}  // namespace

struct Generator::Template : gpu::Form {
  explicit(false) Template(const gpu::Form& f) : gpu::Form(f) {}
};

namespace {

/// ptxas 13.0 does not guard all that it makes of these: their destinations change even where the guard is false.
bool losesGuard(Op op) { return op == Op::Set || op == Op::SetBool || op == Op::Testp || op == Op::Lop3Bool; }

/// The scalar and the packed video instructions.
bool isVideo(Op op) {
  const std::string_view mnemonic = isa::info(op).form.mnemonic;
  return mnemonic.starts_with("v") && op != Op::Vote && op != Op::VoteOld;
}

/// What the manual calls opaque: cache policies, places in another block, states of an mbarrier.
bool isOpaque(Op op) {
  return op == Op::CreatePolicy || op == Op::CreatePolicyCvt || op == Op::Mapa || op == Op::GetCtaRank ||
         op == Op::MbarrierPendingCount;
}

/// Too new for the GPU of the recordings, or (scalar video instructions that saturate or do a second step) made into
/// something else by its compiler.
bool isForeign(const gpu::Form& f) {
  if (isOpaque(f.op)) return true;
  for (const gpu::Form::Operand& o : f.operands)
    if (o.type == Type::f32x2) return true;
  const std::string_view mnemonic = f.info().form.mnemonic;
  if (!isVideo(f.op) || mnemonic.ends_with("2") || mnemonic.ends_with("4")) return false;
  return f.op == Op::Vmad || f.has(isa::ModifierKind::Saturate) || f.info().name.ends_with("Then");
}

/// NVIDIA's compiler wants these operands in registers of 32-bit integers.
bool wantsIntegerRegisters(Op op) { return isVideo(op) || op == Op::CvtPackInteger || op == Op::CvtPackNarrow; }

/// What two engines may do differently.
bool isOpen(const gpu::Form& f) {
  const Type* types = f.instruction.type;
  if (f.has(isa::ModifierKind::Precision)) return true;
  for (const gpu::Form::Operand& o : f.operands)
    if (isa::bits(o.type) == 8) return true;
  // The bits of an f64 NaN depend on the order of operands, so nothing may carry or show them.
  const bool isDouble = types[0] == Type::f64 || types[1] == Type::f64;
  if (isDouble && (f.op == Op::AbsF || f.op == Op::NegF || f.op == Op::Copysign)) return true;
  return f.op == Op::Cvt && isDouble && isa::isFloat(types[0]) && isa::isFloat(types[1]);
}

}  // namespace

/// Every form of every pure row, by row.
struct TemplateFinder {
  using Template = Generator::Template;

  static std::vector<std::vector<Template>> run() {
    std::vector<std::vector<Template>> rows;
    for (uint16_t k = 0; k < static_cast<uint16_t>(Op::Count); ++k) {
      if (isExcluded(static_cast<Op>(k))) continue;
      std::vector<Template> row;
      for (const gpu::Form& f : gpu::pureForms(static_cast<Op>(k)))
        if (!isOpen(f)) row.push_back(f);
      if (!row.empty()) rows.push_back(std::move(row));
    }
    return rows;
  }
};

const std::vector<std::vector<Generator::Template>>& Generator::templates() {
  static const auto rows = TemplateFinder::run();
  return rows;
}

std::string Generator::sharedReg(char kind) { return fmt::format("%{}u{}", kind, below(kShared)); }
std::string Generator::ownReg(char kind) { return fmt::format("%{}{}", kind, below(kOwn)); }
std::string Generator::reg(char kind, bool shared) { return shared || chance(15) ? sharedReg(kind) : ownReg(kind); }

std::string Generator::source(unsigned typeNumber, bool shared) {
  const Type t = static_cast<Type>(typeNumber);
  if (isa::isInteger(t) && !isa::isPacked(t) && chance(20)) {
    static constexpr int kNumbers[] = {0, 1, 2, 3, 4, 5, 7, 8, 16, 31, 32, 63, 100, 255, -1, -2, -3, -17};
    return std::to_string(chance(80) ? kNumbers[below(std::size(kNumbers))] : static_cast<int>(below(65536)) - 32768);
  }
  if (t == Type::f32 && chance(15)) {
    static constexpr uint32_t kNumbers[] = {0,          0x80000000, 0x3F800000, 0xBF800000, 0x40490FDB,
                                            0x7F800000, 0x00800000, 0x00000001, 0x7F7FFFFF, 0x3F000000};
    return fmt::format("0f{:08X}", kNumbers[below(std::size(kNumbers))]);
  }
  if (t == Type::f64 && chance(15))
    return fmt::format("0d{:016X}", std::bit_cast<uint64_t>(static_cast<double>(below(1000)) / 8 - 50));
  // Bits of 32-bit kind may be read from an f32 register and the other way round.
  if ((t == Type::b32 && chance(15)) || (t == Type::f32 && chance(15))) return reg(t == Type::b32 ? 'f' : 'r', shared);
  return reg(kindOf(t), shared);
}

std::string Generator::destination(unsigned typeNumber, bool shared) {
  const Type t = static_cast<Type>(typeNumber);
  char kind = kindOf(t);
  if ((t == Type::b32 || t == Type::f32) && chance(15)) kind = t == Type::b32 ? 'f' : 'r';
  return shared ? sharedReg(kind) : ownReg(kind);
}

std::string Generator::guard(bool shared) {
  if (!chance(15)) return "";
  return fmt::format("@{}{} ", chance(50) ? "!" : "", shared ? sharedReg('p') : reg('p', false));
}

Node Generator::pure(bool shared) {
  const auto& rows = templates();
  auto pick = [&]() -> const Template& {
    const auto& row = rows[below(static_cast<unsigned>(rows.size()))];
    return row[below(static_cast<unsigned>(row.size()))];
  };
  const Template* chosen = &pick();
  while (isPortable_ && isForeign(*chosen)) chosen = &pick();
  const Template& t = *chosen;
  std::string s = "  " + (isPortable_ && losesGuard(t.op) ? "" : guard(shared)) + t.opcode;
  const bool readsCarry = t.op == Op::Addc || t.op == Op::Subc || t.op == Op::Madc;
  // A carry is only defined right behind the instruction that made it.
  if (readsCarry) {
    const char kind = kindOf(t.operands[0].type);
    s = fmt::format("  {}.cc.u{} {}, {}, {};\n{}", t.op == Op::Subc ? "sub" : "add", kind == 'l' ? 64 : 32,
                    shared ? sharedReg(kind) : ownReg(kind), reg(kind, shared), reg(kind, shared), s);
  }
  std::string first;
  for (size_t k = 0; k < t.operands.size(); ++k) {
    const gpu::Form::Operand& o = t.operands[k];
    const auto type = static_cast<unsigned>(o.type);
    const bool isPlain = isPortable_ && wantsIntegerRegisters(t.op) && isa::bits(o.type) == 32;
    std::string text = isPlain                   ? (o.isResult() && !shared ? ownReg('r') : reg('r', shared))
                       : o.isResult()            ? destination(type, shared)
                       : o.form.name == "immLut" ? std::to_string(t.table)
                       // Constants in a bit field's place and length must fit 8 bits: registers there.
                       : (t.op == Op::Bfe || t.op == Op::Bfi) && o.type == Type::u32 ? reg('r', shared)
                                                                                     : source(type, shared);
    // Two results need two registers.
    while (o.form.paired && text == first) text = destination(type, shared);
    // min(x, x) is folded to x, and so keeps a NaN's bits.
    while (isPortable_ && (t.op == Op::MinF || t.op == Op::MaxF) && k == 2 && s.ends_with(", " + text))
      text = source(type, shared);
    if (k == 0) first = text;
    s += fmt::format("{}{}", k == 0 ? " " : o.form.paired ? "|" : ", ", text);
  }
  return text(s + ";\n");
}

/// The place in %t0 of a thread that changes places with others at a distance that all threads share.
std::string Generator::partner() {
  std::string s = chance(70) ? fmt::format("  and.b32 %t7, {}, 7;\n  shl.b32 %t7, 1, %t7;\n", sharedReg('r'))
                             : fmt::format("  and.b32 %t7, {}, 127;\n", sharedReg('r'));
  switch (below(4)) {
    case 0: return s + "  xor.b32 %t0, %me, %t7;\n";
    case 1: return s + "  max.u32 %t7, %t7, 1;\n  rem.u32 %t0, %me, %t7;\n";
    case 2: return s + "  max.u32 %t7, %t7, 1;\n  div.u32 %t0, %me, %t7;\n  mul.lo.u32 %t0, %t0, 2;\n";
    default:
      return s +
             "  add.s32 %t0, %t7, -1;\n  and.b32 %t0, %t0, %me;\n  sub.u32 %t0, %me, %t0;\n  add.u32 %t0, %t0, %me;\n";
  }
}

/// An element number below kInputs in %t0, in one of the ways that compilers compute one.
std::string Generator::index() {
  const std::string own = ownReg('r');
  switch (below(diverges ? 6 : 7)) {
    case 0: return "  mov.u32 %t0, %gid;\n";
    case 1: return fmt::format("  add.u32 %t0, %gid, {};\n", below(64));
    case 2:
      return fmt::format("  mad.lo.u32 %t0, %gid, {}, {};\n  and.b32 %t0, %t0, {};\n", 1 + below(5), below(64),
                         kInputs - 1);
    case 3: return fmt::format("  and.b32 %t0, {}, {};\n", own, kInputs - 1);
    case 4: return fmt::format("  shr.u32 %t0, {}, 22;\n  add.s32 %t0, %t0, %me;\n", own);
    case 6: return partner();
    default: return fmt::format("  mad.lo.s32 %t0, %me, 3, {};\n", below(64));
  }
}

Node Generator::load(bool shared) {
  std::string s = shared ? fmt::format("  and.b32 %t0, {}, {};\n", sharedReg('r'), kInputs - 8) : index();
  const char kind = "rrflhd"[below(6)];
  const char* base = kind == 'l' ? "%in64" : kind == 'd' ? "%inf64" : "%in32";
  const unsigned bytes = kind == 'l' || kind == 'd' ? 8 : kind == 'h' ? 2 : 4;
  switch (below(4)) {
    case 0: s += fmt::format("  mul.wide.u32 %a0, %t0, {};\n", bytes); break;
    case 1: s += fmt::format("  mul.wide.s32 %a0, %t0, {};\n", bytes); break;
    case 2: s += fmt::format("  cvt.u64.u32 %a0, %t0;\n  mul.lo.u64 %a0, %a0, {};\n", bytes); break;
    default: s += fmt::format("  mad.wide.u32 %a0, %t0, {}, {};\n", bytes, base); break;
  }
  if (!s.ends_with(fmt::format("{};\n", base))) s += fmt::format("  add.s64 %a0, {}, %a0;\n", base);
  const unsigned offset = bytes * below(4);
  auto d = [&] { return shared ? sharedReg(kind) : ownReg(kind); };
  const char* type = kind == 'l'   ? "u64"
                     : kind == 'd' ? "f64"
                     : kind == 'f' ? "f32"
                     : kind == 'h' ? (chance(50) ? "u16" : "s16")
                                   : "u32";
  if (kind == 'r' && chance(25))
    return text(
        s + fmt::format("  {}ld.global.{} {}, [%a0+{}];\n", guard(shared), chance(50) ? "s8" : "u8", d(), below(4)));
  if (kind != 'h' && kind != 'd' && !shared && chance(20)) {
    // A vector load of an aligned pair: four different registers.
    const unsigned first = below(kOwn - 1);
    s += fmt::format("  and.b64 %a0, %a0, -16;\n  {}ld.global.v2.{} {{%{}{}, %{}{}}}, [%a0];\n", guard(false), type,
                     kind, first, kind, first + 1);
    return text(s);
  }
  return text(
      s + fmt::format("  {}ld.global{}.{} {}, [%a0+{}];\n", guard(shared), chance(30) ? ".nc" : "", type, d(), offset));
}

/// To the thread's own words; the first 64 are kept for the registers at the end.
Node Generator::store() {
  const char kind = "rrflh"[below(5)];
  const unsigned word = 64 + 2 * below(30);
  const char* type = kind == 'l' ? "u64" : kind == 'f' ? "f32" : kind == 'h' ? "u16" : chance(20) ? "u8" : "b32";
  if (chance(20) && kind != 'h' && kind != 'l')
    return text(fmt::format("  {}st.global.v2.{} [%mine+{}], {{{}, {}}};\n", guard(false), kind == 'f' ? "f32" : "b32",
                            4 * word, reg(kind, false), reg(kind, false)));
  return text(fmt::format("  {}st.global.{} [%mine+{}], {};\n", guard(false), type, 4 * word, reg(kind, false)));
}

/// Only operations whose order does not matter.
Node Generator::atomic() {
  static constexpr const char* kOps[] = {"add.u32", "min.u32", "max.s32", "and.b32", "or.b32", "xor.b32"};
  // One operation for each word, or the order would matter after all.
  const unsigned op = below(6);
  std::string s =
      fmt::format("  and.b32 %t0, {}, 7;\n  mul.wide.u32 %a0, %t0, 4;\n  add.s64 %a0, %sums, %a0;\n", reg('r', false));
  return text(s + fmt::format("  {}red.global.{} [%a0+{}], {};\n", guard(false), kOps[op], 32 * op, reg('r', false)));
}

Node Generator::local() {
  std::string s = fmt::format(
      "  and.b32 %t0, {}, 15;\n  mul.wide.u32 %a1, %t0, 4;\n  mov.u64 %a0, box;\n  add.s64 %a0, %a0, %a1;\n",
      reg('r', false));
  if (chance(50))
    return text(s + fmt::format("  {}st.local.b32 [%a0], {};\n", guard(false), reg(chance(50) ? 'r' : 'f', false)));
  return text(s + fmt::format("  {}ld.local.b32 {}, [%a0];\n", guard(false), ownReg(chance(50) ? 'r' : 'f')));
}

/// A structure by value to a function, one of its results back; sometimes through a pointer.
Node Generator::call() {
  static constexpr const char* kNames[] = {"picked", "changed", "repeated"};
  std::string s = "  {\n  .param .align 4 .b8 a[32];\n  .param .b32 b;\n  .param .align 4 .b8 r[16];\n";
  for (unsigned k = 0; k < 8; ++k) s += fmt::format("  st.param.b32 [a+{}], {};\n", 4 * k, reg('r', false));
  s += fmt::format("  st.param.b32 [b], {};\n", chance(30) ? sharedReg('r') : ownReg('r'));
  if (chance(25))
    s += fmt::format(
        "  mov.u64 %a0, picked;\n  mov.u64 %a1, changed;\n  selp.b64 %a0, %a0, %a1, {0};\nForm{1}: .callprototype "
        "(.param .align 4 .b8 _[16]) _ (.param .align 4 .b8 _[32], .param .b32 _);\n  call (r), %a0, (a, b), "
        "Form{1};\n",
        reg('p', false), forms_++);
  else
    s += fmt::format("  call (r), {}, (a, b);\n", kNames[below(10) == 0 ? 2 : below(2)]);
  for (unsigned k = 0; k < 2; ++k) s += fmt::format("  ld.param.b32 {}, [r+{}];\n", ownReg('r'), 4 * below(4));
  return text(s + "  }\n");
}

/// Through shared memory, between two barriers.
Node Generator::exchange() {
  const char kind = "rf"[below(2)];
  std::string s =
      fmt::format("  mov.u32 %t1, cells;\n  mad.lo.u32 %t2, %me, 4, %t1;\n  st.shared.b32 [%t2], {};\n  bar.sync 0;\n",
                  reg(kind, false));
  switch (below(4)) {
    case 0: s += "  sub.u32 %t0, %n, 1;\n  sub.u32 %t0, %t0, %me;\n"; break;
    case 1: s += fmt::format("  add.u32 %t0, %me, {};\n  rem.u32 %t0, %t0, %n;\n", below(40)); break;
    case 2: s += fmt::format("  rem.u32 %t0, {}, %n;\n", reg('r', false)); break;
    default: s += "  mov.u32 %t0, 0;\n"; break;
  }
  s += fmt::format("  mad.lo.u32 %t2, %t0, 4, %t1;\n  {}ld.shared.b32 {}, [%t2];\n", guard(false), ownReg(kind));
  if (chance(30)) s += fmt::format("  bar.red.popc.u32 {}, 0, {};\n", sharedReg('r'), reg('p', false));
  if (chance(20))
    s += fmt::format("  bar.red.{}.pred {}, 0, {};\n", chance(50) ? "and" : "or", sharedReg('p'), reg('p', false));
  return text(s + "  bar.sync 0;\n");
}

Node Generator::warp() {
  static constexpr const char* kModes[] = {"up", "down", "bfly", "idx"};
  const std::string all = "-1";
  switch (below(!wholeWarps_ || haveExited_ ? 4u : isPortable_ ? 5u : 6u)) {
    case 0: return text(fmt::format("  vote.sync.ballot.b32 {}, {}, {};\n", ownReg('r'), reg('p', false), all));
    case 1:
      return text(fmt::format("  vote.sync.{}.pred {}, {}, {};\n", chance(50) ? "any" : "all", ownReg('p'),
                              reg('p', false), all));
    case 2:
      return text(fmt::format("  redux.sync.{}.{} {}, {}, {};\n", chance(50) ? "add" : "max",
                              chance(50) ? "s32" : "u32", ownReg('r'), reg('r', false), all));
    case 3: return text(fmt::format("  match.any.sync.b32 {}, {}, {};\n", ownReg('r'), reg('r', false), all));
    case 4: {
      const unsigned mode = below(4), segment = 32 - (1u << below(6));
      const std::string lanes = chance(50) ? std::to_string(below(32)) : reg('r', false);
      const unsigned c = segment << 8 | (mode == 0 ? 0 : 31);
      return text(fmt::format("  shfl.sync.{}.b32 {}|{}, {}, {}, {}, {};\n", kModes[mode],
                              ownReg(chance(70) ? 'r' : 'f'), ownReg('p'), reg(chance(70) ? 'r' : 'f', false), lanes, c,
                              all));
    }
    default:
      // Each half of the warp votes for itself.
      return text(
          fmt::format("  mov.u32 %t0, %laneid;\n  setp.lt.u32 %q0, %t0, 16;\n  selp.b32 %t1, 0x0000ffff, 0xffff0000, "
                      "%q0;\n  vote.sync.ballot.b32 {}, {}, %t1;\n  redux.sync.add.u32 {}, {}, %t1;\n",
                      ownReg('r'), reg('p', false), ownReg('r'), reg('r', false)));
  }
}

/// A barrier wherever control happens to be. All are the same one and wait for everybody who has not ended, so threads
/// meet at their first, second … barrier each, wherever that stands.
Node Generator::meet() {
  switch (below(4)) {
    case 0: return text(fmt::format("  barrier.red.popc.u32 {}, 0, {};\n", ownReg('r'), reg('p', false)));
    case 1:
      return text(
          fmt::format("  barrier.red.{}.pred {}, 0, {};\n", chance(50) ? "and" : "or", ownReg('p'), reg('p', false)));
    default: return text("  barrier.sync 0;\n");
  }
}

/// Adds to a word that is no atomic's, under a lock that is taken in a loop of its own.
Node Generator::lock() {
  const unsigned id = locks_++, word = 4 * (kSums - 2), lock = 4 * (kSums - 1);
  const std::string take = chance(50) ? fmt::format("exch.b32 %t0, [%sums+{}], 1", lock)
                                      : fmt::format("cas.b32 %t0, [%sums+{}], 0, 1", lock);
  return text(
      fmt::format("Lock{0}:\n  atom.global.{1};\n  setp.ne.u32 %q2, %t0, 0;\n  @%q2 bra Lock{0};\n"
                  "  ld.volatile.global.u32 %t0, [%sums+{2}];\n  add.u32 %t0, %t0, {3};\n"
                  "  st.volatile.global.u32 [%sums+{2}], %t0;\n  membar.gl;\n"
                  "  st.volatile.global.u32 [%sums+{4}], 0;\n",
                  id, take, word, reg('r', false), lock));
}

/// Whether a thread's place in its block is such and such, in %q3: conditions that whole warps share, or lanes of all
/// warps alike.
std::string Generator::place() {
  static constexpr const char* kComparisons[] = {"eq", "ne", "lt", "ge"};
  const char* where = below(3) == 0 ? "%tid.x" : below(3) == 0 ? "%tid.y" : "%me";
  if (chance(50))
    return fmt::format("  mov.u32 %t7, {};\n  setp.{}.u32 %q3, %t7, {};\n", where, kComparisons[below(4)],
                       chance(60) ? 32 * below(6) : below(128));
  const std::string bits = chance(40) ? sharedReg('r') : std::to_string(below(128));
  return fmt::format("  mov.u32 %t7, {};\n  and.b32 %t7, %t7, {};\n  setp.{}.s32 %q3, %t7, {};\n", where, bits,
                     kComparisons[below(2)], chance(60) ? 0 : below(64));
}

/// All threads from one on end: whole warps, mostly.
Node Generator::leave() {
  haveExited_ = true;
  return text(fmt::format("  setp.ge.u32 %q2, %me, {};\n  @%q2 ret;\n", (1 + below(7)) * (chance(70) ? 32 : 20)));
}

Node Generator::branch(unsigned depth, bool together) {
  Node n;
  n.kind = Node::Kind::If;
  const bool shared = together && chance(40);
  n.text = (chance(50) ? "!" : "") + (shared ? sharedReg('p') : reg('p', false));
  if (!shared && chance(35)) n.setup = place(), n.text = chance(50) ? "%q3" : "!%q3";
  if (mayExit_ && !together && !inLoops_ && chance(8)) {
    n.body.push_back(text("  ret;\n"));
    haveExited_ = true;
    return n;
  }
  n.body = block(depth - 1, together && shared, 1 + below(4));
  if (chance(50)) n.otherwise = block(depth - 1, together && shared, 1 + below(4));
  if (mayLeave_ && chance(15)) n.body.push_back(text(chance(50) ? "  bra BREAK;\n" : "  bra CONTINUE;\n"));
  return n;
}

/// switch: up to four cases, some of which fall into the next, and a default that does nothing.
Node Generator::choice(unsigned depth, bool together) {
  Node n;
  n.kind = Node::Kind::Switch;
  const bool shared = together && chance(40);
  n.text = shared ? sharedReg('r') : reg('r', false);
  for (unsigned k = 0, cases = 2 + below(3); k < cases; ++k) {
    Node c;
    c.kind = Node::Kind::Case;
    if (chance(25)) c.text = "falls";
    c.body = block(depth - 1, together && shared, 1 + below(3));
    n.body.push_back(std::move(c));
  }
  return n;
}

/// Warp operations that only some lanes of each warp reach; shuffles stay within segments that are there as a whole.
Node Generator::partOfWarp() {
  static constexpr std::pair<uint32_t, unsigned> kParts[] = {
      {0x0000FFFF, 16}, {0xFF00FF00, 8}, {0x0F0FF000, 4}, {0x3C00000F, 2}, {0xFFFFFFFE, 1}};
  const auto [mask, segment] = kParts[below(std::size(kParts))];
  std::string s = fmt::format(
      "  mov.u32 %t0, %laneid;\n  shr.u32 %t0, {:#x}, %t0;\n  and.b32 %t0, %t0, 1;\n  setp.eq.u32 %q0, %t0, 0;\n  @%q0 "
      "bra Skip{};\n",
      mask, skips_);
  for (unsigned k = 0, operations = 1 + below(3); k < operations; ++k) switch (below(5)) {
      case 0: s += fmt::format("  vote.sync.ballot.b32 {}, {}, {:#x};\n", ownReg('r'), reg('p', false), mask); break;
      case 1: s += fmt::format("  redux.sync.max.s32 {}, {}, {:#x};\n", ownReg('r'), reg('r', false), mask); break;
      case 2: s += fmt::format("  match.any.sync.b32 {}, {}, {:#x};\n", ownReg('r'), reg('r', false), mask); break;
      case 3:
        s += fmt::format("  shfl.sync.idx.b32 {}, {}, {}, {:#x}, {:#x};\n", ownReg('r'), reg('r', false),
                         chance(50) ? std::to_string(below(32)) : reg('r', false), (32 - segment) << 8 | 31, mask);
        break;
      default:
        s += fmt::format("  shfl.sync.down.b32 {}|{}, {}, {}, {:#x}, {:#x};\n", ownReg('r'), ownReg('p'),
                         reg('r', false), 1 + below(16), (32 - segment) << 8 | 31, mask);
    }
  return text(s + fmt::format("Skip{}:\n", skips_++));
}

Node Generator::loop(unsigned depth, bool together) {
  Node n;
  n.kind = Node::Kind::Loop;
  const bool shared = together && chance(50);
  n.counter = fmt::format("%c{}", loops_++ % 8);
  n.text = shared ? sharedReg('r') : reg('r', false);
  if (!shared && chance(25)) n.setup = "  shr.u32 %t7, %me, 5;\n", n.text = "%t7";
  ++inLoops_;
  const bool outer = std::exchange(mayLeave_, !(together && shared));
  n.body = block(depth - 1, together && shared, 1 + below(4));
  mayLeave_ = outer;
  --inLoops_;
  if (chance(30) && !(together && shared)) {
    Node leave = text(fmt::format("  @{} bra {};\n", reg('p', false), chance(50) ? "BREAK" : "CONTINUE"));
    n.body.insert(n.body.begin() + below(static_cast<unsigned>(n.body.size() + 1)), leave);
  }
  return n;
}

Node Generator::structure() {
  return text(accessStructure([&](unsigned n) { return below(n); }, [&](char kind) { return ownReg(kind); },
                              [&](char kind) { return reg(kind, false); }, [&] { return guard(false); }));
}

Node Generator::statement(unsigned depth, bool together) {
  if (hasStructures && chance(40)) return structure();
  const unsigned what = below(100);
  if (hasUnevenBarriers_ && what < 10) return meet();
  if (hasLocks_ && what < 4) return lock();
  if (together && what < 8 && wholeWarps_ && !hasUnevenBarriers_)
    return haveExited_ || chance(60) ? warp() : partOfWarp();
  if (together && what < 14 && !hasUnevenBarriers_) return exchange();
  if (together && what < 17 && mayExit_) return leave();
  if (what < 24 && depth > 0) return branch(depth, together);
  if (what < 32 && depth > 0 && loops_ < 8) return loop(depth, together);
  if (what < 36 && depth > 0) return choice(depth, together);
  if (what < 42) return load(together && chance(30));
  if (what < 47) return store();
  if (what < 50) return atomic();
  if (what < 54) return local();
  if (what < 56 && !isPortable_) return call();
  return pure(together && chance(30));
}

std::vector<Node> Generator::block(unsigned depth, bool together, unsigned count) {
  std::vector<Node> nodes;
  for (unsigned k = 0; k < count; ++k) nodes.push_back(statement(depth, together));
  return nodes;
}

Kernel Generator::run() {
  static constexpr machine::Dim3 kShapes[] = {{32, 1, 1},  {64, 1, 1}, {16, 16, 1}, {8, 8, 1},   {33, 1, 1},
                                              {100, 1, 1}, {1, 1, 1},  {32, 4, 1},  {256, 1, 1}, {4, 4, 4}};
  Kernel k;
  k.block = kShapes[below(std::size(kShapes))];
  k.grid = {1 + below(3), 1, 1};
  wholeWarps_ = k.block.count() % 32 == 0;
  mayExit_ = chance(30);
  hasUnevenBarriers_ = diverges && chance(20);
  hasLocks_ = diverges && chance(10);
  k.isScheduled = hasUnevenBarriers_ || hasLocks_;
  k.isSmall = isSmall;
  k.hasStructures = hasStructures;
  k.nodes = isSmall ? block(2, true, 1 + below(4)) : block(3, true, 5 + below(12));
  return k;
}

namespace {

/// Prints nodes with their labels.
class Printer {
 public:
  std::string out;
  void print(const std::vector<Node>& nodes, const std::string& breakTo, const std::string& continueTo) {
    for (const Node& n : nodes)
      if (!n.isDropped) print(n, breakTo, continueTo);
  }

 private:
  unsigned labels_ = 0;
  void print(const Node& n, const std::string& breakTo, const std::string& continueTo) {
    const unsigned id = labels_++;
    if (n.kind == Node::Kind::Text) {
      std::string t = n.text;
      for (auto [word, label] : {std::pair{"BREAK", &breakTo}, std::pair{"CONTINUE", &continueTo}})
        if (auto at = t.find(word); at != std::string::npos) t.replace(at, std::string(word).size(), *label);
      out += t;
    } else if (n.kind == Node::Kind::If) {
      out += n.setup;
      const std::string inverted = n.text[0] == '!' ? n.text.substr(1) : "!" + n.text;
      out += fmt::format("  @{} bra Else{};\n", inverted, id);
      print(n.body, breakTo, continueTo);
      if (!n.otherwise.empty()) out += fmt::format("  bra Join{};\n", id);
      out += fmt::format("Else{}:\n", id);
      print(n.otherwise, breakTo, continueTo);
      if (!n.otherwise.empty()) out += fmt::format("Join{}:\n", id);
    } else if (n.kind == Node::Kind::Switch) {
      choose(n, id, breakTo, continueTo);
    } else {
      // Up to three turns, counted in a register of the loop's own.
      out += n.setup;
      out += fmt::format(
          "  and.b32 {}, {}, 3;\nLoop{}:\n  setp.eq.u32 %q1, {}, 0;\n  @%q1 bra Done{};\n  sub.u32 {}, {}, 1;\n",
          n.counter, n.text, id, n.counter, id, n.counter, n.counter);
      print(n.body, fmt::format("Done{}", id), fmt::format("Loop{}", id));
      out += fmt::format("  bra Loop{};\nDone{}:\n", id, id);
    }
  }

  void choose(const Node& n, unsigned id, const std::string& breakTo, const std::string& continueTo) {
    out += fmt::format("  and.b32 %t7, {}, 7;\n", n.text);
    for (size_t k = 0; k < n.body.size(); ++k)
      out += fmt::format("  setp.eq.u32 %q2, %t7, {0};\n  @%q2 bra Case{1}_{0};\n", k, id);
    out += fmt::format("  bra Chosen{};\n", id);
    for (size_t k = 0; k < n.body.size(); ++k) {
      out += fmt::format("Case{}_{}:\n", id, k);
      if (!n.body[k].isDropped) print(n.body[k].body, breakTo, continueTo);
      if (n.body[k].text != "falls") out += fmt::format("  bra Chosen{};\n", id);
    }
    out += fmt::format("Chosen{}:\n", id);
  }
};

/// Every register gets a value: own ones from the thread's place and the inputs, shared ones from the block's.
std::string prologue() {
  std::string s =
      "  ld.param.u64 %in32, [in32];\n  ld.param.u64 %in64, [in64];\n  ld.param.u64 %inf64, [inf64];\n  ld.param.u64 "
      "%out, [out];\n  ld.param.u64 %sums, [sums];\n"
      "  mov.u32 %t0, %tid.x;\n  mov.u32 %t1, %tid.y;\n  mov.u32 %t2, %tid.z;\n  mov.u32 %t3, %ntid.x;\n  mov.u32 %t4, "
      "%ntid.y;\n  mov.u32 %t5, %ntid.z;\n"
      "  mad.lo.u32 %me, %t2, %t4, %t1;\n  mad.lo.u32 %me, %me, %t3, %t0;\n  mul.lo.u32 %n, %t3, %t4;\n  mul.lo.u32 "
      "%n, %n, %t5;\n"
      "  mov.u32 %t6, %ctaid.x;\n  mad.lo.u32 %gid, %t6, %n, %me;\n";
  s += fmt::format(
      "  mul.wide.u32 %a0, %gid, {};\n  add.s64 %mine, %out, %a0;\n  mul.wide.u32 %a0, %gid, 4;\n  add.s64 %a1, %in32, "
      "%a0;\n  mul.wide.u32 %a2, %gid, 8;\n"
      "  add.s64 %a3, %in64, %a2;\n  add.s64 %a4, %inf64, %a2;\n",
      4 * kOutWords);
  for (unsigned k = 0; k < kOwn; ++k)
    s += fmt::format(
        "  ld.global.u32 %r{0}, [%a1+{1}];\n  ld.global.f32 %f{0}, [%a1+{2}];\n  ld.global.u16 %h{0}, [%a1+{3}];\n  "
        "ld.global.u64 %l{0}, [%a3+{4}];\n"
        "  ld.global.f64 %d{0}, [%a4+{4}];\n  setp.lt.s32 %p{0}, %r{0}, {5};\n",
        k, 64 * k, 64 * k + 32, 64 * k + 16, 128 * k, k * 1000);
  s += "  mov.u32 %r0, %tid.x;\n  mov.u32 %r1, %tid.y;\n  mov.u32 %r2, %gid;\n  cvt.u64.u32 %l0, %gid;\n  shr.u32 %r3, "
       "%me, 5;\n";
  for (unsigned k = 0; k < kShared; ++k)
    s += fmt::format(
        "  ld.global.u32 %ru{0}, [%in32+{1}];\n  ld.global.f32 %fu{0}, [%in32+{2}];\n  ld.global.u16 %hu{0}, "
        "[%in32+{3}];\n  ld.global.u64 %lu{0}, [%in64+{1}];\n"
        "  ld.global.f64 %du{0}, [%inf64+{1}];\n  setp.lt.s32 %pu{0}, %ru{0}, 0;\n",
        k, 8 * k, 8 * k + 400, 8 * k + 800);
  s += "  mov.u32 %ru0, %ctaid.x;\n  mov.u32 %ru1, %ntid.x;\n";
  for (unsigned k = 0; k < 16; ++k) s += fmt::format("  st.local.b32 [box+{}], {};\n", 4 * k, k);
  // A thread that returns early leaves its cell as it is to those that exchange values after it.
  s += "  mov.u32 %t1, cells;\n  mad.lo.u32 %t2, %me, 4, %t1;\n  st.shared.b32 [%t2], %me;\n";
  return s;
}

/// `body`: only the registers that it names are looked at; without it, all.
std::string epilogue(const std::optional<std::string>& body) {
  std::string s;
  unsigned word = 0;
  auto isNamed = [&](const std::string& reg) {
    return !body || std::ranges::any_of(std::string_view(",;}] |+"),
                                        [&](char end) { return body->find(reg + end) != std::string::npos; });
  };
  auto append = [&](const char* type, const std::string& reg, unsigned words) {
    s += fmt::format("  st.global.{} [%mine+{}], {};\n", type, 4 * word, reg);
    word += words;
  };
  auto store = [&](const char* type, const std::string& reg, unsigned words) {
    if (isNamed(reg)) append(type, reg, words);
  };
  for (bool shared : {false, true})
    for (unsigned k = 0; k < (shared ? kShared : kOwn); ++k) {
      const std::string u = fmt::format("{}{}", shared ? "u" : "", k);
      if (word % 2) ++word;
      if (k % 2 == 0 || !shared) store("u64", "%l" + u, 2);
      store("b32", "%r" + u, 1), store("f32", "%f" + u, 1);
    }
  // f64 NaNs have no defined bits.
  s = "" + s;
  for (unsigned k = 0; k < kOwn; ++k) {
    if (!isNamed(fmt::format("%d{}", k)) && !isNamed(fmt::format("%h{}", k))) continue;
    s += fmt::format("  setp.nan.f64 %q0, %d{0}, %d{0};\n  @%q0 mov.f64 %d{0}, 0d0000000000000000;\n", k);
    if (word % 2) ++word;
    store("f64", fmt::format("%d{}", k), 2);
    if (k < 4)
      s += fmt::format(
          "  selp.u32 %t0, 1, 0, %p{};\n  cvt.u32.u16 %t1, %h{};\n  shl.b32 %t1, %t1, 1;\n  or.b32 %t0, %t0, %t1;\n", k,
          k),
          append("b32", "%t0", 1);
  }
  return s;
}

}  // namespace

std::string Kernel::text() const {
  Printer p;
  p.print(nodes, "", "");
  const std::string functions = p.out.find("  call (r)") == std::string::npos ? "" : kCalledFunctions;
  return ".version 8.8\n.target sm_100a\n.address_size 64\n" + functions +
         (hasStructures ? structuresDeclaration() : "") +
         ".visible .entry fuzz(.param .u64 in32, .param .u64 in64, "
         ".param .u64 inf64, .param .u64 out, .param .u64 sums)\n{\n" +
         declarations() + prologue() + "// body\n" + p.out + "// results\n" +
         epilogue(isSmall ? std::optional(p.out) : std::nullopt) + "  ret;\n}\n";
}

}  // namespace ordito::fuzz
