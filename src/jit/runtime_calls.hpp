// Calls of functions that take lanes one by one, or vectors of as many as the host has.
#pragma once

#include "jit/operands.hpp"

namespace ordito::jit {

class RuntimeCalls : private Emitting {
 public:
  RuntimeCalls(EmissionContext& context, Masks& masks, Values& values)
      : Emitting(context), masks_(masks), values_(values) {}

  /// Emits a loop over the active lanes; `body` gets the lane's number.
  void forEachLane(LlvmValue mask, llvm::function_ref<void(LlvmValue lane)> body);
  LlvmValue callLanes(const char* name, llvm::Type* result, llvm::ArrayRef<LlvmValue> arguments, unsigned part);
  /// Calls a scalar helper of the runtime once for each lane.
  LlvmValue perLane(const char* name, llvm::Type* result, llvm::ArrayRef<LlvmValue> arguments, const Source& s);
  /// Calls a helper that takes the number of lanes, an array for each argument and one for the results, all of one
  /// type.
  LlvmValue onLanes(const std::string& name, llvm::ArrayRef<LlvmValue> arguments);
  LlvmValue multifunction(std::string_view name, LlvmValue x);
  LlvmValue sleef(const std::string& name, llvm::ArrayRef<LlvmValue> arguments, bool isDouble);

 private:
  LlvmValue vectorCall(const std::string& symbol, llvm::ArrayRef<LlvmValue> arguments, unsigned lanes);

  Masks& masks_;
  Values& values_;
};

}  // namespace ordito::jit
