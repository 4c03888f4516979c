// Accesses of 128 bits in one register (.b128): two words of 64 bits next to each other for loads and stores, one call
// for each lane for atomics.
#include "jit/emitter.hpp"

namespace ordito::jit {

using isa::Type;

LlvmValue Emitter::wideHalf(LlvmValue wide, unsigned half) {
  auto* words = llvm::FixedVectorType::get(b_.getInt64Ty(), kLanes);
  return b_.CreateTrunc(half ? b_.CreateLShr(wide, 64) : wide, words);
}

LlvmValue Emitter::wideOf(LlvmValue low, LlvmValue high) {
  llvm::Type* wide = typeOf(Type::b128, true);
  return b_.CreateOr(b_.CreateZExt(low, wide), b_.CreateShl(b_.CreateZExt(high, wide), 64));
}

void Emitter::emitWideLoad(const Instruction& i, const Address& a, const Parts& mask) {
  const ValueId to = i.operands[0].reg;
  Parts results;
  for (unsigned p = 0; p < coarsening_; ++p) {
    LlvmValue half[2];
    for (unsigned k = 0; k < 2; ++k)
      half[k] = loadLanes(a, p, i.operands[1].offset + 8 * int64_t{k}, b_.getInt64Ty(), maskOf(mask, p));
    LlvmValue v = convertBits(wideOf(half[0], half[1]), valueType(to, true));
    if (i.guard) v = b_.CreateSelect(conditionMask(i.guard.reg, i.guard.negated)[p], v, vectorOf(i.prior[0], p));
    results.push_back(v);
  }
  defineVector(to, results);
}

void Emitter::emitWideStore(const Instruction& i) {
  const Address a = addressOf(i, 0);
  const Parts mask = guardedMask(i);
  checkAlignment(i, 0, 16, mask);
  raise(i, {machine::AccessKind::Store, a, i.operands[0].offset, mask, 16});
  for (unsigned p = 0; p < coarsening_; ++p) {
    Source s;
    s.part = p;
    LlvmValue v = operand(i, 1, Type::b128, s);
    for (unsigned k = 0; k < 2; ++k)
      storeLanes(a, p, i.operands[0].offset + 8 * int64_t{k}, wideHalf(v, k), maskOf(mask, p));
  }
  if (isOrdered(i)) compilerFence();
}

void Emitter::emitWideAtomic(const Instruction& i) {
  const bool compares = i.op == isa::Op::AtomCas128;
  const Parts mask = guardedMask(i);
  checkAlignment(i, 1, 16, mask);
  const Address a = addressOf(i, 1);
  const auto kind = i.isReduction ? machine::AccessKind::Reduction : machine::AccessKind::Atomic;
  raise(i, {kind, a, i.operands[1].offset, mask, 16});
  auto* words = llvm::FixedVectorType::get(b_.getInt64Ty(), kLanes);
  auto* pair = llvm::ArrayType::get(b_.getInt64Ty(), 2);
  llvm::IRBuilder<> entry(entry_);
  auto* old = entry.CreateAlloca(llvm::ArrayType::get(pair, kLanes));
  Parts results;
  for (unsigned p = 0; p < coarsening_; ++p) {
    Source s;
    s.part = p;
    std::vector<LlvmValue> vectors{addressVector(a, p, i.operands[1].offset)};
    for (size_t k = 2; k < (compares ? 4u : 3u); ++k) {
      LlvmValue v = operand(i, k, Type::b128, s);
      vectors.push_back(wideHalf(v, 0));
      vectors.push_back(wideHalf(v, 1));
    }
    std::vector<llvm::AllocaInst*> arrays;
    for (LlvmValue v : vectors) {
      arrays.push_back(entry.CreateAlloca(words));
      b_.CreateStore(v, arrays.back());
    }
    b_.CreateStore(llvm::Constant::getNullValue(old->getAllocatedType()), old);
    forEachLane(maskOf(mask, p), [&](LlvmValue lane) {
      std::vector<LlvmValue> arguments;
      for (auto* array : arrays)
        arguments.push_back(b_.CreateLoad(b_.getInt64Ty(), b_.CreateInBoundsGEP(b_.getInt64Ty(), array, lane)));
      arguments.push_back(b_.CreateInBoundsGEP(pair, old, lane));
      helper(compares ? "ordito_compare_exchange128" : "ordito_exchange128", b_.getVoidTy(), arguments);
    });
    LlvmValue all = b_.CreateAlignedLoad(typeOf(Type::b128, true), old, llvm::Align(8));
    ir::forEachDefinition(i, [&](ValueId v, unsigned) {
      all = convertBits(all, valueType(v, true));
      if (i.guard) all = b_.CreateSelect(conditionMask(i.guard.reg, i.guard.negated)[p], all, vectorOf(i.prior[0], p));
    });
    results.push_back(all);
  }
  ir::forEachDefinition(i, [&](ValueId v, unsigned) { defineVector(v, results); });
}

}  // namespace ordito::jit
