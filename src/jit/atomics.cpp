// See atomics.hpp.
//
// A block runs on one host thread, so its shared memory has one owner and needs no locked instructions (2.2 times
// faster, measured on a histogram).
#include "jit/atomics.hpp"

#include "jit/half_atomics.hpp"

namespace ordito::jit {

using isa::ModifierKind;
using isa::Type;
using RMW = llvm::AtomicRMWInst;

namespace {

RMW::BinOp operationOf(std::string_view name, Type t) {
  const bool isFloat = isa::isFloat(t), isSigned = isa::isSigned(t);
  if (name == "add") return isFloat ? RMW::FAdd : RMW::Add;
  if (name == "and") return RMW::And;
  if (name == "or") return RMW::Or;
  if (name == "xor") return RMW::Xor;
  if (name == "exch") return RMW::Xchg;
  if (name == "inc") return RMW::UIncWrap;
  if (name == "dec") return RMW::UDecWrap;
  if (name == "min") return isSigned ? RMW::Min : RMW::UMin;
  if (name == "max") return isSigned ? RMW::Max : RMW::UMax;
  return RMW::BAD_BINOP;
}

/// The new value of an atomic on memory that only this thread touches.
LlvmValue apply(llvm::IRBuilder<>& b, RMW::BinOp op, LlvmValue old, LlvmValue x) {
  auto pick = [&](llvm::CmpInst::Predicate p) { return b.CreateSelect(b.CreateICmp(p, old, x), old, x); };
  auto number = [&](uint64_t n) { return llvm::ConstantInt::get(old->getType(), n); };
  switch (op) {
    case RMW::Add: return b.CreateAdd(old, x);
    case RMW::FAdd: return b.CreateFAdd(old, x);
    case RMW::And: return b.CreateAnd(old, x);
    case RMW::Or: return b.CreateOr(old, x);
    case RMW::Xor: return b.CreateXor(old, x);
    case RMW::Xchg: return x;
    case RMW::Min: return pick(llvm::CmpInst::ICMP_SLT);
    case RMW::Max: return pick(llvm::CmpInst::ICMP_SGT);
    case RMW::UMin: return pick(llvm::CmpInst::ICMP_ULT);
    case RMW::UMax: return pick(llvm::CmpInst::ICMP_UGT);
    case RMW::UIncWrap: return b.CreateSelect(b.CreateICmpUGE(old, x), number(0), b.CreateAdd(old, number(1)));
    case RMW::UDecWrap: {
      LlvmValue wraps = b.CreateOr(b.CreateICmpEQ(old, number(0)), b.CreateICmpUGT(old, x));
      return b.CreateSelect(wraps, x, b.CreateSub(old, number(1)));
    }
    default: return nullptr;
  }
}

}  // namespace

/// old + x as the GPU's atomic units add f32: on global memory (`flushes`) they turn subnormal numbers into zeros.
LlvmValue Atomics::sumOnce(LlvmValue old, LlvmValue x, LlvmValue flushes) {
  llvm::Type* t = old->getType();
  if (t->isDoubleTy()) return b_.CreateFAdd(old, x);
  auto flush = [&](LlvmValue v) {
    LlvmValue small =
        b_.CreateFCmpOLT(b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, v), llvm::ConstantFP::get(t, 0x1p-126));
    LlvmValue zero = b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, llvm::ConstantFP::get(t, 0), v);
    return b_.CreateSelect(b_.CreateAnd(small, flushes), zero, v);
  };
  return operands_.canonicalNan(flush(b_.CreateFAdd(flush(old), flush(x))));
}

/// Replaces what stands at `p` by what `next` makes of it, in a loop; returns the old value. Both are integers.
LlvmValue Atomics::loopAtomic(LlvmValue p, llvm::Type* bits, llvm::function_ref<LlvmValue(LlvmValue)> next) {
  const llvm::Align align(bits->getIntegerBitWidth() / 8);
  auto* before = b_.GetInsertBlock();
  auto* loop = c_.newBlock("atomic");
  auto* done = c_.newBlock("exchanged");
  LlvmValue first = b_.CreateAlignedLoad(bits, p, align);
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  auto* old = b_.CreatePHI(bits, 2);
  old->addIncoming(first, before);
  const auto order = llvm::AtomicOrdering::SequentiallyConsistent;
  LlvmValue pair = b_.CreateAtomicCmpXchg(p, old, next(old), align, order, order);
  old->addIncoming(b_.CreateExtractValue(pair, 0), b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateExtractValue(pair, 1), done, loop);
  b_.SetInsertPoint(done);
  return old;
}

LlvmValue Atomics::loopAtomicAdd(LlvmValue p, LlvmValue x, LlvmValue flushes) {
  auto* bits = b_.getInt32Ty();
  return b_.CreateBitCast(loopAtomic(p, bits,
                                     [&](LlvmValue old) {
                                       LlvmValue sum = sumOnce(b_.CreateBitCast(old, x->getType()), x, flushes);
                                       return b_.CreateBitCast(sum, bits);
                                     }),
                          x->getType());
}

/// One lane's atomic; returns the old value. Shared memory is touched by no other host thread.
LlvmValue Atomics::once(const Instruction& i, LlvmValue address, LlvmValue x, LlvmValue compare, ptx::Space space) {
  const bool owned = space == ptx::Space::Shared;
  const Type t = i.type[0];
  LlvmValue p = c_.pointer(address);
  llvm::Type* type = x->getType();
  const llvm::Align align(type->getScalarSizeInBits() / 8);
  if (compare) {
    if (owned) {
      LlvmValue old = b_.CreateAlignedLoad(type, p, align);
      b_.CreateAlignedStore(b_.CreateSelect(b_.CreateICmpEQ(old, compare), x, old), p, align);
      return old;
    }
    auto* pair = b_.CreateAtomicCmpXchg(p, compare, x, align, llvm::AtomicOrdering::SequentiallyConsistent,
                                        llvm::AtomicOrdering::SequentiallyConsistent);
    return b_.CreateExtractValue(pair, 0);
  }
  const auto name = i.mods.name(ModifierKind::AtomOp);
  if (isa::isFloat(isa::element(t)) && isa::bits(isa::element(t)) == 16) {
    auto combine = [&](LlvmValue old) { return combinedHalves(b_, name, t, old, x); };
    if (!owned) return loopAtomic(p, type, combine);
    LlvmValue old = b_.CreateAlignedLoad(type, p, align);
    b_.CreateAlignedStore(combine(old), p, align);
    return old;
  }
  const auto op = operationOf(name, i.type[0]);
  if (op == RMW::BAD_BINOP || (isa::isFloat(i.type[0]) && op != RMW::FAdd))
    c_.refuse(i, "this atomic is not supported by the JIT");
  if (owned) {
    LlvmValue old = b_.CreateAlignedLoad(type, p, align);
    b_.CreateAlignedStore(op == RMW::FAdd ? sumOnce(old, x, b_.getFalse()) : apply(b_, op, old, x), p, align);
    return old;
  }
  if (t == Type::f32) {
    Source s;
    s.group = 0;
    return loopAtomicAdd(p, x,
                         space == ptx::Space::Generic ? b_.CreateNot(addresses_.isSharedAddress(address, s))
                                                      : static_cast<LlvmValue>(b_.getTrue()));
  }
  return b_.CreateAtomicRMW(op, p, x, align, llvm::AtomicOrdering::SequentiallyConsistent);
}

/// The lanes' offsets into shared memory of the address that is operand `k`. (LLVM sees how large the index can be
/// only if nothing is added to it and taken off again.)
LlvmValue Atomics::sharedOffsets(const Instruction& i, size_t k, const Address& a, unsigned part) {
  auto* type = llvm::FixedVectorType::get(b_.getInt32Ty(), kLanes);
  const ptx::Operand& o = i.operands[k];
  if (!a.isGrouped() && o.symbol.kind == ptx::Symbol::Kind::None && o.reg != ir::kNoValue) {
    LlvmValue offset = values_.constant(Type::u32, static_cast<uint64_t>(o.offset), true);
    return b_.CreateAdd(b_.CreateZExtOrTrunc(values_.vectorOf(o.reg, part), type), offset);
  }
  LlvmValue origin = values_.splat(b_.CreateTrunc(c_.sharedBase(), b_.getInt32Ty()));
  return b_.CreateSub(b_.CreateTrunc(addresses_.addressVector(a, part, o.offset), type), origin);
}

/// The address of each lane, as scalars; lanes take turns among `copies` of the memory. They leave the vector registers
/// as pairs of 32-bit offsets: single 64-bit addresses arrive so unevenly that Zen 4 takes later updates for
/// independent of earlier ones and starts over (10 times slower on a histogram).
std::vector<LlvmValue> Atomics::sharedAddresses(LlvmValue offsets, unsigned copies) {
  LlvmValue pairs = b_.CreateBitCast(offsets, llvm::FixedVectorType::get(b_.getInt64Ty(), kLanes / 2));
  std::vector<LlvmValue> addresses, bases;
  for (unsigned copy = 0; copy < copies; ++copy) bases.push_back(copies_.address(copy));
  auto add = [&](LlvmValue offset) { addresses.push_back(b_.CreateAdd(bases[addresses.size() % copies], offset)); };
  for (unsigned pair = 0; pair < kLanes / 2; ++pair) {
    LlvmValue both = b_.CreateExtractElement(pairs, uint64_t{pair});
    add(b_.CreateSExt(b_.CreateTrunc(both, b_.getInt32Ty()), b_.getInt64Ty()));
    add(b_.CreateAShr(both, 32));
  }
  return addresses;
}

/// An atomic whose old value nobody reads, on shared memory and by all lanes: addresses and values come straight from
/// registers, without a round trip through the stack (2 times faster, measured).
void Atomics::emitUnread(const Instruction& i, const AtomicOperands& o, LlvmValue offsets, unsigned copies) {
  const std::vector<LlvmValue> addresses = sharedAddresses(offsets, copies);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    once(i, addresses[lane], b_.CreateExtractElement(o.compares ? o.second : o.first, uint64_t{lane}),
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
    LlvmValue found = once(i, address, o.compares ? y : x, o.compares ? x : nullptr, o.space);
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
    const int64_t offset = i.operands[at].offset;
    LlvmValue lanes = masks_.maskOf(mask, p);
    if (result != ir::kNoValue) {
      LlvmValue before =
          i.guard ? values_.convertBits(values_.vectorOf(i.prior[0], p), vector) : llvm::Constant::getNullValue(vector);
      before = events_.butRefused(allowance, p, before);
      LlvmValue old = emitByLanes(i, o, addresses_.addressVector(a, p, offset), lanes, before);
      results.push_back(values_.convertBits(old, values_.valueType(result, true)));
    } else if (access.way(lanes != nullptr).way == simt::Way::Unrolled) {
      emitUnread(i, o, sharedOffsets(i, at, a, p), 1);
    } else {
      emitByLanes(i, o, addresses_.addressVector(a, p, offset), lanes, nullptr);
    }
  }
  if (result != ir::kNoValue) values_.defineVector(result, results);
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
