// Accesses of 128 bits in one register (.b128): two words of 64 bits next to each other for loads and stores, one call
// for each lane for atomics.
#include "jit/wide_accesses.hpp"

namespace ordito::jit {

using isa::Type;

LlvmValue WideAccesses::half(LlvmValue wide, unsigned half) {
  auto* words = llvm::FixedVectorType::get(b_.getInt64Ty(), kLanes);
  return b_.CreateTrunc(half ? b_.CreateLShr(wide, 64) : wide, words);
}

LlvmValue WideAccesses::join(LlvmValue low, LlvmValue high) {
  llvm::Type* wide = values_.typeOf(Type::b128, true);
  return b_.CreateOr(b_.CreateZExt(low, wide), b_.CreateShl(b_.CreateZExt(high, wide), 64));
}

void WideAccesses::load(const Instruction& i, const Address& a, const Allowance& allowance) {
  const ValueId to = i.operands[0].reg;
  Parts results;
  for (unsigned p = 0; p < warps(); ++p) {
    LlvmValue half[2];
    for (unsigned k = 0; k < 2; ++k)
      half[k] = access_.load(a, p, i.operands[1].offset + 8 * int64_t{k}, b_.getInt64Ty(),
                             masks_.maskOf(allowance.mask, p), plan_.memory.accesses.at(i, 1));
    for (LlvmValue& word : half) word = events_.butRefused(allowance, p, word);
    LlvmValue v = values_.convertBits(join(half[0], half[1]), values_.valueType(to, true));
    if (i.guard)
      v = b_.CreateSelect(values_.conditionMask(i.guard.reg, i.guard.negated)[p], v, values_.vectorOf(i.prior[0], p));
    results.push_back(v);
  }
  values_.defineVector(to, results);
}

void WideAccesses::store(const Instruction& i) {
  const Address a = addresses_.addressOf(i, 0);
  std::vector<LlvmValue> told;
  for (unsigned k = 0; eventCalls_.hearsAll() && k < 2; ++k)
    told.push_back(half(operands_.operand(i, 1, Type::b128, {}), k));
  const Parts mask =
      events_.raise(i, {machine::AccessKind::Store, a, i.operands[0].offset, values_.guardedMask(i), 16, told}).mask;
  alignment_.check(i, 0, 16, mask);
  for (unsigned p = 0; p < warps(); ++p) {
    Source s;
    s.part = p;
    LlvmValue v = operands_.operand(i, 1, Type::b128, s);
    for (unsigned k = 0; k < 2; ++k)
      access_.store(a, p, i.operands[0].offset + 8 * int64_t{k}, half(v, k), masks_.maskOf(mask, p),
                    plan_.memory.accesses.at(i, 0));
  }
  if (isOrdered(i)) c_.compilerFence();
}

void WideAccesses::atomic(const Instruction& i) {
  const bool compares = i.op == isa::Op::AtomCas128;
  const Address a = addresses_.addressOf(i, 1);
  const auto kind = i.isReduction ? machine::AccessKind::Reduction : machine::AccessKind::Atomic;
  const Allowance allowance = events_.raise(i, {kind, a, i.operands[1].offset, values_.guardedMask(i), 16});
  const Parts& mask = allowance.mask;
  alignment_.check(i, 1, 16, mask);
  auto* words = llvm::FixedVectorType::get(b_.getInt64Ty(), kLanes);
  auto* pair = llvm::ArrayType::get(b_.getInt64Ty(), 2);
  llvm::IRBuilder<> entry(c_.entry);
  auto* old = entry.CreateAlloca(llvm::ArrayType::get(pair, kLanes));
  Parts results;
  for (unsigned p = 0; p < warps(); ++p) {
    Source s;
    s.part = p;
    std::vector<LlvmValue> vectors{addresses_.addressVector(a, p, i.operands[1].offset)};
    for (size_t k = 2; k < (compares ? 4u : 3u); ++k) {
      LlvmValue v = operands_.operand(i, k, Type::b128, s);
      vectors.push_back(half(v, 0));
      vectors.push_back(half(v, 1));
    }
    std::vector<llvm::AllocaInst*> arrays;
    for (LlvmValue v : vectors) {
      arrays.push_back(entry.CreateAlloca(words));
      b_.CreateStore(v, arrays.back());
    }
    b_.CreateStore(llvm::Constant::getNullValue(old->getAllocatedType()), old);
    calls_.forEachLane(masks_.maskOf(mask, p), [&](LlvmValue lane) {
      std::vector<LlvmValue> arguments;
      for (auto* array : arrays)
        arguments.push_back(b_.CreateLoad(b_.getInt64Ty(), b_.CreateInBoundsGEP(b_.getInt64Ty(), array, lane)));
      arguments.push_back(b_.CreateInBoundsGEP(pair, old, lane));
      c_.helper(compares ? "ordito_compare_exchange128" : "ordito_exchange128", b_.getVoidTy(), arguments);
    });
    LlvmValue all = b_.CreateAlignedLoad(values_.typeOf(Type::b128, true), old, llvm::Align(8));
    ir::forEachDefinition(i, [&](ValueId v, unsigned) {
      all = values_.convertBits(all, values_.valueType(v, true));
      if (i.guard)
        all = b_.CreateSelect(values_.conditionMask(i.guard.reg, i.guard.negated)[p], all,
                              values_.vectorOf(i.prior[0], p));
      all = events_.butRefused(allowance, p, all);
    });
    results.push_back(all);
  }
  ir::forEachDefinition(i, [&](ValueId v, unsigned) { values_.defineVector(v, results); });
}

}  // namespace ordito::jit
