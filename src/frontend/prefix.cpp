#include "frontend/prefix.hpp"

namespace ordito::frontend {

std::filesystem::path installPrefix() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
}

std::filesystem::path toolkitFolder() { return installPrefix() / "cuda"; }

}  // namespace ordito::frontend
