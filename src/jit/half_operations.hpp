// What is done with vectors of halves.
#pragma once

namespace llvm {
class Function;
}

namespace ordito::jit {

/// Has `function` compare, round and convert vectors of half as vectors of float. To be run last: LLVM's optimiser
/// would turn it back.
void widenHalfOperations(llvm::Function& function);

}  // namespace ordito::jit
