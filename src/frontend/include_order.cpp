// See include_order.hpp.
#include "frontend/include_order.hpp"

#include <algorithm>

namespace ordito::frontend {
namespace fs = std::filesystem;
namespace {

bool isOtherToolkit(const fs::path& folder, const fs::path& toolkit) {
  std::error_code ignored;
  return fs::exists(folder / "cuda_runtime.h", ignored) && fs::exists(folder / "cuda_runtime_api.h", ignored) &&
         !fs::equivalent(folder, toolkit / "include", ignored);
}

/// How many words say `-I folder` here: 0 if these are something else.
size_t folderOption(const std::vector<std::string>& words, size_t at, std::string& folder) {
  const std::string& word = words[at];
  if ((word == "-I" || word == "-isystem") && at + 1 < words.size()) return folder = words[at + 1], 2;
  for (const std::string start : {"-I", "-isystem"})
    if (word.starts_with(start) && word.size() > start.size()) return folder = word.substr(start.size()), 1;
  return 0;
}

}  // namespace

std::vector<std::string> otherToolkitsLast(const std::vector<std::string>& preprocessor, const fs::path& toolkit) {
  std::vector<std::string> out, last;
  for (size_t at = 0; at < preprocessor.size();) {
    std::string folder;
    const size_t count = folderOption(preprocessor, at, folder);
    if (count != 0 && isOtherToolkit(folder, toolkit)) {
      last.insert(last.end(), {"-idirafter", folder});
      at += count;
      continue;
    }
    for (size_t end = at + std::max<size_t>(count, 1); at < end; ++at) out.push_back(preprocessor[at]);
  }
  out.insert(out.end(), last.begin(), last.end());
  return out;
}

}  // namespace ordito::frontend
