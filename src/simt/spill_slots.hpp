// What lives across a resume point has a spill slot: a place in the block's scratch memory, with a copy for each warp,
// so that regions need not agree on how many warps advance together. General values are spilled as vectors, segmented
// ones as their bases, and values that all warps share stay where they are. This is also the layout of all else in
// scratch memory.
//
// A phi and the values that come into it share a slot where no region starts with two of them, so that a sum which is
// added to in one region and only passes through the next is not moved there.
#pragma once

#include <string>
#include <vector>

#include "simt/liveness.hpp"
#include "simt/privatised_counters.hpp"

namespace ordito::simt {

class SpillSlots {
 public:
  struct Inputs {
    const ir::Function& function;
    const ir::SyncPoints& syncPoints;
    const ir::Shapes& shapes;
    const Liveness& liveness;
    const std::vector<char>& rematerialised;
    const PrivatisedCounters& counters;
    const Facts& facts;
  };
  explicit SpillSlots(const Inputs& in);

  /// Has every warp a copy?
  bool isKept(ValueId v) const { return kept_[v]; }
  /// Does the widened value keep an exact vector beside its bases?
  bool isDual(ValueId v) const { return dual_[v]; }
  /// Of the first warp's copy, from the start of scratch memory.
  size_t offset(ValueId v) const { return offset_[v]; }
  /// Of one warp's copy.
  size_t bytes(ValueId v) const { return bytes_[v]; }
  /// From one warp's copy to the next: vectors are aligned, and a few words are packed.
  static size_t stride(size_t bytesPerWarp);

  // Offsets of what else lies in scratch memory.
  static constexpr size_t kLiveBytes = 4;
  size_t dummy = 0;      // for lanes that are off
  size_t live = 0;       // by warp: which lanes have not ended, kLiveBytes each
  size_t scheduler = 0;  // the lane scheduler's memory
  size_t reduction = 0;  // what a bar.red counts
  size_t counters = 0;   // privatised copies
  size_t arrivals = 0;   // where threads are told of that wait at a barrier: rt::Arrivals
  size_t total = 0;

 private:
  size_t allocate(size_t bytesPerCopy, unsigned copies);
  void allocateSlots(const Inputs& in);
  size_t bytesOf(const Inputs& in, ValueId v) const;

  std::vector<char> kept_, dual_;
  std::vector<size_t> offset_, bytes_;
};

/// Have all warps the same value?
inline bool isShared(const ir::Shape& shape) { return shape.isSegmented() && !shape.warpVarying; }

std::string print(const SpillSlots& slots, const ir::Function& function);

}  // namespace ordito::simt
