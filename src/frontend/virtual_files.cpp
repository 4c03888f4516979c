// See virtual_files.hpp. The list of files is in the form of clang's -ivfsoverlay, which is YAML.
#include "frontend/virtual_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

namespace ordito::frontend {
namespace {

std::string inQuotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

}  // namespace

void VirtualFiles::add(const std::string& name, std::string_view text, std::string_view folder) {
  const std::filesystem::path whole = std::filesystem::path(folder) / name;  // the name itself, if it is absolute
  const std::string path = whole.lexically_normal().string();
  files_.push_back(std::make_shared<const MemoryFile>(text));
  entries_.push_back(fmt::format("{{\"name\": {}, \"type\": \"file\", \"external-contents\": {}}}", inQuotes(path),
                                 inQuotes(files_.back()->path())));
}

std::vector<std::string> VirtualFiles::arguments() {
  if (entries_.empty()) return {};
  const std::string list = fmt::format(
      "{{\"version\": 0, \"case-sensitive\": \"true\", \"use-external-names\": \"false\", \"roots\": [{}]}}\n",
      fmt::join(entries_, ",\n"));
  files_.push_back(std::make_shared<const MemoryFile>(list));
  std::vector<std::string> arguments = {"-ivfsoverlay", files_.back()->path()};
  for (const std::string_view folder : {kFolder, kLastFolder})
    arguments.push_back(fmt::format("-ffile-prefix-map={}=", folder));
  return arguments;
}

std::string VirtualFiles::withoutFolders(std::string messages) {
  for (const std::string_view folder : {kFolder, kLastFolder})
    for (size_t at = messages.find(folder); at != std::string::npos; at = messages.find(folder, at))
      messages.erase(at, folder.size());
  return messages;
}

}  // namespace ordito::frontend
