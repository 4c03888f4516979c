// Where Ordito is: everything is found relative to the executable, so that an installed tree can be moved.
#pragma once

#include <filesystem>

namespace ordito::frontend {

/// The folder above bin/: the installed prefix, or a build tree, which has the same shape.
std::filesystem::path installPrefix();

/// The folder that looks like a CUDA toolkit: bin/ include/ lib64/ nvvm/.
std::filesystem::path toolkitFolder();

}  // namespace ordito::frontend
