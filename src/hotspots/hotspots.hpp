// The instructions of a program that moved most through memory, by kernel and line, over all its launches.
//
// On when ORDITO_HOTSPOTS names a file (`ordito profile --hotspots` sets it), which is written when the process ends.
#pragma once

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "machine/report_listener.hpp"

namespace ordito::hotspots {

struct Site : machine::KernelLine {
  machine::CounterValues counters{};

  /// What memory had to do for it: sectors of global memory, passes over the banks of shared memory, and for all else
  /// requests.
  uint64_t transactions() const;
};

class Collector : public machine::ReportListener {
 public:
  explicit Collector(std::string path) : ReportListener("ORDITO_HOTSPOTS", std::move(path)) {}
  void launchEnded(const machine::LaunchEvent& launch) override;
  /// All that touched memory, the one that moved most first.
  std::vector<Site> sites() const;

 private:
  std::string report() const override;

  mutable std::mutex mutex_;
  machine::KernelLines<Site> sites_;
};

/// The process's collector; null when nobody asked for it.
machine::Listener* listener();

/// The JSON text of the report.
std::string toJson(const std::vector<Site>& sites);

}  // namespace ordito::hotspots
