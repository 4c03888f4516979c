// PTX ISA, "Asynchronous copy": done at once, word by word, by the machinery of loads and stores.
#include "jit/emitter.hpp"

namespace ordito::jit {

using isa::ModifierKind;
using isa::Type;
using ptx::Operand;

/// How many bytes of the source each lane wants: null for all.
LlvmValue Emitter::wantedBytes(const Instruction& i, unsigned bytes, unsigned part) {
  const Operand& size = i.operands[3];
  const bool isPolicy = i.has(ModifierKind::CacheHint) && i.operands[4].kind == Operand::Kind::None;
  if (size.kind == Operand::Kind::None || isPolicy) return nullptr;
  if (size.kind == Operand::Kind::Integer && size.bits >= bytes) return nullptr;
  Source s;
  s.part = part;
  const bool isPredicate = size.kind == Operand::Kind::Register && f_.values[size.reg].type == Type::pred;
  if (!isPredicate) return operand(size, Type::u32, s);
  return b_.CreateSelect(operand(size, Type::pred, s), constant(Type::u32, 0, true), constant(Type::u32, bytes, true));
}

void Emitter::emitAsyncCopy(const Instruction& i) {
  const unsigned bytes = static_cast<unsigned>(i.operands[2].bits), count = bytes / 4;
  const Address to = addressOf(i, 0), from = addressOf(i, 1);
  const Parts mask = guardedMask(i);
  for (size_t k : {size_t{0}, size_t{1}}) checkAlignment(i, k, bytes, mask);
  raiseCopy(i, from, to, mask, bytes);
  auto shifted = [&](const Address& a, int64_t offset) {
    Address moved = a;
    if (a.isGrouped())
      for (auto& lane : moved.pattern) lane += offset;
    return moved;
  };
  auto number = [&](uint64_t n) { return constant(Type::u32, n, true); };
  for (unsigned p = 0; p < coarsening_; ++p) {
    LlvmValue wanted = wantedBytes(i, bytes, p);
    std::vector<LlvmValue> words;
    if (!wanted && count > 1)
      words = loadInterleaved(shifted(from, i.operands[1].offset), p, count, b_.getInt32Ty(), maskOf(mask, p));
    for (unsigned k = words.empty() ? 0 : count; k < count; ++k) {
      LlvmValue lanes = maskOf(mask, p);
      if (wanted) {
        LlvmValue some = b_.CreateICmpUGT(wanted, number(4 * k));
        lanes = lanes ? b_.CreateAnd(lanes, some) : some;
      }
      LlvmValue word = loadLanes(from, p, i.operands[1].offset + 4 * int64_t{k}, b_.getInt32Ty(), lanes);
      if (wanted) {
        // What lies beyond the wanted bytes is zero.
        LlvmValue left = b_.CreateSub(wanted, number(4 * k)), whole = b_.CreateICmpUGE(left, number(4));
        LlvmValue low =
            b_.CreateSub(b_.CreateShl(number(1), b_.CreateAnd(b_.CreateShl(left, 3), number(31))), number(1));
        LlvmValue kept = b_.CreateSelect(whole, word, b_.CreateAnd(word, low));
        word = b_.CreateSelect(b_.CreateICmpUGT(wanted, number(4 * k)), kept, number(0));
      }
      words.push_back(word);
    }
    if (count > 1 && storeInterleaved(shifted(to, i.operands[0].offset), p, words, maskOf(mask, p))) continue;
    for (unsigned k = 0; k < count; ++k)
      storeLanes(to, p, i.operands[0].offset + 4 * int64_t{k}, words[k], maskOf(mask, p));
  }
}

/// Each element of a vector is an atomic operation of its own.
void Emitter::emitVectorAtomic(const Instruction& i) {
  const bool returns = i.op == isa::Op::AtomVector;
  const size_t at = returns ? 1 : 0;
  const auto& elements = i.operands[at + 1].elements;
  const unsigned bytes = isa::bytes(i.type[0]) * static_cast<unsigned>(elements.size());
  const Parts mask = guardedMask(i);
  checkAlignment(i, at, bytes, mask);
  const auto kind = returns && !i.isReduction ? machine::AccessKind::Atomic : machine::AccessKind::Reduction;
  if (counting_) raise(i, {kind, addressOf(i, at), i.operands[at].offset, mask, bytes});
  unsigned definition = 0;
  for (size_t k = 0; k < elements.size(); ++k) {
    Instruction one = i;
    one.raisesAccess = false;
    one.op = returns ? isa::Op::Atom : isa::Op::Red;
    one.mods[ModifierKind::Vector] = 0;
    if (returns) {
      one.operands[0] = i.operands[0].elements[k];
      if (i.guard && one.operands[0].kind == Operand::Kind::Register) one.prior = {i.prior[definition++], ir::kNoValue};
    }
    one.operands[at].offset += static_cast<int64_t>(k * isa::bytes(i.type[0]));
    one.operands[at + 1] = elements[k];
    emitAtomic(one);
  }
}

/// The lowest lane of the member mask leads.
void Emitter::emitElect(const Instruction& i) {
  const Parts active = guardedMask(i);
  std::vector<Parts> results(2);
  ir::Pattern ids;
  for (unsigned l = 0; l < kLanes; ++l) ids[l] = l;
  for (unsigned p = 0; p < coarsening_; ++p) {
    LlvmValue lanes = active.empty() ? b_.getInt32(~0u) : laneBits(active[p]), members = memberMask(i, p);
    LlvmValue both = b_.CreateAnd(members->getType()->isVectorTy() ? splat(lanes) : lanes, members);
    LlvmValue leader = b_.CreateIntrinsic(llvm::Intrinsic::cttz, {both->getType()}, {both, b_.getFalse()});
    if (!leader->getType()->isVectorTy()) leader = splat(leader);
    results[0].push_back(leader);
    results[1].push_back(b_.CreateICmpEQ(patternVector(ids, b_.getInt32Ty()), leader));
  }
  unsigned definition = 0;
  for (unsigned k = 0; k < 2; ++k) {
    if (i.operands[k].kind != Operand::Kind::Register) continue;
    for (unsigned p = 0; p < coarsening_; ++p) {
      LlvmValue& v = results[k][p];
      v = convertBits(v, valueType(i.operands[k].reg, true));
      if (i.guard)
        v = b_.CreateSelect(conditionMask(i.guard.reg, i.guard.negated)[p], v, vectorOf(i.prior[definition], p));
    }
    defineVector(i.operands[k].reg, results[k]);
    ++definition;
  }
}

}  // namespace ordito::jit
