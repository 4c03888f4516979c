// Running other programs. See process.hpp.
#include "frontend/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "frontend/include_order.hpp"

extern char** environ;

namespace ordito::frontend {
namespace fs = std::filesystem;

namespace {

/// What a program finds open when it starts. Nothing else that we open here is inherited.
class Descriptors {
 public:
  Descriptors() { posix_spawn_file_actions_init(&actions_); }
  ~Descriptors() { posix_spawn_file_actions_destroy(&actions_); }
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;

  void give(int descriptor, int as) { posix_spawn_file_actions_adddup2(&actions_, descriptor, as); }
  /// Under their own numbers: duplicating a descriptor to itself clears its close-on-exec flag.
  void give(const MemoryFiles& files) {
    for (const auto& file : files) give(file->descriptor(), file->descriptor());
  }
  const posix_spawn_file_actions_t* actions() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

/// Hands signals that end programs on to one while it runs, but for those that are ignored (nohup).
class SignalsFor {
 public:
  explicit SignalsFor(bool wanted) : wanted_(wanted) {
    struct sigaction action = {};
    action.sa_handler = [](int signal) {
      if (receiver > 0) kill(receiver, signal);
    };
    for (size_t k = 0; wanted_ && k < old_.size(); ++k) {
      sigaction(kSignals[k], nullptr, &old_[k]);
      if (old_[k].sa_handler != SIG_IGN) sigaction(kSignals[k], &action, nullptr);
    }
  }
  ~SignalsFor() {
    receiver = 0;
    for (size_t k = 0; wanted_ && k < old_.size(); ++k) sigaction(kSignals[k], &old_[k], nullptr);
  }
  SignalsFor(const SignalsFor&) = delete;
  SignalsFor& operator=(const SignalsFor&) = delete;
  void set(pid_t child) { receiver = wanted_ ? child : 0; }

 private:
  static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
  static inline std::atomic<pid_t> receiver{0};
  const bool wanted_;
  std::array<struct sigaction, kSignals.size()> old_{};
};

/// As the system takes them: a null pointer ends them.
std::vector<char*> pointersTo(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const auto& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// In `why` it says what went wrong if the program did not run, or nobody can know how it ended.
int run(const Command& command, const Descriptors& descriptors, std::string& why, bool handsSignalsOn = false) {
  const std::vector<char*> arguments = pointersTo(command);
  // A program of the user's has the environment as it is.
  std::vector<std::string> variables;
  if (!handsSignalsOn) variables = compilerEnvironment(environ);
  const std::vector<char*> forCompilers = pointersTo(variables);
  SignalsFor program(handsSignalsOn);
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], descriptors.actions(), nullptr, arguments.data(),
                                 handsSignalsOn ? environ : forCompilers.data());
  if (error != 0) {
    why = fmt::format("ordito: cannot run {}: {}\n", command[0], std::strerror(error));
    return 127;
  }
  program.set(child);
  int status = 0;
  pid_t ended = 0;
  do {
    ended = waitpid(child, &status, 0);
  } while (ended < 0 && errno == EINTR);
  if (ended < 0) {
    why = fmt::format("ordito: cannot tell how {} ended: this program ignores SIGCHLD, or waits for any child\n",
                      command[0]);
    return 127;
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

MemoryFile::MemoryFile(std::string_view text) : descriptor_(memfd_create("ordito", MFD_CLOEXEC)) {
  // A program that closed its standard input must not get the file in its place.
  if (descriptor_ >= 0 && descriptor_ < 3) {
    const int low = descriptor_;
    descriptor_ = fcntl(low, F_DUPFD_CLOEXEC, 3);
    close(low);
  }
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "memfd_create");
  for (size_t written = 0; written < text.size();) {
    const ssize_t more = write(descriptor_, text.data() + written, text.size() - written);
    if (more < 0) {
      const int error = errno;
      close(descriptor_);
      throw std::system_error(error, std::generic_category(), "writing a file in memory");
    }
    written += static_cast<size_t>(more);
  }
  lseek(descriptor_, 0, SEEK_SET);
}

MemoryFile::~MemoryFile() { close(descriptor_); }

std::string MemoryFile::text() const {
  struct stat found = {};
  fstat(descriptor_, &found);
  std::string text(static_cast<size_t>(found.st_size), '\0');
  size_t got = 0;
  while (got < text.size()) {
    const ssize_t more = pread(descriptor_, text.data() + got, text.size() - got, static_cast<off_t>(got));
    if (more <= 0) break;
    got += static_cast<size_t>(more);
  }
  text.resize(got);
  return text;
}

int runInForeground(const Command& command) {
  std::string why;
  const int status = run(command, Descriptors(), why, true);
  fmt::print(stderr, "{}", why);
  return status;
}

int runProcess(const Command& command, const MemoryFiles& files) {
  Descriptors descriptors;
  descriptors.give(files);
  std::string why;
  const int status = run(command, descriptors, why);
  fmt::print(stderr, "{}", why);
  return status;
}

int runProcess(const Command& command) { return runProcess(command, {}); }

ProcessResult runCaught(const Command& command, std::string_view input, const MemoryFiles& files) {
  const MemoryFile in(input), out, err;
  Descriptors descriptors;
  descriptors.give(in.descriptor(), STDIN_FILENO);
  descriptors.give(out.descriptor(), STDOUT_FILENO);
  descriptors.give(err.descriptor(), STDERR_FILENO);
  descriptors.give(files);
  ProcessResult result;
  std::string why;
  result.status = run(command, descriptors, why);
  result.output = out.text();
  result.messages = err.text() + why;
  return result;
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
