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

LlvmValue logIn(llvm::IRBuilder<>& b, LlvmValue record, const simt::Stretch& stretch) {
  return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), record, stretch.recordBytes);
}

}  // namespace

/// Behind what a stretch finds and leaves lies what counters are to know.
llvm::AllocaInst* CodeLowering::makeRecord(const simt::Stretch& stretch) {
  llvm::IRBuilder<> entry(c_.entry);
  size_t bytes = stretch.recordBytes;
  if (stretch.counted) bytes += IterationLogs::layoutOf(*stretch.counted).bytes();
  auto* record = entry.CreateAlloca(llvm::ArrayType::get(b_.getInt8Ty(), bytes), nullptr, "record");
  record->setAlignment(llvm::Align(simt::cost::kCacheLine));
  if (stretch.counted) IterationLogs::clear(entry, *stretch.counted, logIn(entry, record, stretch));
  return record;
}

/// The warps of a batch take turns.
void CodeLowering::runThreads(const Operation& o) {
  const simt::Stretch& stretch = *plan_.stretches.from(o.block);
  const Parts& mask = maskFor(o.a);
  auto*& record = state_.records[o.block];
  if (!record) record = makeRecord(stretch);
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

namespace {

/// The function's body.
class ThreadLoop : private Chapter {
 public:
  ThreadLoop(KernelParts& parts, ScheduledRegions& scheduled, uint32_t number)
      : Chapter(parts.tools),
        parts_(parts),
        scheduled_(scheduled),
        number_(number),
        stretch_(plan_.stretches.stretches[number]),
        code_(plan_.code.regions[number]) {}

  /// f(frame, first thread, lanes, record)
  void emit() {
    c_.at.region = &code_.region;
    c_.at.resumePoint = number_;
    firstThread_ = c_.function->getArg(1), record_ = c_.function->getArg(3);
    for (const Entry& e : stretch_.finds)
      if (isKept(e)) find(e, nullptr);
    parts_.state.latch = c_.newBlock("left");
    LlvmValue lanes = c_.function->getArg(2);
    stretch_.counted ? runCounted(lanes) : runLanes(lanes, [&](LlvmValue lane) { leave(lane); });
  }

 private:
  using Lane = llvm::function_ref<void(LlvmValue lane)>;

  /// The phis of the first block change on the way.
  bool isKept(const Entry& e) const { return e.isShared && !parts_.spills.isDefinedHere(e.value); }

  LlvmValue placeOf(const Entry& e, LlvmValue lane) {
    LlvmValue entry = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), record_, e.offset);
    llvm::Type* type = values_.valueType(e.value, false);
    return e.isShared ? entry : b_.CreateInBoundsGEP(type->isIntegerTy(1) ? b_.getInt8Ty() : type, entry, lane);
  }

  void find(const Entry& e, LlvmValue lane) {
    LlvmValue v = loadFrom(b_, values_.valueType(e.value, false), placeOf(e, lane));
    values_.store(e.value, {{{v}}, {}}, {});
  }

  void runLanes(LlvmValue lanes, Lane behind) {
    auto* each = llvm::FixedVectorType::get(b_.getInt1Ty(), kLanes);
    calls_.forEachLane(b_.CreateBitCast(lanes, each), [&](LlvmValue lane) {
      c_.at.thread = b_.CreateAdd(firstThread_, lane);
      for (ValueId v = 0; v < f_.values.size(); ++v)
        if (parts_.spills.isDefinedHere(v)) values_.forget(v);
      for (const Entry& e : stretch_.finds)
        if (!isKept(e)) find(e, lane);
      if (stretch_.counted) counting_.iterations().beginLane(full_);
      CodeLowering lowering(parts_, scheduled_, code_);
      lowering.enterHere(number_);
      lowering.lower();
      behind(lane);
    });
  }

  void leave(LlvmValue lane) {
    b_.SetInsertPoint(parts_.state.latch);
    values_.cache().clear();
    for (const Entry& e : stretch_.leaves)
      b_.CreateStore(toRecord(b_, values_.baseOf(e.value, 0, 0)), placeOf(e, lane));
  }

  /// All lanes do as many iterations as a log holds, which are counted, and so on with those that are not done.
  void runCounted(LlvmValue lanes) {
    IterationLogs& iterations = counting_.iterations();
    iterations.begin(*stretch_.counted, logIn(b_, record_, stretch_));
    auto *before = b_.GetInsertBlock(), *some = c_.newBlock("iterations"), *after = c_.newBlock("counted");
    unfinished_ = llvm::IRBuilder<>(c_.entry).CreateAlloca(b_.getInt32Ty(), nullptr, "unfinished");
    b_.CreateBr(some);
    b_.SetInsertPoint(some);
    auto* left = b_.CreatePHI(b_.getInt32Ty(), 2, "left");
    left->addIncoming(lanes, before);
    b_.CreateStore(b_.getInt32(0), unfinished_);
    iterations.beginLog();
    full_ = c_.newBlock("full");
    runLanes(left, [&](LlvmValue lane) {
      auto* done = c_.newBlock("lane.done");
      leave(lane);
      b_.CreateBr(done);
      b_.SetInsertPoint(full_);
      interrupt(lane);
      b_.CreateBr(done);
      b_.SetInsertPoint(done);
      iterations.endLane();
    });
    LlvmValue unfinished = b_.CreateLoad(b_.getInt32Ty(), unfinished_);
    iterations.count();
    for (const auto& [entry, later] : sharedPhis_)
      b_.CreateStore(b_.CreateLoad(later->getAllocatedType(), later), placeOf(entry, nullptr));
    left->addIncoming(unfinished, b_.GetInsertBlock());
    b_.CreateCondBr(b_.CreateICmpEQ(unfinished, b_.getInt32(0)), after, some);
    b_.SetInsertPoint(after);
  }

  /// A lane will go on in the loop's header with the phis that it has now. Other lanes have still to begin with those
  /// that are the same for all.
  void interrupt(LlvmValue lane) {
    values_.cache().clear();
    counting_.iterations().interruptLane();
    LlvmValue others = b_.CreateLoad(b_.getInt32Ty(), unfinished_);
    b_.CreateStore(b_.CreateOr(others, b_.CreateShl(b_.getInt32(1), lane)), unfinished_);
    for (const Entry& e : stretch_.finds) {
      if (!parts_.spills.isDefinedHere(e.value)) continue;
      LlvmValue v = toRecord(b_, values_.baseOf(e.value, 0, 0)), place = placeOf(e, lane);
      if (e.isShared) {
        auto* later = llvm::IRBuilder<>(c_.entry).CreateAlloca(v->getType(), nullptr, "later");
        sharedPhis_.push_back({e, later});
        place = later;
      }
      b_.CreateStore(v, place);
    }
  }

  KernelParts& parts_;
  ScheduledRegions& scheduled_;
  const uint32_t number_;
  const simt::Stretch& stretch_;
  const simt::RegionCode& code_;
  LlvmValue firstThread_ = nullptr, record_ = nullptr;
  // ---- where it is counted
  llvm::BasicBlock* full_ = nullptr;        // where a lane goes whose log is full
  llvm::AllocaInst* unfinished_ = nullptr;  // lanes that have been there
  std::vector<std::pair<Entry, llvm::AllocaInst*>> sharedPhis_;
};

}  // namespace

void Emitter::emitStretch(const std::string& name, uint32_t number) {
  c_.function = c_.declare(name, {b_.getPtrTy(), b_.getInt32Ty(), b_.getInt32Ty(), b_.getPtrTy()});
  c_.function->setLinkage(llvm::GlobalValue::InternalLinkage);
  c_.function->addFnAttr(llvm::Attribute::NoInline);
  beginFunction();
  ThreadLoop(parts_, scheduled_, number).emit();
  b_.CreateRet(b_.getInt32(0));
  endFunction();
}

}  // namespace ordito::jit
