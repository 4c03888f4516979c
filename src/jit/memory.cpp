// Loads and stores. A grouped address becomes scalar loads, broadcasts and vector accesses at addresses known relative
// to a scalar base; only a general one becomes a gather or a scatter. Lanes that are masked off must not touch memory:
// contiguous accesses use the host's masked instructions, everything else sends those lanes to a dummy word of the
// block's scratch memory, which needs no branches.
#include <algorithm>

#include "jit/emitter.hpp"
#include "ptx/operands.hpp"

namespace ordito::jit {

using isa::ModifierKind;
using isa::Type;
using Operand = ptx::Operand;
using ptx::Space;
using ptx::Symbol;

llvm::Type* Emitter::memoryType(Type t) {
  if (t == Type::f32) return b_.getFloatTy();
  if (t == Type::f64) return b_.getDoubleTy();
  return b_.getIntNTy(isa::bits(t));
}

/// Keeps LLVM from moving or merging volatile and atomic accesses; a block runs on one host thread, so nothing more is
/// needed on x86 for single accesses.
void Emitter::compilerFence() {
  b_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent, llvm::SyncScope::SingleThread);
}

LlvmValue Emitter::dummyAddress() { return b_.CreatePtrToInt(scratchAddress(plan_.spills.dummy), b_.getInt64Ty()); }

LlvmValue Emitter::pointer(LlvmValue address, int64_t offset) {
  LlvmValue p = b_.CreateIntToPtr(address, b_.getPtrTy());
  return offset ? b_.CreateGEP(b_.getInt8Ty(), p, b_.getInt64(static_cast<uint64_t>(offset))) : p;
}

LlvmValue Emitter::convertScalar(LlvmValue v, Type t, const Source& s) {
  v = b_.CreateZExtOrTrunc(v, typeOf(t, false));
  return s.vector() ? splat(v) : v;
}

/// Host addresses of offsets into each lane's local memory. A thread's local memory is contiguous; the block's threads
/// follow each other.
LlvmValue Emitter::localFrame(unsigned part, LlvmValue offsets) {
  LlvmValue warp = b_.CreateAdd(b_.CreateMul(group_, b_.getInt32(coarsening_)), b_.getInt32(part));
  LlvmValue first =
      b_.CreateMul(b_.CreateZExt(warp, b_.getInt64Ty()), b_.getInt64(uint64_t{kLanes} * result_.localBytes));
  LlvmValue base = b_.CreateAdd(b_.CreatePtrToInt(local_, b_.getInt64Ty()), first);
  ir::Pattern lanes;
  for (unsigned l = 0; l < kLanes; ++l) lanes[l] = static_cast<int64_t>(l * result_.localBytes);
  return b_.CreateAdd(b_.CreateAdd(splat(base), patternVector(lanes, b_.getInt64Ty())), offsets);
}

LlvmValue Emitter::localGeneric(LlvmValue a, const Instruction& i, const Source& s) {
  if (!s.vector()) refuse(i, "a uniform local address");
  LlvmValue zero = llvm::Constant::getNullValue(llvm::FixedVectorType::get(b_.getInt64Ty(), kLanes));
  LlvmValue frame = b_.CreateTrunc(localFrame(s.part, zero), a->getType());
  return i.has(ModifierKind::To) ? b_.CreateSub(a, frame) : b_.CreateAdd(a, frame);
}

LlvmValue Emitter::isSharedAddress(LlvmValue a, const Source& s) {
  return b_.CreateICmpULT(b_.CreateSub(a, convertScalar(sharedBase(), Type::u64, s)),
                          convertScalar(sharedBytes(), Type::u64, s));
}

LlvmValue Emitter::isParameterAddress(LlvmValue a, const Source& s) {
  LlvmValue base = convertScalar(b_.CreatePtrToInt(parameters_, b_.getInt64Ty()), Type::u64, s);
  return b_.CreateICmpULT(b_.CreateSub(a, base), constant(Type::u64, f_.kernel->parameterBytes, s.vector()));
}

LlvmValue Emitter::isConstantAddress(LlvmValue a, const Source& s) {
  LlvmValue inside = constant(Type::pred, 0, s.vector());
  for (uint32_t v = 0; v < f_.module->variables.size(); ++v) {
    if (f_.module->variables[v].space != Space::Const) continue;
    Operand name;
    name.kind = Operand::Kind::Symbol;
    name.symbol = {Symbol::Kind::ModuleVariable, v};
    LlvmValue offset = b_.CreateSub(a, convertScalar(symbolAddress(name, 64), Type::u64, s));
    inside =
        b_.CreateOr(inside, b_.CreateICmpULT(offset, constant(Type::u64, f_.module->variables[v].size, s.vector())));
  }
  return inside;
}

LlvmValue Emitter::isLocalAddress(LlvmValue a, const Source& s) {
  const uint64_t bytes = uint64_t{warps_} * kLanes * result_.localBytes;
  LlvmValue offset = b_.CreateSub(a, convertScalar(b_.CreatePtrToInt(local_, b_.getInt64Ty()), Type::u64, s));
  return b_.CreateICmpULT(offset, constant(Type::u64, bytes, s.vector()));
}

/// The address of a name as PTX's mov sees it: host addresses, but offsets for shared and local variables.
LlvmValue Emitter::symbolAddress(const Operand& o, unsigned bits) {
  const uint64_t offset = static_cast<uint64_t>(o.offset);
  auto number = [&](uint64_t n) { return b_.getIntN(bits, n); };
  auto host = [&](LlvmValue p) {
    return b_.CreateZExtOrTrunc(b_.CreateAdd(b_.CreatePtrToInt(p, b_.getInt64Ty()), b_.getInt64(offset)),
                                b_.getIntNTy(bits));
  };
  switch (o.symbol.kind) {
    case Symbol::Kind::Parameter:
      return host(
          b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), parameters_, f_.kernel->parameters[o.symbol.index].offset));
    case Symbol::Kind::ModuleVariable: {
      const ptx::Variable& v = f_.module->variables[o.symbol.index];
      if (v.space == Space::Shared)
        return number(v.count == 0
                          ? layout_.dynamicSharedOffset + offset
                          : layout_.sharedOffset.at({machine::KernelLayout::kModule, o.symbol.index}) + offset);
      auto* load =
          b_.CreateLoad(b_.getPtrTy(), b_.CreateConstInBoundsGEP1_64(b_.getPtrTy(), globals_, o.symbol.index), v.name);
      load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
      return host(load);
    }
    case Symbol::Kind::LocalVariable: {
      const ptx::Variable& v = f_.variables[o.symbol.index];
      const auto key = f_.origin[o.symbol.index];
      if (v.space == Space::Shared)
        return number((v.count == 0 ? layout_.dynamicSharedOffset : layout_.sharedOffset.at(key)) + offset);
      if (v.space == Space::Local || v.space == Space::Param)
        return number(plan_.privateSlots.localOffset[o.symbol.index] + offset);
      break;
    }
    case Symbol::Kind::Function: {
      LlvmValue all = frameField(offsetof(machine::BlockFrame, functions), b_.getPtrTy(), "functions");
      return host(b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), all, o.symbol.index * sizeof(ptx::Function)));
    }
    default: break;
  }
  throw Refusal{
      fmt::format("kernel '{}', PTX line {}: the address of this name (a function, say) is not supported by the JIT; "
                  "run with ORDITO_ENGINE=interp",
                  f_.kernel->name, currentLine_)};
}

Emitter::Address Emitter::addressOf(const Instruction& i, size_t k) {
  const Operand& o = i.operands[k];
  Address a;
  a.space = ptx::spaceOf(i, k);
  if (o.symbol.kind != Symbol::Kind::None) {
    const bool isPrivate =
        o.symbol.kind == Symbol::Kind::LocalVariable && f_.variables[o.symbol.index].space != Space::Shared;
    const bool isShared = (o.symbol.kind == Symbol::Kind::ModuleVariable &&
                           f_.module->variables[o.symbol.index].space == Space::Shared) ||
                          (o.symbol.kind == Symbol::Kind::LocalVariable && !isPrivate);
    Operand name = o;
    name.offset = 0;
    LlvmValue base = symbolAddress(name, 64);
    if (isPrivate) {
      a.space = Space::Local;
      for (unsigned p = 0; p < coarsening_; ++p) a.vectors.push_back(localFrame(p, splat(base)));
      return a;
    }
    if (isShared) a.space = Space::Shared, base = b_.CreateAdd(sharedBase(), base);
    a.warpVarying = false;
    a.bases.assign(coarsening_, {base});
    return a;
  }
  if (o.reg == ir::kNoValue) {  // [immediate]
    LlvmValue base = b_.getInt64(0);
    if (a.space == Space::Shared) base = sharedBase();
    if (a.space == Space::Local) {
      for (unsigned p = 0; p < coarsening_; ++p) a.vectors.push_back(localFrame(p, splat(base)));
      return a;
    }
    a.warpVarying = false;
    a.bases.assign(coarsening_, {base});
    return a;
  }
  const ir::Shape& shape = shapes_[o.reg];
  auto extend = [&](LlvmValue v, bool vector) -> LlvmValue {
    llvm::Type* to =
        vector ? static_cast<llvm::Type*>(llvm::FixedVectorType::get(b_.getInt64Ty(), kLanes)) : b_.getInt64Ty();
    // A 32-bit offset into the shared window is taken as signed: offsets are small, and `x[tid - 1]` may pass through
    // -1 in lanes that are off.
    v = b_.CreateSExtOrTrunc(v, to);
    if (a.space != Space::Shared) return v;
    return b_.CreateAdd(vector ? splat(sharedBase()) : sharedBase(), v);
  };
  if (a.space == Space::Local) {
    for (unsigned p = 0; p < coarsening_; ++p)
      a.vectors.push_back(
          localFrame(p, b_.CreateZExtOrTrunc(vectorOf(o.reg, p), llvm::FixedVectorType::get(b_.getInt64Ty(), kLanes))));
    return a;
  }
  if (!shape.isGrouped()) {
    for (unsigned p = 0; p < coarsening_; ++p) a.vectors.push_back(extend(vectorOf(o.reg, p), true));
    return a;
  }
  a.groups = shape.groups;
  a.pattern = shapes_.pattern(shape.pattern);
  a.warpVarying = shape.warpVarying;
  const unsigned split = shapes_.groupsWithoutPattern(shape);
  if (split > a.groups) a.groups = split, a.pattern = {};
  for (unsigned p = 0; p < coarsening_; ++p) {
    if (p > 0 && !a.warpVarying) {
      a.bases.push_back(a.bases[0]);
      continue;
    }
    Parts bases;
    for (unsigned g = 0; g < a.groups; ++g)
      bases.push_back(extend(regroup(shape, cached(o.reg).bases[p], a.groups, g, split != 0), false));
    a.bases.push_back(bases);
  }
  return a;
}

LlvmValue Emitter::lanesOf(LlvmValue vector, unsigned first, unsigned count) {
  if (count == kLanes) return vector;
  std::vector<int> lanes;
  for (unsigned l = 0; l < count; ++l) lanes.push_back(static_cast<int>(first + l));
  return b_.CreateShuffleVector(vector, lanes);
}

LlvmValue Emitter::addressVector(const Address& a, unsigned part, int64_t offset) {
  LlvmValue v;
  if (!a.isGrouped()) {
    v = a.vectors[part];
  } else {
    ir::Shape s;
    s.kind = ir::Shape::Kind::Grouped;
    s.groups = static_cast<uint8_t>(a.groups);
    v = fromBases(s, a.bases[part], b_.getInt64Ty());
    if (!a.patternless()) v = b_.CreateAdd(v, patternVector(a.pattern, b_.getInt64Ty()));
  }
  return offset ? b_.CreateAdd(v, constant(Type::u64, static_cast<uint64_t>(offset), true)) : v;
}

/// Does the host load and store vectors of this element under a mask?
bool Emitter::canMask(llvm::Type* element) const {
  const unsigned bits = element->getScalarSizeInBits();
  return target_.avx512 ? true : target_.avx2 && bits >= 32 && bits <= 64;
}

/// Lanes that are off get zero: a poison there would make every later branch on a mask undefined.
LlvmValue Emitter::gather(LlvmValue addresses, llvm::Type* element, LlvmValue mask) {
  auto* type = llvm::FixedVectorType::get(element, kLanes);
  const llvm::Align align(std::max(1u, element->getScalarSizeInBits() / 8));
  LlvmValue on = allOnes();
  if (mask && target_.avx512)
    on = mask;
  else if (mask)
    addresses = b_.CreateSelect(mask, addresses, splat(dummyAddress()));
  LlvmValue pointers = b_.CreateIntToPtr(addresses, llvm::FixedVectorType::get(b_.getPtrTy(), kLanes));
  return b_.CreateMaskedGather(type, pointers, align, on, llvm::Constant::getNullValue(type));
}

void Emitter::scatter(LlvmValue addresses, LlvmValue value, LlvmValue mask) {
  const llvm::Align align(std::max(1u, value->getType()->getScalarSizeInBits() / 8));
  LlvmValue on = allOnes();
  if (mask && target_.avx512)
    on = mask;
  else if (mask)
    addresses = b_.CreateSelect(mask, addresses, splat(dummyAddress()));
  LlvmValue pointers = b_.CreateIntToPtr(addresses, llvm::FixedVectorType::get(b_.getPtrTy(), kLanes));
  b_.CreateMaskedScatter(value, pointers, align, on);
}

/// Are the addresses of the lanes that are on neighbours after all, `bytes` apart from lane 0 on? The analysis cannot
/// see through a distance given at run time or an index out of a table; a few comparisons cost a tenth of a gather.
LlvmValue Emitter::areNeighbours(LlvmValue addresses, unsigned bytes, LlvmValue mask) {
  ir::Pattern places;
  for (unsigned l = 0; l < kLanes; ++l) places[l] = int64_t{l} * bytes;
  LlvmValue expected =
      b_.CreateAdd(splat(b_.CreateExtractElement(addresses, uint64_t{0})), patternVector(places, b_.getInt64Ty()));
  LlvmValue apart = b_.CreateICmpNE(addresses, expected);
  if (mask) apart = b_.CreateAnd(apart, mask);
  return b_.CreateICmpEQ(laneBits(apart), b_.getInt32(0));
}

/// `near` where the lanes' addresses turn out to be neighbours, `far` where not.
void Emitter::byNeighbourhood(LlvmValue addresses, unsigned bytes, LlvmValue mask, const std::function<void()>& near,
                              const std::function<void()>& far) {
  auto *nearBlock = newBlock("neighbours"), *farBlock = newBlock("apart"), *on = newBlock("accessed");
  b_.CreateCondBr(areNeighbours(addresses, bytes, mask), nearBlock, farBlock);
  b_.SetInsertPoint(nearBlock);
  near();
  b_.CreateBr(on);
  b_.SetInsertPoint(farBlock);
  far();
  b_.CreateBr(on);
  b_.SetInsertPoint(on);
}

/// Each test makes two accesses out of one. A kernel with so many (compiled without optimisation, it keeps all it has
/// in local memory) gets them for the first: the others would take seconds to compile.
bool Emitter::isWorthTesting() { return ++neighbourTests_ <= simt::cost::kMostContiguityTests; }

LlvmValue Emitter::loadGeneral(LlvmValue addresses, llvm::Type* element, LlvmValue mask) {
  const unsigned bytes = element->getScalarSizeInBits() / 8;
  if (bytes == 0 || (mask && !canMask(element)) || !isWorthTesting()) return gather(addresses, element, mask);
  addresses = b_.CreateFreeze(addresses);  // lanes that are off may hold anything
  auto* type = llvm::FixedVectorType::get(element, kLanes);
  LlvmValue together = nullptr, each = nullptr;
  llvm::BasicBlock *togetherEnd = nullptr, *eachEnd = nullptr;
  byNeighbourhood(
      addresses, bytes, mask,
      [&] {
        LlvmValue from = pointer(b_.CreateExtractElement(addresses, uint64_t{0}), 0);
        together = mask ? LlvmValue(b_.CreateMaskedLoad(type, from, llvm::Align(bytes), mask,
                                                        llvm::Constant::getNullValue(type)))
                        : b_.CreateAlignedLoad(type, from, llvm::Align(bytes));
        togetherEnd = b_.GetInsertBlock();
      },
      [&] {
        each = gather(addresses, element, mask);
        eachEnd = b_.GetInsertBlock();
      });
  auto* loaded = b_.CreatePHI(type, 2);
  loaded->addIncoming(together, togetherEnd);
  loaded->addIncoming(each, eachEnd);
  return loaded;
}

void Emitter::storeGeneral(LlvmValue addresses, LlvmValue value, LlvmValue mask) {
  llvm::Type* element = value->getType()->getScalarType();
  const unsigned bytes = element->getScalarSizeInBits() / 8;
  if (bytes == 0 || (mask && (!canMask(element) || target_.slowMaskedStores)) || !isWorthTesting())
    return scatter(addresses, value, mask);
  addresses = b_.CreateFreeze(addresses);
  byNeighbourhood(
      addresses, bytes, mask,
      [&] {
        LlvmValue to = pointer(b_.CreateExtractElement(addresses, uint64_t{0}), 0);
        if (mask)
          b_.CreateMaskedStore(value, to, llvm::Align(bytes), mask);
        else
          b_.CreateAlignedStore(value, to, llvm::Align(bytes));
      },
      [&] { scatter(addresses, value, mask); });
}

/// A vector (.v2, .v4) for each lane, wherever it belongs: lane by lane, a whole vector at a time.
void Emitter::storeVectorsGeneral(LlvmValue addresses, const std::vector<LlvmValue>& values, LlvmValue mask) {
  llvm::Type* element = values[0]->getType()->getScalarType();
  const unsigned count = static_cast<unsigned>(values.size());
  auto* type = llvm::FixedVectorType::get(element, count);
  constexpr unsigned kAddresses = 4;  // behind the elements of the longest vector
  if (!vectorStores_) vectorStores_ = laneArrays(b_.getInt64Ty(), kAddresses + 1);
  for (unsigned k = 0; k < count; ++k) b_.CreateStore(values[k], laneArray(vectorStores_, k));
  b_.CreateStore(addresses, laneArray(vectorStores_, kAddresses));
  forEachLane(mask, [&](LlvmValue lane) {
    auto load = [&](llvm::Type* t, unsigned k) {
      return b_.CreateLoad(t, b_.CreateInBoundsGEP(t, laneArray(vectorStores_, k), lane));
    };
    LlvmValue vector = llvm::PoisonValue::get(type);
    for (unsigned k = 0; k < count; ++k) vector = b_.CreateInsertElement(vector, load(element, k), uint64_t{k});
    b_.CreateAlignedStore(vector, pointer(load(b_.getInt64Ty(), kAddresses)), llvm::Align(1));
  });
}

/// One load; where `any` is given and false, from the dummy word.
LlvmValue Emitter::loadScalar(LlvmValue address, int64_t offset, llvm::Type* element, LlvmValue any) {
  LlvmValue p = pointer(address, offset);
  if (any) p = b_.CreateSelect(any, p, scratchAddress(plan_.spills.dummy));
  return b_.CreateAlignedLoad(element, p, llvm::Align(std::max(1u, element->getScalarSizeInBits() / 8)));
}

LlvmValue Emitter::loadLanes(const Address& a, unsigned part, int64_t offset, llvm::Type* element, LlvmValue mask) {
  const unsigned bytes = std::max(1u, element->getScalarSizeInBits() / 8);
  const unsigned width = a.isGrouped() ? runWidth(a.pattern, a.groups, bytes) : 0;
  if (!a.isGrouped()) return loadGeneral(addressVector(a, part, offset), element, mask);
  if (!width && !mask) return loadStrided(a, part, offset, element);
  if (!width || (mask && !canMask(element) && classify(a.pattern, 0, width, bytes) != Run::Kind::Same))
    return gather(addressVector(a, part, offset), element, mask);
  const llvm::Align align(bytes);
  LlvmValue result = llvm::PoisonValue::get(llvm::FixedVectorType::get(element, kLanes));
  std::map<std::pair<LlvmValue, int64_t>, LlvmValue> loaded;  // two halves of a warp often read the same row
  for (unsigned first = 0; first < kLanes; first += width) {
    LlvmValue base = a.bases[part][first * a.groups / kLanes];
    const int64_t at = a.pattern[first] + offset;
    auto* type = llvm::FixedVectorType::get(element, width);
    LlvmValue run;
    if (auto it = loaded.find({base, at}); !mask && it != loaded.end()) {
      run = it->second;
    } else if (classify(a.pattern, first, width, bytes) == Run::Kind::Same) {
      LlvmValue any = mask ? b_.CreateOrReduce(lanesOf(mask, first, width)) : nullptr;
      run = b_.CreateVectorSplat(width, loadScalar(base, at, element, any));
    } else if (!mask) {
      run = b_.CreateAlignedLoad(type, pointer(base, at), align);
    } else {
      run = b_.CreateMaskedLoad(type, pointer(base, at), align, lanesOf(mask, first, width),
                                llvm::Constant::getNullValue(type));
    }
    loaded[{base, at}] = run;
    result = width == kLanes ? run : b_.CreateInsertVector(result->getType(), result, run, b_.getInt64(first));
  }
  return result;
}

void Emitter::storeLanes(const Address& a, unsigned part, int64_t offset, LlvmValue value, LlvmValue mask) {
  llvm::Type* element = value->getType()->getScalarType();
  const unsigned bytes = std::max(1u, element->getScalarSizeInBits() / 8);
  const unsigned width = a.isGrouped() ? runWidth(a.pattern, a.groups, bytes) : 0;
  if (!a.isGrouped()) return storeGeneral(addressVector(a, part, offset), value, mask);
  if (!width && !mask) return storeStrided(a, part, offset, value);
  if (!width || (mask && !canMask(element) && classify(a.pattern, 0, width, bytes) != Run::Kind::Same))
    return scatter(addressVector(a, part, offset), value, mask);
  const llvm::Align align(bytes);
  for (unsigned first = 0; first < kLanes; first += width) {
    LlvmValue base = a.bases[part][first * a.groups / kLanes];
    const int64_t at = a.pattern[first] + offset;
    LlvmValue run = lanesOf(value, first, width);
    if (classify(a.pattern, first, width, bytes) == Run::Kind::Same) {
      // All lanes write one place; PTX lets any of them win: the highest active one does.
      LlvmValue p = pointer(base, at);
      LlvmValue lane = b_.getInt64(width - 1);
      if (mask) {
        LlvmValue bits =
            b_.CreateZExt(b_.CreateBitCast(lanesOf(mask, first, width), b_.getIntNTy(width)), b_.getInt64Ty());
        LlvmValue any = b_.CreateICmpNE(bits, b_.getInt64(0));
        p = b_.CreateSelect(any, p, scratchAddress(plan_.spills.dummy));
        lane = b_.CreateAnd(b_.CreateSub(b_.getInt64(63), b_.CreateIntrinsic(llvm::Intrinsic::ctlz, {b_.getInt64Ty()},
                                                                             {bits, b_.getFalse()})),
                            b_.getInt64(width - 1));
      }
      b_.CreateAlignedStore(b_.CreateExtractElement(run, lane), p, align);
    } else if (!mask && width == kLanes && a.streams) {
      storeWhole(pointer(base, at), run);
    } else if (!mask) {
      b_.CreateAlignedStore(run, pointer(base, at), align);
    } else if (target_.slowMaskedStores && width == kLanes) {
      auto* call = b_.CreateCall(sparseStore(element), {pointer(base, at), run, laneBits(mask)});
      call->setDoesNotThrow();
    } else {
      b_.CreateMaskedStore(run, pointer(base, at), align, lanesOf(mask, first, width));
    }
  }
}

/// A loaded element in the type of the register it goes to: narrower types are sign- or zero-extended.
LlvmValue Emitter::extendLoaded(LlvmValue v, const Instruction& i, ValueId to, bool vector) {
  llvm::Type* want = valueType(to, vector);
  if (v->getType()->isIntOrIntVectorTy() && want->isIntOrIntVectorTy())
    return isa::isSigned(i.type[0]) ? b_.CreateSExtOrTrunc(v, want) : b_.CreateZExtOrTrunc(v, want);
  return convertBits(v, want);
}

/// A grid-stride loop jumps far between iterations of one warp, where no hardware prefetcher follows; its step is known
/// before the loop, so the line that is read four iterations on can be asked for now (1.8 to 2.4 times faster on a
/// histogram, evidence in docs/engine.md).
void Emitter::prefetchNext(const Instruction& i, const Address& a, unsigned bytes) {
  const auto found = plan_.prefetches.find(&i);
  if (found == plan_.prefetches.end()) return;
  const simt::Advance& advance = found->second;
  const Operand& o = i.operands[1];
  LlvmValue step = b_.CreateSExtOrTrunc(baseOf(advance.step, 0, 0), b_.getInt64Ty());
  LlvmValue ahead =
      b_.CreateMul(step, b_.getInt64(static_cast<uint64_t>(advance.factor) * simt::cost::kPrefetchedIterations));
  for (unsigned p = 0; p < (a.warpVarying ? coarsening_ : 1); ++p)
    for (unsigned g = 0; g < a.groups; ++g) {
      const unsigned width = kLanes / a.groups;
      const auto [low, high] = std::minmax_element(a.pattern.begin() + g * width, a.pattern.begin() + (g + 1) * width);
      const int64_t last = std::min<int64_t>(*high + bytes - 1, *low + simt::cost::kPrefetchedBytes - 1);
      for (int64_t at = *low; at <= last; at += simt::cost::kCacheLine)
        b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {b_.getPtrTy()},
                           {pointer(b_.CreateAdd(a.bases[p][g], ahead), o.offset + at), b_.getInt32(0), b_.getInt32(3),
                            b_.getInt32(1)});
    }
}

void Emitter::emitLoad(const Instruction& i) {
  if (slotLoad(i) || emitNeighbouringLoads(i)) return;
  const Address a = addressOf(i, 1);
  const Operand& to = i.operands[0];
  llvm::Type* element = memoryType(i.type[0]);
  const unsigned bytes = isa::bytes(i.type[0]);
  const Parts mask = guardedMask(i);
  checkAlignment(i, 1, bytes * std::max(1u, static_cast<unsigned>(to.elements.size())), mask);
  if (isOrdered(i)) compilerFence();
  std::vector<Operand> targets = to.kind == Operand::Kind::Vector ? to.elements : std::vector<Operand>{to};
  raise(i, {machine::AccessKind::Load, a, i.operands[1].offset, mask, bytes * static_cast<unsigned>(targets.size())});
  std::vector<Parts> vectors(targets.size());
  prefetchNext(i, a, bytes * static_cast<unsigned>(targets.size()));
  for (unsigned k = 0; k < targets.size(); ++k) {
    if (targets[k].kind != Operand::Kind::Register) continue;
    const ValueId v = targets[k].reg;
    if (shapes_[v].isGrouped()) {
      CachedValue h;
      const bool invariant = a.space == Space::Param;
      for (unsigned p = 0; p < coarsening_; ++p) {
        if (p >= partsOf(v)) {
          h.bases.push_back(h.bases[0]);
          continue;
        }
        Parts bases;
        for (unsigned g = 0; g < shapes_[v].groups; ++g) {
          // A group whose lanes are all off may hold a wild address.
          LlvmValue any = nullptr;
          if (!mask.empty() && !invariant && (coarsening_ > 1 || shapes_[v].groups > 1)) {
            LlvmValue lanes = partsOf(v) == 1 && coarsening_ > 1
                                  ? nullptr
                                  : lanesOf(mask[p], g * kLanes / shapes_[v].groups, kLanes / shapes_[v].groups);
            if (lanes) any = b_.CreateOrReduce(lanes);
          }
          LlvmValue address = a.bases[p][g * a.groups / shapes_[v].groups];
          LlvmValue x = loadScalar(address, i.operands[1].offset + int64_t{k} * bytes, element, any);
          if (invariant)
            llvm::cast<llvm::LoadInst>(x)->setMetadata(llvm::LLVMContext::MD_invariant_load,
                                                       llvm::MDNode::get(context_, {}));
          bases.push_back(extendLoaded(x, i, v, false));
        }
        h.bases.push_back(bases);
      }
      define(v, std::move(h));
      continue;
    }
    for (unsigned p = 0; p < coarsening_; ++p) vectors[k].push_back(nullptr);
  }
  if (isa::bits(i.type[0]) > 64 && !vectors[0].empty()) return emitWideLoad(i, a, mask);
  if (std::all_of(vectors.begin(), vectors.end(), [](const Parts& v) { return v.empty(); })) return;
  const unsigned count = static_cast<unsigned>(targets.size());
  for (unsigned p = 0; p < coarsening_; ++p) {
    Address shifted = a;
    for (auto& base : shifted.pattern) base += a.isGrouped() ? i.operands[1].offset : 0;
    auto whole = count == 1 ? std::vector<LlvmValue>{}
                 : a.isGrouped()
                     ? loadInterleaved(shifted, p, count, element, maskOf(mask, p))
                     : loadVectorGeneral(addressVector(a, p, i.operands[1].offset), count, element, maskOf(mask, p));
    if (whole.empty() && mask.empty() && (count > 1 || !runWidth(shifted.pattern, a.groups, bytes)))
      whole = loadPlaces(shifted, p, count, element);
    for (unsigned k = 0; k < count; ++k) {
      if (vectors[k].empty()) continue;
      LlvmValue x;
      if (!whole.empty()) {
        x = whole[k];
      } else {
        x = loadLanes(a, p, i.operands[1].offset + int64_t{k} * bytes, element, maskOf(mask, p));
      }
      x = extendLoaded(x, i, targets[k].reg, true);
      if (i.guard && k < i.prior.size() && i.prior[k] != ir::kNoValue) {
        LlvmValue guard = vectorOf(i.guard.reg, p), prior = vectorOf(i.prior[k], p);
        x = i.guard.negated ? b_.CreateSelect(guard, prior, x) : b_.CreateSelect(guard, x, prior);
      }
      vectors[k][p] = x;
    }
  }
  for (unsigned k = 0; k < count; ++k)
    if (!vectors[k].empty()) defineVector(targets[k].reg, vectors[k]);
}

void Emitter::emitStore(const Instruction& i) {
  if (slotStore(i)) return;
  if (isa::bits(i.type[0]) > 64) return emitWideStore(i);
  Address a = addressOf(i, 0);
  a.streams = plan_.nonTemporal.stores.contains(&i);
  const Operand& from = i.operands[1];
  const unsigned bytes = isa::bytes(i.type[0]);
  const Parts mask = guardedMask(i);
  const std::vector<Operand> sources = from.kind == Operand::Kind::Vector ? from.elements : std::vector<Operand>{from};
  checkAlignment(i, 0, bytes * static_cast<unsigned>(sources.size()), mask);
  raise(i, {machine::AccessKind::Store, a, i.operands[0].offset, mask, bytes * static_cast<unsigned>(sources.size())});
  for (unsigned p = 0; p < coarsening_; ++p) {
    Source s;
    s.part = p;
    std::vector<LlvmValue> values;
    for (const Operand& o : sources)
      values.push_back(
          convertBits(exactBits(o, i.type[0], s), llvm::FixedVectorType::get(memoryType(i.type[0]), kLanes)));
    Address shifted = a;
    for (auto& base : shifted.pattern) base += a.isGrouped() ? i.operands[0].offset : 0;
    if (values.size() > 1 && storeInterleaved(shifted, p, values, maskOf(mask, p))) continue;
    if (values.size() > 1 && !a.isGrouped()) {
      storeVectorsGeneral(addressVector(a, p, i.operands[0].offset), values, maskOf(mask, p));
      continue;
    }
    for (unsigned k = 0; k < values.size(); ++k)
      storeLanes(a, p, i.operands[0].offset + int64_t{k} * bytes, values[k], maskOf(mask, p));
  }
  if (isOrdered(i)) compilerFence();
}

void Emitter::makePrivateSlots() {
  result_.localBytes = plan_.privateSlots.localBytes;
  for (const auto& [key, type] : plan_.privateSlots.types) {
    PrivateSlot slot{memoryType(type), {}};
    for (unsigned p = 0; p < coarsening_; ++p)
      slot.parts.push_back(
          llvm::IRBuilder<>(entry_).CreateAlloca(llvm::FixedVectorType::get(slot.type, kLanes), nullptr, "private"));
    privateSlots_[key] = slot;
  }
}

bool Emitter::slotLoad(const Instruction& i) {
  auto key = simt::privateKey(f_, i.operands[1]);
  if (!key || !plan_.privateSlots.isPrivate[key->first]) return false;
  Address a;
  a.space = f_.variables[key->first].space;
  if (counting_) raise(i, {machine::AccessKind::Load, a, i.operands[1].offset, guardedMask(i), isa::bytes(i.type[0])});
  const Operand& to = i.operands[0];
  const std::vector<Operand> targets = to.kind == Operand::Kind::Vector ? to.elements : std::vector<Operand>{to};
  for (unsigned k = 0; k < targets.size(); ++k) {
    if (targets[k].kind != Operand::Kind::Register) continue;
    PrivateSlot& slot = privateSlots_.at({key->first, key->second + int64_t{k} * isa::bytes(i.type[0])});
    Parts parts;
    for (unsigned p = 0; p < coarsening_; ++p) {
      LlvmValue x = convertBits(b_.CreateLoad(llvm::FixedVectorType::get(slot.type, kLanes), slot.parts[p]),
                                llvm::FixedVectorType::get(memoryType(i.type[0]), kLanes));
      x = extendLoaded(x, i, targets[k].reg, true);
      if (i.guard) {
        LlvmValue guard = vectorOf(i.guard.reg, p), prior = vectorOf(i.prior[k], p);
        x = i.guard.negated ? b_.CreateSelect(guard, prior, x) : b_.CreateSelect(guard, x, prior);
      }
      parts.push_back(x);
    }
    defineVector(targets[k].reg, parts);
  }
  return true;
}

bool Emitter::slotStore(const Instruction& i) {
  auto key = simt::privateKey(f_, i.operands[0]);
  if (!key || !plan_.privateSlots.isPrivate[key->first]) return false;
  const Operand& from = i.operands[1];
  const std::vector<Operand> sources = from.kind == Operand::Kind::Vector ? from.elements : std::vector<Operand>{from};
  const Parts mask = guardedMask(i);
  Address a;
  a.space = f_.variables[key->first].space;
  raise(i, {machine::AccessKind::Store, a, i.operands[0].offset, mask, isa::bytes(i.type[0])});
  for (unsigned k = 0; k < sources.size(); ++k) {
    PrivateSlot& slot = privateSlots_.at({key->first, key->second + int64_t{k} * isa::bytes(i.type[0])});
    auto* type = llvm::FixedVectorType::get(slot.type, kLanes);
    for (unsigned p = 0; p < coarsening_; ++p) {
      Source s;
      s.part = p;
      LlvmValue x = convertBits(exactBits(sources[k], i.type[0], s), type);
      if (!mask.empty()) x = b_.CreateSelect(mask[p], x, b_.CreateLoad(type, slot.parts[p]));
      b_.CreateStore(x, slot.parts[p]);
    }
  }
  return true;
}

}  // namespace ordito::jit
