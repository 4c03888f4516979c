#include "frontend/prefix.hpp"

#include "base/environment.hpp"

namespace ordito::frontend {

std::filesystem::path installPrefix() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
}

bool isCuda13() { return readEnvironment().cuda == "13"; }

std::filesystem::path toolkitFolder() { return installPrefix() / (isCuda13() ? "cuda13" : "cuda"); }

}  // namespace ordito::frontend
