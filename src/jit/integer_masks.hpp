// A guard against an error of LLVM's instruction selection.
#pragma once

namespace llvm {
class Function;
}

namespace ordito::jit {

/// Keeps LLVM from folding logic of masks that are made of integers for ever. To be run last, for hosts with AVX-512.
void keepMasksFromIntegers(llvm::Function& function);

}  // namespace ordito::jit
