// See include_order.hpp.
#include "frontend/include_order.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>

namespace ordito::frontend {
namespace fs = std::filesystem;
namespace {

bool isToolkit(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / "cuda_runtime.h", ignored) && fs::exists(folder / "cuda_runtime_api.h", ignored);
}

/// How many words say `-I folder` here: 0 if these are something else.
size_t folderOption(const std::vector<std::string>& words, size_t at, std::string& folder) {
  const std::string& word = words[at];
  if ((word == "-I" || word == "-isystem") && at + 1 < words.size()) return folder = words[at + 1], 2;
  for (const std::string start : {"-I", "-isystem"})
    if (word.starts_with(start) && word.size() > start.size()) return folder = word.substr(start.size()), 1;
  return 0;
}

constexpr std::string_view kCpath = "CPATH=";

/// An empty name is the folder where the compiler runs.
std::vector<std::string> foldersOf(std::string_view list) {
  std::vector<std::string> folders;
  while (!list.empty()) {
    const size_t end = std::min(list.find(':'), list.size());
    folders.emplace_back(end == 0 ? "." : list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return folders;
}

}  // namespace

std::vector<std::string> toolkitsLast(const std::vector<std::string>& preprocessor) {
  std::vector<std::string> out, last;
  for (size_t at = 0; at < preprocessor.size();) {
    std::string folder;
    const size_t count = folderOption(preprocessor, at, folder);
    if (count != 0 && isToolkit(folder)) {
      last.insert(last.end(), {"-idirafter", folder});
      at += count;
      continue;
    }
    for (size_t end = at + std::max<size_t>(count, 1); at < end; ++at) out.push_back(preprocessor[at]);
  }
  out.insert(out.end(), last.begin(), last.end());
  return out;
}

std::vector<std::string> compilerEnvironment(const char* const* variables) {
  std::vector<std::string> all;
  std::string toolkits;
  for (; *variables; ++variables) {
    const std::string_view variable = *variables;
    if (!variable.starts_with(kCpath)) {
      all.emplace_back(variable);
      continue;
    }
    std::string rest;
    for (const std::string& folder : foldersOf(variable.substr(kCpath.size()))) {
      std::string& list = isToolkit(folder) ? toolkits : rest;
      list += (list.empty() ? "" : ":") + folder;
    }
    if (!rest.empty()) all.push_back(std::string(kCpath) + rest);
  }
  if (toolkits.empty()) return all;
  for (const std::string name : {"C_INCLUDE_PATH=", "CPLUS_INCLUDE_PATH="}) {
    const auto known = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.starts_with(name); });
    if (known == all.end())
      all.push_back(name + toolkits);
    else
      *known += ":" + toolkits;
  }
  return all;
}

}  // namespace ordito::frontend
