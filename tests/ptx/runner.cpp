// ptx_text_test: runs the text tests of this folder on one engine, or on two and compares them. See README.md.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <new>
#include <set>

#include "gpu_case.hpp"
#include "interp/interpreter.hpp"
#include "machine/tiers.hpp"
#include "run_case.hpp"
#ifdef ORDITO_HAVE_JIT
#include "jit/jit.hpp"
#endif

namespace ordito::test {

namespace {

#ifdef ORDITO_HAVE_JIT
std::unique_ptr<machine::Engine> makeTiers(machine::TierRules rules) {
  rules.tell = [](const Error& error) { std::printf("interpreted: %s\n", error.message.c_str()); };
  return machine::makeTiers(jit::makeJit(jit::optionsFromEnvironment()), interp::makeInterpreter(), std::move(rules));
}
#endif

const std::map<std::string, std::function<std::unique_ptr<machine::Engine>()>> kEngines = {
    {"interp", [] { return interp::makeInterpreter(); }},
#ifdef ORDITO_HAVE_JIT
    {"jit", [] { return makeTiers({.waits = true}); }},
    // Each kernel begins in the interpreter, and blocks that start when its code is there run on that.
    {"tiers", [] { return makeTiers({}); }},
#endif
};

struct Options {
  std::string engine = "interp";
  bool compare = false, events = false;
  bool list = false;
  unsigned every = 1, from = 0;  // of the cases of all files, every Nth, from the one of this number
  std::vector<std::string> files;
};

constexpr unsigned kSecondsPerCase = 60;
constexpr size_t kShownDifferences = 10;  // of one case

bool report(const TextTest& test, const Case& c, const std::vector<std::string>& differences) {
  if (differences.empty()) return true;
  std::printf("FAIL %s:%u\n", test.name.c_str(), c.line);
  for (size_t i = 0; i < std::min(differences.size(), kShownDifferences); ++i)
    std::printf("  %s\n", differences[i].c_str());
  if (differences.size() > kShownDifferences)
    std::printf("  ... and %zu more\n", differences.size() - kShownDifferences);
  return false;
}

std::vector<std::string> runOn(machine::Engine& engine, const TextTest& test, const Case& c) {
  std::vector<std::string> differences = check(c, runCase(engine, test, c, Wanted::Nothing));
  if (differences.empty() && !c.counts.empty()) differences = check(c, runCase(engine, test, c, Wanted::Counters));
  return differences;
}

std::vector<std::string> runBoth(machine::Engine& first, machine::Engine& second, const TextTest& test, const Case& c) {
  auto differencesOf = [&](Wanted wanted) {
    return compare(c, runCase(first, test, c, wanted), runCase(second, test, c, wanted));
  };
  std::vector<std::string> differences = differencesOf(Wanted::Nothing);
  if (differences.empty() && !c.error && !c.fault && !c.isScheduled) differences = differencesOf(Wanted::Counters);
  return differences;
}

/// What threads tell; of a case that ends in a fault it is not compared how far each has come.
std::vector<std::string> compareStreams(machine::Engine& first, machine::Engine& second, const TextTest& test,
                                        const Case& c) {
  if (c.error || c.fault || c.isScheduled) return {};
  return compare(c, runCase(first, test, c, Wanted::Events), runCase(second, test, c, Wanted::Events));
}

/// Runs a case in a process of its own, so that one that crashes or hangs takes no other with it.
bool isolated(const TextTest& test, const Case& c, const std::function<bool()>& body) {
  std::fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    alarm(kSecondsPerCase);
    bool passed = body();
    std::fflush(stdout);
    _exit(passed ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) {
    bool isLate = WTERMSIG(status) == SIGALRM;
    report(test, c,
           {isLate ? fmt::format("still runs after {} s", kSecondsPerCase)
                   : fmt::format("died of {}", strsignal(WTERMSIG(status)))});
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool inChild(const std::function<bool()>& body) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const bool good = body();
    std::fflush(stdout);
    _exit(good ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// How many cases of a file fail on a GPU. NVIDIA's driver survives neither a fork nor a kernel that failed, so a
/// process of their own runs the cases up to one that leaves the GPU's context useless, and the next process goes on;
/// so it does behind a case that takes too long.
unsigned failuresOnGpu(const TextTest& test) {
  constexpr unsigned kSecondsPerCase = 60;
  struct Progress {
    size_t next = 0;
    unsigned failed = 0;
  };
  void* memory = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  auto* p = new (memory) Progress;
  while (p->next < test.cases.size()) {
    const size_t first = p->next;
    const bool ended = inChild([&] {
      if (!gpuAvailable()) return false;
      while (p->next < test.cases.size() && !gpuIsLost()) {
        const Case& c = test.cases[p->next++];
        alarm(kSecondsPerCase);
        p->failed += !report(test, c, runOnGpu(test, c));
      }
      return true;
    });
    if (ended) continue;
    ++p->failed;
    p->next = std::max(p->next, first + 1);
    std::printf("FAIL %s:%u: the process ended, or the case took more than %u s\n", test.name.c_str(),
                test.cases[p->next - 1].line, kSecondsPerCase);
  }
  const unsigned failed = p->failed;
  munmap(memory, sizeof(Progress));
  return failed;
}

/// What to do with one case, by the options; null when the engine does not exist here.
std::function<std::vector<std::string>(const TextTest&, const Case&)> judge(const Options& options) {
  if (options.engine == "gpu") return runOnGpu;  // by way of failuresOnGpu
  auto make = [](const std::string& name) -> std::shared_ptr<machine::Engine> {
    auto factory = kEngines.find(name);
    return factory == kEngines.end() ? nullptr : std::shared_ptr<machine::Engine>(factory->second());
  };
  auto first = make(options.compare ? "interp" : options.engine), second = options.compare ? make("jit") : first;
  if (!first || !second) return nullptr;
  if (options.events)
    return [=](const TextTest& test, const Case& c) { return compareStreams(*first, *second, test, c); };
  if (options.compare) return [=](const TextTest& test, const Case& c) { return runBoth(*first, *second, test, c); };
  return [=](const TextTest& test, const Case& c) { return runOn(*first, test, c); };
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    if (word == "--engine" && i + 1 < argc)
      options.engine = argv[++i];
    else if (word == "--compare")
      options.compare = true;
    else if (word == "--events")
      options.compare = options.events = true, listenToEvents();
    else if (word == "--every" && i + 1 < argc)
      options.every = std::max(1, std::atoi(argv[++i]));
    else if (word == "--from" && i + 1 < argc)
      options.from = static_cast<unsigned>(std::atoi(argv[++i]));
    else if (word == "--list")
      options.list = true;
    else
      options.files.push_back(word);
  }
  return options;
}

/// Files named, files whose name contains a given word, or all.
std::set<std::string> chosenFiles(const Options& options) {
  std::set<std::string> chosen;
  auto matches = [&](const std::string& name) {
    return options.files.empty() ||
           std::any_of(options.files.begin(), options.files.end(),
                       [&](const std::string& word) { return name.find(word) != std::string::npos; });
  };
  for (const std::string& file : options.files)
    if (std::filesystem::is_regular_file(file)) chosen.insert(file);
  if (!chosen.empty()) return chosen;
  for (const auto& entry : std::filesystem::directory_iterator(ORDITO_PTX_TESTS))
    if (entry.path().extension() == ".ptx" && matches(entry.path().filename().string()))
      chosen.insert(entry.path().string());
  return chosen;
}

// The thread sanitizer survives neither a thread's second jump out of a signal's handler nor one out of its own memcpy.
#if defined(__has_feature) && __has_feature(thread_sanitizer)
constexpr bool kSurvivesOneFault = true;
#else
constexpr bool kSurvivesOneFault = false;
#endif

int run(const Options& options) {
  std::set<std::string> files = chosenFiles(options);
  if (options.list) {
    for (const std::string& file : files) std::puts(file.c_str());
    return 0;
  }
  if (options.engine == "gpu" && !inChild(gpuAvailable)) {
    std::puts("SKIPPED: no NVIDIA GPU here");
    return 0;
  }
  auto judgement = judge(options);
  if (!judgement) {
    std::printf("no engine '%s' in this build\n", options.compare ? "jit" : options.engine.c_str());
    return 2;
  }
  unsigned failed = 0, cases = 0, number = 0;
  for (const std::string& file : files) {
    auto test = readTextTest(file);
    if (!test) {
      std::printf("FAIL %s\n", test.error().message.c_str());
      ++failed;
      continue;
    }
    if (options.engine == "gpu") {
      cases += static_cast<unsigned>(test->cases.size());
      failed += failuresOnGpu(*test);
      continue;
    }
    for (const Case& c : test->cases) {
      if (number++ % options.every != options.from) continue;
      if (c.interpretedOnly && (options.engine == "jit" || options.compare)) {
        std::printf("SKIPPED %s:%u: promised by the interpreter only\n", test->name.c_str(), c.line);
        continue;
      }
      if (kSurvivesOneFault && !c.faultThread.empty()) {
        std::printf("SKIPPED %s:%u: a replay of the fault would fault again\n", test->name.c_str(), c.line);
        continue;
      }
      ++cases;
      failed += !isolated(*test, c, [&] { return report(*test, c, judgement(*test, c)); });
    }
  }
  std::printf("%s: %zu files, %u cases, %u failed\n", options.compare ? "compare" : options.engine.c_str(),
              files.size(), cases, failed);
  return failed || cases == 0 ? 1 : 0;
}

}  // namespace

}  // namespace ordito::test

int main(int argc, char** argv) { return ordito::test::run(ordito::test::parse(argc, argv)); }
