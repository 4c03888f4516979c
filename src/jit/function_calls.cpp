// Calls of functions that PTX modules do not define: math (clang leaves __nv_sinf and its like as calls), printf,
// assert, and the runtime's helpers.
#include "jit/function_calls.hpp"

#include <llvm/IR/Intrinsics.h>

#include "rt/math_functions.hpp"
#include "rt/math_table.hpp"

namespace ordito::jit {

using isa::Type;

namespace {
std::string calleeName(const ir::Function& f, const Instruction& i) {
  return f.module->functions[i.operands[1].symbol.index].name;
}
}  // namespace

/// Where a call's .param variable lies in each lane's local memory, if it is too irregular for slots.
LlvmValue FunctionCalls::paramAddress(const ptx::Operand& o, unsigned part) {
  return addresses_.localFrame(
      part,
      values_.constant(Type::u64,
                       plan_.memory.privateSlots.localOffset[o.symbol.index] + static_cast<uint64_t>(o.offset), true));
}

/// Argument `k` of a call: a register, or what was stored to its .param variable.
LlvmValue FunctionCalls::argument(const Instruction& i, size_t k, Type t, unsigned part) {
  const auto& list = i.operands[2].elements;
  if (k >= list.size()) c_.refuse(i, "a call with too few arguments");
  if (list[k].symbol.kind == ptx::Symbol::Kind::None) {
    Source s;
    s.part = part;
    return operands_.exactBits(list[k], t, s);
  }
  if (!plan_.memory.privateSlots.isPrivate[list[k].symbol.index])
    return values_.convertBits(
        general_.gather(paramAddress(list[k], part), values_.memoryType(t), masks_.maskOf(c_.at.mask, part)),
        values_.typeOf(t, true));
  auto it = privates_.slots().find({list[k].symbol.index, 0});
  if (it == privates_.slots().end()) return values_.constant(t, 0, true);  // never stored
  return values_.convertBits(b_.CreateLoad(llvm::FixedVectorType::get(it->second.type, kLanes), it->second.parts[part]),
                             values_.typeOf(t, true));
}

void FunctionCalls::result(const Instruction& i, const Parts& values) {
  const auto& list = i.operands[0].elements;
  if (list.empty() || list[0].kind == ptx::Operand::Kind::Sink) return;
  Parts results;
  for (LlvmValue v : values)
    results.push_back(v->getType()->getScalarType()->isFloatTy() ? operands_.canonicalNan(v) : v);
  if (list[0].kind == ptx::Operand::Kind::Register) {
    for (LlvmValue& v : results) v = values_.convertBits(v, values_.valueType(list[0].reg, true));
    return values_.defineVector(list[0].reg, results);
  }
  if (!plan_.memory.privateSlots.isPrivate[list[0].symbol.index]) {
    for (unsigned p = 0; p < warps(); ++p)
      general_.scatter(paramAddress(list[0], p), results[p], masks_.maskOf(c_.at.mask, p));
    return;
  }
  auto it = privates_.slots().find({list[0].symbol.index, 0});
  if (it == privates_.slots().end()) return;  // nobody reads it
  for (unsigned p = 0; p < warps(); ++p) {
    auto* type = llvm::FixedVectorType::get(it->second.type, kLanes);
    LlvmValue v = values_.convertBits(results[p], type);
    if (!c_.at.mask.empty()) v = b_.CreateSelect(c_.at.mask[p], v, b_.CreateLoad(type, it->second.parts[p]));
    b_.CreateStore(v, it->second.parts[p]);
  }
}

void FunctionCalls::emit(const Instruction& i) {
  const std::string name = calleeName(f_, i);
  if (name == "vprintf") return emitPrintf(i);
  if (name == "__assertfail") return emitAssertFail(i);
  if (name == "malloc" || name == "_Znwm" || name == "_Znam") {
    Parts out;
    for (unsigned p = 0; p < warps(); ++p)
      out.push_back(calls_.callLanes("ordito_malloc", b_.getInt64Ty(), {argument(i, 0, Type::u64, p)}, p));
    return result(i, out);
  }
  if (name == "free" || name == "_ZdlPv" || name == "_ZdaPv" || name == "_ZdlPvm" || name == "_ZdaPvm") {
    for (unsigned p = 0; p < warps(); ++p) {
      LlvmValue pieces = argument(i, 0, Type::u64, p);
      if (p == 0) eventCalls_.heapFree(i, pieces);
      calls_.callLanes("ordito_free", nullptr, {pieces}, p);
    }
    return;
  }
  if (const auto* function = machine::findDeviceFunction(name)) return emitDeviceRuntime(i, *function);
  if (const char* why = machine::removedDeviceFunction(name)) c_.refuse(i, fmt::format("a call of {}: {}", name, why));
  if (!emitVectorMath(i, name)) emitMath(i, name);
}

/// The arguments of a call of the device runtime as vectors of 64-bit words, filled up with zeros.
llvm::SmallVector<LlvmValue> FunctionCalls::deviceWords(const Instruction& i, std::string_view signature,
                                                        unsigned part) {
  llvm::SmallVector<LlvmValue> words;
  for (size_t k = 0; k + 1 < signature.size(); ++k) {
    const machine::DeviceArgument shape = machine::deviceArgument(signature[k + 1]);
    const Type t = shape.bytesPerWord == 4 ? Type::u32 : Type::u64;
    if (shape.words == 1) {
      words.push_back(values_.convertBits(argument(i, k, t, part), values_.typeOf(Type::u64, true)));
      continue;
    }
    for (unsigned word = 0; word < shape.words; ++word) {
      ptx::Operand at = i.operands[2].elements[k];
      at.offset += word * shape.bytesPerWord;
      words.push_back(values_.convertBits(
          general_.gather(paramAddress(at, part), values_.memoryType(t), masks_.maskOf(c_.at.mask, part)),
          values_.typeOf(Type::u64, true)));
    }
  }
  words.resize(machine::kMostDeviceWords, values_.constant(Type::u64, 0, true));
  return words;
}

void FunctionCalls::emitDeviceRuntime(const Instruction& i, const machine::DeviceFunction& function) {
  if (i.operands[2].elements.size() + 1 != function.signature.size())
    c_.refuse(i, fmt::format("a call of '{}' with {} arguments instead of {}", function.name,
                             i.operands[2].elements.size(), function.signature.size() - 1));
  Parts out;
  for (unsigned p = 0; p < warps(); ++p) {
    auto tid = [&](isa::Special s) {
      return values_.convertBits(operands_.specialVector(s, p), values_.typeOf(Type::u64, true));
    };
    auto times = [&](LlvmValue v, uint64_t n) { return b_.CreateMul(v, values_.constant(Type::u64, n, true)); };
    LlvmValue thread = b_.CreateAdd(times(tid(isa::Special::TidZ), shapes_.launch().block[1]), tid(isa::Special::TidY));
    thread = b_.CreateAdd(times(thread, shapes_.launch().block[0]), tid(isa::Special::TidX));
    llvm::SmallVector<LlvmValue> arguments = {
        values_.splat(b_.CreatePtrToInt(c_.frame, b_.getInt64Ty())),
        values_.constant(Type::u64, static_cast<uint64_t>(&function - machine::deviceFunctions().data()), true),
        thread};
    arguments.append(deviceWords(i, function.signature, p));
    LlvmValue word = calls_.callLanes("ordito_device_runtime", b_.getInt64Ty(), arguments, p);
    out.push_back(function.signature[0] == 'l' ? word : values_.convertBits(word, values_.typeOf(Type::u32, true)));
  }
  result(i, out);
}

void FunctionCalls::emitPrintf(const Instruction& i) {
  Parts out;
  for (unsigned p = 0; p < warps(); ++p)
    out.push_back(calls_.callLanes("ordito_printf", b_.getInt32Ty(),
                                   {argument(i, 0, Type::u64, p), argument(i, 1, Type::u64, p)}, p));
  result(i, out);
}

/// __assertfail(message, file, line, function, char size): the first active lane reports and the launch ends.
void FunctionCalls::emitAssertFail(const Instruction& i) {
  for (unsigned p = 0; p < warps(); ++p) {
    Source s;
    s.part = p;
    LlvmValue frame = values_.splat(b_.CreatePtrToInt(c_.frame, b_.getInt64Ty()));
    calls_.callLanes("ordito_assert", nullptr,
                     {frame, argument(i, 0, Type::u64, p), argument(i, 1, Type::u64, p), argument(i, 2, Type::u32, p),
                      argument(i, 3, Type::u64, p), operands_.specialVector(isa::Special::TidX, p),
                      operands_.specialVector(isa::Special::TidY, p), operands_.specialVector(isa::Special::TidZ, p)},
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
bool FunctionCalls::emitVectorMath(const Instruction& i, const std::string& name) {
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
  for (unsigned p = 0; p < warps(); ++p) {
    llvm::SmallVector<LlvmValue> arguments;
    for (unsigned k = 0; k < (f ? f->arguments : 1); ++k) arguments.push_back(argument(i, k, t, p));
    LlvmValue v = b_.CreateIntrinsic(f ? f->id : llvm::Intrinsic::sqrt, {values_.typeOf(t, true)}, arguments);
    out.push_back(f ? v : b_.CreateFDiv(llvm::ConstantFP::get(v->getType(), 1), v));
  }
  result(i, out);
  return true;
}

void FunctionCalls::emitMath(const Instruction& i, const std::string& name) {
  const rt::MathFunction* f = rt::findMath(name);
  const rt::ScalarFunction* scalar = f ? nullptr : rt::findScalar(name);
  if (!f && !scalar)
    c_.refuse(i, fmt::format("a call of '{}', which no module defines and the JIT does not know", name));
  auto typeOfCode = [](char c) {
    return c == 'f' ? Type::f32 : c == 'd' ? Type::f64 : c == 'i' ? Type::u32 : Type::u64;
  };
  Parts out;
  for (unsigned p = 0; p < warps(); ++p) {
    llvm::SmallVector<LlvmValue> arguments;
    if (scalar) {
      for (size_t k = 1; k < scalar->signature.size(); ++k)
        arguments.push_back(argument(i, k - 1, typeOfCode(scalar->signature[k]), p));
      const char result = scalar->signature[0];
      LlvmValue v = calls_.callLanes(std::string(scalar->name).c_str(),
                                     result == 'v' ? nullptr : values_.typeOf(typeOfCode(result), false), arguments, p);
      if (v) out.push_back(v);
      continue;
    }
    for (unsigned k = 0; k < f->arguments; ++k)
      arguments.push_back(argument(i, k, f->isDouble ? Type::f64 : Type::f32, p));
    if (f->kind == rt::MathFunction::Kind::Sleef) {
      out.push_back(calls_.sleef(f->implementation, arguments, f->isDouble));
    } else {
      LlvmValue mask = masks_.maskOf(c_.at.mask, p);
      general_.scatter(argument(i, 1, Type::u64, p),
                       calls_.sleef(f->isDouble ? "sin_u10" : "sinf_u10", {arguments[0]}, f->isDouble), mask);
      general_.scatter(argument(i, 2, Type::u64, p),
                       calls_.sleef(f->isDouble ? "cos_u10" : "cosf_u10", {arguments[0]}, f->isDouble), mask);
    }
  }
  if (!out.empty()) result(i, out);
}

}  // namespace ordito::jit
