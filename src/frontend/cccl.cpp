// See cccl.hpp.
#include "frontend/cccl.hpp"

#include <cstdlib>

namespace ordito::frontend {
namespace fs = std::filesystem;
namespace {

/// A clone has a folder for each of the three; an installed copy has them together.
std::vector<fs::path> foldersIn(const fs::path& root) {
  if (fs::exists(root / "libcudacxx" / "include" / "cuda"))
    return {root / "thrust", root / "cub", root / "libcudacxx" / "include"};
  for (const fs::path& folder : {root / "include" / "cccl", root / "include", root})
    if (fs::exists(folder / "thrust" / "version.h")) return {folder};
  return {};
}

/// The header that clang did not find, of those that CCCL has: `'thrust/sort.h' file not found` is Thrust's.
std::string_view missingPartOf(std::string_view messages) {
  for (const std::string_view part : {"thrust/", "cub/", "cuda/"}) {
    const std::string quoted = "'" + std::string(part);
    for (size_t at = messages.find(quoted); at != std::string_view::npos; at = messages.find(quoted, at + 1)) {
      const std::string_view rest = messages.substr(at + 1);
      if (rest.substr(rest.find('\'') + 1).starts_with(" file not found")) return part;
    }
  }
  return {};
}

}  // namespace

Expected<std::vector<fs::path>> ccclFolders(const fs::path& toolkit, const std::string& chosen) {
  const char* variable = std::getenv("CCCL_ROOT");
  const std::string named = !chosen.empty() ? chosen : variable ? variable : "";
  if (named.empty()) return foldersIn(toolkit / "include" / "cccl");
  auto folders = foldersIn(named);
  if (folders.empty()) {
    return fail("{} names {}, where no Thrust, CUB and libcu++ are; it should be a clone of NVIDIA's CCCL",
                chosen.empty() ? "CCCL_ROOT" : "--cccl", named);
  }
  return folders;
}

std::string adviceOnMissingCccl(std::string_view messages) {
  const std::string_view part = missingPartOf(messages);
  if (part.empty()) return {};
  const std::string clone = "clone NVIDIA/cccl (tag v2.8.5) and name its folder in CCCL_ROOT";
  if (part == "cuda/") return "this header is part of libcu++: " + clone;
  return std::string(part == "thrust/" ? "Thrust" : "CUB") +
         " is not installed, or has no such header: apt install "
         "libthrust-dev libcub-dev, or " +
         clone;
}

}  // namespace ordito::frontend
