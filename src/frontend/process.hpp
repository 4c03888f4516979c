// Running other programs.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ordito::frontend {

using Command = std::vector<std::string>;

/// Runs a program found in PATH and waits for it. The result is its exit status, 128 plus the signal if it died of one,
/// 127 if there is no such program.
int runProcess(const Command& command);

/// The same with its messages (standard error) in a file.
int runProcess(const Command& command, const std::filesystem::path& messages);

/// The command as one line that a shell would take.
std::string shellLine(const Command& command);

/// Where PATH has `program`.
std::optional<std::filesystem::path> findInPath(const std::string& program);

/// A folder that is gone, with all in it, at the end of the scope.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace ordito::frontend
