// Running other programs.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ordito::frontend {

using Command = std::vector<std::string>;

/// Runs a program found in PATH and waits for it. The result is its exit status, 128 plus the signal if it died of one,
/// 127 if there is no such program.
int runProcess(const Command& command);

/// The same, for a command that stands for its program: SIGINT, SIGTERM and SIGHUP are the program's, and this process
/// goes on when that has made of them what it wants. One at a time.
int runInForeground(const Command& command);

/// A file in memory that this process and the programs that it hands it to can open, and nobody else. It is gone with
/// them, whatever they die of.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view text = {});
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int descriptor() const { return descriptor_; }
  /// The same here and in a program that was handed the file.
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }
  std::string text() const;

 private:
  int descriptor_;
};

using MemoryFiles = std::vector<std::shared_ptr<const MemoryFile>>;

struct ProcessResult {
  int status = 0;  // as of runProcess
  std::string output, messages;
};

/// Runs a program and catches what it writes to standard output and standard error. It reads `input` and may open
/// `files`.
ProcessResult runCaught(const Command& command, std::string_view input, const MemoryFiles& files);

/// Runs a program that may open `files` by their paths.
int runProcess(const Command& command, const MemoryFiles& files);

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
