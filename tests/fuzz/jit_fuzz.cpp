// Differential fuzzing: random kernels must leave the same memory behind on the interpreter and on the JIT, whatever it
// compiles for.
//
//   jit_fuzz [--seconds N] [--seed S] [--count N] [--print]
//
// On a difference it drops parts of the kernel while it still fails, prints what is left with the words that differ,
// and exits with 1.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>

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
  bool counters = false;  // compare what both engines count, too
};

const Configuration kConfigurations[] = {
    {"host", {}},
    {"counters", {}, true},
    {"jam 1", {.jam = 1}},
    {"jam 2", {.jam = 2}},
    {"x86-64-v3", {.cpu = "x86-64-v3"}},
    {"x86-64-v2", {.cpu = "x86-64-v2"}},
};

bool sameSteps(const Outcome& a, const Outcome& b) {
  using machine::Counter;
  for (Counter step : {Counter::WarpInstructions, Counter::Branches, Counter::DivergentBranches}) {
    const auto k = static_cast<size_t>(step);
    if (k >= a.counters.size() || k >= b.counters.size() || a.counters[k] != b.counters[k]) return false;
  }
  return true;
}

/// The differences on one configuration; empty if there are none.
std::vector<std::string> differences(const Kernel& kernel, uint64_t seed, const Configuration& configuration) {
  const TextTest test{"fuzz", kernel.text(), {}};
  const Case c = caseOf(kernel.grid, kernel.block, seed);
  auto interpreter = interp::makeInterpreter();
  auto jit = jit::makeJit(configuration.options);
  Outcome expected = test::runCase(*interpreter, test, c, configuration.counters);
  Outcome actual = test::runCase(*jit, test, c, configuration.counters);
  // Where lanes meet again is the engine's choice in a loop with `continue`; accesses are alike only if that is.
  if (configuration.counters && !sameSteps(expected, actual)) expected.counters.clear(), actual.counters.clear();
  return test::compare(c, expected, actual);
}

/// Every droppable node, outermost first.
void collect(std::vector<Node>& nodes, std::vector<Node*>& all) {
  for (Node& n : nodes) {
    all.push_back(&n);
    collect(n.body, all);
    collect(n.otherwise, all);
  }
}

void shrink(Kernel& kernel, uint64_t seed, const Configuration& configuration) {
  std::vector<Node*> all;
  collect(kernel.nodes, all);
  for (bool changed = true; changed;) {
    changed = false;
    for (Node* n : all) {
      if (n->isDropped) continue;
      n->isDropped = true;
      if (differences(kernel, seed, configuration).empty())
        n->isDropped = false;
      else
        changed = true;
    }
  }
}

/// One kernel on one configuration: seeds take turns at them.
bool check(uint64_t seed, bool prints, bool getsOutOfStep) {
  Generator generator(seed);
  generator.getsOutOfStep = getsOutOfStep;
  Kernel kernel = generator.run();
  if (prints) std::puts(kernel.text().c_str());
  const Configuration& configuration = kConfigurations[seed % std::size(kConfigurations)];
  const auto first = differences(kernel, seed, configuration);
  if (first.empty()) return true;
  std::printf("seed %llu differs (%s); dropping parts of the kernel\n", static_cast<unsigned long long>(seed),
              first[0].c_str());
  std::fflush(stdout);
  shrink(kernel, seed, configuration);
  std::printf("FAIL seed %llu, %s, grid %u, block %u x %u x %u\n%s\n", static_cast<unsigned long long>(seed),
              configuration.name, kernel.grid.x, kernel.block.x, kernel.block.y, kernel.block.z, kernel.text().c_str());
  const auto found = differences(kernel, seed, configuration);
  for (size_t k = 0; k < std::min<size_t>(found.size(), 12); ++k) std::printf("  %s\n", found[k].c_str());
  return false;
}

/// Kernels that a GPU has run, on both engines.
bool replay(const std::string& file) {
  auto all = readRecorded(file);
  if (!all) return std::puts(all.error().message.c_str()), false;
  size_t wrong = 0;
  for (const Recorded& r : *all)
    for (bool compiled : {false, true}) {
      auto engine = compiled ? jit::makeJit() : interp::makeInterpreter();
      const Outcome o = test::runCase(*engine, {"fuzz", r.text, {}}, caseOf(r.grid, r.block, r.seed), false);
      if (o.error.empty() && !o.fault && resultOf(o) == r.result) continue;
      std::printf("FAIL seed %llu: %s differs from the GPU%s\n%s\n", static_cast<unsigned long long>(r.seed),
                  compiled ? "the JIT" : "the interpreter", o.error.c_str(), wrong++ ? "" : r.text.c_str());
    }
  std::printf("%zu kernels, of which a GPU gave the results\n", all->size());
  return wrong == 0 && !all->empty();
}

}  // namespace
}  // namespace ordito::fuzz

int main(int argc, char** argv) {
  uint64_t seed = 1, count = 0;
  double seconds = 20;
  bool prints = false, getsOutOfStep = false;
  std::string recorded;
  CLI::App app{"Random kernels on the interpreter and on the JIT"};
  app.add_option("--seed", seed, "the first kernel's seed");
  app.add_option("--count", count, "how many kernels (0: as many as fit the time)");
  app.add_option("--seconds", seconds, "how long");
  app.add_flag("--out-of-step", getsOutOfStep, "barriers that not all threads reach, and locks between lanes");
  app.add_flag("--print", prints, "print every kernel");
  app.add_option("--recorded", recorded, "instead, replay the kernels of this file");
  CLI11_PARSE(app, argc, argv);
  if (!recorded.empty()) return ordito::fuzz::replay(recorded) ? 0 : 1;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  uint64_t done = 0;
  for (; count ? done < count : std::chrono::steady_clock::now() < end; ++done)
    if (!ordito::fuzz::check(seed + done, prints, getsOutOfStep)) return 1;
  std::printf("%llu kernels agree\n", static_cast<unsigned long long>(done));
}
