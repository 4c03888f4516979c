// The instruction of a form alone in a kernel, with registers, vectors, addresses and constants where its row wants
// them: what the verifier and NVIDIA's compiler are asked about.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ranges>

#include "forms.hpp"
#include "ptx/operands.hpp"
#include "ptx/verifier_impl.hpp"

namespace ordito::gpu {

using isa::ModifierKind;
using isa::Op;
using isa::Type;
using FormKind = isa::OperandForm::Kind;

namespace {

constexpr size_t kLongestVector = 16;

/// Operands that must be constants.
const char* constantOf(const Form& f, size_t k) {
  const isa::OperandForm& o = f.info().form.operands[k];
  if (o.name == "immLut") return "200";
  if (f.has(ModifierKind::Sparse) && k == 5) return "0";
  switch (f.op) {
    case Op::CpAsync: return k == 2 ? "16" : nullptr;
    case Op::CpAsyncWait:
    case Op::CpBulkWait: return "1";
    case Op::Setmaxnreg: return "64";
    case Op::Pmevent:
    case Op::PmeventMask: return "1";
    case Op::ApplyPriority:
    case Op::Discard: return k == 1 ? "128" : nullptr;
    default: return nullptr;
  }
}

std::string registerAt(Type t, size_t k, size_t element = 0) {
  const bool isByte = isa::bits(t) == 8 && isa::isUndeclarable(t);  // a pair of four bits each
  const char kind = isByte ? 'c' : isa::bits(t) == 128 ? 'q' : registerKind(t);
  return fmt::format("%{}{}", kind, k * kLongestVector + element);
}

WrittenOperand vectorOf(Type t, size_t k, size_t count) {
  WrittenOperand w;
  for (size_t e = 0; e < count; ++e) w.registers.push_back({registerAt(t, k, e), t});
  w.text = fmt::format("{{{}}}", fmt::join(std::views::transform(w.registers, &WrittenOperand::Register::name), ", "));
  return w;
}

WrittenOperand addressOf(const Form& f, size_t k) {
  if (ptx::spaceOf(f.instruction, k) == ptx::Space::Param) return {.text = "[parameter]"};
  const std::string reg = registerAt(Type::b64, k);
  return {.text = "[" + reg + "]", .registers = {{reg, Type::b64}}};
}

/// The handle of a texture or surface with coordinates: the layer is an integer, and three are written as four.
WrittenOperand imageOf(const Form& f, size_t k) {
  const size_t count = ptx::coordinateCount(f.instruction);
  WrittenOperand w = vectorOf(Type::b32, k, count == 3 ? 4 : count);
  w.text = fmt::format("[%l{}, {}]", k, w.text);
  return w;
}

/// An arrival at another block's mbarrier gives no state.
bool hasNoState(const Form& f) {
  return f.op >= Op::MbarrierArrive && f.op <= Op::MbarrierDropExpectTx &&
         f.name(ModifierKind::Space) == "shared::cluster";
}

/// Without text where the row wants something else: a label, a function.
WrittenOperand operandOf(const Form& f, size_t k) {
  const isa::OperandForm& o = f.info().form.operands[k];
  if (const char* constant = constantOf(f, k)) return {.text = constant};
  if (hasNoState(f) && k == 0) return {.text = "_"};
  if (o.kind == FormKind::Address) return addressOf(f, k);
  if (o.kind == FormKind::Image) return imageOf(f, k);
  const Type type = ptx::operandType(f.instruction, k);
  if (type == Type::None) return {};
  if (const size_t length = ptx::vectorLength(f.instruction, k)) return vectorOf(type, k, length);
  return {.text = registerAt(type, k), .registers = {{registerAt(type, k), type}}};
}

/// Of the optional operands a probe has only the cache policy that its modifier asks for.
bool isWritten(const Form& f, const isa::OperandForm& o, bool withPair) {
  if (o.paired) return withPair || !o.optional;
  return !o.optional || (o.name == "u" && f.has(ModifierKind::CacheHint));
}

}  // namespace

std::vector<WrittenOperand> writtenOperands(Form f, bool withPair) {
  std::vector<WrittenOperand> all;
  f.instruction.operands.resize(f.info().form.operandCount);
  for (size_t k = 0; k < f.info().form.operandCount; ++k) {
    const isa::OperandForm& o = f.info().form.operands[k];
    if (!isWritten(f, o, withPair)) continue;
    all.push_back(operandOf(f, k));
    all.back().form = o;
    all.back().index = k;
  }
  return all;
}

std::string spell(const Form& f, std::span<const WrittenOperand> written) {
  std::string s = f.opcode;
  for (const WrittenOperand& w : written) {
    if (w.text.empty()) return "";
    s += &w == written.data() ? " " : w.form.paired ? "|" : ", ";
    s += w.text;
  }
  return s + ";\n";
}

std::string probe(const Form& f, bool withPair) {
  const std::string text = spell(f, writtenOperands(f, withPair));
  if (text.empty()) return "";
  return moduleHead(f.op) + ".visible .entry k(.param .align 32 .b8 parameter[64])\n{\n" + kProbeRegisters + "  " +
         text + "}\n";
}

}  // namespace ordito::gpu
