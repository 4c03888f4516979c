// The instruction of a form alone in a kernel, with registers, vectors, addresses and constants where its row wants
// them: what the verifier and NVIDIA's compiler are asked about.
#include <fmt/format.h>
#include <fmt/ranges.h>

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

/// What stands before the instruction, which has the module's last line but one for itself.
constexpr const char* kHead =
    ".visible .entry k(.param .align 32 .b8 parameter[64])\n{\n"
    "  .reg .pred %p<128>;\n  .reg .b8 %c<128>;\n  .reg .b16 %h<128>;\n  .reg .b32 %r<128>;\n  .reg .b64 %l<128>;\n  "
    ".reg .b128 %q<128>;\n "
    " ";

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
    case Op::Discard: return "128";
    default: return nullptr;
  }
}

std::string registerAt(Type t, size_t k, size_t element = 0) {
  const bool isByte = isa::bits(t) == 8 && isa::isUndeclarable(t);  // a pair of four bits each
  return fmt::format("%{}{}", isByte ? 'c' : registerKind(t), k * kLongestVector + element);
}

std::string vectorOf(Type t, size_t k, size_t count) {
  std::vector<std::string> all;
  for (size_t e = 0; e < count; ++e) all.push_back(registerAt(t, k, e));
  return fmt::format("{{{}}}", fmt::join(all, ", "));
}

std::string addressOf(const Form& f, size_t k) {
  return ptx::spaceOf(f.instruction, k) == ptx::Space::Param ? "[parameter]" : fmt::format("[%l{}]", k);
}

/// The handle of a texture or surface with coordinates: the layer is an integer, and three are written as four.
std::string imageOf(const Form& f, size_t k) {
  const size_t count = ptx::coordinateCount(f.instruction);
  return fmt::format("[%l{}, {}]", k, vectorOf(Type::b32, k, count == 3 ? 4 : count));
}

/// An arrival at another block's mbarrier gives no state.
bool hasNoState(const Form& f) {
  return f.op >= Op::MbarrierArrive && f.op <= Op::MbarrierDropExpectTx &&
         f.name(ModifierKind::Space) == "shared::cluster";
}

/// Empty where the row wants something else: a label, a function.
std::string operandOf(const Form& f, size_t k) {
  const isa::OperandForm& o = f.info().form.operands[k];
  if (const char* constant = constantOf(f, k)) return constant;
  if (hasNoState(f) && k == 0) return "_";
  if (o.kind == FormKind::Address) return addressOf(f, k);
  if (o.kind == FormKind::Image) return imageOf(f, k);
  const Type type = ptx::operandType(f.instruction, k);
  if (type == Type::None) return "";
  const size_t length = ptx::vectorLength(f.instruction, k);
  return length ? vectorOf(type, k, length) : registerAt(type, k);
}

/// Of the optional operands a probe has only the cache policy that its modifier asks for.
bool isWritten(const Form& f, const isa::OperandForm& o, bool withPair) {
  if (o.paired) return withPair || !o.optional;
  return !o.optional || (o.name == "u" && f.has(ModifierKind::CacheHint));
}

}  // namespace

std::string probe(Form f, bool withPair) {
  std::string operands;
  f.instruction.operands.resize(f.info().form.operandCount);
  for (size_t k = 0; k < f.info().form.operandCount; ++k) {
    const isa::OperandForm& o = f.info().form.operands[k];
    if (!isWritten(f, o, withPair)) continue;
    const std::string text = operandOf(f, k);
    if (text.empty()) return "";
    operands += operands.empty() ? " " : o.paired ? "|" : ", ";
    operands += text;
  }
  return moduleHead(f.op) + kHead + f.opcode + operands + ";\n}\n";
}

}  // namespace ordito::gpu
