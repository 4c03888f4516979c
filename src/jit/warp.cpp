// PTX ISA, warp-level instructions: shfl, vote, match, redux, activemask, bar.warp.sync. A warp is one vector, so they
// are permutations and reductions of it.
#include "jit/warp.hpp"

namespace ordito::jit {

using isa::ModifierKind;
using isa::Op;
using isa::Type;

void WarpInstructions::emit(const Instruction& i) {
  eventCalls_.meeting(i);
  switch (i.op) {
    case Op::Shfl:
    case Op::ShflOld: return shuffle(i);
    case Op::Vote:
    case Op::VoteOld:
    case Op::Activemask: return vote(i);
    case Op::Match: return match(i);
    case Op::Redux: return redux(i);
    case Op::Elect: return elect(i);
    case Op::BarWarpSync: return c_.compilerFence();  // a warp runs in lock-step
    default: c_.refuse(i, "this warp instruction is not supported by the JIT");
  }
}

void WarpInstructions::shuffle(const Instruction& i) {
  const bool known =
      i.operands[3].kind == ptx::Operand::Kind::Integer && i.operands[4].kind == ptx::Operand::Kind::Integer;
  std::vector<ValueId> results;
  ir::forEachDefinition(i, [&](ValueId v, unsigned) { results.push_back(v); });
  const bool hasValue = i.operands[0].kind == ptx::Operand::Kind::Register;
  std::vector<Parts> out(results.size());
  for (unsigned p = 0; p < warps(); ++p) {
    Source s;
    s.part = p;
    LlvmValue value = operands_.operand(i, 2, Type::b32, s);
    const Shuffled shuffled = known ? shuffleByTable(i, value) : shuffleByNumbers(i, value, s);
    for (size_t k = 0; k < results.size(); ++k) {
      LlvmValue v = values_.convertBits(k == 0 && hasValue ? shuffled.values : shuffled.inside,
                                        values_.valueType(results[k], true));
      if (i.guard)
        v = b_.CreateSelect(values_.conditionMask(i.guard.reg, i.guard.negated)[p], v, values_.vectorOf(i.prior[k], p));
      out[k].push_back(v);
    }
  }
  for (size_t k = 0; k < results.size(); ++k) values_.defineVector(results[k], out[k]);
}

/// Source lanes as the manual's pseudo-code computes them, known when the kernel is compiled: a permute table. A lane
/// outside its segment reads itself.
WarpInstructions::Shuffled WarpInstructions::shuffleByTable(const Instruction& i, LlvmValue value) {
  const auto mode = i.mods.name(ModifierKind::ShflMode);
  const auto &bOperand = i.operands[3], &cOperand = i.operands[4];
  std::vector<int> lanes;
  std::vector<llvm::Constant*> flags;
  const unsigned bv = bOperand.bits & 31, c = cOperand.bits & 31, segment = cOperand.bits >> 8 & 31;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const int low = static_cast<int>(lane & segment), high = static_cast<int>((lane & segment) | (c & ~segment & 31));
    const int j = mode == "up"     ? static_cast<int>(lane) - static_cast<int>(bv)
                  : mode == "down" ? static_cast<int>(lane + bv)
                  : mode == "bfly" ? static_cast<int>(lane ^ bv)
                                   : low | static_cast<int>(bv & ~segment & 31);
    const bool in = mode == "up" ? j >= high : j <= high;
    lanes.push_back(in ? j & 31 : static_cast<int>(lane));
    flags.push_back(b_.getInt1(in));
  }
  LlvmValue shuffled = b_.CreateShuffleVector(value, lanes);
  return {shuffled, llvm::ConstantVector::get(flags)};
}

/// The same with numbers from registers, through memory.
WarpInstructions::Shuffled WarpInstructions::shuffleByNumbers(const Instruction& i, LlvmValue value, const Source& s) {
  const auto mode = i.mods.name(ModifierKind::ShflMode);
  auto number = [&](uint64_t n) { return values_.constant(Type::u32, n, true); };
  ir::Pattern ids;
  for (unsigned l = 0; l < kLanes; ++l) ids[l] = l;
  LlvmValue lane = values_.patternVector(ids, b_.getInt32Ty());
  LlvmValue bv = b_.CreateAnd(operands_.operand(i, 3, Type::u32, s), number(31)),
            c = operands_.operand(i, 4, Type::u32, s);
  LlvmValue segment = b_.CreateAnd(b_.CreateLShr(c, 8), number(31)), clamp = b_.CreateAnd(c, number(31));
  LlvmValue low = b_.CreateAnd(lane, segment), outside = b_.CreateXor(segment, number(31));
  LlvmValue high = b_.CreateOr(low, b_.CreateAnd(clamp, outside));
  LlvmValue j = mode == "up"     ? b_.CreateSub(lane, bv)
                : mode == "down" ? b_.CreateAdd(lane, bv)
                : mode == "bfly" ? b_.CreateXor(lane, bv)
                                 : b_.CreateOr(low, b_.CreateAnd(bv, outside));
  LlvmValue inside = mode == "up" ? b_.CreateICmpSGE(j, high) : b_.CreateICmpSLE(j, high);
  LlvmValue from = b_.CreateAnd(b_.CreateSelect(inside, j, lane), number(31));
  LlvmValue base = values_.splat(b_.CreatePtrToInt(c_.inMemory(value), b_.getInt64Ty()));
  LlvmValue offsets = b_.CreateShl(b_.CreateZExt(from, base->getType()), 2);
  return {general_.gather(b_.CreateAdd(base, offsets), b_.getInt32Ty(), nullptr), inside};
}

namespace {

/// The position of the member mask among the operands.
size_t memberOperand(Op op) { return op == Op::Match ? 3 : 2; }

}  // namespace

/// Gives `i`'s result: one value for the warp where the analysis says so, else `vectors`; under a guard, the other
/// lanes keep what they had.
void WarpInstructions::defineResult(const Instruction& i, ValueId result, const Parts& answers) {
  CachedValue h;
  Parts vectors;
  for (unsigned p = 0; p < warps(); ++p) {
    LlvmValue v = answers[p];
    if (shapes_[result].isSegmented()) {
      h.bases.push_back({values_.convertBits(v, values_.valueType(result, false))});
      continue;
    }
    v = values_.convertBits(v->getType()->isVectorTy() ? v : values_.splat(v), values_.valueType(result, true));
    if (i.guard)
      v = b_.CreateSelect(values_.conditionMask(i.guard.reg, i.guard.negated)[p], v, values_.vectorOf(i.prior[0], p));
    vectors.push_back(v);
  }
  if (shapes_[result].isSegmented())
    values_.define(result, std::move(h));
  else
    values_.defineVector(result, vectors);
}

/// The member mask of `i`: a scalar where all lanes name the same lanes, else (tiles of cooperative segments) a vector.
LlvmValue WarpInstructions::memberMask(const Instruction& i, unsigned part) {
  Source s;
  s.part = part;
  const auto& m = i.operands[memberOperand(i.op)];
  if (m.kind != ptx::Operand::Kind::Register || shapes_[m.reg].isUniform()) s.segment = 0;
  return operands_.operand(m, Type::u32, s);
}

/// vote and activemask give every active lane of a warp, or of a tile, the same answer.
void WarpInstructions::vote(const Instruction& i) {
  ValueId result = ir::kNoValue;
  ir::forEachDefinition(i, [&](ValueId v, unsigned) { result = v; });
  if (result == ir::kNoValue) return;
  const auto mode = i.mods.name(ModifierKind::VoteMode);
  const Parts active = values_.guardedMask(i);
  Parts answers;
  for (unsigned p = 0; p < warps(); ++p) {
    Source s;
    s.part = p;
    LlvmValue lanes = active.empty() ? b_.getInt32(~0u) : masks_.laneBits(active[p]);
    if (i.op == Op::Activemask) {
      answers.push_back(lanes);
      continue;
    }
    LlvmValue holds = b_.CreateAnd(masks_.laneBits(operands_.operand(i, 1, Type::pred, s)), lanes);
    if (i.op == Op::Vote) {
      LlvmValue members = memberMask(i, p);
      const bool tiles = members->getType()->isVectorTy();
      holds = b_.CreateAnd(tiles ? values_.splat(holds) : holds, members);
      lanes = b_.CreateAnd(tiles ? values_.splat(lanes) : lanes, members);
    }
    LlvmValue all = b_.CreateICmpEQ(holds, lanes),
              any = b_.CreateICmpNE(holds, llvm::Constant::getNullValue(holds->getType()));
    answers.push_back(mode == "ballot" ? holds
                      : mode == "all"  ? all
                      : mode == "any"  ? any
                                       : b_.CreateOr(all, b_.CreateNot(any)));
  }
  defineResult(i, result, answers);
}

/// For each active lane the active lanes that hold its value. First a loop over the distinct values, each compared with
/// all lanes at once: most programs have few of them. After kFewValues it costs less to do the same for every lane,
/// since no lane waits for another (20 ns for a warp; a value takes 3).
LlvmValue WarpInstructions::lanesOfEqualValues(LlvmValue v, LlvmValue active) {
  constexpr uint32_t kFewValues = 4;
  auto* masks = llvm::FixedVectorType::get(b_.getInt32Ty(), kLanes);
  LlvmValue none = llvm::Constant::getNullValue(masks), place = c_.inMemory(v);
  auto* before = b_.GetInsertBlock();
  auto* loop = c_.newBlock("value");
  auto* many = c_.newBlock("values");
  auto* after = c_.newBlock("valuesdone");
  b_.CreateCondBr(b_.CreateICmpNE(active, b_.getInt32(0)), loop, after);
  b_.SetInsertPoint(loop);
  auto* left = b_.CreatePHI(b_.getInt32Ty(), 2, "left");
  auto* number = b_.CreatePHI(b_.getInt32Ty(), 2, "number");
  auto* found = b_.CreatePHI(masks, 2, "found");
  LlvmValue lane = b_.CreateIntrinsic(llvm::Intrinsic::cttz, {b_.getInt32Ty()}, {left, b_.getTrue()});
  LlvmValue same = lanesEqualTo(v, place, lane);
  LlvmValue lanes = b_.CreateAnd(masks_.laneBits(same), active);
  LlvmValue more = b_.CreateSelect(same, values_.splat(lanes), found);
  LlvmValue rest = b_.CreateAnd(left, b_.CreateNot(lanes)), next = b_.CreateAdd(number, b_.getInt32(1));
  left->addIncoming(active, before);
  left->addIncoming(rest, loop);
  number->addIncoming(b_.getInt32(0), before);
  number->addIncoming(next, loop);
  found->addIncoming(none, before);
  found->addIncoming(more, loop);
  auto* choice =
      b_.CreateSwitch(b_.CreateSelect(b_.CreateICmpEQ(rest, b_.getInt32(0)), b_.getInt32(~0u), next), loop, 2);
  choice->addCase(b_.getInt32(~0u), after);
  choice->addCase(b_.getInt32(kFewValues), many);
  b_.SetInsertPoint(many);
  LlvmValue ofEach = lanesEqualToEach(v, place, active);
  auto* behind = b_.GetInsertBlock();
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
  auto* result = b_.CreatePHI(masks, 3, "equal");
  result->addIncoming(none, before);
  result->addIncoming(more, loop);
  result->addIncoming(ofEach, behind);
  return result;
}

/// The lanes whose value is that of `lane`; `place` is where the values are in memory.
LlvmValue WarpInstructions::lanesEqualTo(LlvmValue v, LlvmValue place, LlvmValue lane) {
  llvm::Type* element = v->getType()->getScalarType();
  return b_.CreateICmpEQ(v, values_.splat(b_.CreateLoad(element, b_.CreateInBoundsGEP(element, place, lane))));
}

/// For each lane the active lanes that hold its value, by comparing each with all.
LlvmValue WarpInstructions::lanesEqualToEach(LlvmValue v, LlvmValue place, LlvmValue active) {
  constexpr uint32_t kAtOnce = 8;
  auto* masks = llvm::FixedVectorType::get(b_.getInt32Ty(), kLanes);
  LlvmValue results = llvm::IRBuilder<>(c_.entry).CreateAlloca(masks);
  auto* before = b_.GetInsertBlock();
  auto* loop = c_.newBlock("lanes");
  auto* after = c_.newBlock("lanesdone");
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  auto* first = b_.CreatePHI(b_.getInt32Ty(), 2, "lane");
  for (uint32_t k = 0; k < kAtOnce; ++k) {
    LlvmValue lane = b_.CreateAdd(first, b_.getInt32(k));
    LlvmValue lanes = b_.CreateAnd(masks_.laneBits(lanesEqualTo(v, place, lane)), active);
    b_.CreateStore(lanes, b_.CreateInBoundsGEP(b_.getInt32Ty(), results, lane));
  }
  LlvmValue next = b_.CreateAdd(first, b_.getInt32(kAtOnce));
  first->addIncoming(b_.getInt32(0), before);
  first->addIncoming(next, loop);
  b_.CreateCondBr(b_.CreateICmpULT(next, b_.getInt32(kLanes)), loop, after);
  b_.SetInsertPoint(after);
  return b_.CreateLoad(masks, results);
}

/// For each active lane `full`, which are the active ones of the members, if they all hold that lane's value; else 0.
LlvmValue WarpInstructions::lanesIfAllAgree(LlvmValue v, LlvmValue full) {
  LlvmValue leader = b_.CreateIntrinsic(llvm::Intrinsic::cttz, {b_.getInt32Ty()}, {full, b_.getFalse()});
  LlvmValue same = lanesEqualTo(v, c_.inMemory(v), b_.CreateAnd(leader, b_.getInt32(kLanes - 1)));
  LlvmValue agree = b_.CreateICmpEQ(b_.CreateAnd(masks_.laneBits(same), full), full);
  LlvmValue none = values_.constant(Type::u32, 0, true);
  return b_.CreateSelect(same, values_.splat(b_.CreateSelect(agree, full, b_.getInt32(0))), none);
}

/// The member masks may differ between lanes: each lane works with those of its mask that are active.
void WarpInstructions::match(const Instruction& i) {
  const bool all = i.mods.name(ModifierKind::MatchMode) == "all";
  const Type t = isa::bits(i.type[0]) == 32 ? Type::u32 : Type::u64;
  std::vector<ValueId> results;
  ir::forEachDefinition(i, [&](ValueId v, unsigned) { results.push_back(v); });
  const bool hasMask = i.operands[0].kind == ptx::Operand::Kind::Register;
  const Parts active = values_.guardedMask(i);
  std::vector<Parts> out(results.size());
  for (unsigned p = 0; p < warps(); ++p) {
    Source s;
    s.part = p;
    LlvmValue lanes = active.empty() ? b_.getInt32(~0u) : masks_.laneBits(active[p]);
    LlvmValue members = memberMask(i, p), v = operands_.operand(i, 2, t, s), mask;
    LlvmValue none = values_.constant(Type::u32, 0, true);
    const bool tiles = members->getType()->isVectorTy();
    if (all && !tiles) {
      mask = lanesIfAllAgree(v, b_.CreateAnd(lanes, members));
    } else {
      if (!tiles) members = values_.splat(members);
      mask = b_.CreateAnd(lanesOfEqualValues(v, lanes), members);
      if (all) mask = b_.CreateSelect(b_.CreateICmpEQ(mask, b_.CreateAnd(values_.splat(lanes), members)), mask, none);
    }
    for (size_t k = 0; k < results.size(); ++k) {
      LlvmValue given = values_.convertBits(k == 0 && hasMask ? mask : b_.CreateICmpNE(mask, none),
                                            values_.valueType(results[k], true));
      if (i.guard)
        given = b_.CreateSelect(values_.conditionMask(i.guard.reg, i.guard.negated)[p], given,
                                values_.vectorOf(i.prior[k], p));
      out[k].push_back(given);
    }
  }
  for (size_t k = 0; k < results.size(); ++k) values_.defineVector(results[k], out[k]);
}

void WarpInstructions::redux(const Instruction& i) {
  ValueId result = ir::kNoValue;
  ir::forEachDefinition(i, [&](ValueId v, unsigned) { result = v; });
  if (result == ir::kNoValue) return;
  const auto op = i.mods.name(ModifierKind::ReduxOp);
  const bool isSigned = isa::isSigned(i.type[0]);
  const uint32_t identity = op == "and"               ? ~0u
                            : op == "min"             ? (isSigned ? 0x7FFFFFFFu : ~0u)
                            : op == "max" && isSigned ? 0x80000000u
                                                      : 0;
  const auto id = op == "add"   ? llvm::Intrinsic::vector_reduce_add
                  : op == "and" ? llvm::Intrinsic::vector_reduce_and
                  : op == "or"  ? llvm::Intrinsic::vector_reduce_or
                  : op == "xor" ? llvm::Intrinsic::vector_reduce_xor
                  : op == "min"
                      ? (isSigned ? llvm::Intrinsic::vector_reduce_smin : llvm::Intrinsic::vector_reduce_umin)
                      : (isSigned ? llvm::Intrinsic::vector_reduce_smax : llvm::Intrinsic::vector_reduce_umax);
  const Parts active = values_.guardedMask(i);
  Parts answers;
  for (unsigned p = 0; p < warps(); ++p) {
    Source s;
    s.part = p;
    LlvmValue v = operands_.operand(i, 1, Type::u32, s), members = memberMask(i, p);
    LlvmValue lanes = active.empty() ? b_.getInt32(~0u) : masks_.laneBits(active[p]);
    if (members->getType()->isVectorTy()) {
      llvm::IRBuilder<> entry(c_.entry);
      llvm::AllocaInst* arrays[3] = {entry.CreateAlloca(v->getType()), entry.CreateAlloca(v->getType()),
                                     entry.CreateAlloca(v->getType())};
      b_.CreateStore(v, arrays[0]);
      b_.CreateStore(members, arrays[1]);
      c_.helper(
          "ordito_redux", b_.getVoidTy(),
          {arrays[0], lanes, arrays[1], b_.getInt32(i.mods[ModifierKind::ReduxOp]), b_.getInt32(isSigned), arrays[2]});
      answers.push_back(b_.CreateLoad(v->getType(), arrays[2]));
      continue;
    }
    LlvmValue inside =
        b_.CreateBitCast(b_.CreateAnd(lanes, members), llvm::FixedVectorType::get(b_.getInt1Ty(), kLanes));
    v = b_.CreateSelect(inside, v, values_.constant(Type::u32, identity, true));
    answers.push_back(b_.CreateIntrinsic(id, {v->getType()}, {v}));
  }
  defineResult(i, result, answers);
}

/// The lowest lane of the member mask leads.
void WarpInstructions::elect(const Instruction& i) {
  const Parts active = values_.guardedMask(i);
  std::vector<Parts> results(2);
  ir::Pattern ids;
  for (unsigned l = 0; l < kLanes; ++l) ids[l] = l;
  for (unsigned p = 0; p < warps(); ++p) {
    LlvmValue lanes = active.empty() ? b_.getInt32(~0u) : masks_.laneBits(active[p]), members = memberMask(i, p);
    LlvmValue both = b_.CreateAnd(members->getType()->isVectorTy() ? values_.splat(lanes) : lanes, members);
    LlvmValue leader = b_.CreateIntrinsic(llvm::Intrinsic::cttz, {both->getType()}, {both, b_.getFalse()});
    if (!leader->getType()->isVectorTy()) leader = values_.splat(leader);
    results[0].push_back(leader);
    results[1].push_back(b_.CreateICmpEQ(values_.patternVector(ids, b_.getInt32Ty()), leader));
  }
  unsigned definition = 0;
  for (unsigned k = 0; k < 2; ++k) {
    if (i.operands[k].kind != ptx::Operand::Kind::Register) continue;
    for (unsigned p = 0; p < warps(); ++p) {
      LlvmValue& v = results[k][p];
      v = values_.convertBits(v, values_.valueType(i.operands[k].reg, true));
      if (i.guard)
        v = b_.CreateSelect(values_.conditionMask(i.guard.reg, i.guard.negated)[p], v,
                            values_.vectorOf(i.prior[definition], p));
    }
    values_.defineVector(i.operands[k].reg, results[k]);
    ++definition;
  }
}

}  // namespace ordito::jit
