// Calls of functions that PTX modules do not define: math (clang leaves __nv_sinf and its like as calls), printf,
// assert, and the runtime's helpers.
#include <llvm/IR/Intrinsics.h>

#include "jit/emitter.hpp"
#include "rt/math_functions.hpp"
#include "rt/math_table.hpp"

namespace ordito::jit {

using isa::Type;

LlvmValue Emitter::helper(const char* name, llvm::Type* result, llvm::ArrayRef<LlvmValue> arguments, bool noReturn) {
  std::vector<llvm::Type*> types;
  for (LlvmValue a : arguments) types.push_back(a->getType());
  auto callee = module_.getOrInsertFunction(name, llvm::FunctionType::get(result, types, false));
  auto* f = llvm::cast<llvm::Function>(callee.getCallee());
  f->addFnAttr(llvm::Attribute::NoUnwind);
  auto* call = b_.CreateCall(callee, arguments);
  if (noReturn) call->setDoesNotReturn();
  return call;
}

/// A function that takes and gives vectors of `lanes` elements and nothing else.
LlvmValue Emitter::vectorCall(const std::string& symbol, llvm::ArrayRef<LlvmValue> arguments, unsigned lanes) {
  llvm::Type* scalar = arguments[0]->getType()->getScalarType();
  auto* vector = llvm::FixedVectorType::get(scalar, lanes);
  std::vector<llvm::Type*> types(arguments.size(), vector);
  auto callee = module_.getOrInsertFunction(symbol, llvm::FunctionType::get(vector, types, false));
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
    for (LlvmValue a : arguments) pieces.push_back(lanesOf(a, first, lanes));
    result = b_.CreateInsertVector(result->getType(), result, b_.CreateCall(callee, pieces), b_.getInt64(first));
  }
  return result;
}

/// A vector function of SLEEF, whose names end in lanes, bound in ulp and instruction set: Sleef_sinf8_u10avx2.
LlvmValue Emitter::sleef(const std::string& name, llvm::ArrayRef<LlvmValue> arguments, bool isDouble) {
  const unsigned lanes = isDouble ? target_.mathLanes / 2 : target_.mathLanes;
  const size_t cut = name.find('_');
  std::string base = name.substr(0, cut);
  if (isDouble) base += "d";
  return vectorCall(fmt::format("Sleef_{}{}_{}{}", base, lanes, cut == std::string::npos ? "" : name.substr(cut + 1),
                                target_.mathSuffix),
                    arguments, lanes);
}

/// A function of the GPU's special function unit (machine/multifunction_unit.hpp), f32.
LlvmValue Emitter::multifunction(std::string_view name, LlvmValue x) {
  return vectorCall(fmt::format("mufu_{}_{}", name, target_.mathSuffix), {x}, target_.mathLanes);
}

namespace {
std::string calleeName(const ir::Function& f, const Instruction& i) {
  return f.module->functions[i.operands[1].symbol.index].name;
}
}  // namespace

/// Where a call's .param variable lies in each lane's local memory, if it is too irregular for slots.
LlvmValue Emitter::paramAddress(const ptx::Operand& o, unsigned part) {
  return localFrame(
      part,
      constant(Type::u64, plan_.privateSlots.localOffset[o.symbol.index] + static_cast<uint64_t>(o.offset), true));
}

/// Argument `k` of a call: a register, or what was stored to its .param variable.
LlvmValue Emitter::callArgument(const Instruction& i, size_t k, Type t, unsigned part) {
  const auto& list = i.operands[2].elements;
  if (k >= list.size()) refuse(i, "a call with too few arguments");
  if (list[k].symbol.kind == ptx::Symbol::Kind::None) {
    Source s;
    s.part = part;
    return exactBits(list[k], t, s);
  }
  if (!plan_.privateSlots.isPrivate[list[k].symbol.index])
    return convertBits(gather(paramAddress(list[k], part), memoryType(t), maskOf(mask_, part)), typeOf(t, true));
  auto it = privateSlots_.find({list[k].symbol.index, 0});
  if (it == privateSlots_.end()) return constant(t, 0, true);  // never stored
  return convertBits(b_.CreateLoad(llvm::FixedVectorType::get(it->second.type, kLanes), it->second.parts[part]),
                     typeOf(t, true));
}

void Emitter::callResult(const Instruction& i, const Parts& values) {
  const auto& list = i.operands[0].elements;
  if (list.empty() || list[0].kind == ptx::Operand::Kind::Sink) return;
  Parts results;
  for (LlvmValue v : values) results.push_back(v->getType()->getScalarType()->isFloatTy() ? canonicalNan(v) : v);
  if (list[0].kind == ptx::Operand::Kind::Register) {
    for (LlvmValue& v : results) v = convertBits(v, valueType(list[0].reg, true));
    return defineVector(list[0].reg, results);
  }
  if (!plan_.privateSlots.isPrivate[list[0].symbol.index]) {
    for (unsigned p = 0; p < coarsening_; ++p) scatter(paramAddress(list[0], p), results[p], maskOf(mask_, p));
    return;
  }
  auto it = privateSlots_.find({list[0].symbol.index, 0});
  if (it == privateSlots_.end()) return;  // nobody reads it
  for (unsigned p = 0; p < coarsening_; ++p) {
    auto* type = llvm::FixedVectorType::get(it->second.type, kLanes);
    LlvmValue v = convertBits(results[p], type);
    if (!mask_.empty()) v = b_.CreateSelect(mask_[p], v, b_.CreateLoad(type, it->second.parts[p]));
    b_.CreateStore(v, it->second.parts[p]);
  }
}

void Emitter::emitCall(const Instruction& i) {
  const std::string name = calleeName(f_, i);
  if (name == "vprintf") return emitPrintf(i);
  if (name == "__assertfail") return emitAssertFail(i);
  if (name == "malloc" || name == "_Znwm" || name == "_Znam") {
    Parts out;
    for (unsigned p = 0; p < coarsening_; ++p)
      out.push_back(callLanes("ordito_malloc", b_.getInt64Ty(), {callArgument(i, 0, Type::u64, p)}, p));
    return callResult(i, out);
  }
  if (name == "free" || name == "_ZdlPv" || name == "_ZdaPv" || name == "_ZdlPvm" || name == "_ZdaPvm") {
    for (unsigned p = 0; p < coarsening_; ++p) callLanes("ordito_free", nullptr, {callArgument(i, 0, Type::u64, p)}, p);
    return;
  }
  if (const auto* function = machine::findDeviceFunction(name)) return emitDeviceRuntime(i, *function);
  if (const char* why = machine::removedDeviceFunction(name)) refuse(i, fmt::format("a call of {}: {}", name, why));
  if (!emitVectorMath(i, name)) emitMathCall(i, name);
}

/// The arguments of a call of the device runtime as vectors of 64-bit words, filled up with zeros.
llvm::SmallVector<LlvmValue> Emitter::deviceWords(const Instruction& i, std::string_view signature, unsigned part) {
  llvm::SmallVector<LlvmValue> words;
  for (size_t k = 0; k + 1 < signature.size(); ++k) {
    const machine::DeviceArgument shape = machine::deviceArgument(signature[k + 1]);
    const Type t = shape.bytesPerWord == 4 ? Type::u32 : Type::u64;
    if (shape.words == 1) {
      words.push_back(convertBits(callArgument(i, k, t, part), typeOf(Type::u64, true)));
      continue;
    }
    for (unsigned word = 0; word < shape.words; ++word) {
      ptx::Operand at = i.operands[2].elements[k];
      at.offset += word * shape.bytesPerWord;
      words.push_back(
          convertBits(gather(paramAddress(at, part), memoryType(t), maskOf(mask_, part)), typeOf(Type::u64, true)));
    }
  }
  words.resize(machine::kMostDeviceWords, constant(Type::u64, 0, true));
  return words;
}

void Emitter::emitDeviceRuntime(const Instruction& i, const machine::DeviceFunction& function) {
  if (i.operands[2].elements.size() + 1 != function.signature.size())
    refuse(i, fmt::format("a call of '{}' with {} arguments instead of {}", function.name,
                          i.operands[2].elements.size(), function.signature.size() - 1));
  Parts out;
  for (unsigned p = 0; p < coarsening_; ++p) {
    auto tid = [&](isa::Special s) { return convertBits(specialVector(s, p), typeOf(Type::u64, true)); };
    auto times = [&](LlvmValue v, uint64_t n) { return b_.CreateMul(v, constant(Type::u64, n, true)); };
    LlvmValue thread = b_.CreateAdd(times(tid(isa::Special::TidZ), shapes_.launch().block[1]), tid(isa::Special::TidY));
    thread = b_.CreateAdd(times(thread, shapes_.launch().block[0]), tid(isa::Special::TidX));
    llvm::SmallVector<LlvmValue> arguments = {
        splat(b_.CreatePtrToInt(frame_, b_.getInt64Ty())),
        constant(Type::u64, static_cast<uint64_t>(&function - machine::deviceFunctions().data()), true), thread};
    arguments.append(deviceWords(i, function.signature, p));
    LlvmValue word = callLanes("ordito_device_runtime", b_.getInt64Ty(), arguments, p);
    out.push_back(function.signature[0] == 'l' ? word : convertBits(word, typeOf(Type::u32, true)));
  }
  callResult(i, out);
}

/// Calls a scalar helper for each active lane; inactive lanes get zero.
LlvmValue Emitter::callLanes(const char* name, llvm::Type* result, llvm::ArrayRef<LlvmValue> arguments, unsigned part) {
  llvm::IRBuilder<> entry(entry_);
  llvm::SmallVector<LlvmValue> arrays;
  for (LlvmValue a : arguments) {
    arrays.push_back(entry.CreateAlloca(a->getType()));
    b_.CreateStore(a, arrays.back());
  }
  auto* vector = result ? llvm::FixedVectorType::get(result, kLanes) : nullptr;
  auto* out = result ? entry.CreateAlloca(vector) : nullptr;
  if (result) b_.CreateStore(llvm::Constant::getNullValue(vector), out);
  forEachLane(maskOf(mask_, part), [&](LlvmValue lane) {
    llvm::SmallVector<LlvmValue> scalars;
    for (size_t k = 0; k < arguments.size(); ++k) {
      llvm::Type* t = arguments[k]->getType()->getScalarType();
      scalars.push_back(b_.CreateLoad(t, b_.CreateInBoundsGEP(t, arrays[k], lane)));
    }
    LlvmValue v = helper(name, result ? result : b_.getVoidTy(), scalars);
    if (result) b_.CreateStore(v, b_.CreateInBoundsGEP(result, out, lane));
  });
  return result ? b_.CreateLoad(vector, out) : nullptr;
}

void Emitter::emitPrintf(const Instruction& i) {
  Parts out;
  for (unsigned p = 0; p < coarsening_; ++p)
    out.push_back(callLanes("ordito_printf", b_.getInt32Ty(),
                            {callArgument(i, 0, Type::u64, p), callArgument(i, 1, Type::u64, p)}, p));
  callResult(i, out);
}

/// __assertfail(message, file, line, function, char size): the first active lane reports and the launch ends.
void Emitter::emitAssertFail(const Instruction& i) {
  for (unsigned p = 0; p < coarsening_; ++p) {
    Source s;
    s.part = p;
    LlvmValue frame = splat(b_.CreatePtrToInt(frame_, b_.getInt64Ty()));
    callLanes("ordito_assert", nullptr,
              {frame, callArgument(i, 0, Type::u64, p), callArgument(i, 1, Type::u64, p),
               callArgument(i, 2, Type::u32, p), callArgument(i, 3, Type::u64, p), specialVector(isa::Special::TidX, p),
               specialVector(isa::Special::TidY, p), specialVector(isa::Special::TidZ, p)},
              p);
  }
}

namespace {
/// Functions that are an instruction of LLVM's.
struct IntrinsicFunction {
  std::string_view name;
  llvm::Intrinsic::ID id;
  unsigned arguments;
};
constexpr IntrinsicFunction kIntrinsics[] = {
    {"__nv_sqrt", llvm::Intrinsic::sqrt, 1},      {"__nv_floor", llvm::Intrinsic::floor, 1},
    {"__nv_ceil", llvm::Intrinsic::ceil, 1},      {"__nv_trunc", llvm::Intrinsic::trunc, 1},
    {"__nv_rint", llvm::Intrinsic::roundeven, 1}, {"__nv_nearbyint", llvm::Intrinsic::roundeven, 1},
    {"__nv_round", llvm::Intrinsic::round, 1},    {"__nv_fabs", llvm::Intrinsic::fabs, 1},
    {"__nv_fmin", llvm::Intrinsic::minnum, 2},    {"__nv_fmax", llvm::Intrinsic::maxnum, 2},
    {"__nv_fma", llvm::Intrinsic::fma, 3},        {"__nv_copysign", llvm::Intrinsic::copysign, 2},
};
}  // namespace

/// The functions that are a few vector instructions; false if `name` is none of them.
bool Emitter::emitVectorMath(const Instruction& i, const std::string& name) {
  const bool isRoot = name == "__nv_rsqrt" || name == "__nv_rsqrtf" || name == "__nv_frsqrt_rn";
  const IntrinsicFunction* f = nullptr;
  bool isDouble = name == "__nv_rsqrt";
  for (const IntrinsicFunction& candidate : kIntrinsics) {
    if (name == candidate.name) f = &candidate, isDouble = true;
    if (name.size() == candidate.name.size() + 1 && name.starts_with(candidate.name) && name.back() == 'f')
      f = &candidate;
  }
  if (!f && !isRoot) return false;
  const Type t = isDouble ? Type::f64 : Type::f32;
  Parts out;
  for (unsigned p = 0; p < coarsening_; ++p) {
    llvm::SmallVector<LlvmValue> arguments;
    for (unsigned k = 0; k < (f ? f->arguments : 1); ++k) arguments.push_back(callArgument(i, k, t, p));
    LlvmValue v = b_.CreateIntrinsic(f ? f->id : llvm::Intrinsic::sqrt, {typeOf(t, true)}, arguments);
    out.push_back(f ? v : b_.CreateFDiv(llvm::ConstantFP::get(v->getType(), 1), v));
  }
  callResult(i, out);
  return true;
}

void Emitter::emitMathCall(const Instruction& i, const std::string& name) {
  const rt::MathFunction* f = rt::findMath(name);
  const rt::ScalarFunction* scalar = f ? nullptr : rt::findScalar(name);
  if (!f && !scalar) refuse(i, fmt::format("a call of '{}', which no module defines and the JIT does not know", name));
  auto typeOfCode = [](char c) {
    return c == 'f' ? Type::f32 : c == 'd' ? Type::f64 : c == 'i' ? Type::u32 : Type::u64;
  };
  Parts out;
  for (unsigned p = 0; p < coarsening_; ++p) {
    llvm::SmallVector<LlvmValue> arguments;
    if (scalar) {
      for (size_t k = 1; k < scalar->signature.size(); ++k)
        arguments.push_back(callArgument(i, k - 1, typeOfCode(scalar->signature[k]), p));
      const char result = scalar->signature[0];
      LlvmValue v = callLanes(std::string(scalar->name).c_str(),
                              result == 'v' ? nullptr : typeOf(typeOfCode(result), false), arguments, p);
      if (v) out.push_back(v);
      continue;
    }
    for (unsigned k = 0; k < f->arguments; ++k)
      arguments.push_back(callArgument(i, k, f->isDouble ? Type::f64 : Type::f32, p));
    if (f->kind == rt::MathFunction::Kind::Sleef) {
      out.push_back(sleef(f->implementation, arguments, f->isDouble));
    } else {
      LlvmValue mask = maskOf(mask_, p);
      scatter(callArgument(i, 1, Type::u64, p),
              sleef(f->isDouble ? "sin_u10" : "sinf_u10", {arguments[0]}, f->isDouble), mask);
      scatter(callArgument(i, 2, Type::u64, p),
              sleef(f->isDouble ? "cos_u10" : "cosf_u10", {arguments[0]}, f->isDouble), mask);
    }
  }
  if (!out.empty()) callResult(i, out);
}

}  // namespace ordito::jit
