// See runtime_calls.hpp.
#include "jit/runtime_calls.hpp"

namespace ordito::jit {

void RuntimeCalls::forEachLane(LlvmValue mask, llvm::function_ref<void(LlvmValue lane)> body) {
  auto* before = b_.GetInsertBlock();
  auto* loop = c_.newBlock("lane");
  auto* after = c_.newBlock("lanesdone");
  LlvmValue bits = mask ? masks_.laneBits(mask) : b_.getInt32(~0u);
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

/// Calls a scalar helper for each active lane; inactive lanes get zero.
LlvmValue RuntimeCalls::callLanes(const char* name, llvm::Type* result, llvm::ArrayRef<LlvmValue> arguments,
                                  unsigned part) {
  llvm::IRBuilder<> entry(c_.entry);
  llvm::SmallVector<LlvmValue> arrays;
  for (LlvmValue a : arguments) {
    arrays.push_back(entry.CreateAlloca(a->getType()));
    b_.CreateStore(a, arrays.back());
  }
  auto* vector = result ? llvm::FixedVectorType::get(result, kLanes) : nullptr;
  auto* out = result ? entry.CreateAlloca(vector) : nullptr;
  if (result) b_.CreateStore(llvm::Constant::getNullValue(vector), out);
  forEachLane(masks_.maskOf(c_.at.mask, part), [&](LlvmValue lane) {
    llvm::SmallVector<LlvmValue> scalars;
    for (size_t k = 0; k < arguments.size(); ++k) {
      llvm::Type* t = arguments[k]->getType()->getScalarType();
      scalars.push_back(b_.CreateLoad(t, b_.CreateInBoundsGEP(t, arrays[k], lane)));
    }
    LlvmValue v = c_.helper(name, result ? result : b_.getVoidTy(), scalars);
    if (result) b_.CreateStore(v, b_.CreateInBoundsGEP(result, out, lane));
  });
  return result ? b_.CreateLoad(vector, out) : nullptr;
}

/// For functions too rare or too long to be worth vector code; lanes that are off get zero.
LlvmValue RuntimeCalls::perLane(const char* name, llvm::Type* result, llvm::ArrayRef<LlvmValue> arguments,
                                const Source& s) {
  if (!s.vector()) return c_.helper(name, result, arguments);
  return callLanes(name, result, arguments, s.part);
}

LlvmValue RuntimeCalls::onLanes(const std::string& name, llvm::ArrayRef<LlvmValue> arguments) {
  llvm::Type* whole = arguments[0]->getType();
  llvm::SmallVector<LlvmValue> all = {b_.getInt32(whole->isVectorTy() ? kLanes : 1)};
  for (LlvmValue a : arguments) all.push_back(c_.inMemory(a));
  all.push_back(llvm::IRBuilder<>(c_.entry).CreateAlloca(whole));
  c_.helper(name.c_str(), b_.getVoidTy(), all);
  return b_.CreateLoad(whole, all.back());
}

/// A function that takes and gives vectors of `lanes` elements and nothing else.
LlvmValue RuntimeCalls::vectorCall(const std::string& symbol, llvm::ArrayRef<LlvmValue> arguments, unsigned lanes) {
  llvm::Type* scalar = arguments[0]->getType()->getScalarType();
  auto* vector = llvm::FixedVectorType::get(scalar, lanes);
  std::vector<llvm::Type*> types(arguments.size(), vector);
  auto callee = c_.module.getOrInsertFunction(symbol, llvm::FunctionType::get(vector, types, false));
  auto* f = llvm::cast<llvm::Function>(callee.getCallee());
  f->setDoesNotAccessMemory();
  f->addFnAttr(llvm::Attribute::NoUnwind);
  f->addFnAttr(llvm::Attribute::WillReturn);
  if (!arguments[0]->getType()->isVectorTy()) {
    llvm::SmallVector<LlvmValue> splats;
    for (LlvmValue a : arguments) splats.push_back(b_.CreateVectorSplat(lanes, a));
    return b_.CreateExtractElement(b_.CreateCall(callee, splats), uint64_t{0});
  }
  LlvmValue result = llvm::PoisonValue::get(llvm::FixedVectorType::get(scalar, kLanes));
  for (unsigned first = 0; first < kLanes; first += lanes) {
    llvm::SmallVector<LlvmValue> pieces;
    for (LlvmValue a : arguments) pieces.push_back(values_.lanesOf(a, first, lanes));
    result = b_.CreateInsertVector(result->getType(), result, b_.CreateCall(callee, pieces), b_.getInt64(first));
  }
  return result;
}

/// A vector function of SLEEF, whose names end in lanes, bound in ulp and instruction set: Sleef_sinf8_u10avx2.
LlvmValue RuntimeCalls::sleef(const std::string& name, llvm::ArrayRef<LlvmValue> arguments, bool isDouble) {
  const unsigned lanes = isDouble ? c_.target.mathLanes / 2 : c_.target.mathLanes;
  const size_t cut = name.find('_');
  std::string base = name.substr(0, cut);
  if (isDouble) base += "d";
  return vectorCall(fmt::format("Sleef_{}{}_{}{}", base, lanes, cut == std::string::npos ? "" : name.substr(cut + 1),
                                c_.target.mathSuffix),
                    arguments, lanes);
}

/// A function of the GPU's special function unit (machine/multifunction_unit.hpp), f32.
LlvmValue RuntimeCalls::multifunction(std::string_view name, LlvmValue x) {
  return vectorCall(fmt::format("mufu_{}_{}", name, c_.target.mathSuffix), {x}, c_.target.mathLanes);
}

}  // namespace ordito::jit
