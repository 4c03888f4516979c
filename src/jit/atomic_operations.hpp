// Atomic operations of PTX as LLVM's, and the same on values in registers.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <string_view>

#include "isa/isa.hpp"
#include "jit/emission_context.hpp"
#include "simt/combination.hpp"

namespace ordito::jit {

using AtomicOperation = llvm::AtomicRMWInst::BinOp;

/// BAD_BINOP where LLVM has none.
AtomicOperation atomicOperation(std::string_view name, isa::Type t);
AtomicOperation atomicOperation(simt::Combination::Operation operation);

/// What an atomic makes of `old`: scalars or vectors.
LlvmValue applied(llvm::IRBuilder<>& b, AtomicOperation op, LlvmValue old, LlvmValue x);

/// The elements of a vector combined; not of floats, whose order matters.
LlvmValue reduced(llvm::IRBuilder<>& b, AtomicOperation op, LlvmValue vector);

}  // namespace ordito::jit
