// Profiling: what each launch counted, kept until the process ends or the device is reset and then written as JSON.
//
// On when ORDITO_PROFILE names a file (`ordito profile` sets it). Kernels are then compiled with counters; see
// machine/counters.hpp for what is counted.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "machine/counters.hpp"
#include "machine/gpu.hpp"
#include "machine/kernel.hpp"
#include "machine/occupancy.hpp"
#include "machine/report_listener.hpp"

namespace ordito::profile {

struct LaunchRecord {
  std::string kernel;  // demangled
  std::string mangled;
  std::string launcher;  // the kernel that launched it; empty: the host did
  machine::Dim3 grid, block;
  uint32_t staticShared = 0, dynamicShared = 0;
  uint32_t registers = 0;
  uint64_t wallNs = 0, compileNs = 0;
  uint64_t counters[machine::kCounterCount] = {};
  machine::Occupancy occupancy;
};

/// One of the GPU profiler's metrics, computed from our counters.
struct Metric {
  const char* name;
  bool ratio;  // a percentage; otherwise a count
  double (*value)(const uint64_t* counters);
};

/// All metrics, in the order of output. Reports are written when the process ends, so nothing of this may end before.
std::span<const Metric> metrics();

/// The calls of one name that libraries have done.
struct LibraryRecord {
  uint64_t count = 0, wallNs = 0;
  double operations = 0, bytes = 0;  // 0: the library does not say
};
using LibraryRecords = std::map<std::string, LibraryRecord>;

class Recorder : public machine::ReportListener {
 public:
  explicit Recorder(std::string path) : ReportListener("ORDITO_PROFILE", std::move(path)) {}

  void launchEnded(const machine::LaunchEvent& launch) override;
  void libraryCallEnded(const machine::LibraryCall& call) override;
  void add(LaunchRecord record, const machine::GpuDescription& gpu);

 private:
  std::string report() const override;

  mutable std::mutex mutex_;
  std::vector<LaunchRecord> records_;
  LibraryRecords libraryCalls_;
  std::string gpuName_;
};

/// The process's recorder; null when nobody asked for a profile.
machine::Listener* listener();

/// The JSON text of the report.
std::string toJson(const std::vector<LaunchRecord>& records, const LibraryRecords& libraryCalls,
                   const std::string& gpuName);

}  // namespace ordito::profile
