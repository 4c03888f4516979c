// See fidelity.hpp. The program writes the report as JSON when it ends (fidelity/collector.hpp); here it becomes text.
#include "cli/fidelity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/program.hpp"
#include "fidelity/kind.hpp"

namespace ordito::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kAnotherKind = 3, kMisuse = 2;

std::string summary(const Json& report) {
  std::string text;
  for (const auto& [kind, sum] : report.at("kinds").items())
    if (sum.at("places") != 0)
      text += fmt::format("  {:<12} {:>6} places  {:>14} warp instructions\n", kind, sum.at("places").get<uint64_t>(),
                          sum.at("warp_instructions").get<uint64_t>());
  return text;
}

std::string lineOf(const Json& place) {
  const Json& source = place.at("source");
  return fmt::format(
      "  {}: {} in {}, {} times\n",
      source.is_null() ? fmt::format("PTX line {}", place.at("ptx_line").get<uint32_t>()) : source.get<std::string>(),
      place.at("instruction").get<std::string>(), place.at("kernel").get<std::string>(),
      place.at("warp_instructions").get<uint64_t>());
}

/// The places that are not exact, a reason once for all that have it.
std::string listing(const Json& report) {
  std::map<std::string, std::string> byReason;
  for (const Json& place : report.at("places"))
    byReason[fmt::format("{}: {}", place.at("kind").get<std::string>(), place.at("reason").get<std::string>())] +=
        lineOf(place);
  std::string text;
  for (const auto& [reason, lines] : byReason) text += fmt::format("\n{}\n{}", reason, lines);
  return text;
}

bool someRan(const Json& report, const std::vector<std::string>& kinds) {
  return std::ranges::any_of(kinds, [&](const std::string& k) { return report.at("kinds").at(k).at("places") != 0; });
}

int complain(const std::string& message, int status) {
  fmt::print(stderr, "ordito run: {}\n", message);
  return status;
}

}  // namespace

int runWithFidelity(const FidelityOptions& options, const std::vector<std::string>& command) {
  for (const std::string& kind : options.failOn)
    if (!fidelity::kindOf(kind))
      return complain(fmt::format("--fail-on: no kind '{}'; there are {}", kind, fidelity::allKinds()), kMisuse);
  const auto [status, report] = runForReport("ORDITO_FIDELITY", options.json, command);
  if (status == 127) return status;
  if (!report) return complain(report.error().message, status ? status : 1);
  fmt::print(stderr, "\nAgainst a GPU's results:\n{}{}", summary(*report), listing(*report));
  return status == 0 && someRan(*report, options.failOn) ? kAnotherKind : status;
}

}  // namespace ordito::cli
