// What each instruction of the table costs on this machine: a page of Markdown on standard output.
//
//   bench_instructions [--forms N] [--launches N] [--corners] [--all] [ROW]...      names of rows as in isa/ptx.def;
//   all without
//
// Operands come from the nearest cache, so that what is seen is the instruction. One thread of the host runs all
// blocks.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>

#include "jit/jit.hpp"
#include "measure.hpp"
#include "page.hpp"

namespace {

using namespace ordito;
using namespace ordito::bench;

struct Options {
  std::vector<std::string> rows;
  Effort effort;
  size_t forms = 0;
  bool corners = false, all = false, ptx = false;
  Values values() const { return corners ? Values::Corners : Values::Ordinary; }
};

/// "Intel(R) Xeon(R) Processor, 2026-11-24"
std::string machineAndDay() {
  std::ifstream cpus("/proc/cpuinfo");
  std::string line, name = "unknown processor";
  while (std::getline(cpus, line))
    if (line.starts_with("model name")) {
      name = line.substr(line.find(": ") + 2);
      break;
    }
  const std::time_t now = std::time(nullptr);
  char day[16];
  std::strftime(day, sizeof day, "%Y-%m-%d", std::gmtime(&now));
  return fmt::format("{}, {}.", name, day);
}

bool isAsked(const Options& options, isa::Op op) {
  return options.rows.empty() ||
         std::find(options.rows.begin(), options.rows.end(), isa::info(op).name) != options.rows.end();
}

RowCosts measureRow(machine::Engine& engine, isa::Op op, const Options& options) {
  RowCosts row{op, {}, whyNotMeasured(op)};
  if (!row.why.empty()) return row;
  size_t refused = 0;
  std::string first;
  for (const Subject& s : subjectsOf(op, options.values(), options.forms)) {
    if (options.ptx) fmt::print(stderr, "// {}\n{}\n", s.name, s.text);
    const auto ns = nanosecondsPerWarp(engine, s, options.effort);
    if (ns) row.costs.push_back({s.name, *ns});
    if (ns && options.all) fmt::print(stderr, "{:9.1f}  {}\n", *ns, s.name);
    if (ns) continue;
    if (first.empty())
      first = fmt::format("`{}`: {}", s.name, ns.error().message.substr(0, ns.error().message.find('\n')));
    ++refused;
  }
  if (refused) row.why = fmt::format("{} kernels failed; {}", refused, first);
  if (!refused && row.costs.empty()) row.why = "no form of it stands alone in a kernel";
  return row;
}

/// The kernel that all others are compared with: the least of many times, since all multiples depend on it.
Expected<Addition> additionCost(machine::Engine& engine, const Options& options) {
  for (const Subject& s : subjectsOf(isa::Op::Add, options.values(), 0)) {
    if (s.name != "add.s32") continue;
    Expected<double> loop = nanosecondsPerWarp(engine, s, options.effort), launch = 0.0;
    for (int k = 0; k < 20 && loop; ++k) {
      const auto again = nanosecondsPerWarp(engine, s, options.effort);
      loop = again ? std::min(*loop, *again) : again;
    }
    if (loop) launch = nanosecondsInLaunch(engine, additionInMemory(), 2 * options.effort.launches);
    if (!loop || !launch) return tl::unexpected(loop ? launch.error() : loop.error());
    return Addition{*loop, *launch};
  }
  return fail("the table has no add.s32");
}

int run(const Options& options) {
  setenv("ORDITO_THREADS", "1", 1);
  const auto engine = jit::makeJit(jit::optionsFromEnvironment({}));
  const auto addition = additionCost(*engine, options);
  if (!addition) return fmt::print(stderr, "{}\n", addition.error().message), 1;
  std::vector<RowCosts> rows;
  for (size_t k = 0; k < static_cast<size_t>(isa::Op::Count); ++k)
    if (const auto op = static_cast<isa::Op>(k); isAsked(options, op)) rows.push_back(measureRow(*engine, op, options));
  fmt::print("{}", page(rows, *addition, machineAndDay()));
  const auto failed = [](const RowCosts& r) { return !r.why.empty() && whyNotMeasured(r.op).empty(); };
  return std::any_of(rows.begin(), rows.end(), failed) ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"What each instruction costs"};
  app.add_option("rows", options.rows, "rows of the table; all without");
  app.add_option("--forms", options.forms, "at most so many forms of each row, spread evenly; 0: all");
  app.add_option("--launches", options.effort.launches, "the median is reported")->check(CLI::PositiveNumber);
  app.add_option("--microseconds", options.effort.launchMicroseconds, "the least time of a launch");
  app.add_flag("--corners", options.corners, "operands with subnormal numbers, infinities and NaNs");
  app.add_flag("--all", options.all, "every form's time, on standard error");
  app.add_flag("--ptx", options.ptx, "every kernel, on standard error");
  CLI11_PARSE(app, argc, argv);
  return run(options);
}
