// `ordito nvcc`, and the program under the name nvcc: takes nvcc's command line.
#pragma once

#include <string>
#include <vector>

namespace ordito::frontend {

/// Does what the arguments ask for; the result is the exit status.
int runNvcc(const std::vector<std::string>& arguments);

}  // namespace ordito::frontend
