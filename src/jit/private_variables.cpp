// See private_variables.hpp.
#include "jit/private_variables.hpp"

namespace ordito::jit {

using Operand = ptx::Operand;

void PrivateVariables::makeSlots() {
  for (const auto& [key, type] : plan_.memory.privateSlots.types) {
    Slot slot{values_.memoryType(type), {}};
    for (unsigned p = 0; p < plan_.facts.coarsening.most(); ++p)
      slot.parts.push_back(
          llvm::IRBuilder<>(c_.entry).CreateAlloca(llvm::FixedVectorType::get(slot.type, kLanes), nullptr, "private"));
    privateSlots_[key] = slot;
  }
}

void PrivateVariables::forget() {
  for (const auto& [key, slot] : privateSlots_)
    for (llvm::AllocaInst* part : slot.parts) b_.CreateStore(llvm::UndefValue::get(part->getAllocatedType()), part);
}

void PrivateVariables::load(const Instruction& i) {
  const auto key = simt::privateKey(f_, i.operands[1]);
  Address a;
  a.space = f_.variables[key->first].space;
  if (events_.listens())
    events_.raise(i,
                  {machine::AccessKind::Load, a, i.operands[1].offset, values_.guardedMask(i), isa::bytes(i.type[0])});
  const Operand& to = i.operands[0];
  const std::vector<Operand> targets = to.kind == Operand::Kind::Vector ? to.elements : std::vector<Operand>{to};
  for (unsigned k = 0; k < targets.size(); ++k) {
    if (targets[k].kind != Operand::Kind::Register) continue;
    Slot& slot = privateSlots_.at({key->first, key->second + int64_t{k} * isa::bytes(i.type[0])});
    Parts parts;
    for (unsigned p = 0; p < warps(); ++p) {
      LlvmValue x = values_.convertBits(b_.CreateLoad(llvm::FixedVectorType::get(slot.type, kLanes), slot.parts[p]),
                                        llvm::FixedVectorType::get(values_.memoryType(i.type[0]), kLanes));
      x = values_.extendLoaded(x, i, targets[k].reg, true);
      if (i.guard) {
        LlvmValue guard = values_.vectorOf(i.guard.reg, p), prior = values_.vectorOf(i.prior[k], p);
        x = i.guard.negated ? b_.CreateSelect(guard, prior, x) : b_.CreateSelect(guard, x, prior);
      }
      parts.push_back(x);
    }
    values_.defineVector(targets[k].reg, parts);
  }
}

void PrivateVariables::store(const Instruction& i) {
  const auto key = simt::privateKey(f_, i.operands[0]);
  const Operand& from = i.operands[1];
  const std::vector<Operand> sources = from.kind == Operand::Kind::Vector ? from.elements : std::vector<Operand>{from};
  const Parts mask = values_.guardedMask(i);
  Address a;
  a.space = f_.variables[key->first].space;
  events_.raise(i, {machine::AccessKind::Store, a, i.operands[0].offset, mask, isa::bytes(i.type[0])});
  for (unsigned k = 0; k < sources.size(); ++k) {
    Slot& slot = privateSlots_.at({key->first, key->second + int64_t{k} * isa::bytes(i.type[0])});
    auto* type = llvm::FixedVectorType::get(slot.type, kLanes);
    for (unsigned p = 0; p < warps(); ++p) {
      Source s;
      s.part = p;
      LlvmValue x = values_.convertBits(operands_.exactBits(sources[k], i.type[0], s), type);
      if (!mask.empty()) x = b_.CreateSelect(mask[p], x, b_.CreateLoad(type, slot.parts[p]));
      b_.CreateStore(x, slot.parts[p]);
    }
  }
}

}  // namespace ordito::jit
