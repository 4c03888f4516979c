// Intrinsics of NVVM IR that LLVM has under other names.
#pragma once

#include "base/error.hpp"

namespace llvm {
class Module;
}

namespace ordito::nvvm {

/// Rewrites them; an intrinsic that LLVM does not have is an error that names it.
Expected<> replaceOldIntrinsics(llvm::Module& module);

}  // namespace ordito::nvvm
