// PTX ISA, "Parallel Synchronization and Communication Instructions": atomics and reductions in memory, and the
// reductions of a barrier.
//
// A block runs on one host thread, so its shared memory has one owner and needs no locked instructions (2.2 times
// faster, measured on a histogram).
#include "jit/emitter.hpp"

namespace ordito::jit {

using isa::ModifierKind;
using isa::Type;
using RMW = llvm::AtomicRMWInst;

void Emitter::forEachLane(LlvmValue mask, llvm::function_ref<void(LlvmValue lane)> body) {
  auto* before = b_.GetInsertBlock();
  auto* loop = newBlock("lane");
  auto* after = newBlock("lanesdone");
  LlvmValue bits = mask ? laneBits(mask) : b_.getInt32(~0u);
  b_.CreateCondBr(b_.CreateICmpNE(bits, b_.getInt32(0)), loop, after);
  b_.SetInsertPoint(loop);
  auto* left = b_.CreatePHI(b_.getInt32Ty(), 2, "left");
  left->addIncoming(bits, before);
  body(b_.CreateIntrinsic(llvm::Intrinsic::cttz, {b_.getInt32Ty()}, {left, b_.getTrue()}));
  LlvmValue rest = b_.CreateAnd(left, b_.CreateSub(left, b_.getInt32(1)));
  left->addIncoming(rest, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpNE(rest, b_.getInt32(0)), loop, after);
  b_.SetInsertPoint(after);
}

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
LlvmValue Emitter::sumOnce(LlvmValue old, LlvmValue x, LlvmValue flushes) {
  llvm::Type* t = old->getType();
  if (t->isDoubleTy()) return b_.CreateFAdd(old, x);
  auto flush = [&](LlvmValue v) {
    LlvmValue small =
        b_.CreateFCmpOLT(b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, v), llvm::ConstantFP::get(t, 0x1p-126));
    LlvmValue zero = b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, llvm::ConstantFP::get(t, 0), v);
    return b_.CreateSelect(b_.CreateAnd(small, flushes), zero, v);
  };
  return canonicalNan(flush(b_.CreateFAdd(flush(old), flush(x))));
}

LlvmValue Emitter::loopAtomicAdd(LlvmValue p, LlvmValue x, LlvmValue flushes) {
  const llvm::Align align(4);
  auto* bits = b_.getInt32Ty();
  auto* before = b_.GetInsertBlock();
  auto* loop = newBlock("atomicadd");
  auto* done = newBlock("added");
  LlvmValue first = b_.CreateAlignedLoad(bits, p, align);
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  auto* old = b_.CreatePHI(bits, 2);
  old->addIncoming(first, before);
  LlvmValue sum = b_.CreateBitCast(sumOnce(b_.CreateBitCast(old, x->getType()), x, flushes), bits);
  const auto order = llvm::AtomicOrdering::SequentiallyConsistent;
  LlvmValue pair = b_.CreateAtomicCmpXchg(p, old, sum, align, order, order);
  old->addIncoming(b_.CreateExtractValue(pair, 0), b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateExtractValue(pair, 1), done, loop);
  b_.SetInsertPoint(done);
  return b_.CreateBitCast(old, x->getType());
}

/// One lane's atomic; returns the old value. Shared memory is touched by no other host thread.
LlvmValue Emitter::atomicOnce(const Instruction& i, LlvmValue address, LlvmValue x, LlvmValue compare,
                              ptx::Space space) {
  const bool owned = space == ptx::Space::Shared;
  const Type t = i.type[0];
  LlvmValue p = pointer(address);
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
  if (isa::isFloat(isa::element(t)) && isa::bits(isa::element(t)) == 16)
    return helper(fmt::format("ordito_atomic_{}_{}", name, isa::name(t)).c_str(), type, {address, x});
  const auto op = operationOf(name, i.type[0]);
  if (op == RMW::BAD_BINOP || (isa::isFloat(i.type[0]) && op != RMW::FAdd))
    refuse(i, "this atomic is not supported by the JIT");
  if (owned) {
    LlvmValue old = b_.CreateAlignedLoad(type, p, align);
    b_.CreateAlignedStore(op == RMW::FAdd ? sumOnce(old, x, b_.getFalse()) : apply(b_, op, old, x), p, align);
    return old;
  }
  if (t == Type::f32) {
    Source s;
    s.group = 0;
    return loopAtomicAdd(p, x,
                         space == ptx::Space::Generic ? b_.CreateNot(isSharedAddress(address, s))
                                                      : static_cast<LlvmValue>(b_.getTrue()));
  }
  return b_.CreateAtomicRMW(op, p, x, align, llvm::AtomicOrdering::SequentiallyConsistent);
}

/// The address of each lane, as scalars. They leave the vector registers as pairs of 32-bit offsets into shared memory:
/// single 64-bit addresses arrive so unevenly that Zen 4 takes later updates for independent of earlier ones and
/// starts over (10 times slower on a histogram).
std::vector<LlvmValue> Emitter::sharedAddresses(const Address& a, unsigned part, int64_t offset) {
  LlvmValue origin = splat(b_.CreateTrunc(sharedBase(), b_.getInt32Ty()));
  LlvmValue offsets =
      b_.CreateTrunc(addressVector(a, part, offset), llvm::FixedVectorType::get(b_.getInt32Ty(), kLanes));
  LlvmValue pairs =
      b_.CreateBitCast(b_.CreateSub(offsets, origin), llvm::FixedVectorType::get(b_.getInt64Ty(), kLanes / 2));
  std::vector<LlvmValue> addresses;
  for (unsigned pair = 0; pair < kLanes / 2; ++pair) {
    LlvmValue both = b_.CreateExtractElement(pairs, uint64_t{pair});
    addresses.push_back(
        b_.CreateAdd(sharedBase(), b_.CreateSExt(b_.CreateTrunc(both, b_.getInt32Ty()), b_.getInt64Ty())));
    addresses.push_back(b_.CreateAdd(sharedBase(), b_.CreateAShr(both, 32)));
  }
  return addresses;
}

void Emitter::emitAtomic(const Instruction& i) {
  const bool returns = i.op != isa::Op::Red;
  const size_t at = returns ? 1 : 0;
  const Type t = i.type[0];
  Address a = addressOf(i, at);
  const Parts mask = guardedMask(i);
  checkAlignment(i, at, isa::bytes(t), mask);
  if (counting_) countAccess(i, a, mask, isa::bytes(t), true);
  const bool isCas = i.op == isa::Op::AtomCas;
  llvm::Type* element = isCas || !(t == Type::f32 || t == Type::f64)
                            ? static_cast<llvm::Type*>(b_.getIntNTy(isa::bits(t)))
                            : typeOf(t, false);
  const unsigned width = isa::bits(t);
  const Type read = width == 16 ? Type::u16 : isCas ? (width == 32 ? Type::u32 : Type::u64) : t;
  ValueId result = ir::kNoValue;
  // Compilers write atom where nobody reads the old value; then it is a red.
  if (returns) ir::forEachDefinition(i, [&](ValueId v, unsigned) { result = isRead_[v] ? v : ir::kNoValue; });
  Parts results;
  for (unsigned p = 0; p < jam_; ++p) {
    Source s;
    s.part = p;
    LlvmValue first = operand(i, at + 1, read, s), second = isCas ? operand(i, at + 2, read, s) : nullptr;
    LlvmValue lanes = maskOf(mask, p);
    auto* vector = llvm::FixedVectorType::get(element, kLanes);
    if (!lanes && a.space == ptx::Space::Shared && result == ir::kNoValue) {
      // Addresses and values straight from registers, without a round trip through the stack (2 times faster,
      // measured).
      const std::vector<LlvmValue> addresses = sharedAddresses(a, p, i.operands[at].offset);
      for (unsigned lane = 0; lane < kLanes; ++lane)
        atomicOnce(i, addresses[lane], b_.CreateExtractElement(isCas ? second : first, uint64_t{lane}),
                   isCas ? b_.CreateExtractElement(first, uint64_t{lane}) : nullptr, a.space);
      continue;
    }
    LlvmValue addresses = addressVector(a, p, i.operands[at].offset);
    llvm::IRBuilder<> entry(entry_);
    auto* old = entry.CreateAlloca(vector);
    auto* addressArray = entry.CreateAlloca(addresses->getType());
    auto* firstArray = entry.CreateAlloca(vector);
    auto* secondArray = isCas ? entry.CreateAlloca(vector) : nullptr;
    b_.CreateStore(addresses, addressArray);
    b_.CreateStore(first, firstArray);
    if (isCas) b_.CreateStore(second, secondArray);
    if (result != ir::kNoValue)
      b_.CreateStore(i.guard ? vectorOf(i.prior[0], p)->getType() == vector
                                   ? vectorOf(i.prior[0], p)
                                   : convertBits(vectorOf(i.prior[0], p), vector)
                             : static_cast<LlvmValue>(llvm::Constant::getNullValue(vector)),
                     old);
    forEachLane(lanes, [&](LlvmValue lane) {
      LlvmValue address = b_.CreateLoad(b_.getInt64Ty(), b_.CreateInBoundsGEP(b_.getInt64Ty(), addressArray, lane));
      LlvmValue x = b_.CreateLoad(element, b_.CreateInBoundsGEP(element, firstArray, lane));
      LlvmValue y = isCas ? b_.CreateLoad(element, b_.CreateInBoundsGEP(element, secondArray, lane)) : nullptr;
      LlvmValue before = atomicOnce(i, address, isCas ? y : x, isCas ? x : nullptr, a.space);
      if (result != ir::kNoValue) b_.CreateStore(before, b_.CreateInBoundsGEP(element, old, lane));
    });
    if (result != ir::kNoValue) results.push_back(convertBits(b_.CreateLoad(vector, old), valueType(result, true)));
  }
  if (result != ir::kNoValue) defineVector(result, results);
}

/// bar.red: the region before the barrier adds up arrivals and true values, group after group; the region behind it
/// starts with the answer.
void Emitter::arriveAtBarrierReduction(const Instruction& i, const Parts& mask) {
  for (unsigned p = 0; p < jam_; ++p) {
    Source s;
    s.part = p;
    LlvmValue active = mask.empty() ? b_.getInt32(~0u) : laneBits(mask[p]);
    LlvmValue holds = b_.CreateAnd(laneBits(operand(i, 3, Type::pred, s)), active);
    auto addTo = [&](size_t offset, LlvmValue lanes) {
      LlvmValue home = scratchAddress(reductionHome_ + offset);
      LlvmValue number = b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, lanes);
      b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), home), number), home);
    };
    addTo(0, holds);
    addTo(4, active);
  }
}

/// What is being counted, and the last result.
void Emitter::clearBarrierReduction() {
  b_.CreateStore(b_.getInt64(0), scratchAddress(reductionHome_));
  b_.CreateStore(b_.getInt64(0), scratchAddress(reductionHome_ + 8));
}

/// At the start of the region at `point`: what the bar.red before it has counted becomes the last result.
void Emitter::takeBarrierReduction(uint32_t point) {
  for (BlockId from : f_.blocks[points_[point]].predecessors) {
    const ir::Terminator& end = f_.blocks[from].end;
    if (end.kind != ir::Terminator::Kind::Barrier || !end.barrier.has(ModifierKind::RedOp)) continue;
    b_.CreateStore(b_.CreateLoad(b_.getInt64Ty(), scratchAddress(reductionHome_)), scratchAddress(reductionHome_ + 8));
    b_.CreateStore(b_.getInt64(0), scratchAddress(reductionHome_));
  }
}

/// Gives the result of the bar.red before the region at `point`, the same for all threads, to those who read it.
void Emitter::deliverBarrierReduction(uint32_t point) {
  for (BlockId from : f_.blocks[points_[point]].predecessors) {
    const ir::Terminator& end = f_.blocks[from].end;
    if (end.kind != ir::Terminator::Kind::Barrier || !end.barrier.has(ModifierKind::RedOp) || !stops_.meets[from])
      continue;
    LlvmValue holds = b_.CreateLoad(b_.getInt32Ty(), scratchAddress(reductionHome_ + 8)),
              arrived = b_.CreateLoad(b_.getInt32Ty(), scratchAddress(reductionHome_ + 12));
    const auto op = end.barrier.mods.name(ModifierKind::RedOp);
    LlvmValue answer = op == "popc"  ? holds
                       : op == "and" ? b_.CreateICmpEQ(holds, arrived)
                                     : b_.CreateICmpNE(holds, b_.getInt32(0));
    ir::forEachDefinition(end.barrier, [&](ValueId v, unsigned) {
      if (!slots_[v].bases.empty()) b_.CreateStore(convertBits(answer, valueType(v, false)), slots_[v].bases[0][0]);
    });
  }
}

}  // namespace ordito::jit
