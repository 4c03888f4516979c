// Masks for hosts without mask registers.
#pragma once

namespace llvm {
class Function;
}

namespace ordito::jit {

/// Rewrites what `function` computes with vectors of i1 to vectors of 32-bit words, of which all bits say the same.
/// To be run last: LLVM's optimiser would turn it back.
void keepMasksAsWords(llvm::Function& function);

}  // namespace ordito::jit
