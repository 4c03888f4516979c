// What Python's GPU packages need to find Ordito in the place of NVIDIA's toolkit.
#pragma once

#include <string>
#include <vector>

namespace ordito::cli {

/// May the command run Python? It does if it is Python or a script, or starts what its arguments name.
bool mayRunPython(const std::vector<std::string>& command);

/// Sets, for this process and those that it starts, the variables by which Numba, Triton, XLA and CuPy look for a
/// toolkit, as far as the user has not, and has the dynamic linker put our libraries in the place of those of wheels.
void preparePython();

}  // namespace ordito::cli
