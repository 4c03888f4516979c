// See capture.hpp.
#include "cli/capture.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

extern char** environ;

namespace ordito::cli {
namespace {

/// Our environment with the command's additions, as the null-terminated array that posix_spawn takes.
class Environment {
 public:
  explicit Environment(const CapturedCommand& command) {
    for (char** entry = environ; *entry != nullptr; ++entry) {
      if (!replaced(command, *entry)) strings_.emplace_back(*entry);
    }
    for (const auto& [name, value] : command.environment) strings_.push_back(name + "=" + value);
    for (std::string& entry : strings_) pointers_.push_back(entry.data());
    pointers_.push_back(nullptr);
  }

  char* const* get() const { return pointers_.data(); }

 private:
  static bool replaced(const CapturedCommand& command, std::string_view entry) {
    for (const auto& [name, value] : command.environment) {
      if (entry.starts_with(name + "=")) return true;
    }
    return false;
  }

  std::vector<std::string> strings_;
  std::vector<char*> pointers_;
};

std::string readAll(int descriptor) {
  std::string text;
  char buffer[1 << 16];
  while (true) {
    const ssize_t got = read(descriptor, buffer, sizeof buffer);
    if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
    if (got == 0 || (got < 0 && errno != EINTR)) return text;
  }
}

int waitFor(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

Expected<Outcome> capture(const CapturedCommand& command) {
  int pipe[2];
  if (pipe2(pipe, O_CLOEXEC) != 0) return fail("cannot make a pipe: {}", std::strerror(errno));

  std::vector<std::string> arguments = command.arguments;
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const Environment environment(command);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO);
  pid_t child = 0;
  const int error = posix_spawn(&child, pointers[0], &actions, nullptr, pointers.data(), environment.get());
  posix_spawn_file_actions_destroy(&actions);
  close(pipe[1]);  // or reading would never see the end
  if (error != 0) {
    close(pipe[0]);
    return fail("cannot run {}: {}", command.arguments[0], std::strerror(error));
  }
  Outcome outcome;
  outcome.output = readAll(pipe[0]);
  close(pipe[0]);
  outcome.status = waitFor(child);
  return outcome;
}

}  // namespace ordito::cli
