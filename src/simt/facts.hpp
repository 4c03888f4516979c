// What a plan may assume besides the kernel: the launch, the processor, and what is asked of the code.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ir/shape.hpp"
#include "simt/cost.hpp"

namespace ordito::simt {

using ir::BlockId;
using ir::Instruction;
using ir::kLanes;
using ir::ValueId;

/// How many warps of a block advance together, by the resume point at which a region begins; see coarsening.hpp.
class CoarseningFactors {
 public:
  CoarseningFactors() = default;
  explicit CoarseningFactors(std::vector<unsigned> byResumePoint) : byResumePoint_(std::move(byResumePoint)) {}
  /// Of `factors`, one for each resume point in turn, from the first again behind the last: those that divide the
  /// block's warps, and 1 for the others.
  static CoarseningFactors inTurn(const std::vector<unsigned>& factors, size_t resumePoints, unsigned warps);

  unsigned at(uint32_t resumePoint) const {
    return resumePoint < byResumePoint_.size() ? byResumePoint_[resumePoint] : 1;
  }
  unsigned most() const;
  /// Do `warps` warps advance together everywhere?
  bool areAll(unsigned warps) const;

 private:
  std::vector<unsigned> byResumePoint_;  // empty: 1 for all
};

/// Which loops are run thread by thread (by_thread.hpp).
enum class ByThread : uint8_t {
  Cheaper,   // those for which that takes less time, as far as can be told
  Never,     // none
  Possible,  // all that can be: for tests
  Contrary,  // as Cheaper, but all close calls the other way, or as vectors if Cheaper has both: what races against it
};

struct Facts {
  ir::LaunchShape launch;
  CoarseningFactors coarsening;
  Processor processor;
  bool counters = false;        // the code counts what it does
  bool accesses = false;        // it tells listeners of each access and synchronisation
  bool trial = false;           // instead it asks a trial (rt/trial.hpp)
  std::vector<uint32_t> lines;  // but if there are any: of the accesses at these lines alone
  ByThread byThread = ByThread::Cheaper;
  bool baseline = false;           // as little code as possible, soon
  bool dropsBarriers = false;      // the kernel has lost barriers for which all its warps advance together
  uint32_t staticSharedBytes = 0;  // that the kernel can reach
  size_t schedulerBytes = 0;       // that the lane scheduler needs, should threads get diverged
  size_t arrivalBytes = 0;         // that telling of barriers needs

  unsigned warps() const { return launch.warps(); }
};

/// `bytes` rounded up to a multiple of `unit`.
constexpr size_t roundedUp(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace ordito::simt
