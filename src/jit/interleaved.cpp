// Accesses whose lanes neither share an address nor fill a vector in order, but stand to each other as known when the
// kernel is compiled: vectors of .v2 and .v4 in neighbouring lanes, and rows of which a mask leaves few lanes. Shuffles
// and accesses of single lanes replace gathers, scatters and masked stores.
#include "jit/lane_access.hpp"
#include "jit/shuffler.hpp"

namespace ordito::jit {

static constexpr unsigned kChunk = 8;

/// Of sparseStore, `f`: lanes `first` to `first` + 7, whose values lie in `stack`.
static void storeChunk(llvm::IRBuilder<>& b, llvm::Function* f, unsigned first, llvm::AllocaInst* stack,
                       llvm::AllocaInst* dummy) {
  auto block = [&](const char* label) { return llvm::BasicBlock::Create(b.getContext(), label, f); };
  LlvmValue to = f->getArg(0), value = f->getArg(1), lanes = f->getArg(2);
  llvm::Type* bits = dummy->getAllocatedType();
  const llvm::Align align(bits->getIntegerBitWidth() / 8);
  auto *full = block("full"), *notFull = block("notfull"), *some = block("some"), *next = block("next");
  LlvmValue part = b.CreateTrunc(b.CreateLShr(lanes, first), b.getInt8Ty());
  LlvmValue place = b.CreateConstInBoundsGEP1_64(bits, to, first);
  b.CreateCondBr(b.CreateICmpEQ(part, b.getInt8(255)), full, notFull);
  b.SetInsertPoint(full);
  std::vector<int> chunk;
  for (unsigned l = 0; l < kChunk; ++l) chunk.push_back(static_cast<int>(first + l));
  b.CreateAlignedStore(b.CreateShuffleVector(value, chunk), place, align);
  b.CreateBr(next);
  b.SetInsertPoint(notFull);
  b.CreateCondBr(b.CreateICmpEQ(part, b.getInt8(0)), next, some);
  b.SetInsertPoint(some);
  for (unsigned l = 0; l < kChunk; ++l) {
    LlvmValue on = b.CreateICmpNE(b.CreateAnd(part, b.getInt8(static_cast<uint8_t>(1u << l))), b.getInt8(0));
    LlvmValue x = b.CreateAlignedLoad(bits, b.CreateConstInBoundsGEP1_64(bits, stack, first + l), align);
    b.CreateAlignedStore(x, b.CreateSelect(on, b.CreateConstInBoundsGEP1_64(bits, place, l), dummy), align);
  }
  b.CreateBr(next);
  b.SetInsertPoint(next);
}

/// A function of the module that stores the lanes named by a bit mask: few of them one by one, many by a store each
/// that the mask sends to its place or to a dummy, with no branch on single lanes. It takes words of `width` bits,
/// whatever their type.
llvm::Function* LaneAccess::sparseStore(unsigned width) {
  const std::string name = fmt::format("sparse_store_{}", width);
  if (auto* f = c_.module.getFunction(name)) return f;
  constexpr unsigned kFew = 16;
  llvm::Type* bits = b_.getIntNTy(width);
  auto* vector = llvm::FixedVectorType::get(bits, kLanes);
  auto* f =
      llvm::Function::Create(llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), vector, b_.getInt32Ty()}, false),
                             llvm::Function::InternalLinkage, name, c_.module);
  f->addFnAttr("target-cpu", c_.target.cpu);
  f->addFnAttr("target-features", c_.target.features);
  f->addFnAttr(llvm::Attribute::NoInline);
  f->addFnAttr(llvm::Attribute::NoUnwind);
  auto block = [&](const char* label) { return llvm::BasicBlock::Create(b_.getContext(), label, f); };
  auto *entry = block("entry"), *loop = block("lane"), *many = block("many"), *done = block("done");
  llvm::IRBuilder<> b(entry);
  LlvmValue to = f->getArg(0), value = f->getArg(1), lanes = f->getArg(2);
  const llvm::Align align(width / 8);
  auto* stack = b.CreateAlloca(vector);
  stack->setAlignment(llvm::Align(16));  // what the stack has: more costs as much as a few stores
  auto* dummy = b.CreateAlloca(bits);
  auto* test = block("test");
  b.CreateCondBr(b.CreateICmpEQ(lanes, b.getInt32(0)), done, test);
  b.SetInsertPoint(test);
  b.CreateAlignedStore(value, stack, llvm::Align(16));
  LlvmValue few =
      b.CreateICmpULE(b.CreateIntrinsic(llvm::Intrinsic::ctpop, {b.getInt32Ty()}, {lanes}), b.getInt32(kFew));
  b.CreateCondBr(few, loop, many);
  b.SetInsertPoint(loop);
  auto* left = b.CreatePHI(b.getInt32Ty(), 2);
  left->addIncoming(lanes, test);
  LlvmValue lane = b.CreateIntrinsic(llvm::Intrinsic::cttz, {b.getInt32Ty()}, {left, b.getTrue()});
  b.CreateAlignedStore(b.CreateAlignedLoad(bits, b.CreateInBoundsGEP(bits, stack, lane), align),
                       b.CreateInBoundsGEP(bits, to, lane), align);
  LlvmValue rest = b.CreateAnd(left, b.CreateSub(left, b.getInt32(1)));
  left->addIncoming(rest, loop);
  b.CreateCondBr(b.CreateICmpNE(rest, b.getInt32(0)), loop, done);
  b.SetInsertPoint(many);
  for (unsigned first = 0; first < kLanes; first += kChunk) storeChunk(b, f, first, stack, dummy);
  b.CreateBr(done);
  b.SetInsertPoint(done);
  b.CreateRetVoid();
  return f;
}

/// Of neighbouring lanes' vectors of `count` elements: for elements `first` to `first` + width - 1, whether their lanes
/// are on.
LlvmValue LaneAccess::maskOfElements(LlvmValue mask, unsigned first, unsigned width, unsigned count) {
  std::vector<int> lanes;
  for (unsigned k = first; k < first + width; ++k) lanes.push_back(static_cast<int>(k / count));
  return b_.CreateShuffleVector(mask, lanes);
}

/// Vector loads (.v2, .v4) of neighbouring lanes: one block of memory, shared out by shuffles.
std::vector<LlvmValue> LaneAccess::loadInterleaved(const Address& a, unsigned part, unsigned count, llvm::Type* element,
                                                   LlvmValue mask) {
  const unsigned bytes = std::max(1u, element->getScalarSizeInBits() / 8);
  const unsigned chunk = c_.target.avx512 ? 16 : 8;
  auto* type = llvm::FixedVectorType::get(element, chunk);
  auto load = [&](unsigned n) -> LlvmValue {  // the n-th chunk of elements
    LlvmValue p = c_.pointer(a.bases[part][0], a.pattern[0] + int64_t{n} * chunk * bytes);
    if (!mask) return b_.CreateAlignedLoad(type, p, llvm::Align(bytes));
    return b_.CreateMaskedLoad(type, p, llvm::Align(bytes), maskOfElements(mask, n * chunk, chunk, count),
                               llvm::Constant::getNullValue(type));
  };
  const Shuffler shuffle(b_, chunk, c_.target.avx512);
  std::vector<LlvmValue> result(count, llvm::PoisonValue::get(llvm::FixedVectorType::get(element, kLanes)));
  for (unsigned first = 0; first < kLanes; first += chunk) {
    std::vector<LlvmValue> r;
    for (unsigned k = 0; k < count; ++k) r.push_back(load(first / chunk * count + k));
    const std::vector<LlvmValue> out = *shuffle.members(r);
    for (unsigned k = 0; k < count; ++k)
      result[k] = b_.CreateInsertVector(result[k]->getType(), result[k], out[k], b_.getInt64(first));
  }
  return result;
}

/// Lanes that read few different places, or neighbouring ones in any order: each place once, and permutations that
/// share it out. A register tile of a matrix product reads so (a row of lanes wants the same four numbers), and so does
/// a swizzled row.
std::vector<LlvmValue> LaneAccess::loadPermuted(const Address& a, unsigned part, unsigned count, llvm::Type* element) {
  const unsigned bits = element->getScalarSizeInBits(), bytes = bits / 8;
  const unsigned perVector = (c_.target.avx512 ? 512 : 256) / bits;
  const PermuteTable layout = permuteTableOf(a.pattern, a.segments, count, bytes, perVector);
  auto* type = llvm::FixedVectorType::get(element, 2 * perVector);
  LlvmValue table = llvm::PoisonValue::get(type);
  for (const PermuteTable::Piece& piece : layout.pieces) {
    LlvmValue from = c_.pointer(a.bases[part][piece.segment], piece.offset);
    llvm::Type* loaded = piece.length == 1 ? element : llvm::FixedVectorType::get(element, piece.length);
    LlvmValue x = b_.CreateAlignedLoad(loaded, from, llvm::Align(bytes));
    table = piece.length == 1 ? b_.CreateInsertElement(table, x, uint64_t{piece.first})
                              : b_.CreateInsertVector(type, table, x, b_.getInt64(piece.first));
  }
  std::vector<LlvmValue> result;
  for (unsigned k = 0; k < count; ++k) {
    std::vector<int> order;
    for (unsigned l = 0; l < kLanes; ++l) order.push_back(static_cast<int>(layout.found[l * count + k]));
    result.push_back(b_.CreateShuffleVector(table, order));
  }
  return result;
}

void LaneAccess::storeInterleaved(const Address& a, unsigned part, const std::vector<LlvmValue>& values,
                                  LlvmValue mask) {
  llvm::Type* element = values[0]->getType()->getScalarType();
  const unsigned count = static_cast<unsigned>(values.size()), bytes = std::max(1u, element->getScalarSizeInBits() / 8);
  std::vector<LlvmValue> joined = values;
  for (unsigned width = kLanes; joined.size() > 1; width *= 2) {
    std::vector<LlvmValue> next;
    std::vector<int> all;
    for (unsigned l = 0; l < 2 * width; ++l) all.push_back(static_cast<int>(l));
    for (size_t k = 0; k < joined.size(); k += 2) next.push_back(b_.CreateShuffleVector(joined[k], joined[k + 1], all));
    joined = next;
  }
  std::vector<int> order;
  for (unsigned l = 0; l < kLanes; ++l)
    for (unsigned k = 0; k < count; ++k) order.push_back(static_cast<int>(k * kLanes + l));
  LlvmValue all = b_.CreateShuffleVector(joined[0], order);
  if (!mask) {
    b_.CreateAlignedStore(all, c_.pointer(a.bases[part][0], a.pattern[0]), llvm::Align(bytes));
    return;
  }
  constexpr unsigned kVector = 16;
  for (unsigned first = 0; first < kLanes * count; first += kVector) {
    std::vector<int> elements;
    for (unsigned k = first; k < first + kVector; ++k) elements.push_back(static_cast<int>(k));
    b_.CreateMaskedStore(b_.CreateShuffleVector(all, elements),
                         c_.pointer(a.bases[part][0], a.pattern[0] + int64_t{first} * bytes), llvm::Align(bytes),
                         maskOfElements(mask, first, kVector, count));
  }
}

}  // namespace ordito::jit
