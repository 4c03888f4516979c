#include "cli/prefix.hpp"

namespace ordito::cli {

std::filesystem::path installPrefix() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
}

std::filesystem::path toolkitFolder() { return installPrefix() / "cuda"; }

}  // namespace ordito::cli
