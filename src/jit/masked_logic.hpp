// A guard against an error of LLVM's instruction selection.
#pragma once

namespace llvm {
class Function;
}

namespace ordito::jit {

/// Keeps LLVM from joining logic of three values with the masked move behind it, where the move keeps one of the
/// three. To be run last, for hosts with AVX-512.
void keepLogicUnmasked(llvm::Function& function);

}  // namespace ordito::jit
