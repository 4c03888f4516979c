// Compilers that are wrappers: mpicxx and its like call another compiler with options of their own.
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"

namespace ordito::frontend {

/// Whether a host compiler (-ccbin) of this name or path is a wrapper of MPI's.
bool isMpiWrapper(const std::string& compiler);

/// The options of nvcc that stand for those which the wrapper adds when it compiles and links: it is asked for them, as
/// Open MPI (`--showme:compile`, `--showme:link`) or as MPICH and Intel's MPI (`-show`). An error if it cannot say.
Expected<std::vector<std::string>> mpiWrapperOptions(const std::string& compiler);

}  // namespace ordito::frontend
