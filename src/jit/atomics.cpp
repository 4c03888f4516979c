// See atomics.hpp.
#include "jit/atomics.hpp"

namespace ordito::jit {

using isa::ModifierKind;
using isa::Type;
using simt::Transfer;

/// The lanes' offsets into shared memory of the address that is operand `k`. (LLVM sees how large the index can be
/// only if nothing is added to it and taken off again.)
LlvmValue Atomics::sharedOffsets(const Instruction& i, size_t k, const Address& a, unsigned part) {
  auto* type = llvm::FixedVectorType::get(b_.getInt32Ty(), kLanes);
  const ptx::Operand& o = i.operands[k];
  if (!a.isSegmented() && o.symbol.kind == ptx::Symbol::Kind::None && o.reg != ir::kNoValue) {
    LlvmValue offset = values_.constant(Type::u32, static_cast<uint64_t>(o.offset), true);
    return b_.CreateAdd(b_.CreateZExtOrTrunc(values_.vectorOf(o.reg, part), type), offset);
  }
  LlvmValue origin = values_.splat(b_.CreateTrunc(c_.sharedBase(), b_.getInt32Ty()));
  return b_.CreateSub(b_.CreateTrunc(addresses_.addressVector(a, part, o.offset), type), origin);
}

/// The address of each lane, as scalars; lanes take turns among `copies` of the memory.
std::vector<LlvmValue> Atomics::sharedAddresses(LlvmValue offsets, unsigned copies) {
  std::vector<LlvmValue> bases;
  for (unsigned copy = 0; copy < copies; ++copy) bases.push_back(copies_.address(copy));
  return scalarAddresses(b_, bases, offsets);
}

/// An atomic whose old value nobody reads, on shared memory and by all lanes: addresses and values come straight from
/// registers, without a round trip through the stack (2 times faster, measured).
void Atomics::emitUnread(const Instruction& i, const AtomicOperands& o, LlvmValue offsets, unsigned copies) {
  const std::vector<LlvmValue> addresses = sharedAddresses(offsets, copies);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    single_.once(i, addresses[lane], b_.CreateExtractElement(o.compares ? o.second : o.first, uint64_t{lane}),
                 o.compares ? b_.CreateExtractElement(o.first, uint64_t{lane}) : nullptr, o.space);
}

/// One lane after the other, of those in `lanes` (null: all). Returns the old values, and `before` where a lane is off;
/// null if `before` is.
LlvmValue Atomics::emitByLanes(const Instruction& i, const AtomicOperands& o, LlvmValue addresses, LlvmValue lanes,
                               LlvmValue before) {
  llvm::IRBuilder<> entry(c_.entry);
  auto inMemory = [&](LlvmValue v) {
    auto* array = entry.CreateAlloca(v->getType());
    b_.CreateStore(v, array);
    return array;
  };
  llvm::Type* element = o.first->getType()->getScalarType();
  auto* addressArray = inMemory(addresses);
  auto* firstArray = inMemory(o.first);
  auto* secondArray = o.compares ? inMemory(o.second) : nullptr;
  auto* old = before ? inMemory(before) : nullptr;
  calls_.forEachLane(lanes, [&](LlvmValue lane) {
    auto at = [&](llvm::Type* type, LlvmValue array) { return b_.CreateInBoundsGEP(type, array, lane); };
    LlvmValue address = b_.CreateLoad(b_.getInt64Ty(), at(b_.getInt64Ty(), addressArray));
    LlvmValue x = b_.CreateLoad(element, at(element, firstArray));
    LlvmValue y = o.compares ? b_.CreateLoad(element, at(element, secondArray)) : nullptr;
    LlvmValue found = single_.once(i, address, o.compares ? y : x, o.compares ? x : nullptr, o.space);
    if (old) b_.CreateStore(found, at(element, old));
  });
  return old ? b_.CreateLoad(before->getType(), old) : nullptr;
}

/// Counting by all lanes, in a region that has copies of shared memory.
void Atomics::emitCounts(const Instruction& i, size_t at, const Address& a) {
  auto *inside = c_.newBlock("inside"), *outside = c_.newBlock("outside"), *on = c_.newBlock("counted");
  std::vector<AtomicOperands> operands;
  Parts offsets;
  for (unsigned p = 0; p < warps(); ++p) {
    Source s;
    s.part = p;
    operands.push_back({operands_.operand(i, at + 1, i.type[0], s), nullptr, a.space, false});
    offsets.push_back(sharedOffsets(i, at, a, p));
  }
  b_.CreateCondBr(copies_.contain(offsets), inside, outside);
  b_.SetInsertPoint(inside);
  for (unsigned p = 0; p < warps(); ++p) emitUnread(i, operands[p], offsets[p], plan_.kept.counters.copies);
  b_.CreateBr(on);
  b_.SetInsertPoint(outside);
  for (unsigned p = 0; p < warps(); ++p)
    emitByLanes(i, operands[p], addresses_.addressVector(a, p, i.operands[at].offset), nullptr, nullptr);
  b_.CreateBr(on);
  b_.SetInsertPoint(on);
}

void Atomics::emit(const Instruction& i) { emitOne(i, plan_.memory.accesses.at(i, i.op == isa::Op::Red ? 0 : 1)); }

/// `i`, or one of the elements of the vector whose `access` it is.
void Atomics::emitOne(const Instruction& i, const simt::Access& access) {
  const bool returns = i.op != isa::Op::Red;
  const size_t at = returns ? 1 : 0;
  const Type t = i.type[0];
  Address a = addresses_.addressOf(i, at);
  const auto kind = returns && !i.isReduction ? machine::AccessKind::Atomic : machine::AccessKind::Reduction;
  const Allowance allowance = events_.raise(i, {kind, a, i.operands[at].offset, values_.guardedMask(i), isa::bytes(t)});
  const Parts& mask = allowance.mask;
  alignment_.check(i, at, isa::bytes(t), mask);
  if (plan_.kept.counters.regions[c_.at.resumePoint] && mask.empty() && access.isCount) return emitCounts(i, at, a);
  const bool isCas = i.op == isa::Op::AtomCas;
  llvm::Type* element = isCas || !(t == Type::f32 || t == Type::f64)
                            ? static_cast<llvm::Type*>(b_.getIntNTy(isa::bits(t)))
                            : values_.typeOf(t, false);
  const unsigned width = isa::bits(t);
  const Type read = width == 16 ? Type::u16 : isCas ? (width == 32 ? Type::u32 : Type::u64) : t;
  ValueId result = ir::kNoValue;
  if (access.isRead) ir::forEachDefinition(i, [&](ValueId v, unsigned) { result = v; });
  auto* vector = llvm::FixedVectorType::get(element, kLanes);
  Parts results;
  for (unsigned p = 0; p < warps(); ++p) {
    Source s;
    s.part = p;
    const AtomicOperands o{operands_.operand(i, at + 1, read, s),
                           isCas ? operands_.operand(i, at + 2, read, s) : nullptr, a.space, isCas};
    const WarpAtomic w{a, p, i.operands[at].offset, o.first, masks_.maskOf(mask, p), plan_.memory.combined.placeOf(i)};
    if (result != ir::kNoValue) {
      LlvmValue before =
          i.guard ? values_.convertBits(values_.vectorOf(i.prior[0], p), vector) : llvm::Constant::getNullValue(vector);
      LlvmValue old = emitWarp(i, access, o, w, events_.butRefused(allowance, p, before));
      results.push_back(values_.convertBits(old, values_.valueType(result, true)));
    } else if (access.isCombined) {
      combined_.emit(w, [&] { emitWarp(i, access, o, w, nullptr); });
    } else {
      emitWarp(i, access, o, w, nullptr);
    }
  }
  if (result != ir::kNoValue) values_.defineVector(result, results);
}

/// A warp's operation on memory. Returns the old values, and `before` where a lane is off; null if `before` is.
LlvmValue Atomics::emitWarp(const Instruction& i, const simt::Access& access, const AtomicOperands& o,
                            const WarpAtomic& w, LlvmValue before) {
  const Transfer transfer = access.transfer(w.lanes != nullptr).transfer;
  if (transfer == Transfer::Unrolled) {
    emitUnread(i, o, sharedOffsets(i, i.op == isa::Op::Red ? 0 : 1, w.address, w.part), 1);
    return nullptr;
  }
  if (transfer == Transfer::OnePlace) {
    LlvmValue place = b_.CreateAdd(w.address.bases[w.part][0], b_.getInt64(static_cast<uint64_t>(w.offset)));
    LlvmValue any = w.lanes ? masks_.anyLane(w.lanes) : static_cast<LlvmValue>(b_.getTrue());
    return choose(any, before, [&] { return emitTogether(i, o, w, place, before); }, [&] { return before; });
  }
  LlvmValue places = addresses_.addressVector(w.address, w.part, w.offset);
  if (transfer != Transfer::PerhapsOnePlace) return emitByLanes(i, o, places, w.lanes, before);
  places = b_.CreateFreeze(places);  // lanes that are off may hold anything
  LlvmValue bits = w.lanes ? masks_.laneBits(w.lanes) : b_.getInt32(~0u);
  LlvmValue lane = b_.CreateIntrinsic(llvm::Intrinsic::cttz, {b_.getInt32Ty()}, {bits, b_.getFalse()});
  LlvmValue place = b_.CreateExtractElement(places, b_.CreateAnd(lane, b_.getInt32(kLanes - 1)));
  LlvmValue others = masks_.both(w.lanes, b_.CreateICmpNE(places, values_.splat(place)));
  LlvmValue isOne =
      b_.CreateAnd(b_.CreateICmpEQ(masks_.laneBits(others), b_.getInt32(0)), b_.CreateICmpNE(bits, b_.getInt32(0)));
  return choose(
      isOne, before, [&] { return emitTogether(i, o, w, place, before); },
      [&] { return emitByLanes(i, o, places, w.lanes, before); });
}

LlvmValue Atomics::emitTogether(const Instruction& i, const AtomicOperands& o, const WarpAtomic& w, LlvmValue place,
                                LlvmValue before) {
  LlvmValue old = single_.together(i, place, o.first, w.lanes, o.space, before != nullptr);
  return before && w.lanes ? b_.CreateSelect(w.lanes, old, before) : old;
}

/// What `then` or `otherwise` gives, if `before` says that somebody reads it.
LlvmValue Atomics::choose(LlvmValue condition, LlvmValue before, llvm::function_ref<LlvmValue()> then,
                          llvm::function_ref<LlvmValue()> otherwise) {
  auto *yes = c_.newBlock("together"), *no = c_.newBlock("apart"), *on = c_.newBlock("done");
  b_.CreateCondBr(condition, yes, no);
  b_.SetInsertPoint(yes);
  LlvmValue first = then();
  auto* yesEnd = b_.GetInsertBlock();
  b_.CreateBr(on);
  b_.SetInsertPoint(no);
  LlvmValue second = otherwise();
  auto* noEnd = b_.GetInsertBlock();
  b_.CreateBr(on);
  b_.SetInsertPoint(on);
  if (!before) return nullptr;
  auto* result = b_.CreatePHI(before->getType(), 2);
  result->addIncoming(first, yesEnd);
  result->addIncoming(second, noEnd);
  return result;
}

/// Each element of a vector is an atomic operation of its own.
void Atomics::emitVector(const Instruction& i) {
  const bool returns = i.op == isa::Op::AtomVector;
  const size_t at = returns ? 1 : 0;
  const auto& elements = i.operands[at + 1].elements;
  const unsigned bytes = isa::bytes(i.type[0]) * static_cast<unsigned>(elements.size());
  const auto kind = returns && !i.isReduction ? machine::AccessKind::Atomic : machine::AccessKind::Reduction;
  Parts mask = values_.guardedMask(i), outer = c_.at.mask;
  if (events_.listens())
    mask = events_.raise(i, {kind, addresses_.addressOf(i, at), i.operands[at].offset, mask, bytes}).mask;
  alignment_.check(i, at, bytes, mask);
  if (eventCalls_.listens()) c_.at.mask = mask;  // lanes that were refused do none of the elements
  const simt::Access& access = plan_.memory.accesses.at(i, at);
  unsigned definition = 0;
  for (size_t k = 0; k < elements.size(); ++k) {
    Instruction one = i;
    one.raisesAccess = false;
    one.op = returns ? isa::Op::Atom : isa::Op::Red;
    one.mods[ModifierKind::Vector] = 0;
    if (returns) {
      one.operands[0] = i.operands[0].elements[k];
      if (i.guard && one.operands[0].kind == ptx::Operand::Kind::Register)
        one.prior = {i.prior[definition++], ir::kNoValue};
    }
    one.operands[at].offset += static_cast<int64_t>(k * isa::bytes(i.type[0]));
    one.operands[at + 1] = elements[k];
    emitOne(one, access);
  }
  c_.at.mask = outer;
}

}  // namespace ordito::jit
