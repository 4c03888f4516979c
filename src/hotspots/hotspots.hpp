// The instructions of a program that moved most through memory, by kernel and line, over all its launches.
//
// On when ORDITO_HOTSPOTS names a file (`ordito profile --hotspots` sets it), which is written when the process ends.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "machine/listener.hpp"

namespace ordito::hotspots {

struct Site {
  std::string kernel;  // demangled
  uint32_t ptxLine = 0;
  std::string instruction;  // as PTX spells it
  std::string source;       // "a.cu:12"; empty if the module does not say
  machine::CounterValues counters{};

  /// What memory had to do for it: sectors of global memory, passes over the banks of shared memory, and for all else
  /// requests.
  uint64_t transactions() const;
};

class Collector : public machine::Listener {
 public:
  explicit Collector(std::string path) : path_(std::move(path)) {}
  bool wantsSites() const override { return true; }
  void launchEnded(const machine::LaunchEvent& launch) override;
  void flush() override;
  /// All that touched memory, the one that moved most first.
  std::vector<Site> sites() const;

 private:
  const std::string path_;
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, uint32_t>, Site> sites_;
};

/// The process's collector; null when nobody asked for it.
machine::Listener* listener();

/// The JSON text that flush() writes.
std::string toJson(const std::vector<Site>& sites);

}  // namespace ordito::hotspots
