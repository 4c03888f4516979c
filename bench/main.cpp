// bench_kernels: Ordito's kernels against native C++, OpenBLAS and PoCL, in one process and one sitting. Built without
// the CUDA contender it is called bench_native and gives the baselines alone.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>

#include "cases.hpp"
#include "counters.hpp"
#include "measure.hpp"
#include "openblas.hpp"
#include "opencl.hpp"
#include "report.hpp"
#include "settings.hpp"

namespace {

using namespace ordito::bench;

struct Options {
  int rounds = 9;
  int threads = 0;
  std::vector<std::string> only;
  std::vector<std::string> contenders;
  bool json = false;
  bool check = false;
  bool counters = false;
  bool checker = false;
  int limit = 60;
  bool avx2 = false;
};

template <class Describe>
std::string describe(Describe&& function) {
  try {
    return function();
  } catch (const std::exception& error) {
    return fmt::format("left out: {}", error.what());
  }
}

Machine describeMachine(int threads, Level level) {
  return {cpuModel(), threads, level, describe([&] {
            setOpenBlasThreads(threads);
            return fmt::format("core type {}", openBlasCore());
          }),
          describe(openClDevice)};
}

std::vector<Factory> allFactories(Level level = Level::Host) {
  return {
      {"native", level == Level::Avx2 ? makeNativeAvx2 : makeNative},
      {"openblas", makeOpenBlas},
#ifdef BENCH_WITH_CUDA
      {"ordito", makeCuda},
#endif
      {"pocl", makeOpenCl},
  };
}

bool wanted(const std::vector<std::string>& names, const std::string& name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> caseNames() {
  std::vector<std::string> names;
  for (const CaseSpec& spec : allCases()) names.push_back(spec.name);
  return names;
}

std::vector<std::string> contenderNames() {
  std::vector<std::string> names;
  for (const Factory& factory : allFactories()) names.push_back(factory.name);
  return names;
}

/// Profiling's price for each case. Inputs are made anew in each child, so fewer rounds than usual are a good choice.
int runCounters(const Options& options) {
  fmt::print("{:<18} {:>10} {:>10} {:>9}\n", "case", "off ms", "on ms", "on / off");
  for (const CaseSpec& spec : allCases()) {
    if (!wanted(options.only, spec.name)) continue;
    const CountersCost cost = measureCounters(spec.name, options.rounds, options.threads);
    fmt::print("{:<18} {:>10.2f} {:>10.2f} {:>9.2f}\n", spec.name, cost.offMs, cost.onMs, cost.onMs / cost.offMs);
    std::fflush(stdout);
  }
  return 0;
}

/// Factors of one column, and what they come to.
class Factors {
 public:
  std::string add(std::optional<double> ms, double aloneMs) {
    if (!ms) return "-";
    const double factor = *ms / aloneMs;
    logarithms_ += std::log(factor), worst_ = std::max(worst_, factor), ++count_;
    return fmt::format("{:.2f}", factor);
  }
  std::string summary() const {
    return fmt::format("geometric mean {:.2f}, worst {:.2f}, of {} cases", std::exp(logarithms_ / std::max(count_, 1)),
                       worst_, count_);
  }

 private:
  double logarithms_ = 0, worst_ = 0;
  int count_ = 0;
};

/// The checker's price for each case.
int runChecker(const Options& options) {
  fmt::print("{:<18} {:>10} {:>12} {:>10} {:>12} {:>10}\n", "case", "alone ms", "compiled ms", "factor", "all rules ms",
             "factor");
  Factors compiled, all;
  const auto text = [](std::optional<double> ms) { return ms ? fmt::format("{:.2f}", *ms) : "-"; };
  for (const CaseSpec& spec : allCases()) {
    if (!wanted(options.only, spec.name)) continue;
    const CheckerCost cost = measureChecker(spec.name, options.rounds, options.limit);
    fmt::print("{:<18} {:>10.2f} {:>12} {:>10} {:>12} {:>10}\n", spec.name, cost.aloneMs, text(cost.compiledMs),
               compiled.add(cost.compiledMs, cost.aloneMs), text(cost.allMs), all.add(cost.allMs, cost.aloneMs));
    std::fflush(stdout);
  }
  fmt::print("compiled: {}\nall rules: {}\n", compiled.summary(), all.summary());
  return 0;
}

int run(const Options& options) {
  const Level level = levelOfEnvironment();
  const Machine machine = describeMachine(prepareProcess(options.threads, level), level);
  if (!options.json) printMachine(machine, options.rounds);

  std::vector<Factory> factories;
  for (const Factory& factory : allFactories(level))
    if (wanted(options.contenders, factory.name)) factories.push_back(factory);

  std::vector<CaseResult> results;
  for (const CaseSpec& spec : allCases()) {
    if (!wanted(options.only, spec.name)) continue;
    results.push_back(measureCase(spec, factories, options.rounds));
    if (!options.json) printCase(results.back());
  }
  if (options.json) {
    printJson(machine, options.rounds, results);
  } else if (wanted(contenderNames(), "ordito")) {
    printSummary(results, level);
  }
  const bool met = std::all_of(results.begin(), results.end(),
                               [level](const CaseResult& result) { return meetsTargets(result, level); });
  return options.check && !met ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Ordito's kernels against native C++ (OpenMP and SIMD), OpenBLAS and PoCL");
  app.add_option("--rounds", options.rounds, "Interleaved rounds; the median is reported")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--threads", options.threads, "Threads for every contender (default: all CPUs)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--only", options.only, "Cases to run")->delimiter(',')->check(CLI::IsMember(caseNames()));
  app.add_option("--contenders", options.contenders, "Contenders to run")
      ->delimiter(',')
      ->check(CLI::IsMember(contenderNames()));
  app.add_flag(
      "--avx2", options.avx2,
      "As on a host without AVX-512: native code, OpenBLAS, PoCL and Ordito keep to AVX2, and half of each target "
      "is asked. ORDITO_CPU=x86-64-v3 in the environment says the same");
  app.add_flag("--json", options.json, "Write JSON with every round's times");
  app.add_flag("--check", options.check, "Exit with status 1 if a target is missed");
#ifdef BENCH_WITH_CUDA
  app.add_flag("--counters", options.counters, "Instead: what profiling costs each case");
  app.add_flag("--checker", options.checker, "Instead: what ordito check costs each case, on one thread");
  app.add_option("--limit", options.limit, "Seconds after which --checker leaves out what is not done")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
#endif
  CLI11_PARSE(app, argc, argv);
  if (options.avx2) restrictToAvx2();  // children, too
  try {
    if (options.checker) return runChecker(options);
    return options.counters ? runCounters(options) : run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench: {}\n", error.what());
    return 2;
  }
}
