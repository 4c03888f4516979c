// Debug information reduced to what says from which line an instruction comes.
#pragma once

namespace llvm {
class Module;
}

namespace ordito::nvvm {

/// Leaves .loc and .file in the PTX: with `lines`, or where a compile unit itself asks for just these. Otherwise
/// nothing.
void keepLines(llvm::Module& module, bool lines);

}  // namespace ordito::nvvm
