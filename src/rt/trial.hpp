// A trial of a launch: compiled code asks at each access whether it is certainly right, before it is made: inside of
// its object, aligned, of bytes that have values, and in order with everything that others do. No details are kept, so
// it is quick, and what it cannot answer for is a *doubt*: then the launch stops, memory becomes again what it was
// before, and somebody else runs the launch once more and looks closely. A trial without a doubt needs no second look.
//
// For launches whose blocks nothing orders, on one host thread: blocks run one after the other, and what one has
// touched may be touched by another only if both read, or both by atomic operations.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "machine/events.hpp"
#include "rt/event_calls.hpp"
#include "rt/trial_memory.hpp"
#include "rt/trial_uses.hpp"
#include "rt/trial_windows.hpp"

namespace ordito::rt {

class Trial : public TrialWindows {
 public:
  /// What is known of the memory that an instruction accesses.
  struct Object {
    uint64_t begin = 0, bytes = 0;  // where its accesses must stay; of shared memory an offset into the window
    bool isOnlyRead = false;        // no instruction of the kernel writes to the allocation around it
  };
  /// Nothing: the address may be any that is allocated.
  using Find = std::function<std::optional<Object>(const machine::AccessEvent&)>;
  struct Layout {
    uint32_t sharedBytes, threads;
    unsigned globalShift, sharedShift;  // units of 1 << shift bytes; no access is of fewer
    bool followsValues;
    bool mayLeave;  // threads that end early may have gone past a synchronisation
  };
  Trial(const Layout& layout, Find find, std::unique_ptr<TrialMemory> memory);

  // What compiled code calls. Each leaves the block with a fault if there is doubt.
  void access(const BlockFrame* frame, const AccessSite* site, uint32_t warp, uint32_t lanes, uint64_t base,
              int64_t stride);
  void access(const BlockFrame* frame, const AccessSite* site, const LocalVariables* locals, uint32_t warp,
              uint32_t lanes, const uint64_t* addresses);
  void meeting(const BlockFrame* frame, uint32_t warp, uint32_t lanes, const uint32_t* members, bool ordersMemory);
  void arrive(const BlockFrame* frame, uint32_t warp, uint32_t lanes);
  void allMet();
  void block(const machine::BlockEvent& event);
  [[noreturn]] void doubt(const BlockFrame* frame, const char* why);

  // Afterwards
  /// Memory is as it was before the launch.
  void takeBack() { memory_->takeBack(); }
  /// What the launch has done with memory.
  std::shared_ptr<const TrialUses> uses() const;
  std::unique_ptr<TrialMemory> releaseMemory() { return std::move(memory_); }
  const char* reason() const { return reason_; }
  uint64_t blocks() const { return blocks_; }

 private:
  /// An instruction, from its first access on.
  struct Site {
    const AccessSite* site = nullptr;
    const ptx::Function* function = nullptr;
    TrialOp op{};
    machine::AccessSpace space{};
    bool isFound = false, isOnlyRead = false;
    uint64_t low = 0, high = 0;  // where accesses may be
    TrialStorage* storage = nullptr;
    uint64_t last = 0;     // where the last row of lanes began
    uint64_t asked = 0;    // chunks, in bytes, of which it was asked whether they have marks
    bool isWhole = false;  // all of the object has
    uint8_t number() const { return static_cast<uint8_t>(site->number < 255 ? site->number + 1 : 255); }
  };
  Site& siteOf(const BlockFrame* frame, const AccessSite* site, uint64_t address) {
    const bool isKnown = site->number < sites_.size() && sites_[site->number].site;
    return isKnown ? sites_[site->number] : meet(frame, site, address);
  }
  Site& meet(const BlockFrame* frame, const AccessSite* site, uint64_t address);
  void place(const BlockFrame* frame, Site& site, uint64_t low, uint64_t high);
  TrialStorage* storageAt(uint64_t address);
  void check(const BlockFrame* frame, Site& site, uint64_t low, uint64_t high, uint64_t bits);
  static void touch(const Site& site, uint64_t low, uint64_t high);
  void foresee(Site& site, uint64_t start) const;
  static void askForMarks(Site& site, uint32_t lanes, const uint64_t* addresses);
  void openWindow(Site& site, uint64_t address);
  static void touch(const Site& site, uint32_t lanes, const uint64_t* addresses);
  bool changesNothing(const AccessSite* site, uint32_t warp, uint32_t lanes, const TrialPlaces& places) const;
  void dense(const BlockFrame* frame, Site& site, uint32_t warp, uint32_t lanes, uint64_t base);
  void sparse(const BlockFrame* frame, Site& site, uint32_t warp, uint32_t lanes, const uint64_t* addresses);
  void single(const BlockFrame* frame, Site& site, uint32_t warp, uint32_t lanes, uint64_t address);
  void noteDense(const BlockFrame* frame, Site& site, uint32_t lanes, uint64_t start);
  void note(Site& site, uint32_t lanes, const uint64_t* addresses);
  bool hasValues(const Site& site, uint64_t address) const;
  void checkValues(const BlockFrame* frame, const Site& site, uint32_t lanes, const uint64_t* addresses);
  void local(const BlockFrame* frame, const AccessSite* site, const LocalVariables* locals, uint32_t warp,
             uint32_t lanes, const uint64_t* addresses);
  TrialTimes times(uint32_t warp) const { return {now_, warps_[warp], interval_, block_, launch_}; }
  void step();
  void rebase();

  const Layout layout_;
  const Find find_;
  const TrialLoops& loops_;
  std::unique_ptr<TrialMemory> memory_;
  uint32_t* shared_;                                      // cells of the window
  std::vector<Site> sites_;                               // by number
  std::vector<uint32_t> warps_;                           // when the lanes of each last met
  uint32_t now_, interval_ = 0, block_ = 0, launch_ = 0;  // as in cells
  std::vector<uint8_t> local_;                            // of local memory by byte: the tag of the block that wrote it
  uint8_t tag_ = 0;
  uint64_t blocks_ = 0;
  bool isRunning_ = false;
  const char* reason_ = "";
};

}  // namespace ordito::rt
