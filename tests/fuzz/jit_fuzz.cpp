// Differential fuzzing: random kernels must leave the same memory behind on the interpreter and on the JIT, whatever it
// compiles for.
//
//   jit_fuzz [--seconds N] [--seed S] [--count N] [--small] [--print] [--limit N] [--configuration NAME] [--text FILE]
//
// Each kernel runs in a process of its own, so one that crashes or takes too long is found like one that differs. Then
// parts of it are dropped while it still fails in the same way, what is left is printed with the words that differ, and
// the fuzzer exits with 1.
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <functional>

#include "fuzz_case.hpp"
#include "interp/interpreter.hpp"
#include "jit/jit.hpp"
#include "run_case.hpp"

namespace ordito::fuzz {
namespace {

using test::Case;
using test::Outcome;
using test::TextTest;

struct Configuration {
  const char* name;
  jit::Options options;
  test::Wanted wanted = test::Wanted::Nothing;  // what is compared of both engines, besides what they leave behind
};

const Configuration kConfigurations[] = {
    {"host", {}},
    {"counters", {}, test::Wanted::Counters},
    {"events", {}, test::Wanted::Events},
    {"coarsening 1", {.coarsening = {1}}},
    {"coarsening 2", {.coarsening = {2}}},
    {"coarsening by region", {.coarsening = {4, 1, 2, 8}}},
    {"by thread", {.byThread = simt::ByThread::Possible}},
    {"by thread, counters", {.byThread = simt::ByThread::Possible}, test::Wanted::Counters},
    {"x86-64-v3", {.cpu = "x86-64-v3"}},
    {"x86-64-v2", {.cpu = "x86-64-v2"}},
    {"baseline", {.baseline = jit::BaselineCode::Only}},
};

bool sameSteps(const Outcome& a, const Outcome& b) {
  using machine::Counter;
  for (Counter step : {Counter::WarpInstructions, Counter::Branches, Counter::DivergentBranches}) {
    const auto k = static_cast<size_t>(step);
    if (k >= a.counters.size() || k >= b.counters.size() || a.counters[k] != b.counters[k]) return false;
  }
  return true;
}

/// What holds in whatever groups lanes execute.
void keepThreadCounts(machine::SiteCounters& sites) {
  for (auto& [line, counts] : sites)
    for (size_t k = 0; k < counts.size(); ++k)
      if (k != static_cast<size_t>(machine::Counter::ThreadInstructions)) counts[k] = 0;
}

/// The differences that `text` shows on one configuration with the inputs of this kernel; empty if there are none.
std::vector<std::string> differences(const Kernel& kernel, const std::string& text, uint64_t seed,
                                     const Configuration& configuration) {
  const TextTest test{"fuzz", text, {}};
  const Case c = caseOf(kernel.grid, kernel.block, seed);
  auto interpreter = interp::makeInterpreter();
  auto jit = jit::makeJit(jit::optionsFromEnvironment(configuration.options));
  if (configuration.wanted == test::Wanted::Events) test::listenToEvents();
  Outcome expected = test::runCase(*interpreter, test, c, configuration.wanted);
  Outcome actual = test::runCase(*jit, test, c, configuration.wanted);
  // How often a lock's loop goes round and which lanes go on together behind a wait is the engine's choice.
  if (kernel.isScheduled) expected.sites.clear(), actual.sites.clear(), expected.events.clear(), actual.events.clear();
  // Where lanes meet again is the engine's choice where a loop has several ways out; accesses are alike only if that
  // is.
  if (!sameSteps(expected, actual)) keepThreadCounts(expected.sites), keepThreadCounts(actual.sites);
  return test::compare(c, expected, actual);
}

/// What became of a kernel.
enum class Verdict { Agrees, Differs, TooSlow, Crashes };

const char* text(Verdict v) {
  static constexpr const char* kTexts[] = {"agrees", "differs", "takes too long", "crashes"};
  return kTexts[static_cast<size_t>(v)];
}

struct Settings {
  bool prints = false, diverges = false, isSmall = false, hasStructures = false;
  unsigned limit = 60;  // seconds for one kernel
  std::string configuration;
};

/// Does it in a process of its own, which has no threads to begin with, since this one never starts any.
Verdict judge(unsigned limit, const std::function<bool()>& agrees) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    alarm(limit);
    const bool ok = agrees();
    std::fflush(stdout);
    _exit(ok ? 0 : 1);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return Verdict::Crashes;
  if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGALRM ? Verdict::TooSlow : Verdict::Crashes;
  return WEXITSTATUS(status) == 0 ? Verdict::Agrees : WEXITSTATUS(status) == 1 ? Verdict::Differs : Verdict::Crashes;
}

/// Every droppable node, outermost first.
void collect(std::vector<Node>& nodes, std::vector<Node*>& all) {
  for (Node& n : nodes) {
    all.push_back(&n);
    collect(n.body, all);
    collect(n.otherwise, all);
  }
}

/// Drops parts while `fails` holds: many neighbours at a time first, then fewer.
void shrink(Kernel& kernel, const std::function<bool()>& fails) {
  std::vector<Node*> all;
  collect(kernel.nodes, all);
  for (size_t count = all.size() / 2; count > 0;) {
    bool changed = false;
    for (size_t at = 0; at < all.size(); at += count) {
      std::vector<Node*> dropped;
      for (size_t k = at; k < std::min(at + count, all.size()); ++k)
        if (!all[k]->isDropped) dropped.push_back(all[k]);
      if (dropped.empty()) continue;
      for (Node* n : dropped) n->isDropped = true;
      if (fails())
        changed = true;
      else
        for (Node* n : dropped) n->isDropped = false;
    }
    if (!changed || count > 1) count /= 2;
  }
}

std::vector<std::string> configurationNames() {
  std::vector<std::string> names;
  for (const Configuration& c : kConfigurations) names.push_back(c.name);
  return names;
}

const Configuration& configurationOf(uint64_t seed, const std::string& name) {
  for (const Configuration& c : kConfigurations)
    if (name == c.name) return c;
  return kConfigurations[seed % std::size(kConfigurations)];
}

void print(const std::vector<std::string>& differences, size_t atMost) {
  for (size_t k = 0; k < std::min(differences.size(), atMost); ++k) std::printf("  %s\n", differences[k].c_str());
}

Kernel kernelOf(uint64_t seed, const Settings& settings) {
  Generator generator(seed);
  generator.diverges = settings.diverges;
  generator.isSmall = settings.isSmall;
  generator.hasStructures = settings.hasStructures;
  return generator.run();
}

/// A kernel that somebody has changed by hand, with the grid and the inputs of the one that the seed makes.
bool checkText(uint64_t seed, const Settings& settings, const std::string& text) {
  const auto found = differences(kernelOf(seed, settings), text, seed, configurationOf(seed, settings.configuration));
  print(found, found.size());
  return found.empty();
}

/// One kernel on one configuration: seeds take turns at them.
bool check(uint64_t seed, const Settings& settings) {
  Kernel kernel = kernelOf(seed, settings);
  if (settings.prints) std::puts(kernel.text().c_str());
  const Configuration& configuration = configurationOf(seed, settings.configuration);
  auto run = [&](size_t shown) {
    return judge(settings.limit, [&] {
      const auto found = differences(kernel, kernel.text(), seed, configuration);
      print(found, shown);
      return found.empty();
    });
  };
  const Verdict verdict = run(1);
  if (verdict == Verdict::Agrees) return true;
  std::printf("seed %llu %s; dropping parts of the kernel\n", static_cast<unsigned long long>(seed), text(verdict));
  shrink(kernel, [&] { return run(0) == verdict; });
  std::printf("FAIL seed %llu %s, %s, grid %u, block %u x %u x %u\n%s\n", static_cast<unsigned long long>(seed),
              text(verdict), configuration.name, kernel.grid.x, kernel.block.x, kernel.block.y, kernel.block.z,
              kernel.text().c_str());
  run(12);
  return false;
}

/// Kernels that a GPU has run: all on the interpreter, and every so-manieth compiled, which takes longer.
bool replay(const std::string& file, size_t every) {
  auto all = readRecorded(file);
  if (!all) return std::puts(all.error().message.c_str()), false;
  size_t wrong = 0, place = 0;
  for (const Recorded& r : *all) {
    const bool isChosen = place++ % every == 0;
    for (bool compiled : {false, true}) {
      if (compiled && !isChosen) continue;
      auto engine = compiled ? jit::makeJit(jit::optionsFromEnvironment()) : interp::makeInterpreter();
      const Outcome o =
          test::runCase(*engine, {"fuzz", r.text, {}}, caseOf(r.grid, r.block, r.seed), test::Wanted::Nothing);
      if (o.error.empty() && !o.fault && resultOf(o) == r.result) continue;
      std::printf("FAIL seed %llu: %s differs from the GPU%s\n%s\n", static_cast<unsigned long long>(r.seed),
                  compiled ? "the JIT" : "the interpreter", o.error.c_str(), wrong++ ? "" : r.text.c_str());
    }
  }
  std::printf("%zu kernels, of which a GPU gave the results\n", all->size());
  return wrong == 0 && !all->empty();
}

}  // namespace
}  // namespace ordito::fuzz

int main(int argc, char** argv) {
  uint64_t seed = 1, count = 0;
  double seconds = 20;
  ordito::fuzz::Settings settings;
  std::string recorded, changed;
  size_t every = 1;
  CLI::App app{"Random kernels on the interpreter and on the JIT"};
  app.add_option("--seed", seed, "the first kernel's seed");
  app.add_option("--count", count, "how many kernels (0: as many as fit the time)");
  app.add_option("--seconds", seconds, "how long");
  app.add_flag("--diverged", settings.diverges, "barriers that not all threads reach, and locks between lanes");
  app.add_flag("--small", settings.isSmall, "kernels of one to four statements, many more in the same time");
  app.add_flag("--structures", settings.hasStructures, "many accesses to members of an array of structures");
  app.add_flag("--print", settings.prints, "print every kernel");
  app.add_option("--limit", settings.limit, "seconds that a kernel may take");
  app.add_option("--configuration", settings.configuration,
                 "only this one, e.g. \"coarsening 2\" (else seeds take turns)")
      ->check(CLI::IsMember(ordito::fuzz::configurationNames()));
  app.add_option("--recorded", recorded, "instead, replay the kernels of this file");
  app.add_option("--text", changed,
                 "instead of the seed's kernel run this PTX, with the same inputs, and show all words")
      ->check(CLI::ExistingFile);
  app.add_option("--every", every, "of those, compile only every so-manieth")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  if (!recorded.empty()) return ordito::fuzz::replay(recorded, every) ? 0 : 1;
  if (!changed.empty()) {
    std::ifstream file(changed);
    return ordito::fuzz::checkText(seed, settings, {std::istreambuf_iterator<char>(file), {}}) ? 0 : 1;
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  uint64_t done = 0;
  for (; count ? done < count : std::chrono::steady_clock::now() < end; ++done)
    if (!ordito::fuzz::check(seed + done, settings)) return 1;
  std::printf("%llu kernels agree\n", static_cast<unsigned long long>(done));
}
