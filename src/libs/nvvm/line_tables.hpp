// Debug information reduced to what says from which line an instruction comes.
#pragma once

namespace llvm {
class Module;
}

namespace ordito::nvvm {

/// Leaves .loc and .file in the PTX, or, without `lines`, nothing.
void keepLines(llvm::Module& module, bool lines);

}  // namespace ordito::nvvm
