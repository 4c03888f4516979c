// See combined_atomics.hpp.
#include "jit/combined_atomics.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

#include "machine/combining_buffer.hpp"
#include "ptx/operands.hpp"

namespace ordito::jit {

using machine::CombiningView;

std::vector<LlvmValue> scalarAddresses(llvm::IRBuilder<>& b, llvm::ArrayRef<LlvmValue> bases, LlvmValue offsets,
                                       bool areSigned) {
  LlvmValue pairs = b.CreateBitCast(offsets, llvm::FixedVectorType::get(b.getInt64Ty(), kLanes / 2));
  std::vector<LlvmValue> addresses;
  auto add = [&](LlvmValue offset) {
    addresses.push_back(b.CreateAdd(bases[addresses.size() % bases.size()], offset));
  };
  for (unsigned pair = 0; pair < kLanes / 2; ++pair) {
    LlvmValue both = b.CreateExtractElement(pairs, uint64_t{pair});
    LlvmValue low = b.CreateTrunc(both, b.getInt32Ty());
    add(areSigned ? b.CreateSExt(low, b.getInt64Ty()) : b.CreateZExt(low, b.getInt64Ty()));
    add(areSigned ? b.CreateAShr(both, 32) : b.CreateLShr(both, 32));
  }
  return addresses;
}

LlvmValue CombinedAtomics::field(size_t offset, llvm::Type* type) {
  return b_.CreateAlignedLoad(type, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), c_.memory.combining, offset),
                              llvm::Align(type->getScalarSizeInBits() / 8));
}

CombinedAtomics::Form CombinedAtomics::formOf(const WarpAtomic& a) const {
  if (a.indexed) return Form::Indexed;
  if (a.address.segments != 1) return Form::Lanes;
  if (a.address.patternless()) return Form::OnePlace;
  const bool isRun = simt::classify(a.address.pattern, 0, kLanes, plan_.memory.combined.combination.bytes) ==
                     simt::Run::Kind::Contiguous;
  return isRun && !a.lanes ? Form::Neighbours : Form::Lanes;
}

CombinedAtomics::Places CombinedAtomics::placesOf(const WarpAtomic& a) {
  Places places{formOf(a)};
  const auto offset = b_.getInt64(static_cast<uint64_t>(a.offset));
  if (places.form == Form::Indexed) {
    places.at = b_.CreateAdd(values_.baseOf(a.indexed->pointer, a.part, 0), offset);
    places.index = values_.vectorOf(a.indexed->index, a.part);
    places.index = b_.CreateFreeze(b_.CreateBitCast(places.index, llvm::FixedVectorType::get(b_.getInt32Ty(), kLanes)));
    places.shift = a.indexed->shift;
  } else if (places.form == Form::Lanes) {
    places.at = addresses_.addressVector(a.address, a.part, a.offset);
  } else {
    places.at = b_.CreateAdd(b_.CreateAdd(a.address.bases[a.part][0], offset),
                             b_.getInt64(static_cast<uint64_t>(a.address.pattern[0])));
  }
  places.at = b_.CreateFreeze(places.at);  // lanes that are off may hold anything
  return places;
}

/// Does the buffer stand for all places? One number stands for those of neighbours.
LlvmValue CombinedAtomics::isInside(const Places& places, LlvmValue lanes) {
  LlvmValue first = word(offsetof(CombiningView, first)), bytes = word(offsetof(CombiningView, bytes));
  if (places.form == Form::Lanes) {
    LlvmValue outside = b_.CreateICmpUGE(b_.CreateSub(places.at, values_.splat(first)), values_.splat(bytes));
    return b_.CreateICmpEQ(masks_.laneBits(masks_.both(lanes, outside)), b_.getInt32(0));
  }
  LlvmValue place = b_.CreateSub(places.at, first), inside = b_.CreateICmpULT(place, bytes);
  if (places.form == Form::OnePlace) return inside;
  if (places.form == Form::Indexed) {  // a negative index is a large one here, and goes to memory
    LlvmValue last = b_.CreateLShr(b_.CreateSub(bytes, b_.CreateAdd(place, b_.getInt64(1))), places.shift);
    LlvmValue beyond = b_.CreateICmpUGT(places.index, values_.splat(b_.CreateTrunc(last, b_.getInt32Ty())));
    return b_.CreateAnd(inside, b_.CreateICmpEQ(masks_.laneBits(masks_.both(lanes, beyond)), b_.getInt32(0)));
  }
  LlvmValue last = b_.CreateAdd(place, b_.getInt64((kLanes - 1) * plan_.memory.combined.combination.bytes));
  return b_.CreateAnd(inside, b_.CreateICmpULT(last, bytes));
}

/// Does it in memory, and then asks the buffer to stand for such places, if it has not stood aside. In this order no
/// vector lives across the call, for which it would have to be kept in memory where nobody asks.
void CombinedAtomics::outside(const Places& places, const WarpAtomic& a, llvm::function_ref<void()> inMemory) {
  const simt::Combination& combination = plan_.memory.combined.combination;
  const unsigned reach = places.form == Form::Neighbours ? (kLanes - 1) * combination.bytes : 0;
  LlvmValue array =
      c_.inMemory(places.form == Form::Indexed ? b_.CreateFreeze(addresses_.addressVector(a.address, a.part, a.offset))
                  : places.differ()            ? places.at
                                               : b_.CreateVectorSplat(1, places.at));
  LlvmValue bits = !places.differ() ? b_.getInt32(1) : a.lanes ? masks_.laneBits(a.lanes) : b_.getInt32(~0u);
  inMemory();
  auto *ask = c_.newBlock("ask"), *on = c_.newBlock("asked");
  LlvmValue aside = field(offsetof(CombiningView, standsAside), b_.getInt32Ty());
  b_.CreateCondBr(b_.CreateICmpNE(aside, b_.getInt32(0)), on, ask);
  b_.SetInsertPoint(ask);
  c_.helper("ordito_combine_at", b_.getVoidTy(),
            {c_.memory.combining, array, bits, b_.getInt32(reach),
             b_.getInt32(static_cast<uint32_t>(combination.operation)), b_.getInt32(combination.bytes)});
  b_.CreateBr(on);
  b_.SetInsertPoint(on);
}

/// A word of the buffer.
void CombinedAtomics::change(LlvmValue place, LlvmValue operand) {
  const auto op = atomicOperation(plan_.memory.combined.combination.operation);
  const llvm::Align align(plan_.memory.combined.combination.bytes);
  LlvmValue p = c_.pointer(place);
  b_.CreateAlignedStore(applied(b_, op, b_.CreateAlignedLoad(operand->getType(), p, align), operand), p, align);
}

void CombinedAtomics::combine(const Places& places, const WarpAtomic& a) {
  const auto op = atomicOperation(plan_.memory.combined.combination.operation);
  LlvmValue uses = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), c_.memory.combining, offsetof(CombiningView, uses));
  b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt64Ty(), uses), b_.getInt64(1)), uses);
  if (places.differ()) return combineLanes(places, a);
  LlvmValue words = word(offsetof(CombiningView, words));
  LlvmValue place = b_.CreateAdd(words, b_.CreateSub(places.at, word(offsetof(CombiningView, first))));
  if (places.form == Form::Neighbours) return change(place, a.operands);
  LlvmValue operands = a.operands;
  if (a.lanes) {
    auto* identity = llvm::ConstantInt::get(operands->getType(), plan_.memory.combined.combination.identity());
    operands = b_.CreateSelect(a.lanes, operands, identity);
  }
  change(place, reduced(b_, op, operands));
}

void CombinedAtomics::combineLanes(const Places& places, const WarpAtomic& a) {
  auto* narrow = llvm::FixedVectorType::get(b_.getInt32Ty(), kLanes);
  LlvmValue words = word(offsetof(CombiningView, words)), first = word(offsetof(CombiningView, first));
  LlvmValue offsets = nullptr;
  if (places.form == Form::Indexed) {
    words = b_.CreateAdd(words, b_.CreateSub(places.at, first));
    offsets = b_.CreateShl(places.index, uint64_t{places.shift});
  } else {
    offsets = b_.CreateTrunc(b_.CreateSub(places.at, values_.splat(first)), narrow);
  }
  offsets = b_.CreateAdd(offsets, field(offsetof(CombiningView, turns), narrow));
  if (!a.lanes) {
    const auto addresses = scalarAddresses(b_, {words}, offsets, false);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      change(addresses[lane], b_.CreateExtractElement(a.operands, uint64_t{lane}));
    return;
  }
  LlvmValue offsetArray = c_.inMemory(offsets), operandArray = c_.inMemory(a.operands);
  llvm::Type* type = a.operands->getType()->getScalarType();
  calls_.forEachLane(a.lanes, [&](LlvmValue lane) {
    LlvmValue offset = b_.CreateLoad(b_.getInt32Ty(), b_.CreateInBoundsGEP(b_.getInt32Ty(), offsetArray, lane));
    change(b_.CreateAdd(words, b_.CreateZExt(offset, b_.getInt64Ty())),
           b_.CreateLoad(type, b_.CreateInBoundsGEP(type, operandArray, lane)));
  });
}

void CombinedAtomics::emit(const WarpAtomic& a, llvm::function_ref<void()> inMemory) {
  const Places places = placesOf(a);
  auto *look = c_.newBlock("combine"), *inBuffer = c_.newBlock("inside"), *beside = c_.newBlock("outside"),
       *on = c_.newBlock("combined");
  b_.CreateCondBr(a.lanes ? masks_.anyLane(a.lanes) : static_cast<LlvmValue>(b_.getTrue()), look, on);
  b_.SetInsertPoint(look);
  b_.CreateCondBr(isInside(places, a.lanes), inBuffer, beside);
  b_.SetInsertPoint(inBuffer);
  combine(places, a);
  b_.CreateBr(on);
  b_.SetInsertPoint(beside);
  outside(places, a, inMemory);
  b_.CreateBr(on);
  b_.SetInsertPoint(on);
}

LlvmValue CombinedAtomics::waits() { return b_.CreateICmpNE(word(offsetof(CombiningView, uses)), b_.getInt64(0)); }

void CombinedAtomics::emptyIf(LlvmValue condition) {
  auto *empty = c_.newBlock("empty"), *on = c_.newBlock("emptied");
  b_.CreateCondBr(condition, empty, on);
  b_.SetInsertPoint(empty);
  c_.helper("ordito_combine_end", b_.getVoidTy(), {c_.memory.combining});
  b_.CreateBr(on);
  b_.SetInsertPoint(on);
}

/// Does an active lane touch what the buffer stands for?
LlvmValue CombinedAtomics::touches(const Touch& t) {
  LlvmValue first = word(offsetof(CombiningView, first)), size = word(offsetof(CombiningView, bytes));
  LlvmValue touches = b_.getFalse();
  // Of `extent` bytes from `from` on: does one lie among the buffer's?
  auto meets = [&](LlvmValue from, uint64_t extent) {
    auto fit = [&](LlvmValue v) { return from->getType()->isVectorTy() ? values_.splat(v) : v; };
    LlvmValue before = fit(b_.getInt64(extent - 1));
    from = b_.CreateFreeze(from);  // lanes that are off may hold anything
    return b_.CreateICmpULT(b_.CreateAdd(b_.CreateSub(from, fit(first)), before), b_.CreateAdd(fit(size), before));
  };
  for (unsigned p = 0; p < warps(); ++p) {
    if (!t.address.isSegmented()) {
      LlvmValue places = meets(addresses_.addressVector(t.address, p, t.offset), t.bytes);
      LlvmValue lanes = masks_.both(masks_.maskOf(t.mask, p), places);
      touches = b_.CreateOr(touches, b_.CreateICmpNE(masks_.laneBits(lanes), b_.getInt32(0)));
      continue;
    }
    const unsigned width = kLanes / t.address.segments;
    for (unsigned g = 0; g < t.address.segments; ++g) {
      const auto pattern = std::span(t.address.pattern).subspan(g * width, width);
      const auto [low, high] = std::ranges::minmax(pattern);
      LlvmValue from = b_.CreateAdd(t.address.bases[p][g], b_.getInt64(static_cast<uint64_t>(low + t.offset)));
      touches = b_.CreateOr(touches, meets(from, static_cast<uint64_t>(high - low) + t.bytes));
    }
  }
  return touches;
}

/// What `i` touches of global memory, and the loads that are done with it.
std::vector<CombinedAtomics::Touch> CombinedAtomics::touchesOf(const Instruction& i) {
  const auto& merged = plan_.memory.mergedLoads;
  const auto& structures = plan_.memory.structures.byWorker;
  std::vector<const Instruction*> together;
  if (const auto run = merged.runs.find(&i); run != merged.runs.end())
    together = run->second;
  else if (const auto structure = structures.find(&i); structure != structures.end())
    for (const auto& member : structure->second.members) together.push_back(member.access);
  else if (!merged.members.contains(&i))
    together = {&i};
  std::vector<Touch> all;
  for (const Instruction* each : together)
    for (const ptx::MemoryAccess& m : ptx::MemoryAccesses(*each))
      if (m.space == ptx::Space::Global || m.space == ptx::Space::Generic)
        all.push_back({addresses_.addressOf(*each, m.operand), values_.guardedMask(*each),
                       each->operands[m.operand].offset, m.bytes});
  return all;
}

void CombinedAtomics::comeBefore(const std::vector<BlockId>& blocks) {
  const simt::CombinedAtomics& plan = plan_.memory.combined;
  const bool mayTell = std::ranges::any_of(blocks, [&](BlockId b) {
    return std::ranges::any_of(
        f_.blocks[b].code, [&](const Instruction& i) { return plan.looking.contains(&i) || plan.ending.contains(&i); });
  });
  if (mayTell) emptyIf(waits());
}

void CombinedAtomics::comeBefore(const Instruction& i) {
  const simt::CombinedAtomics& plan = plan_.memory.combined;
  if (plan.ending.contains(&i)) return emptyIf(waits());
  if (!plan.looking.contains(&i)) return;
  const std::vector<Touch> all = touchesOf(i);
  if (all.empty()) return;
  auto *look = c_.newBlock("look"), *on = c_.newBlock("looked");
  b_.CreateCondBr(waits(), look, on);
  b_.SetInsertPoint(look);
  LlvmValue touched = b_.getFalse();
  for (const Touch& t : all) touched = b_.CreateOr(touched, touches(t));
  emptyIf(touched);
  b_.CreateBr(on);
  b_.SetInsertPoint(on);
}

}  // namespace ordito::jit
