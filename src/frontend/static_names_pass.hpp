// See static_names_pass.cpp.
#pragma once

#include <llvm/IR/Module.h>

void nameStatics(llvm::Module& module);
