#include "subject.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "forms.hpp"
#include "ptx/matrix.hpp"
#include "ptx/operands.hpp"
#include "ptx/parser.hpp"
#include "values.hpp"

namespace ordito::bench {

using gpu::Form;
using gpu::WrittenOperand;
using isa::Effect;
using isa::ModifierKind;
using isa::Op;
using isa::Type;
using FormKind = isa::OperandForm::Kind;

namespace {

/// How the lanes' operands lie to each other.
struct Way {
  enum class Places : uint8_t { Contiguous, Scattered, Equal };
  const char* name = "";
  Places places = Places::Contiguous;
  unsigned choices = 0;          // so many values of the operand that lanes are compared by; 0: all differ
  const char* source = nullptr;  // of a shuffle, where it is a constant
};

std::vector<Way> waysOf(const Form& f) {
  const Effect effect = f.info().effect;
  using enum Way::Places;
  const bool isMatrix = f.info().unit == isa::Unit::Tensor;
  if (f.op == Op::Match) return {{.name = ", all differ"}, {.name = ", four values", .choices = 4}};
  if (f.op == Op::Shfl || f.op == Op::ShflOld)
    return {{.name = ", by 1", .source = "1"}, {.name = ", by each lane's own", .choices = 32}};
  const bool isMbarrier = f.info().name.starts_with("Mbarrier") || f.op == Op::CpAsyncMbarrierArrive;
  if (effect == Effect::Atomic && !isMbarrier)
    return {{.name = ", own addresses"}, {.name = ", one address", .places = Equal}};
  const bool isLane = (effect == Effect::Load || effect == Effect::Store) && !isMatrix;
  if (isLane && ptx::spaceOf(f.instruction) != ptx::Space::Param && ptx::spaceOf(f.instruction) != ptx::Space::Local)
    return {{.name = ""}, {.name = ", scattered", .places = Scattered}};
  return {{}};
}

/// The instruction as the parser has it, for what the table says of operands.
ptx::Instruction parsed(const Form& f, bool withPair) {
  auto module = ptx::parse(gpu::probe(f, withPair), "form");
  return module && !module->functions.empty() && !module->functions[0].instructions.empty()
             ? module->functions[0].instructions.back()
             : ptx::Instruction{};
}

const char* loadedAs(Type t) {
  if (t == Type::pred) return "b32";
  switch (isa::bits(t)) {
    case 64: return "b64";
    case 32: return "b32";
    case 128: return "b128";
    default: return "b16";
  }
}

unsigned bytesInMemory(Type t) { return t == Type::pred ? 4 : std::max(2u, isa::bytes(t)); }
bool isByteRegister(const std::string& name) { return name.starts_with("%c"); }

/// Defined on positive numbers.
bool isOfPositive(Op op) { return op == Op::Sqrt || op == Op::Rsqrt || op == Op::Lg2; }
bool readsCarry(Op op) { return op == Op::Addc || op == Op::Subc || op == Op::Madc; }

bool changesMbarrier(Op op) { return op >= Op::MbarrierExpectTx && op <= Op::MbarrierDropExpectTx; }

class Writer {
 public:
  Writer(const Form& f, bool withPair, const Way& way, Values values)
      : form_(f),
        way_(way),
        values_(values),
        instruction_(parsed(f, withPair)),
        written_(gpu::writtenOperands(f, withPair)) {}

  Subject run() {
    subject_.op = form_.op;
    subject_.name = form_.opcode + way_.name;
    for (WrittenOperand& w : written_) operand(w);
    if (readsCarry(form_.op)) body_ += "  add.cc.u32 %flag, %thread, 0xffffffff;\n";
    body_ += "  " + gpu::spell(form_, written_);
    if (form_.has(ModifierKind::Carry)) {
      body_ += fmt::format("  {}.u32 %flag, 0, 0;\n", form_.op == Op::SubCc || form_.op == Op::Subc ? "subc" : "addc");
      store("%flag", Type::b32);
    }
    for (const WrittenOperand& w : written_)
      if (w.form.kind == FormKind::Destination)
        for (const auto& r : w.registers) store(r.name, r.type);
    subject_.text = module();
    return std::move(subject_);
  }

 private:
  const Form& form_;
  Way way_;
  Values values_;
  ptx::Instruction instruction_;
  std::vector<WrittenOperand> written_;
  Subject subject_;
  std::string body_, setup_;
  size_t resultEnd_ = 0;

  /// Gives the operand its value, or writes another in its place.
  void operand(WrittenOperand& w) {
    if (w.form.kind == FormKind::Address && !w.registers.empty()) return address(w);
    if (w.form.kind != FormKind::Source || w.registers.empty()) return;
    if (const std::string constant = constantFor(w); !constant.empty()) {
      w.text = constant;
      return;
    }
    for (const auto& r : w.registers) load(r.name, r.type, isChoice(w) ? way_.choices : 0);
  }

  bool isShuffle() const { return form_.op == Op::Shfl || form_.op == Op::ShflOld; }
  bool isChoice(const WrittenOperand& w) const { return way_.choices && w.form.name == (isShuffle() ? "b" : "a"); }

  /// Members, barriers and segments are constants in nearly all programs.
  std::string constantFor(const WrittenOperand& w) const {
    const isa::OpInfo& row = form_.info();
    if (row.form.memberMask == static_cast<int>(w.index)) return "0xffffffff";
    if (isShuffle() && w.form.name == "c") return form_.name(ModifierKind::ShflMode) == "up" ? "0" : "31";
    if (isShuffle() && w.form.name == "b" && way_.source) return way_.source;
    if (row.effect == Effect::Barrier && w.form.name == "a") return "0";
    if (row.name.starts_with("Mbarrier") && w.form.name == "b" && w.registers[0].type != Type::b64) return "1";
    if (form_.has(ModifierKind::Sparse) && w.form.name == "e") return "0x44444444";
    if (w.form.isSize || form_.op == Op::CpBulkPrefetch) return "16";
    return "";
  }

  void load(const std::string& reg, Type t, unsigned choices) {
    const size_t at = place(t, choices);
    const unsigned bytes = bytesInMemory(t);
    body_ += fmt::format("  mad.wide.u32 %at, %i, {}, %in;\n", bytes);
    if (t == Type::pred)
      body_ += fmt::format("  ld.global.b32 %flag, [%at+{}];\n  setp.ne.u32 {}, %flag, 0;\n", at, reg);
    else
      body_ += fmt::format("  ld.global.{} {}, [%at+{}];\n", isByteRegister(reg) ? "b8" : loadedAs(t), reg, at);
  }

  /// Puts the operand's values into the input; says where.
  size_t place(Type t, unsigned choices) {
    std::vector<std::byte>& in = subject_.input;
    const size_t at = in.size();
    const unsigned bytes = bytesInMemory(t);
    auto values = valuesFor(t, values_, isOfPositive(form_.op), fmt::format("{} {}", form_.opcode, at));
    in.resize(at + size_t{bytes} * kTuples);
    for (unsigned k = 0; k < kTuples; ++k) {
      const uint64_t v = choices ? values[k] % choices : values[k];
      std::memcpy(&in[at + size_t{bytes} * k], &v, std::min(8u, bytes));
    }
    return at;
  }

  static const char* baseOf(ptx::Space space) {
    switch (space) {
      case ptx::Space::Shared: return "%inShared";
      case ptx::Space::Local: return "%inLocal";
      case ptx::Space::Const: return "%inConst";
      default: return "%cells";
    }
  }

  void address(const WrittenOperand& w) {
    const ptx::Space space = ptx::spaceOf(instruction_, w.index);
    const bool isBarrier = form_.info().name.starts_with("Mbarrier") || form_.op == Op::CpAsyncMbarrierArrive;
    unsigned stride = isBarrier ? 8 : 4;
    bool isOne = way_.places == Way::Places::Equal;
    for (const ptx::MemoryAccess& a : ptx::MemoryAccesses(instruction_)) {
      if (a.operand != w.index) continue;
      if (a.bytes) stride = a.bytes;
      isOne |= a.pattern == ptx::MemoryAccess::Pattern::Matrix;
    }
    if (w.form.isSize || form_.op == Op::CpBulkStore || form_.op == Op::CpBulkPrefetch) stride = 16;
    if (form_.op == Op::ApplyPriority || form_.op == Op::Discard) stride = 128, isOne = true;
    const std::string reg = w.registers[0].name;
    const char* base = isBarrier && space != ptx::Space::Shared ? "%inGeneric" : baseOf(space);
    if (isBarrier) initialise();
    if (isOne || space == ptx::Space::Local)
      body_ += fmt::format("  mad.wide.u32 {}, %slot, {}, {};\n", reg, std::max(32u, stride), base);
    else if (way_.places == Way::Places::Scattered)
      body_ += fmt::format(
          "  mad.wide.u32 %at, %i, 4, %in;\n  ld.global.b32 %flag, [%at+{}];\n"
          "  mad.wide.u32 {}, %flag, {}, {};\n",
          placePermutation(), reg, stride, base);
    else
      body_ += fmt::format("  mad.wide.u32 {}, %i, {}, {};\n", reg, stride, base);
  }

  /// Each tuple's place is another's, of the same round.
  size_t placePermutation() {
    std::vector<std::byte>& in = subject_.input;
    const size_t at = in.size();
    in.resize(at + 4 * kTuples);
    for (uint32_t k = 0; k < kTuples; ++k) {
      const uint32_t v = k / kBlock * kBlock + (k % kBlock * 53 + k / 16 * 8) % kBlock;
      std::memcpy(&in[at + 4 * k], &v, 4);
    }
    return at;
  }

  /// An mbarrier for each tuple. One that is arrived at is made anew each time, lest it be used up.
  void initialise() {
    if (form_.op == Op::MbarrierInit) return;
    setup_ += "  mad.wide.u32 %at, %thread, 8, %inShared;\n";
    for (unsigned slot = 0; slot < kSlots; ++slot)
      setup_ += fmt::format("  mbarrier.init.shared.b64 [%at+{}], 2;\n", 8 * kBlock * slot);
    if (!changesMbarrier(form_.op)) return;
    body_ += "  mad.wide.u32 %at, %i, 8, %inShared;\n  mbarrier.init.shared.b64 [%at], 2;\n";
    subject_.name += " after mbarrier.init";
  }

  void store(const std::string& reg, Type t) {
    if (t == Type::pred) body_ += fmt::format("  selp.u32 %flag, 1, 0, {};\n", reg);
    body_ += fmt::format("  mad.wide.u32 %at, %i, {}, %out;\n  st.global.{} [%at+{}], {};\n", bytesInMemory(t),
                         isByteRegister(reg) ? "b8" : loadedAs(t), resultEnd_, t == Type::pred ? "%flag" : reg);
    resultEnd_ += size_t{bytesInMemory(t)} * kTuples;
  }

  /// What stores wrote is read at last, so that they are no dead ones.
  std::string module() const {
    return gpu::moduleHead(form_.op) +
           fmt::format(
               ".const .align 128 .b8 table[{0}];\n"
               ".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 cells, .param .u32 rounds, "
               ".param .align 32 .b8 parameter[64])\n{{\n"
               "  .shared .align 128 .b8 sharedCells[{1}];\n  .local .align 32 .b8 localCells[128];\n{2}"
               "  .reg .b32 %thread, %i, %n, %slot, %flag;\n  .reg .b64 %in, %out, %cells, %inShared, %inGeneric, "
               "%inLocal, %inConst, %at;\n  .reg .pred %more;\n"
               "  mov.u32 %thread, %tid.x;\n  ld.param.u64 %in, [in];\n  ld.param.u64 %out, [out];\n"
               "  ld.param.u64 %cells, [cells];\n  ld.param.u32 %n, [rounds];\n  mov.u64 %inShared, sharedCells;\n"
               "  cvta.shared.u64 %inGeneric, %inShared;\n"
               "  mov.u64 %inLocal, localCells;\n  mov.u64 %inConst, table;\n{3}"
               "Again:\n  sub.u32 %n, %n, 1;\n  and.b32 %slot, %n, {4};\n  mad.lo.u32 %i, %slot, {5}, %thread;\n{6}"
               "  setp.ne.u32 %more, %n, 0;\n  @%more bra Again;\n"
               "{7}  ret;\n}}\n",
               kCellBytes, kCellBytes / 2, gpu::kProbeRegisters, setup_, kSlots - 1, kBlock, body_, readBack());
  }

  std::string readBack() const {
    std::string s;
    for (const WrittenOperand& w : written_) {
      if (w.form.kind != FormKind::Address) continue;
      const ptx::Space space = ptx::spaceOf(instruction_, w.index);
      if (space != ptx::Space::Shared && space != ptx::Space::Local) continue;
      const char* name = space == ptx::Space::Shared ? "shared" : "local";
      s += fmt::format(
          "  and.b32 %i, %thread, 31;\n  mad.wide.u32 %at, %i, 4, {};\n  ld.{}.b32 %flag, [%at];\n"
          "  mad.wide.u32 %at, %thread, 4, %out;\n  st.global.b32 [%at+{}], %flag;\n",
          baseOf(space), name, resultEnd_);
    }
    return s;
  }
};

/// A form's probe with or without a second destination, whichever the verifier takes.
std::vector<bool> pairsOf(const Form& f) {
  std::vector<bool> all;
  for (const bool withPair : {false, true}) {
    const std::string plain = gpu::probe(f, false), text = gpu::probe(f, withPair);
    if ((!withPair || text != plain) && !text.empty() && gpu::isValid(text)) all.push_back(withPair);
  }
  return all;
}

/// Two words of each thread's own from an array in memory, their sum to another.
constexpr const char* kAdditionInMemory = R"(.version 8.8
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 cells, .param .u32 rounds)
{
  .reg .b32 %i, %t, %a, %b;
  .reg .b64 %in, %out;
  mov.u32 %t, %tid.x;
  mov.u32 %i, %ctaid.x;
  mad.lo.u32 %i, %i, 128, %t;
  ld.param.u64 %in, [in];
  ld.param.u64 %out, [out];
  mad.wide.u32 %in, %i, 4, %in;
  mad.wide.u32 %out, %i, 4, %out;
  ld.global.u32 %a, [%in];
  ld.global.u32 %b, [%in+4194304];
  add.s32 %a, %a, %b;
  st.global.u32 [%out], %a;
  ret;
}
)";

}  // namespace

Subject additionInMemory() {
  static_assert(kBlock == 128 && kThreadsOfLaunch == 1048576);
  return {isa::Op::Add, "add.s32", kAdditionInMemory, std::vector<std::byte>(8 * kThreadsOfLaunch)};
}

std::string whyNotMeasured(Op op) {
  const isa::OpInfo& row = isa::info(op);
  switch (op) {
    case Op::Nanosleep: return "it waits for as long as it is told";
    case Op::BarArrive:
    case Op::BarrierArrive: return "it needs others that wait at the same barrier";
    case Op::CpBulkLoad:
    case Op::CpBulkShared: return "it needs an mbarrier that is waited at for each copy";
    case Op::Alloca:
    case Op::StackSave:
    case Op::StackRestore: return "it changes the stack, which a loop would exhaust";
    case Op::GridDepControl: return "it orders grids, not threads";
    case Op::Setmaxnreg: return "it changes no value";
    default: break;
  }
  if (row.unit == isa::Unit::Texture || op == Op::Istypep) return "it needs a texture or surface, which a driver makes";
  if (row.effect == Effect::Control || row.effect == Effect::Call)
    return "control flow costs what the shape of the program makes of it";
  return "";
}

std::vector<Subject> subjectsOf(Op op, Values values, size_t most) {
  struct Choice {
    Form form;
    bool withPair;
    Way way;
  };
  std::vector<Choice> choices;
  const bool isMemory = isa::info(op).effect != Effect::Pure;
  const auto operands = isa::info(op).form.operandList();
  // What is wrong with a size shows in the whole instruction only.
  const bool hasSize = std::any_of(operands.begin(), operands.end(), [](const auto& o) { return o.isSize; });
  for (const Form& f : gpu::opcodesOf(op, {.optional = isMemory ? 1u : ~0u, .refused = hasSize}))
    for (const Way& way : waysOf(f)) choices.push_back({f, false, way});
  std::vector<Subject> all;
  const size_t step = most && choices.size() > most ? choices.size() / most : 1;
  for (size_t k = 0; k < choices.size() && (!most || all.size() < most); k += step) {
    const Choice& c = choices[k];
    for (const bool withPair : pairsOf(c.form)) {
      Subject s = Writer(c.form, withPair, c.way, values).run();
      if (withPair) s.name += " p|q";
      all.push_back(std::move(s));
    }
  }
  return all;
}

}  // namespace ordito::bench
