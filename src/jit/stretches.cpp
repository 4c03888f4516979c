// What is run thread by thread (simt/by_thread.hpp), on both sides of the call: the warp puts what a stretch finds into
// a record, and takes out what each of its threads has left there; the function does the stretch for one lane after the
// other, by the same lowering as all code, from a plan in which every value is a scalar.
#include "jit/code_lowering.hpp"
#include "jit/emitter.hpp"

namespace ordito::jit {

using Entry = simt::Stretch::Entry;

namespace {

/// Predicates lie in memory as bytes.
llvm::Type* inRecord(llvm::Type* type) { return type->getWithNewBitWidth(8); }

LlvmValue toRecord(llvm::IRBuilder<>& b, LlvmValue v) {
  return v->getType()->isIntOrIntVectorTy(1) ? b.CreateZExt(v, inRecord(v->getType())) : v;
}

LlvmValue loadFrom(llvm::IRBuilder<>& b, llvm::Type* type, LlvmValue place) {
  const bool isPredicate = type->isIntOrIntVectorTy(1);
  LlvmValue v = b.CreateAlignedLoad(isPredicate ? inRecord(type) : type, place, llvm::Align(1));
  return isPredicate ? b.CreateTrunc(v, type) : v;
}

}  // namespace

/// The warps of a batch take turns.
void CodeLowering::runThreads(const Operation& o) {
  const simt::Stretch& stretch = *plan_.stretches.from(o.block);
  const Parts& mask = maskFor(o.a);
  auto*& record = state_.records[o.block];
  if (!record) {
    record = llvm::IRBuilder<>(c_.entry).CreateAlloca(llvm::ArrayType::get(b_.getInt8Ty(), stretch.recordBytes),
                                                      nullptr, "record");
    record->setAlignment(llvm::Align(simt::cost::kCacheLine));
  }
  auto place = [&](const Entry& e) { return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), record, e.offset); };
  auto* function = c_.declare(nameOfStretch(c_.function->getName().str(), stretch.first),
                              {b_.getPtrTy(), b_.getInt32Ty(), b_.getInt32Ty(), b_.getPtrTy()});
  parts_.instructions.combined().comeBefore(stretch.blocks);
  std::vector<Parts> left(stretch.leaves.size());
  for (unsigned p = 0; p < warps(); ++p) {
    for (const Entry& e : stretch.finds) {
      LlvmValue v = e.isShared ? values_.baseOf(e.value, p, 0) : values_.vectorOf(e.value, p);
      b_.CreateStore(toRecord(b_, v), place(e));
    }
    LlvmValue first = b_.CreateMul(c_.warp(p), b_.getInt32(kLanes));
    b_.CreateCall(function, {c_.frame, first, masks_.lanesOrAll(mask, p), record})->setDoesNotThrow();
    for (size_t k = 0; k < left.size(); ++k)
      left[k].push_back(loadFrom(b_, values_.valueType(stretch.leaves[k].value, true), place(stretch.leaves[k])));
  }
  for (size_t k = 0; k < left.size(); ++k) values_.store(stretch.leaves[k].value, {{}, left[k]}, mask);
}

void Emitter::emitStretch(const std::string& name, uint32_t number) {
  c_.function = c_.declare(name, {b_.getPtrTy(), b_.getInt32Ty(), b_.getInt32Ty(), b_.getPtrTy()});
  c_.function->setLinkage(llvm::GlobalValue::InternalLinkage);
  c_.function->addFnAttr(llvm::Attribute::NoInline);
  beginFunction();
  runStretch(number);
  b_.CreateRet(b_.getInt32(0));
  endFunction();
}

void Emitter::runStretch(uint32_t number) {
  const simt::Stretch& stretch = plan_.stretches.stretches[number];
  const simt::RegionCode& code = plan_.code.regions[number];
  LlvmValue first = c_.function->getArg(1), lanes = c_.function->getArg(2), record = c_.function->getArg(3);
  auto placeOf = [&](const Entry& e, LlvmValue lane) {
    LlvmValue entry = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), record, e.offset);
    llvm::Type* type = values_.valueType(e.value, false);
    return e.isShared ? entry : b_.CreateInBoundsGEP(type->isIntegerTy(1) ? b_.getInt8Ty() : type, entry, lane);
  };
  auto find = [&](const Entry& e, LlvmValue lane) {
    LlvmValue v = loadFrom(b_, values_.valueType(e.value, false), placeOf(e, lane));
    values_.store(e.value, {{{v}}, {}}, {});
  };
  c_.at.region = &code.region;
  c_.at.resumePoint = number;
  // The phis of the first block change on the way.
  auto isKept = [&](const Entry& e) { return e.isShared && !parts_.spills.isDefinedHere(e.value); };
  for (const Entry& e : stretch.finds)
    if (isKept(e)) find(e, nullptr);
  state_.latch = c_.newBlock("left");
  calls_.forEachLane(b_.CreateBitCast(lanes, llvm::FixedVectorType::get(b_.getInt1Ty(), kLanes)), [&](LlvmValue lane) {
    c_.at.thread = b_.CreateAdd(first, lane);
    for (ValueId v = 0; v < f_.values.size(); ++v)
      if (parts_.spills.isDefinedHere(v)) values_.forget(v);
    for (const Entry& e : stretch.finds)
      if (!isKept(e)) find(e, lane);
    CodeLowering lowering(parts_, scheduled_, code);
    lowering.enterHere(number);
    lowering.lower();
    b_.SetInsertPoint(state_.latch);
    values_.cache().clear();
    for (const Entry& e : stretch.leaves) b_.CreateStore(toRecord(b_, values_.baseOf(e.value, 0, 0)), placeOf(e, lane));
  });
}

}  // namespace ordito::jit
