// See reads.hpp.
#include "ptx/reads.hpp"

#include <algorithm>

namespace ordito::ptx {

using isa::Op;

namespace {

void noteRead(const Operand& o, std::vector<char>& isRead) {
  if (o.reg != kNoRegister) isRead[o.reg] = 1;
  for (const Operand& element : o.elements) noteRead(element, isRead);
}

bool isAnyRead(const Operand& o, const std::vector<char>& isRead) {
  return (o.reg != kNoRegister && isRead[o.reg]) ||
         std::any_of(o.elements.begin(), o.elements.end(), [&](const Operand& e) { return isAnyRead(e, isRead); });
}

}  // namespace

std::vector<char> readRegisters(const Function& f) {
  std::vector<char> isRead(f.registers.size(), 0);
  for (const Parameter& p : f.returns)
    if (p.isRegister) isRead[p.reg] = 1;
  for (const Instruction& i : f.instructions) {
    if (i.guard) isRead[i.guard.reg] = 1;
    const auto forms = i.info().form.operandList();
    for (size_t k = 0; k < i.operands.size(); ++k)
      if (i.op == Op::Call || k >= forms.size() || forms[k].kind != isa::OperandForm::Kind::Destination)
        noteRead(i.operands[k], isRead);
  }
  return isRead;
}

bool isReduction(const Instruction& i, const std::vector<char>& isRead) {
  if (i.info().effect != isa::Effect::Atomic) return false;
  const auto forms = i.info().form.operandList();
  return forms[0].kind != isa::OperandForm::Kind::Destination || !isAnyRead(i.operands[0], isRead);
}

}  // namespace ordito::ptx
