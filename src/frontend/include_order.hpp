// Which folders of headers come before the toolkit's.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ordito::frontend {

/// Options of the preprocessor with the folders of other CUDA toolkits behind all others. Programs name such a folder
/// by habit (-I/usr/local/cuda/include), where NVIDIA's own headers may lie: those must not hide ours, and are still
/// there for what only they have.
std::vector<std::string> otherToolkitsLast(const std::vector<std::string>& preprocessor,
                                           const std::filesystem::path& toolkit);

/// The environment for compilers: folders of CPATH count like those of -I, so other toolkits' go behind ours in the
/// same way, to the variables whose folders come last.
std::vector<std::string> compilerEnvironment(const char* const* variables, const std::filesystem::path& toolkit);

}  // namespace ordito::frontend
