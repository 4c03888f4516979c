#include "forms.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ptx/opcode.hpp"
#include "ptx/operands.hpp"
#include "ptx/parser.hpp"
#include "ptx/verifier.hpp"
#include "ptx/verifier_impl.hpp"

namespace ordito::gpu {

using isa::Op;
using isa::Slot;
using isa::Type;

namespace {

uint8_t valuesOf(isa::ModifierKind kind) {
  const auto values = isa::kModifiers[static_cast<size_t>(kind)].values;
  return static_cast<uint8_t>(std::count(values.begin(), values.end(), ' ') + 1);
}

/// Walks the slots of a row and takes every value of each.
class Enumeration {
 public:
  Enumeration(Op op, Extent extent) : row_(isa::info(op)), extent_(extent) { now_.op = op; }

  std::vector<Form> run() {
    slot(0, 0);
    return std::move(found_);
  }

 private:
  const isa::OpInfo& row_;
  Extent extent_;
  ptx::Instruction now_;
  std::vector<Form> found_;

  void slot(size_t k, unsigned chosen) {
    if (k == row_.form.slotCount) return take();
    const Slot& s = row_.form.slots[k];
    if (s.optional) slot(k + 1, chosen);
    if (s.optional && chosen >= extent_.optional) return;
    if (s.kind == Slot::Kind::Type) return types(k, chosen);
    if (now_.mods.has(s.modifier)) return;
    const bool isFree = s.kind == Slot::Kind::Modifier;
    for (uint8_t v = isFree ? 1 : s.literal; v <= (isFree ? valuesOf(s.modifier) : s.literal); ++v) {
      if (!s.allows(v)) continue;
      now_.mods[s.modifier] = v;
      slot(k + 1, chosen + s.optional);
    }
    now_.mods[s.modifier] = 0;
  }

  void types(size_t k, unsigned chosen) {
    const Slot& s = row_.form.slots[k];
    for (size_t t = 1; t < std::size(isa::kTypes); ++t) {
      if (!row_.allows(s.type, static_cast<Type>(t))) continue;
      now_.type[s.type] = static_cast<Type>(t);
      slot(k + 1, chosen + s.optional);
    }
    now_.type[s.type] = Type::None;
  }

  void take() {
    if (!extent_.refused && ptx::modifierProblem(now_)) return;
    Form f;
    f.op = now_.op;
    f.instruction = now_;
    f.opcode = ptx::spellOpcode(now_);
    found_.push_back(std::move(f));
  }
};

bool isTable(const isa::OperandForm& o) { return o.name == "immLut"; }

/// Operands as the row lists them; false where one is no register.
bool fillOperands(Form& f, bool withPair) {
  for (size_t k = 0; k < f.info().form.operandCount; ++k) {
    const isa::OperandForm& o = f.info().form.operands[k];
    if (o.paired && !withPair) continue;
    const Type type = ptx::operandType(f.instruction, k);
    if (type == Type::None || isa::bits(type) > 64) return false;
    f.operands.push_back({o, type});
  }
  return true;
}

/// Truth tables of lop3 that use every operand in many ways; the plain row gets all.
std::vector<int> tablesOf(Op op) {
  if (op != Op::Lop3) return {0x00, 0xE8, 0x96, 0xCA, 0x80, 0xFE, 0x2B, 0xFF};
  std::vector<int> all(256);
  for (int k = 0; k < 256; ++k) all[static_cast<size_t>(k)] = k;
  return all;
}

}  // namespace

char registerKind(Type t) {
  if (t == Type::pred) return 'p';
  return isa::bits(t) <= 16 ? 'h' : isa::bits(t) == 32 ? 'r' : 'l';
}

bool isForH200(Op op) { return isa::info(op).target <= isa::Target{90, true}; }

std::string moduleHead(Op op) {
  return fmt::format(".version 8.8\n.target {}\n.address_size 64\n", isForH200(op) ? "sm_90a" : "sm_100a");
}

bool isValid(const std::string& text) {
  auto module = ptx::parse(text, "form");
  return module && ptx::verify(*module);
}

std::string Form::key() const {
  std::string k = opcode;
  for (const Operand& o : operands)
    if (o.form.paired) k += " p|q";
  return table < 0 ? k : k + fmt::format(" {:#04x}", table);
}

std::vector<Form> opcodesOf(Op op, Extent extent) { return Enumeration(op, extent).run(); }

std::vector<Form> pureForms(Op op) {
  std::vector<Form> forms;
  const isa::OpInfo& row = isa::info(op);
  if (row.effect != isa::Effect::Pure) return forms;
  bool hasPair = false, hasTable = false;
  for (const isa::OperandForm& o : row.form.operandList()) hasPair |= o.paired, hasTable |= isTable(o);
  for (const Form& opcode : opcodesOf(op))
    for (int withPair = 0; withPair <= hasPair; ++withPair) {
      Form f = opcode;
      if (!fillOperands(f, withPair != 0) || !isValid(probe(opcode, withPair != 0))) continue;
      if (!hasTable) forms.push_back(f);
      if (hasTable)
        for (int table : tablesOf(op)) f.table = table, forms.push_back(f);
    }
  return forms;
}

}  // namespace ordito::gpu
