// See lanes.hpp.
#include "lanes/lanes.hpp"

#include <nlohmann/json.hpp>

#include "base/environment.hpp"
#include "machine/kernel.hpp"

namespace ordito::lanes {

namespace {

using Json = nlohmann::ordered_json;
using machine::AccessKind;
using machine::AccessSpace;

const char* kindName(AccessKind kind) {
  switch (kind) {
    case AccessKind::Load:
    case AccessKind::MatrixLoad: return "load";
    case AccessKind::Store:
    case AccessKind::MatrixStore: return "store";
    case AccessKind::Copy: return "copy";
    default: return "atomic";
  }
}

const char* spaceName(AccessSpace space) {
  switch (space) {
    case AccessSpace::Global: return "global";
    case AccessSpace::Shared: return "shared";
    case AccessSpace::Local: return "local";
    case AccessSpace::Constant: return "constant";
    default: return "other";
  }
}

bool isFirstWarp(const machine::WarpSite& at) {
  return at.warp == 0 && at.frame.ctaid[0] == 0 && at.frame.ctaid[1] == 0 && at.frame.ctaid[2] == 0;
}

}  // namespace

void Collector::accessed(const machine::AccessEvent& event) {
  if (!isFirstWarp(event.at)) return;
  Access access{event.kind, event.space, event.at.line, event.bytes};
  for (uint32_t lane = 0; lane < 32; ++lane)
    if (event.at.lanes >> lane & 1) access.addresses.emplace_back(lane, event.addressOf(lane));
  std::lock_guard lock(mutex_);
  std::vector<Access>& all = running_[event.at.frame.gridid];
  if (all.size() < kMostAccesses) all.push_back(std::move(access));
}

void Collector::launchEnded(const machine::LaunchEvent& launch) {
  std::lock_guard lock(mutex_);
  Launch ended{launch.kernel, std::move(running_[launch.launch]), {}};
  running_.erase(launch.launch);
  for (const Access& access : ended.accesses) ended.sources.push_back(machine::kernelLine(launch, access.line).source);
  ended_.push_back(std::move(ended));
}

std::vector<Launch> Collector::launches() const {
  std::lock_guard lock(mutex_);
  return ended_;
}

std::string toJson(const std::vector<Launch>& launches) {
  Json list = Json::array();
  for (const Launch& launch : launches) {
    Json accesses = Json::array();
    for (std::size_t i = 0; i < launch.accesses.size(); ++i) {
      const Access& access = launch.accesses[i];
      Json lanes = Json::array(), addresses = Json::array();
      for (const auto& [lane, address] : access.addresses) {
        lanes.push_back(lane);
        addresses.push_back(address);
      }
      accesses.push_back({{"kind", kindName(access.kind)},
                          {"space", spaceName(access.space)},
                          {"ptx_line", access.line},
                          {"source", launch.sources[i]},
                          {"bytes", access.bytes},
                          {"lanes", lanes},
                          {"addresses", addresses}});
    }
    list.push_back({{"kernel", launch.kernel}, {"accesses", accesses}});
  }
  return Json{{"launches", list}}.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string Collector::report() const { return toJson(launches()); }

machine::Listener* listener() { return machine::reportListener<Collector>(readEnvironment().lanes); }

}  // namespace ordito::lanes
