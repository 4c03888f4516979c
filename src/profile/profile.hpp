// Profiling: what each launch counted, kept until the process ends or the device is reset and then written as JSON.
//
// On when ORDITO_PROFILE names a file (`ordito profile` sets it). Kernels are then compiled with counters; see
// machine/counters.hpp for what is counted.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "machine/counters.hpp"
#include "machine/gpu.hpp"
#include "machine/kernel.hpp"
#include "machine/listener.hpp"
#include "machine/occupancy.hpp"

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

/// All metrics, in the order of output.
const std::vector<Metric>& metrics();

class Recorder : public machine::Listener {
 public:
  /// `path` empty: off.
  explicit Recorder(std::string path) : path_(std::move(path)) {}

  bool wantsSites() const override { return true; }
  void launchEnded(const machine::LaunchEvent& launch) override;
  void add(LaunchRecord record, const machine::GpuDescription& gpu);
  /// Writes everything so far to the file.
  void flush() override;

 private:
  const std::string path_;
  std::mutex mutex_;
  std::vector<LaunchRecord> records_;
  std::string gpuName_;
};

/// The process's recorder; null when nobody asked for a profile.
machine::Listener* listener();

/// The JSON text that flush() writes.
std::string toJson(const std::vector<LaunchRecord>& records, const std::string& gpuName);

}  // namespace ordito::profile
