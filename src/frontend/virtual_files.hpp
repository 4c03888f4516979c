// Headers that are texts: clang finds them under paths of a folder that does not exist, by way of its
// virtual file system. Nothing is written to a disk, so there is nothing to clean up and no name that two threads could
// both take.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontend/process.hpp"

namespace ordito::frontend {

class VirtualFiles {
 public:
  /// Where files with relative names seem to be.
  static constexpr std::string_view kFolder = "/ordito-source/";
  /// The same for headers that must not hide those of the language and the toolkit.
  static constexpr std::string_view kLastFolder = "/ordito-headers/";

  void add(const std::string& name, std::string_view text, std::string_view folder = kFolder);
  bool empty() const { return entries_.empty(); }

  /// What clang needs to know; call it once all files are there.
  std::vector<std::string> arguments();
  /// What the process that runs clang must hand to it.
  const MemoryFiles& files() const { return files_; }

  /// clang's messages with the names that the caller knows.
  static std::string withoutFolders(std::string messages);

 private:
  std::vector<std::string> entries_;
  MemoryFiles files_;
};

}  // namespace ordito::frontend
