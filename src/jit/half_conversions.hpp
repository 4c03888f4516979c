// Halves on hosts that cannot convert them.
#pragma once

namespace llvm {
class Function;
}

namespace ordito::jit {

/// Rewrites the arithmetic of `function` with vectors of half, and their conversions from and to float, to integer
/// operations, for processors without F16C. To be run last.
void convertHalvesByIntegers(llvm::Function& function);

}  // namespace ordito::jit
