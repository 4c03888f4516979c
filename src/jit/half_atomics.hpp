// What atomic operations make of f16 and bf16.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <string_view>

#include "isa/types.hpp"

namespace ordito::jit {

/// The bits that `operation` (add, min, max) leaves where those of `old` stood; `type` is f16, bf16 or a pair of them.
llvm::Value* combinedHalves(llvm::IRBuilder<>& b, std::string_view operation, isa::Type type, llvm::Value* old,
                            llvm::Value* x);

}  // namespace ordito::jit
