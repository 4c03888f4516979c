// Where Ordito is: everything is found relative to the executable, so that an installed tree can be moved.
#pragma once

#include <filesystem>

namespace ordito::frontend {

/// The folder above bin/: the installed prefix, or a build tree, which has the same shape.
std::filesystem::path installPrefix();

/// Does the environment ask for CUDA 13 (ORDITO_CUDA)?
bool isCuda13();

/// The folder that looks like a CUDA toolkit: bin/ include/ lib64/ nvvm/. That of CUDA 13 has links into the other.
std::filesystem::path toolkitFolder();

}  // namespace ordito::frontend
