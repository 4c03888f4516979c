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

#include "interp/interpreter.hpp"
#include "jit/jit.hpp"
#include "kernel_generator.hpp"
#include "run_case.hpp"

namespace ordito::fuzz {
namespace {

using test::Case;
using test::Outcome;
using test::TextTest;

Case caseOf(const Kernel& kernel, uint64_t seed) {
  std::mt19937_64 random(seed);
  auto buffer = [](std::string name, isa::Type type) {
    test::Buffer b;
    b.name = std::move(name);
    b.type = type;
    return b;
  };
  test::Buffer in32 = buffer("in32", isa::Type::u32), in64 = buffer("in64", isa::Type::u64),
               inF64 = buffer("inf64", isa::Type::u64), out = buffer("out", isa::Type::u32),
               sums = buffer("sums", isa::Type::u32);
  for (unsigned k = 0; k < 2 * kInputs; ++k) {
    // Small numbers, ordinary floats and any bits; quiet NaNs only, since conversions may or may not quieten a
    // signalling one.
    const uint64_t bits = random();
    const unsigned kind = bits >> 60;
    uint32_t word = kind < 5    ? bits & 31
                    : kind < 10 ? std::bit_cast<uint32_t>(static_cast<float>(static_cast<int32_t>(bits)) / 65536)
                                : static_cast<uint32_t>(bits);
    if ((word & 0x7F800000) == 0x7F800000 && (word & 0x7FFFFF)) word |= 0x400000;
    in32.initial.push_back(word);
    in64.initial.push_back(kind < 8 ? bits & 1023 : random());
    inF64.initial.push_back(
        std::bit_cast<uint64_t>(static_cast<double>(static_cast<int64_t>(random())) * (kind < 8 ? 0x1p-60 : 0x1p-30)));
  }
  out.initial.assign(kernel.grid.count() * kernel.block.count() * kOutWords, 0);
  sums.initial.assign(kSums, 0);
  Case c;
  c.grid = kernel.grid;
  c.block = kernel.block;
  c.parameters = {in32, in64, inF64, out, sums};
  return c;
}

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
  const Case c = caseOf(kernel, seed);
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
bool check(uint64_t seed, bool prints) {
  Kernel kernel = Generator(seed).run();
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

}  // namespace
}  // namespace ordito::fuzz

int main(int argc, char** argv) {
  uint64_t seed = 1, count = 0;
  double seconds = 20;
  bool prints = false;
  CLI::App app{"Random kernels on the interpreter and on the JIT"};
  app.add_option("--seed", seed, "the first kernel's seed");
  app.add_option("--count", count, "how many kernels (0: as many as fit the time)");
  app.add_option("--seconds", seconds, "how long");
  app.add_flag("--print", prints, "print every kernel");
  CLI11_PARSE(app, argc, argv);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  uint64_t done = 0;
  for (; count ? done < count : std::chrono::steady_clock::now() < end; ++done)
    if (!ordito::fuzz::check(seed + done, prints)) return 1;
  std::printf("%llu kernels agree\n", static_cast<unsigned long long>(done));
}
