// PTX ISA, warp-level instructions: shfl, vote, match, redux, activemask, bar.warp.sync. A warp is one vector, so they are permutations and reductions of it.
#include "jit/emitter.hpp"

namespace ordito::jit {

using isa::ModifierKind;
using isa::Op;
using isa::Type;

void Emitter::emitWarp(const Instruction& i) {
  switch (i.op) {
    case Op::Shfl:
    case Op::ShflOld: return emitShuffle(i);
    case Op::Vote:
    case Op::VoteOld:
    case Op::Activemask: return emitVote(i);
    case Op::Match: return emitMatch(i);
    case Op::Redux: return emitRedux(i);
    case Op::BarWarpSync: return compilerFence();  // a warp runs in lock-step
    default: refuse(i, "this warp instruction is not supported by the JIT");
  }
}

/// Source lanes as the manual's pseudo-code computes them; a lane outside its segment reads itself.
void Emitter::emitShuffle(const Instruction& i) {
  const auto mode = i.mods.name(ModifierKind::ShflMode);
  const auto& bOperand = i.operands[3];
  const auto& cOperand = i.operands[4];
  const bool known = bOperand.kind == ptx::Operand::Kind::Integer && cOperand.kind == ptx::Operand::Kind::Integer;
  std::vector<ValueId> results;
  ir::forEachDefinition(i, [&](ValueId v, unsigned) { results.push_back(v); });
  const bool hasValue = i.operands[0].kind == ptx::Operand::Kind::Register;
  std::vector<Parts> out(results.size());
  for (unsigned p = 0; p < jam_; ++p) {
    Source s;
    s.part = p;
    LlvmValue value = operand(i, 2, Type::b32, s), shuffled, inside;
    if (known) {
      std::vector<int> lanes;
      std::vector<llvm::Constant*> flags;
      const unsigned bv = bOperand.bits & 31, c = cOperand.bits & 31, segment = cOperand.bits >> 8 & 31;
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        const int low = static_cast<int>(lane & segment), high = static_cast<int>((lane & segment) | (c & ~segment & 31));
        const int j = mode == "up" ? static_cast<int>(lane) - static_cast<int>(bv) : mode == "down" ? static_cast<int>(lane + bv) : mode == "bfly" ? static_cast<int>(lane ^ bv) : low | static_cast<int>(bv & ~segment & 31);
        const bool in = mode == "up" ? j >= high : j <= high;
        lanes.push_back(in ? j & 31 : static_cast<int>(lane));
        flags.push_back(b_.getInt1(in));
      }
      shuffled = b_.CreateShuffleVector(value, lanes);
      inside = llvm::ConstantVector::get(flags);
    } else {
      auto number = [&](uint64_t n) { return constant(Type::u32, n, true); };
      ir::Pattern ids;
      for (unsigned l = 0; l < kLanes; ++l) ids[l] = l;
      LlvmValue lane = patternVector(ids, b_.getInt32Ty());
      LlvmValue bv = b_.CreateAnd(operand(i, 3, Type::u32, s), number(31)), c = operand(i, 4, Type::u32, s);
      LlvmValue segment = b_.CreateAnd(b_.CreateLShr(c, 8), number(31)), clamp = b_.CreateAnd(c, number(31));
      LlvmValue low = b_.CreateAnd(lane, segment), outside = b_.CreateXor(segment, number(31));
      LlvmValue high = b_.CreateOr(low, b_.CreateAnd(clamp, outside));
      LlvmValue j = mode == "up" ? b_.CreateSub(lane, bv) : mode == "down" ? b_.CreateAdd(lane, bv) : mode == "bfly" ? b_.CreateXor(lane, bv) : b_.CreateOr(low, b_.CreateAnd(bv, outside));
      inside = mode == "up" ? b_.CreateICmpSGE(j, high) : b_.CreateICmpSLE(j, high);
      LlvmValue from = b_.CreateAnd(b_.CreateSelect(inside, j, lane), number(31));
      auto* stack = llvm::IRBuilder<>(entry_).CreateAlloca(value->getType());
      b_.CreateStore(value, stack);
      shuffled = llvm::PoisonValue::get(value->getType());
      for (unsigned l = 0; l < kLanes; ++l) {
        LlvmValue at = b_.CreateInBoundsGEP(b_.getInt32Ty(), stack, b_.CreateExtractElement(from, uint64_t{l}));
        shuffled = b_.CreateInsertElement(shuffled, b_.CreateLoad(b_.getInt32Ty(), at), uint64_t{l});
      }
    }
    for (size_t k = 0; k < results.size(); ++k) {
      LlvmValue v = convertBits(k == 0 && hasValue ? shuffled : inside, valueType(results[k], true));
      if (i.guard) v = b_.CreateSelect(conditionMask(i.guard.reg, i.guard.negated)[p], v, vectorOf(i.prior[k], p));
      out[k].push_back(v);
    }
  }
  for (size_t k = 0; k < results.size(); ++k) defineVector(results[k], out[k]);
}

/// vote and activemask give every active lane of a warp the same answer: a scalar.
void Emitter::emitVote(const Instruction& i) {
  ValueId result = ir::kNoValue;
  ir::forEachDefinition(i, [&](ValueId v, unsigned) { result = v; });
  if (result == ir::kNoValue) return;
  const auto mode = i.mods.name(ModifierKind::VoteMode);
  const Parts active = guardedMask(i);
  Held h;
  Parts vectors;
  for (unsigned p = 0; p < jam_; ++p) {
    Source s;
    s.part = p;
    LlvmValue lanes = active.empty() ? b_.getInt32(~0u) : laneBits(active[p]);
    LlvmValue answer = lanes;
    if (i.op != Op::Activemask) {
      LlvmValue holds = b_.CreateAnd(laneBits(operand(i, 1, Type::pred, s)), lanes);
      if (i.op == Op::Vote) {
        // Only lanes named in the member mask count.
        Source first;
        first.part = p, first.group = 0;
        const auto& m = i.operands[2];
        LlvmValue members = m.kind == ptx::Operand::Kind::Register && !shapes_[m.reg].isUniform() ? b_.CreateExtractElement(operand(i, 2, Type::u32, s), uint64_t{0}) : operand(i, 2, Type::u32, first);
        holds = b_.CreateAnd(holds, members);
        lanes = b_.CreateAnd(lanes, members);
      }
      LlvmValue all = b_.CreateICmpEQ(holds, lanes), any = b_.CreateICmpNE(holds, b_.getInt32(0));
      answer = mode == "ballot" ? holds : mode == "all" ? all : mode == "any" ? any : b_.CreateOr(all, b_.CreateNot(any));
    }
    answer = convertBits(answer, valueType(result, false));
    if (shapes_[result].isGrouped())
      h.bases.push_back({answer});
    else {
      LlvmValue v = splat(answer);
      if (i.guard) v = b_.CreateSelect(conditionMask(i.guard.reg, i.guard.negated)[p], v, vectorOf(i.prior[0], p));
      vectors.push_back(v);
    }
  }
  if (shapes_[result].isGrouped())
    define(result, std::move(h));
  else
    defineVector(result, vectors);
}

/// Lane masks of equal values, by the runtime: 32 × 32 comparisons.
void Emitter::emitMatch(const Instruction& i) {
  const bool all = i.mods.name(ModifierKind::MatchMode) == "all";
  const Type t = isa::bits(i.type[0]) == 32 ? Type::u32 : Type::u64;
  std::vector<ValueId> results;
  ir::forEachDefinition(i, [&](ValueId v, unsigned) { results.push_back(v); });
  const Parts active = guardedMask(i);
  std::vector<Parts> out(results.size());
  for (unsigned p = 0; p < jam_; ++p) {
    Source s;
    s.part = p;
    llvm::IRBuilder<> entry(entry_);
    auto* wide = llvm::FixedVectorType::get(b_.getInt64Ty(), kLanes);
    auto* masks = llvm::FixedVectorType::get(b_.getInt32Ty(), kLanes);
    auto* values = entry.CreateAlloca(wide);
    auto* found = entry.CreateAlloca(masks);
    b_.CreateStore(b_.CreateZExt(operand(i, 2, t, s), wide), values);
    LlvmValue lanes = active.empty() ? b_.getInt32(~0u) : laneBits(active[p]);
    helper(all ? "ordito_match_all" : "ordito_match_any", b_.getVoidTy(), {values, lanes, found});
    LlvmValue mask = b_.CreateLoad(masks, found);
    for (size_t k = 0; k < results.size(); ++k) {
      LlvmValue v = k == 0 ? mask : b_.CreateICmpNE(mask, constant(Type::u32, 0, true));
      v = convertBits(v, valueType(results[k], true));
      if (i.guard) v = b_.CreateSelect(conditionMask(i.guard.reg, i.guard.negated)[p], v, vectorOf(i.prior[k], p));
      out[k].push_back(v);
    }
  }
  for (size_t k = 0; k < results.size(); ++k) defineVector(results[k], out[k]);
}

void Emitter::emitRedux(const Instruction& i) {
  ValueId result = ir::kNoValue;
  ir::forEachDefinition(i, [&](ValueId v, unsigned) { result = v; });
  if (result == ir::kNoValue) return;
  const auto op = i.mods.name(ModifierKind::ReduxOp);
  const bool isSigned = isa::isSigned(i.type[0]);
  const uint32_t identity = op == "and" ? ~0u : op == "min" ? (isSigned ? 0x7FFFFFFFu : ~0u) : op == "max" && isSigned ? 0x80000000u : 0;
  const auto id = op == "add"   ? llvm::Intrinsic::vector_reduce_add
                  : op == "and" ? llvm::Intrinsic::vector_reduce_and
                  : op == "or"  ? llvm::Intrinsic::vector_reduce_or
                  : op == "xor" ? llvm::Intrinsic::vector_reduce_xor
                  : op == "min" ? (isSigned ? llvm::Intrinsic::vector_reduce_smin : llvm::Intrinsic::vector_reduce_umin)
                                : (isSigned ? llvm::Intrinsic::vector_reduce_smax : llvm::Intrinsic::vector_reduce_umax);
  const Parts active = guardedMask(i);
  Held h;
  Parts vectors;
  for (unsigned p = 0; p < jam_; ++p) {
    Source s;
    s.part = p;
    LlvmValue v = operand(i, 1, Type::u32, s);
    if (!active.empty()) v = b_.CreateSelect(active[p], v, constant(Type::u32, identity, true));
    LlvmValue answer = b_.CreateIntrinsic(id, {v->getType()}, {v});
    h.bases.push_back({answer});
    LlvmValue all = splat(answer);
    if (i.guard && !shapes_[result].isGrouped()) all = b_.CreateSelect(active[p], all, vectorOf(i.prior[0], p));
    vectors.push_back(all);
  }
  if (shapes_[result].isGrouped())
    define(result, std::move(h));
  else
    defineVector(result, vectors);
}

}  // namespace ordito::jit
