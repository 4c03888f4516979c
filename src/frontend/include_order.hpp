// Which folders of headers come before the toolkit's.
#pragma once

#include <string>
#include <vector>

namespace ordito::frontend {

/// Options of the preprocessor with the folders of CUDA toolkits behind all others. Programs and CMake name such a
/// folder by habit (-I/usr/local/cuda/include). NVIDIA's own headers, which may lie there, must not hide ours, and are
/// still there for what only they have; ours must not hide those of a CCCL, which replaces some (cuda/atomic,
/// nv/target).
std::vector<std::string> toolkitsLast(const std::vector<std::string>& preprocessor);

/// The environment for compilers: folders of CPATH count like those of -I, so toolkits' go behind all others in the
/// same way, to the variables whose folders come last.
std::vector<std::string> compilerEnvironment(const char* const* variables);

}  // namespace ordito::frontend
