// See gather_scatter.hpp.
#include "jit/gather_scatter.hpp"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/InlineAsm.h>

#include <algorithm>

#include "jit/assembled_lanes.hpp"

namespace ordito::jit {

/// A host without masked accesses of lanes sends those that are off to a dummy word.
LlvmValue GatherScatter::reachable(LlvmValue addresses, LlvmValue mask) {
  if (!mask || c_.target.avx512) return addresses;
  return b_.CreateSelect(mask, addresses, values_.splat(c_.dummyAddress()));
}

/// Where lanes go, and which.
GatherScatter::Pointers GatherScatter::pointersOf(LlvmValue addresses, LlvmValue mask) {
  LlvmValue on = mask && c_.target.avx512 ? mask : masks_.allOnes();
  addresses = reachable(addresses, mask);
  return {b_.CreateIntToPtr(addresses, llvm::FixedVectorType::get(b_.getPtrTy(), kLanes)), on};
}

/// Lanes that are off get zero: a poison there would make every later branch on a mask undefined.
LlvmValue GatherScatter::gather(LlvmValue addresses, llvm::Type* element, LlvmValue mask) {
  auto* type = llvm::FixedVectorType::get(element, kLanes);
  const llvm::Align align(std::max(1u, element->getScalarSizeInBits() / 8));
  if (!c_.target.fastGather && isAssembled(element->getScalarSizeInBits() / 8))
    return gatherByAssembly(reachable(addresses, mask), type);
  const auto [pointers, on] = pointersOf(addresses, mask);
  return b_.CreateMaskedGather(type, pointers, align, on, llvm::Constant::getNullValue(type));
}

void GatherScatter::scatter(LlvmValue addresses, LlvmValue value, LlvmValue mask) {
  const llvm::Align align(std::max(1u, value->getType()->getScalarSizeInBits() / 8));
  if (isAssembled(value->getType()->getScalarSizeInBits() / 8))
    return scatterByAssembly(reachable(addresses, mask), value);
  const auto [pointers, on] = pointersOf(addresses, mask);
  b_.CreateMaskedScatter(value, pointers, align, on);
}

LlvmValue GatherScatter::gatherByAssembly(LlvmValue addresses, llvm::FixedVectorType* type) {
  const AssembledLanes code(type->getScalarSizeInBits() / 8);
  auto* piece = llvm::FixedVectorType::get(type->getElementType(), code.lanes());
  auto* four = llvm::FixedVectorType::get(b_.getInt64Ty(), 4);
  auto* results = llvm::StructType::get(b_.getContext(), {piece, piece, four, b_.getInt64Ty(), b_.getInt64Ty()});
  auto* function = llvm::FunctionType::get(results, std::vector<llvm::Type*>(code.addresses(), four), false);
  const std::string constraints =
      std::string("=&x,=&x,=&x,=&r,=&r,") + (code.addresses() == 2 ? "x,x," : "x,") + "~{memory}";
  auto* text = llvm::InlineAsm::get(function, code.gather(), constraints, /*hasSideEffects=*/false);
  std::vector<llvm::Value*> pieces;
  for (unsigned first = 0; first < kLanes; first += code.lanes()) {
    auto* call = b_.CreateCall(function, text, foursOf(addresses, first, code.addresses()));
    call->setMemoryEffects(llvm::MemoryEffects::readOnly());
    call->setDoesNotThrow();
    pieces.push_back(b_.CreateExtractValue(call, 0));
  }
  return llvm::concatenateVectors(b_, pieces);
}

void GatherScatter::scatterByAssembly(LlvmValue addresses, LlvmValue value) {
  auto* type = llvm::cast<llvm::FixedVectorType>(value->getType());
  const AssembledLanes code(type->getScalarSizeInBits() / 8);
  auto* piece = llvm::FixedVectorType::get(type->getElementType(), code.lanes());
  auto* four = llvm::FixedVectorType::get(b_.getInt64Ty(), 4);
  auto* used = llvm::StructType::get(b_.getContext(), {piece, four, b_.getInt64Ty(), b_.getInt64Ty()});
  std::vector<llvm::Type*> operands(1 + code.addresses(), four);
  operands[0] = piece;
  auto* function = llvm::FunctionType::get(used, operands, false);
  const std::string constraints =
      std::string("=&x,=&x,=&r,=&r,x,") + (code.addresses() == 2 ? "x,x," : "x,") + "~{memory}";
  auto* text = llvm::InlineAsm::get(function, code.scatter(), constraints, /*hasSideEffects=*/true);
  for (unsigned first = 0; first < kLanes; first += code.lanes()) {
    std::vector<LlvmValue> given = foursOf(addresses, first, code.addresses());
    given.insert(given.begin(), b_.CreateExtractVector(piece, value, b_.getInt64(first)));
    auto* call = b_.CreateCall(function, text, given);
    call->setMemoryEffects(llvm::MemoryEffects::writeOnly());
    call->setDoesNotThrow();
  }
}

/// Addresses from `first` on, four in a vector.
std::vector<LlvmValue> GatherScatter::foursOf(LlvmValue addresses, unsigned first, unsigned count) {
  auto* four = llvm::FixedVectorType::get(b_.getInt64Ty(), 4);
  std::vector<LlvmValue> fours;
  for (unsigned k = 0; k < count; ++k)
    fours.push_back(b_.CreateExtractVector(four, addresses, b_.getInt64(first + 4 * k)));
  return fours;
}

/// Are the addresses of the lanes that are on neighbours after all, `bytes` apart from lane 0 on? The analysis cannot
/// see through a distance given at run time or an index out of a table; a few comparisons cost a tenth of a gather.
LlvmValue GatherScatter::areNeighbours(LlvmValue addresses, unsigned bytes, LlvmValue mask) {
  ir::Pattern places;
  for (unsigned l = 0; l < kLanes; ++l) places[l] = int64_t{l} * bytes;
  LlvmValue expected = b_.CreateAdd(values_.splat(b_.CreateExtractElement(addresses, uint64_t{0})),
                                    values_.patternVector(places, b_.getInt64Ty()));
  LlvmValue apart = masks_.both(mask, b_.CreateICmpNE(addresses, expected));
  return b_.CreateICmpEQ(masks_.laneBits(apart), b_.getInt32(0));
}

/// `near` where the lanes' addresses turn out to be neighbours, `far` where not.
void GatherScatter::byNeighbourhood(LlvmValue addresses, unsigned bytes, LlvmValue mask,
                                    const std::function<void()>& near, const std::function<void()>& far) {
  auto *nearBlock = c_.newBlock("neighbours"), *farBlock = c_.newBlock("apart"), *on = c_.newBlock("accessed");
  b_.CreateCondBr(areNeighbours(addresses, bytes, mask), nearBlock, farBlock);
  b_.SetInsertPoint(nearBlock);
  near();
  b_.CreateBr(on);
  b_.SetInsertPoint(farBlock);
  far();
  b_.CreateBr(on);
  b_.SetInsertPoint(on);
}

LlvmValue GatherScatter::loadTested(LlvmValue addresses, llvm::Type* element, LlvmValue mask) {
  const unsigned bytes = element->getScalarSizeInBits() / 8;
  addresses = b_.CreateFreeze(addresses);  // lanes that are off may hold anything
  auto* type = llvm::FixedVectorType::get(element, kLanes);
  LlvmValue together = nullptr, each = nullptr;
  llvm::BasicBlock *togetherEnd = nullptr, *eachEnd = nullptr;
  byNeighbourhood(
      addresses, bytes, mask,
      [&] {
        LlvmValue from = c_.pointer(b_.CreateExtractElement(addresses, uint64_t{0}), 0);
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

void GatherScatter::storeTested(LlvmValue addresses, LlvmValue value, LlvmValue mask) {
  llvm::Type* element = value->getType()->getScalarType();
  const unsigned bytes = element->getScalarSizeInBits() / 8;
  addresses = b_.CreateFreeze(addresses);
  byNeighbourhood(
      addresses, bytes, mask,
      [&] {
        LlvmValue to = c_.pointer(b_.CreateExtractElement(addresses, uint64_t{0}), 0);
        if (mask)
          b_.CreateMaskedStore(value, to, llvm::Align(bytes), mask);
        else
          b_.CreateAlignedStore(value, to, llvm::Align(bytes));
      },
      [&] { scatter(addresses, value, mask); });
}

/// A vector (.v2, .v4) for each lane, wherever it belongs: lane by lane, a whole vector at a time.
void GatherScatter::storeVectors(LlvmValue addresses, const std::vector<LlvmValue>& values, LlvmValue mask) {
  llvm::Type* element = values[0]->getType()->getScalarType();
  const unsigned count = static_cast<unsigned>(values.size());
  auto* type = llvm::FixedVectorType::get(element, count);
  constexpr unsigned kAddresses = 4;  // behind the elements of the longest vector
  if (!vectorStores_) vectorStores_ = c_.laneArrays(b_.getInt64Ty(), kAddresses + 1);
  for (unsigned k = 0; k < count; ++k) b_.CreateStore(values[k], c_.laneArray(vectorStores_, k));
  b_.CreateStore(addresses, c_.laneArray(vectorStores_, kAddresses));
  calls_.forEachLane(mask, [&](LlvmValue lane) {
    auto load = [&](llvm::Type* t, unsigned k) {
      return b_.CreateLoad(t, b_.CreateInBoundsGEP(t, c_.laneArray(vectorStores_, k), lane));
    };
    LlvmValue vector = llvm::PoisonValue::get(type);
    for (unsigned k = 0; k < count; ++k) vector = b_.CreateInsertElement(vector, load(element, k), uint64_t{k});
    b_.CreateAlignedStore(vector, c_.pointer(load(b_.getInt64Ty(), kAddresses)), llvm::Align(1));
  });
}

}  // namespace ordito::jit
