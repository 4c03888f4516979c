// What the lanes of one warp touch: every access to memory of the first warp of each launch's first block, in its
// order, with the address of each lane. For pictures: `ordito lab run access --plot`.
//
// On when ORDITO_LANES names a file, which is written when the process ends.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "machine/report_listener.hpp"

namespace ordito::lanes {

struct Access {
  machine::AccessKind kind;
  machine::AccessSpace space;
  uint32_t line = 0, bytes = 0;                            // of the PTX; of a lane
  std::vector<std::pair<uint32_t, uint64_t>> addresses{};  // lane, address
};

/// A launch that has ended; its accesses have lines of the source where the module says which.
struct Launch {
  std::string kernel;
  std::vector<Access> accesses;
  std::vector<std::string> sources;  // "a.cu:12", one for each access
};

class Collector : public machine::ReportListener {
 public:
  static constexpr std::size_t kMostAccesses = 1000;  // of a launch; later ones are left out

  explicit Collector(std::string path) : ReportListener("ORDITO_LANES", std::move(path)) {}
  bool wantsSites() const override { return false; }
  bool wantsAccesses() const override { return true; }
  void accessed(const machine::AccessEvent& event) override;
  void launchEnded(const machine::LaunchEvent& launch) override;
  /// In the order in which they ended.
  std::vector<Launch> launches() const;

 private:
  std::string report() const override;

  mutable std::mutex mutex_;
  std::map<uint64_t, std::vector<Access>> running_;  // by the launch's number
  std::vector<Launch> ended_;
};

/// The process's collector; null when nobody asked for it.
machine::Listener* listener();

/// The JSON text of the report.
std::string toJson(const std::vector<Launch>& launches);

}  // namespace ordito::lanes
