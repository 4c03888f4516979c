// See atomic_operations.hpp.
#include "jit/atomic_operations.hpp"

namespace ordito::jit {

using RMW = llvm::AtomicRMWInst;

AtomicOperation atomicOperation(std::string_view name, isa::Type t) {
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

AtomicOperation atomicOperation(simt::Combination::Operation operation) {
  using Operation = simt::Combination::Operation;
  switch (operation) {
    case Operation::Add: return RMW::Add;
    case Operation::And: return RMW::And;
    case Operation::Or: return RMW::Or;
    case Operation::Xor: return RMW::Xor;
    case Operation::Min: return RMW::Min;
    case Operation::Max: return RMW::Max;
    case Operation::UMin: return RMW::UMin;
    case Operation::UMax: return RMW::UMax;
  }
  return RMW::BAD_BINOP;
}

LlvmValue applied(llvm::IRBuilder<>& b, AtomicOperation op, LlvmValue old, LlvmValue x) {
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

LlvmValue reduced(llvm::IRBuilder<>& b, AtomicOperation op, LlvmValue vector) {
  switch (op) {
    case RMW::Add: return b.CreateAddReduce(vector);
    case RMW::And: return b.CreateAndReduce(vector);
    case RMW::Or: return b.CreateOrReduce(vector);
    case RMW::Xor: return b.CreateXorReduce(vector);
    case RMW::Min: return b.CreateIntMinReduce(vector, /*IsSigned=*/true);
    case RMW::Max: return b.CreateIntMaxReduce(vector, /*IsSigned=*/true);
    case RMW::UMin: return b.CreateIntMinReduce(vector);
    case RMW::UMax: return b.CreateIntMaxReduce(vector);
    default: return nullptr;
  }
}

}  // namespace ordito::jit
