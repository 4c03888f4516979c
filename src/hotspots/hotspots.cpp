// See hotspots.hpp.
#include "hotspots/hotspots.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/environment.hpp"

namespace ordito::hotspots {

namespace {

using Json = nlohmann::ordered_json;
using machine::Counter;

uint64_t at(const machine::CounterValues& counters, Counter c) { return counters[static_cast<size_t>(c)]; }

struct Shown {
  const char* key;
  std::vector<Counter> sum;
};

/// Never destroyed: reports are written when the process ends.
const std::vector<Shown>& shown() {
  static const auto* all = new std::vector<Shown>{
      {"requests",
       {Counter::GlobalLoadRequests, Counter::GlobalStoreRequests, Counter::SharedLoadRequests,
        Counter::SharedStoreRequests, Counter::LocalLoadRequests, Counter::LocalStoreRequests, Counter::TextureRequests,
        Counter::SurfaceLoadRequests, Counter::SurfaceStoreRequests, Counter::SurfaceReductionRequests,
        Counter::GlobalAtomics, Counter::GlobalReductions, Counter::SharedAtomics, Counter::MatrixLoads,
        Counter::MatrixStores}},
      {"global_sectors", {Counter::GlobalLoadSectors, Counter::GlobalStoreSectors}},
      {"shared_wavefronts", {Counter::SharedLoadWavefronts, Counter::SharedStoreWavefronts}},
      {"bank_conflicts", {Counter::SharedLoadConflicts, Counter::SharedStoreConflicts}},
      {"atomics",
       {Counter::GlobalAtomics, Counter::GlobalReductions, Counter::SharedAtomics, Counter::SurfaceReductionRequests}},
  };
  return *all;
}

uint64_t sumOf(const machine::CounterValues& counters, const std::vector<Counter>& which) {
  uint64_t sum = 0;
  for (Counter c : which) sum += at(counters, c);
  return sum;
}

}  // namespace

uint64_t Site::transactions() const {
  return sumOf(counters, {Counter::GlobalLoadSectors, Counter::GlobalStoreSectors, Counter::SharedLoadWavefronts,
                          Counter::SharedStoreWavefronts, Counter::LocalLoadRequests, Counter::LocalStoreRequests,
                          Counter::TextureRequests, Counter::SurfaceLoadRequests, Counter::SurfaceStoreRequests,
                          Counter::SurfaceReductionRequests, Counter::GlobalAtomics, Counter::GlobalReductions,
                          Counter::SharedAtomics});
}

void Collector::launchEnded(const machine::LaunchEvent& launch) {
  std::lock_guard lock(mutex_);
  auto& sites = sites_.of(launch);
  for (const auto& [line, counters] : launch.sites) {
    auto [it, isNew] = sites.try_emplace(line);
    Site& site = it->second;
    if (isNew) site = {machine::kernelLine(launch, line)};
    for (size_t c = 0; c < counters.size(); ++c) site.counters[c] += counters[c];
  }
}

std::vector<Site> Collector::sites() const {
  std::vector<Site> result;
  {
    std::lock_guard lock(mutex_);
    sites_.forEach([&](const Site& site) {
      if (site.transactions()) result.push_back(site);
    });
  }
  std::sort(result.begin(), result.end(), [](const Site& a, const Site& b) {
    if (a.transactions() != b.transactions()) return a.transactions() > b.transactions();
    return std::tie(a.kernel, a.ptxLine) < std::tie(b.kernel, b.ptxLine);
  });
  return result;
}

std::string toJson(const std::vector<Site>& sites) {
  uint64_t all = 0;
  for (const Site& site : sites) all += site.transactions();
  Json list = Json::array();
  for (const Site& site : sites) {
    Json one = {{"kernel", site.kernel},
                {"ptx_line", site.ptxLine},
                {"source", site.source.empty() ? Json() : Json(site.source)},
                {"instruction", site.instruction},
                {"transactions", site.transactions()},
                {"share", static_cast<double>(site.transactions()) / static_cast<double>(all)}};
    for (const Shown& s : shown()) one[s.key] = sumOf(site.counters, s.sum);
    list.push_back(std::move(one));
  }
  return Json{{"transactions", all}, {"sites", list}}.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string Collector::report() const { return toJson(sites()); }

machine::Listener* listener() { return machine::reportListener<Collector>(readEnvironment().hotspots); }

}  // namespace ordito::hotspots
