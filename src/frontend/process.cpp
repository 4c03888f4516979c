// Running other programs. See process.hpp.
#include "frontend/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>

extern char** environ;

namespace ordito::frontend {
namespace fs = std::filesystem;

namespace {

int run(const Command& command, const posix_spawn_file_actions_t* actions) {
  std::vector<char*> arguments;
  for (const auto& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], actions, nullptr, arguments.data(), environ);
  if (error != 0) {
    fmt::print(stderr, "ordito: cannot run {}: {}\n", command[0], std::strerror(error));
    return 127;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

int runProcess(const Command& command) { return run(command, nullptr); }

int runProcess(const Command& command, const fs::path& messages) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, messages.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int status = run(command, &actions);
  posix_spawn_file_actions_destroy(&actions);
  return status;
}

std::string shellLine(const Command& command) {
  std::string line;
  for (const auto& argument : command) {
    if (!line.empty()) line += ' ';
    const bool plain = !argument.empty() && argument.find_first_of(" \t\n\"'\\$&|;<>()*?#`!") == std::string::npos;
    if (plain) {
      line += argument;
      continue;
    }
    line += '\'';
    for (const char c : argument) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line;
}

std::optional<fs::path> findInPath(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::string folders = path ? path : "/usr/local/bin:/usr/bin:/bin";
  for (std::size_t at = 0; at <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', at), folders.size());
    const fs::path candidate = fs::path(folders.substr(at, end - at)) / program;
    if (access(candidate.c_str(), X_OK) == 0 && !fs::is_directory(candidate)) return candidate;
    at = end + 1;
  }
  return std::nullopt;
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (fs::temp_directory_path() / "ordito-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::system_error(errno, std::generic_category(), name);
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace ordito::frontend
