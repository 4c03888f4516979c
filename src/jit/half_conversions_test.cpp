// Every half becomes the float that it is; floats become the halves that LLVM's own arithmetic makes of them: at every
// half, halfway to the next one, and beside both.
#include "jit/half_conversions.hpp"

#include <gtest/gtest.h>
#include <llvm/ADT/APFloat.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <vector>

namespace ordito::jit {
namespace {

constexpr unsigned kLanes = 64;

/// What the pass makes of a conversion of these constants: constants again, since they are folded on the way.
std::vector<uint64_t> converted(llvm::ArrayRef<llvm::Constant*> values, llvm::Type* (*to)(llvm::LLVMContext&)) {
  llvm::LLVMContext& context = values[0]->getContext();
  llvm::Module module("m", context);
  auto* result = llvm::FixedVectorType::get(to(context), kLanes);
  auto* f =
      llvm::Function::Create(llvm::FunctionType::get(result, false), llvm::Function::ExternalLinkage, "f", module);
  auto* block = llvm::BasicBlock::Create(context, "", f);
  llvm::Constant* vector = llvm::ConstantVector::get(values);
  const auto op =
      vector->getType()->getScalarType()->isHalfTy() ? llvm::Instruction::FPExt : llvm::Instruction::FPTrunc;
  auto* cast = llvm::CastInst::Create(op, vector, result, "", block);
  llvm::ReturnInst::Create(context, cast, block);
  convertHalvesByIntegers(*f);
  auto* made = llvm::dyn_cast<llvm::Constant>(llvm::cast<llvm::ReturnInst>(block->getTerminator())->getReturnValue());
  std::vector<uint64_t> bits;
  for (unsigned k = 0; made && k < kLanes; ++k)
    bits.push_back(
        llvm::cast<llvm::ConstantFP>(made->getAggregateElement(k))->getValueAPF().bitcastToAPInt().getZExtValue());
  return bits;
}

llvm::APFloat number(const llvm::fltSemantics& format, unsigned width, uint64_t bits) {
  return {format, llvm::APInt(width, bits)};
}

uint64_t expected(llvm::APFloat v, const llvm::fltSemantics& to) {
  bool isInexact = false;
  v.convert(to, llvm::APFloat::rmNearestTiesToEven, &isInexact);
  return v.bitcastToAPInt().getZExtValue();
}

TEST(HalfConversions, EveryHalfIsTheFloatThatItIs) {
  llvm::LLVMContext context;
  for (unsigned first = 0; first < 0x10000; first += kLanes) {
    std::vector<llvm::Constant*> values;
    for (unsigned k = 0; k < kLanes; ++k)
      values.push_back(llvm::ConstantFP::get(context, number(llvm::APFloat::IEEEhalf(), 16, first + k)));
    const auto bits = converted(values, llvm::Type::getFloatTy);
    ASSERT_EQ(bits.size(), kLanes);
    for (unsigned k = 0; k < kLanes; ++k)
      ASSERT_EQ(bits[k], expected(number(llvm::APFloat::IEEEhalf(), 16, first + k), llvm::APFloat::IEEEsingle()))
          << std::hex << first + k;
  }
}

TEST(HalfConversions, FloatsAreRoundedToTheNearestHalf) {
  llvm::LLVMContext context;
  std::vector<uint32_t> floats;
  for (uint32_t half = 0; half < 0x8000; half += 7) {
    const auto at =
        static_cast<uint32_t>(expected(number(llvm::APFloat::IEEEhalf(), 16, half), llvm::APFloat::IEEEsingle()));
    for (uint32_t step : {0u, 1u, 0xFFFu, 0x1000u, 0x1001u, 0x1FFFu}) {
      floats.push_back(at + step);
      floats.push_back((at + step) | 0x80000000);
    }
  }
  for (uint32_t k = 0; k < 0x7FFFFFFF - 0x10001; k += 0x10001) floats.push_back(k);
  for (uint32_t k : {0x477FEFFFu, 0x477FF000u, 0x477FFFFFu, 0x47800000u, 0x7F800000u, 0x7FC00000u, 0x7FFFFFFFu,
                     0x33000000u, 0x33000001u, 0x33800000u, 0x387FFFFFu})
    floats.push_back(k);
  floats.resize((floats.size() + kLanes - 1) / kLanes * kLanes);
  for (size_t first = 0; first < floats.size(); first += kLanes) {
    std::vector<llvm::Constant*> values;
    for (unsigned k = 0; k < kLanes; ++k)
      values.push_back(llvm::ConstantFP::get(context, number(llvm::APFloat::IEEEsingle(), 32, floats[first + k])));
    const auto bits = converted(values, llvm::Type::getHalfTy);
    ASSERT_EQ(bits.size(), kLanes);
    for (unsigned k = 0; k < kLanes; ++k)
      ASSERT_EQ(bits[k],
                expected(number(llvm::APFloat::IEEEsingle(), 32, floats[first + k]), llvm::APFloat::IEEEhalf()))
          << std::hex << floats[first + k];
  }
}

}  // namespace
}  // namespace ordito::jit
