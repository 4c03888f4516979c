// Indices that lanes use one by one and that are bytes or halves, as letters of a text are, leave the vector registers
// eight or four at a time.
#pragma once

namespace llvm {
class Function;
}

namespace ordito::jit {

/// To be run behind LLVM's optimiser, which knows nothing of what an instruction costs that moves a lane out of a
/// vector (bench_kernels --only histogram).
void takeNarrowLanes(llvm::Function& function);

}  // namespace ordito::jit
