#include "report.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

namespace ordito::bench {

namespace {

constexpr const char* ours = "ordito";
constexpr const char* pocl = "pocl";
constexpr double noticeable = 0.05;  // disturbance that the reader should know of

/// Hosts without AVX-512 are held to half of each case's share of the baseline.
double targetOf(const CaseSpec& spec, Level level) { return level == Level::Avx2 ? spec.target / 2 : spec.target; }

using Samples = std::vector<double> Timing::*;

std::optional<double> ratio(const CaseResult& result, const std::string& other, Samples samples) {
  const Timing* reference = result.find(other);
  const Timing* ordito = result.find(ours);
  if (reference == nullptr || ordito == nullptr) return std::nullopt;
  return median(reference->*samples) / median(ordito->*samples);
}

std::string text(std::optional<double> value) { return value ? fmt::format("{:.2f}", *value) : "-"; }

/// "0.71 ok", "0.31 MISSED"
std::string judged(std::optional<double> value, double target) {
  if (!value || target == 0) return text(value);
  return fmt::format("{:.2f} {}", *value, *value >= target ? "ok" : "MISSED");
}

std::string text(double target, const char* unit) { return target == 0 ? "-" : fmt::format("{:.2g}{}", target, unit); }

nlohmann::json jsonOf(std::optional<double> value) { return value ? nlohmann::json(*value) : nlohmann::json(nullptr); }

nlohmann::json jsonOf(const Timing& timing) {
  if (!timing.ok()) return {{"name", timing.name}, {"failure", timing.failure}};
  return {{"name", timing.name},
          {"prepare_ms", timing.prepareMs},
          {"first_ms", timing.firstMs},
          {"wall_median_ms", median(timing.wallMs)},
          {"wall_min_ms", minimum(timing.wallMs)},
          {"cpu_median_ms", median(timing.cpuMs)},
          {"wall_ms", timing.wallMs},
          {"cpu_ms", timing.cpuMs}};
}

nlohmann::json jsonOf(const CaseResult& result) {
  const Ratios ratios = ratiosOf(result);
  nlohmann::json timings = nlohmann::json::array();
  for (const Timing& timing : result.timings) timings.push_back(jsonOf(timing));
  return {{"case", result.spec->name},
          {"baseline", result.spec->baseline},
          {"target", result.spec->target},
          {"target_over_pocl", result.spec->targetOverPocl},
          {"ratio_to_baseline_wall", jsonOf(ratios.baselineWall)},
          {"ratio_to_baseline_cpu", jsonOf(ratios.baselineCpu)},
          {"speedup_over_pocl_wall", jsonOf(ratios.poclWall)},
          {"speedup_over_pocl_cpu", jsonOf(ratios.poclCpu)},
          {"disturbance", result.disturbance},
          {"contenders", timings}};
}

}  // namespace

Ratios ratiosOf(const CaseResult& result) {
  const std::string& baseline = result.spec->baseline;
  return {ratio(result, baseline, &Timing::wallMs), ratio(result, baseline, &Timing::cpuMs),
          ratio(result, pocl, &Timing::wallMs), ratio(result, pocl, &Timing::cpuMs)};
}

bool meetsTargets(const CaseResult& result, Level level) {
  const Ratios ratios = ratiosOf(result);
  const bool enoughOfBaseline = ratios.baselineWall && *ratios.baselineWall >= targetOf(*result.spec, level);
  const bool enoughOverPocl = !ratios.poclWall || *ratios.poclWall >= result.spec->targetOverPocl;
  return enoughOfBaseline && enoughOverPocl;
}

void printMachine(const Machine& machine, int rounds) {
  fmt::print("CPU       {}, {} threads for every contender\n", machine.cpu, machine.threads);
  if (machine.level == Level::Avx2) fmt::print("Level     AVX2: nobody uses AVX-512, half of each target is asked\n");
  fmt::print("OpenBLAS  {}\n", machine.openBlas);
  fmt::print("OpenCL    {}\n", machine.openCl);
  fmt::print(
      "Times are medians of {} interleaved rounds; 'first' is the run that compiles the kernel and is in no "
      "median.\n\n",
      rounds);
  std::fflush(stdout);
}

void printCase(const CaseResult& result) {
  fmt::print("{:<18} {:<9} {:>10} {:>10} {:>10} {:>9} {:>10}\n", result.spec->name, "", "wall ms", "min ms", "CPU ms",
             result.spec->unit, "first ms");
  for (const Timing& timing : result.timings) {
    if (!timing.ok()) {
      fmt::print("{:<18} {:<9} left out: {}\n", "", timing.name, timing.failure);
      continue;
    }
    const double wall = median(timing.wallMs);
    fmt::print("{:<18} {:<9} {:>10.2f} {:>10.2f} {:>10.2f} {:>9.2f} {:>10.1f}\n", "", timing.name, wall,
               minimum(timing.wallMs), median(timing.cpuMs), result.spec->work / wall / 1e6, timing.firstMs);
  }
  if (result.disturbance > noticeable)
    fmt::print("{:<18} other processes took {:.0f} % of the CPU time meanwhile\n", "", 100 * result.disturbance);
  std::fflush(stdout);
}

void printSummary(const std::vector<CaseResult>& results, Level level) {
  fmt::print("\nOrdito's speed: share of the baseline and times PoCL, by wall time (by CPU time)\n");
  fmt::print("{:<18} {:<9} {:>7} {:>12} {:>8}   {:>7} {:>12} {:>8}\n", "case", "baseline", "target", "of baseline",
             "(CPU)", "target", "over PoCL", "(CPU)");
  for (const CaseResult& result : results) {
    const CaseSpec& spec = *result.spec;
    const double target = targetOf(spec, level);
    const Ratios ratios = ratiosOf(result);
    fmt::print("{:<18} {:<9} {:>7} {:>12} {:>8}   {:>7} {:>12} {:>8}\n", spec.name, spec.baseline, text(target, ""),
               judged(ratios.baselineWall, target), text(ratios.baselineCpu), text(spec.targetOverPocl, "x"),
               judged(ratios.poclWall, spec.targetOverPocl), text(ratios.poclCpu));
  }
}

void printJson(const Machine& machine, int rounds, const std::vector<CaseResult>& results) {
  nlohmann::json cases = nlohmann::json::array();
  for (const CaseResult& result : results) cases.push_back(jsonOf(result));
  const nlohmann::json document = {{"cpu", machine.cpu},
                                   {"threads", machine.threads},
                                   {"openblas", machine.openBlas},
                                   {"opencl", machine.openCl},
                                   {"level", machine.level == Level::Avx2 ? "avx2" : "host"},
                                   {"rounds", rounds},
                                   {"cases", cases}};
  fmt::print("{}\n", document.dump(2));
}

}  // namespace ordito::bench
