// Questions that follow each other whether accesses are misaligned (alignment.hpp) become one: a kernel that adds two
// arrays asks for three pointers. Each question is a branch and a block that ends the launch, for which LLVM's code
// generator takes long (bench/RESULTS.md, 2026-11-29). Which access it was is found out in the one block that is left.
#pragma once

#include <llvm/IR/Function.h>

namespace ordito::jit {

/// To be run when loops' invariant questions stand before the loops: a merged one moves only as a whole.
void mergeMisalignmentChecks(llvm::Function& function);

}  // namespace ordito::jit
