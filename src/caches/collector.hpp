// What a GPU's caches would have made of a program's accesses: how many sectors each launch asked of L1, the read-only
// path, the constant cache and L2, and how many were there.
//
// On when ORDITO_CACHES names a file (`ordito profile --caches` sets it), which is written when the process ends. A
// functional model: blocks go to multiprocessors in turn, and their accesses reach the caches in the order in which the
// interpreter makes them, one block after the other. On a GPU resident blocks share L1 at the same time, so where the
// blocks of a multiprocessor do not fit together, a GPU hits less.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "caches/cache.hpp"
#include "caches/layout.hpp"
#include "machine/report_listener.hpp"

namespace ordito::caches {

/// Sectors (of the constant cache: addresses) that were asked for, and those that were there.
struct Path {
  uint64_t requests = 0, sectors = 0, hits = 0;
};

struct LaunchCounts {
  std::string kernel;
  machine::Dim3 grid{}, block{};
  Path l1, readOnly, constant, l2Reads, l2Writes;
  uint64_t uncached = 0;                   // sectors of loads that went straight to L2
  uint64_t stores = 0;                     // sectors of stores and atomics
  uint64_t local = 0, textures = 0;        // requests, which the model does not follow
  uint64_t dramRead = 0, dramWritten = 0;  // bytes
  uint64_t hostRead = 0, hostWritten = 0;  // bytes of the host's memory, over the link
};

class Collector : public machine::ReportListener {
 public:
  explicit Collector(std::string path, std::string l1 = "")
      : ReportListener("ORDITO_CACHES", std::move(path)), l1_(std::move(l1)) {}
  bool wantsSites() const override { return false; }
  bool wantsAccesses() const override { return true; }

  void launchBegan(const machine::LaunchEvent& launch) override;
  void launchEnded(const machine::LaunchEvent& launch) override;
  void accessed(const machine::AccessEvent& access) override;
  void allocated(const machine::Allocation& allocation) override;
  void freed(const machine::Allocation& allocation) override;

  /// All launches so far, in the order in which they began.
  std::vector<LaunchCounts> launches() const;

 private:
  /// The caches of a launch: L2 is the device's, what a multiprocessor has begins empty.
  struct Multiprocessor {
    explicit Multiprocessor(const Layout& layout);
    Cache l1, readOnly, constant;
  };
  struct Launch {
    LaunchCounts& counts;
    Layout layout;
    Cache& l2;
    uint32_t multiprocessors;
    const std::map<uint64_t, uint64_t>& hosts;
    std::map<uint32_t, Multiprocessor> used = {};
    std::map<std::pair<const ptx::Function*, uint32_t>, const ptx::Instruction*> instructions = {};

    Multiprocessor& at(const machine::BlockFrame& frame);
    const ptx::Instruction* instructionAt(const machine::WarpSite& site);
    /// Pinned memory of the host is on the other side of the link, and no cache of the GPU keeps it here.
    bool isHosts(uint64_t address) const;
    void readL2(uint64_t sector);
    void writeL2(uint64_t sector);
    void load(const machine::AccessEvent& access);
    void store(const machine::AccessEvent& access);
    void loadConstant(const machine::AccessEvent& access);
  };

  std::string report() const override;

  const std::string l1_;
  mutable std::mutex mutex_;
  std::string gpu_;
  std::deque<LaunchCounts> counts_;  // never moves what it holds
  std::map<const machine::GpuDescription*, Cache> l2_;
  std::map<uint64_t, uint64_t> hosts_;  // pinned memory: end by begin
  std::map<uint64_t, Launch> running_;  // by the launch's number
};

/// The process's collector; null when nobody asked for it.
machine::Listener* listener();

}  // namespace ordito::caches
