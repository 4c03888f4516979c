// See profile.hpp.
#include "profile/profile.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/environment.hpp"

namespace ordito::profile {

namespace {

using Json = nlohmann::ordered_json;

Json toJson(const machine::Dim3& d) { return Json::array({d.x, d.y, d.z}); }

Json toJson(const machine::Occupancy& o) {
  return {
      {"percent", o.ratio * 100},     {"blocks_per_multiprocessor", o.blocks}, {"warps_per_multiprocessor", o.warps},
      {"limited_by", o.limiter()},    {"blocks_by_registers", o.byRegisters},  {"blocks_by_shared_memory", o.byShared},
      {"blocks_by_warps", o.byWarps}, {"blocks_by_blocks", o.byBlocks}};
}

Json toJson(const LaunchRecord& record) {
  Json values = Json::object();
  for (const Metric& metric : metrics()) {
    double value = metric.value(record.counters);
    if (metric.ratio)
      values[metric.name] = value;
    else
      values[metric.name] = static_cast<uint64_t>(value);
  }
  return {{"kernel", record.kernel},
          {"mangled", record.mangled},
          {"launched_by", record.launcher.empty() ? Json() : Json(record.launcher)},
          {"grid", toJson(record.grid)},
          {"block", toJson(record.block)},
          {"shared_static", record.staticShared},
          {"shared_dynamic", record.dynamicShared},
          {"registers", record.registers},
          {"wall_ns", record.wallNs},
          {"compile_ns", record.compileNs},
          {"metrics", values},
          {"theoretical_occupancy", toJson(record.occupancy)}};
}

}  // namespace

std::string toJson(const std::vector<LaunchRecord>& records, const LibraryRecords& libraryCalls,
                   const std::string& gpuName) {
  Json launches = Json::array(), calls = Json::array();
  for (const auto& [name, record] : libraryCalls)
    calls.push_back({{"name", name},
                     {"count", record.count},
                     {"wall_ns", record.wallNs},
                     {"operations", record.operations},
                     {"bytes", record.bytes}});
  for (const LaunchRecord& record : records) launches.push_back(toJson(record));
  Json all = {{"gpu", gpuName}, {"launches", launches}, {"library_calls", calls}};
  return all.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void Recorder::add(LaunchRecord record, const machine::GpuDescription& gpu) {
  record.occupancy = machine::occupancy(
      gpu, {static_cast<uint32_t>(record.block.count()), record.registers, record.staticShared + record.dynamicShared});
  std::lock_guard lock(mutex_);
  // A program may use several.
  if (gpuName_.find(gpu.name) == std::string::npos) gpuName_ += (gpuName_.empty() ? "" : ", ") + gpu.name;
  records_.push_back(std::move(record));
}

void Recorder::launchEnded(const machine::LaunchEvent& launch) {
  LaunchRecord record;
  record.kernel = launch.kernel;
  record.mangled = launch.mangled;
  record.launcher = launch.launcher;
  record.grid = launch.grid;
  record.block = launch.block;
  record.staticShared = launch.staticShared;
  record.dynamicShared = launch.dynamicShared;
  record.registers = launch.registers;
  record.wallNs = launch.wallNs;
  record.compileNs = launch.compileNs;
  std::copy_n(launch.counters, machine::kCounterCount, record.counters);
  add(std::move(record), launch.gpu);
}

void Recorder::libraryCallEnded(const machine::LibraryCall& call) {
  std::lock_guard lock(mutex_);
  LibraryRecord& record = libraryCalls_[call.name];
  ++record.count;
  record.wallNs += call.wallNs;
  record.operations += call.operations;
  record.bytes += call.bytes;
}

std::string Recorder::report() const {
  std::lock_guard lock(mutex_);
  return toJson(records_, libraryCalls_, gpuName_);
}

machine::Listener* listener() { return machine::reportListener<Recorder>(readEnvironment().profile); }

}  // namespace ordito::profile
