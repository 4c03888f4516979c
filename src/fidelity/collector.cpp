// See collector.hpp.
#include "fidelity/collector.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/environment.hpp"
#include "ptx/opcode.hpp"
#include "ptx/source_lines.hpp"

namespace ordito::fidelity {

namespace {

using Json = nlohmann::ordered_json;
using machine::Counter;

Place placeAt(const machine::LaunchEvent& launch, uint32_t line) {
  Place place{launch.kernel, line, {}, ptx::sourceOf(launch.module, launch.function, line), {}, 0};
  if (const ptx::Instruction* i = ptx::instructionAt(launch.module, launch.function, line)) {
    place.instruction = ptx::spellOpcode(*i);
    place.judgement = judge(launch.module, *i);
  }
  return place;
}

}  // namespace

void Collector::launchEnded(const machine::LaunchEvent& launch) {
  std::lock_guard lock(mutex_);
  for (const auto& [line, counters] : launch.sites) {
    const uint64_t executions = counters[static_cast<size_t>(Counter::WarpInstructions)];
    if (!executions) continue;
    auto [it, isNew] = places_.try_emplace({launch.mangled, line});
    if (isNew) it->second = placeAt(launch, line);
    it->second.executions += executions;
  }
}

std::vector<Place> Collector::places() const {
  std::lock_guard lock(mutex_);
  std::vector<Place> result;
  for (const auto& [key, place] : places_) result.push_back(place);
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

void Collector::flush() {
  if (path_.empty()) return;
  std::ofstream out(path_);
  out << toJson(places());
  if (!out.flush()) fmt::print(stderr, "ordito: ORDITO_FIDELITY: cannot write {}\n", path_);
}

machine::Listener* listener() {
  const std::string path = readEnvironment().fidelity;
  static auto* instance = !path.empty() ? new Collector(path) : nullptr;  // written until the process ends
  return instance;
}

}  // namespace ordito::fidelity
