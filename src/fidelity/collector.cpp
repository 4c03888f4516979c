// See collector.hpp.
#include "fidelity/collector.hpp"

#include <array>
#include <nlohmann/json.hpp>

#include "base/environment.hpp"
#include "ptx/source_lines.hpp"

namespace ordito::fidelity {

namespace {

using Json = nlohmann::ordered_json;
using machine::Counter;

Place placeAt(const machine::LaunchEvent& launch, uint32_t line) {
  Place place{machine::kernelLine(launch, line), {}, 0};
  if (const ptx::Located at = ptx::instructionAt(launch.module, launch.function, line))
    place.judgement = judge(launch.module, *at.function, *at.instruction);
  return place;
}

}  // namespace

void Collector::launchEnded(const machine::LaunchEvent& launch) {
  std::lock_guard lock(mutex_);
  auto& places = places_.of(launch);
  for (const auto& [line, counters] : launch.sites) {
    const uint64_t executions = counters[static_cast<size_t>(Counter::WarpInstructions)];
    if (!executions) continue;
    auto [it, isNew] = places.try_emplace(line);
    if (isNew) it->second = placeAt(launch, line);
    it->second.executions += executions;
  }
}

std::vector<Place> Collector::places() const {
  std::lock_guard lock(mutex_);
  std::vector<Place> result;
  places_.forEach([&](const Place& place) { result.push_back(place); });
  return result;
}

std::string toJson(const std::vector<Place>& places) {
  struct Sum {
    uint64_t places = 0, executions = 0;
  };
  std::array<Sum, static_cast<size_t>(Kind::Differs) + 1> sums{};
  Json list = Json::array();
  for (const Place& p : places) {
    Sum& sum = sums[static_cast<size_t>(p.judgement.kind)];
    ++sum.places;
    sum.executions += p.executions;
    if (p.judgement.kind == Kind::Exact) continue;
    list.push_back({{"kernel", p.kernel},
                    {"ptx_line", p.ptxLine},
                    {"source", p.source.empty() ? Json() : Json(p.source)},
                    {"instruction", p.instruction},
                    {"kind", nameOf(p.judgement.kind)},
                    {"reason", p.judgement.reason},
                    {"warp_instructions", p.executions}});
  }
  Json kinds = Json::object();
  for (size_t k = 0; k < sums.size(); ++k)
    kinds[std::string(nameOf(static_cast<Kind>(k)))] = {{"places", sums[k].places},
                                                        {"warp_instructions", sums[k].executions}};
  return Json{{"kinds", kinds}, {"places", list}}.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string Collector::report() const { return toJson(places()); }

machine::Listener* listener() { return machine::reportListener<Collector>(readEnvironment().fidelity); }

}  // namespace ordito::fidelity
