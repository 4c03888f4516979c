// How long kernels take to compile: every entry of the given PTX files, for one block shape, CPU time, without the
// cache.
//
// One engine compiles them all, as in a program.
//
//   bench_jit [--rounds N] [--block X,Y] [--counters] [--baseline] FILE.ptx ...        make one with `ordito nvcc -ptx`
//
// The target is 60 ms for 200 instructions of PTX.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ctime>
#include <fstream>
#include <iterator>

#include "jit/jit.hpp"
#include "ptx/parser.hpp"

namespace {

using namespace ordito;

double cpuMs() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
}

struct Row {
  std::string kernel;
  size_t instructions;
  double ms;  // median
};

Expected<Row> measure(machine::Engine& engine, const machine::ModulePtr& module, const ptx::Function& kernel,
                      const machine::Specialisation& s, int rounds) {
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    const double start = cpuMs();
    auto executable = engine.compile(module, kernel, s);
    if (!executable) return tl::unexpected(executable.error());
    times.push_back(cpuMs() - start);
  }
  std::sort(times.begin(), times.end());
  return Row{kernel.name, kernel.instructions.size(), times[times.size() / 2]};
}

constexpr double kUnit = 200;  // instructions that the target speaks of

void print(const Row& row) {
  fmt::print("{:6} {:8.1f} {:8.1f}  {}\n", row.instructions, row.ms,
             row.ms / static_cast<double>(row.instructions) * kUnit, row.kernel);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> files;
  std::vector<uint32_t> block = {256, 1};
  int rounds = 5;
  bool counters = false, baseline = false;
  CLI::App app{"How long kernels take to compile"};
  app.add_option("files", files, "PTX")->required()->check(CLI::ExistingFile);
  app.add_option("--rounds", rounds, "the median is reported")->check(CLI::PositiveNumber);
  app.add_option("--block", block, "threads in x and y")->delimiter(',')->expected(2);
  app.add_flag("--counters", counters, "with profiling compiled in");
  app.add_flag("--baseline", baseline, "baseline code");
  CLI11_PARSE(app, argc, argv);

  fmt::print("   PTX   CPU ms   ms/200  kernel\n");
  Row sum{"all", 0, 0};
  jit::Options options;  // without its caches
  if (baseline) options.baseline = jit::BaselineCode::Only;
  const auto engine = jit::makeJit(jit::optionsFromEnvironment(options));
  for (const std::string& file : files) {
    std::ifstream stream(file);
    auto module = ptx::parse(std::string((std::istreambuf_iterator<char>(stream)), {}), file);
    if (!module) {
      fmt::print(stderr, "{}\n", module.error().message);
      return 1;
    }
    const auto kept = std::make_shared<const ptx::Module>(std::move(*module));
    for (const ptx::Function& kernel : kept->functions) {
      if (!kernel.isEntry) continue;
      auto row = measure(*engine, kept, kernel, {{block[0], block[1], 1}, counters}, rounds);
      if (!row) {
        fmt::print("       refused: {}\n", row.error().message);
        continue;
      }
      print(*row);
      sum.instructions += row->instructions;
      sum.ms += row->ms;
    }
  }
  if (sum.instructions) print(sum);
}
