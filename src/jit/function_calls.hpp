// Calls of functions that PTX modules do not define: math (clang leaves __nv_sinf and its like as calls), printf,
// assert, malloc, and the device runtime.
#pragma once

#include "jit/tools.hpp"
#include "machine/device_runtime.hpp"

namespace ordito::jit {

class FunctionCalls : private Chapter {
 public:
  explicit FunctionCalls(Tools& tools) : Chapter(tools) {}

  void emit(const Instruction& i);

 private:
  void emitPrintf(const Instruction& i);
  void emitAssertFail(const Instruction& i);
  void emitDeviceRuntime(const Instruction& i, const machine::DeviceFunction& function);
  llvm::SmallVector<LlvmValue> deviceWords(const Instruction& i, std::string_view signature, unsigned part);
  bool emitVectorMath(const Instruction& i, const std::string& name);
  void emitMath(const Instruction& i, const std::string& name);
  LlvmValue argument(const Instruction& i, size_t k, isa::Type t, unsigned part);
  void result(const Instruction& i, const Parts& values);
  LlvmValue paramAddress(const ptx::Operand& o, unsigned part);
};

}  // namespace ordito::jit
