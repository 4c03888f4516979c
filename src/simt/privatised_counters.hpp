// Regions in which counting in shared memory goes to several copies of it.
//
// Threads that count in shared memory, as a histogram does, often hit the same word within a few instructions: on one
// host thread each addition then waits for the one before to pass through the store buffer. With copies, among which
// the lanes take turns, that is so many times rarer (the histogram in bench/RESULTS.md). A barrier ends the region, and
// there the copies are added up; integers may be added in any order.
#pragma once

#include <string>
#include <vector>

#include "simt/regions.hpp"

namespace ordito::simt {

/// Is `i`, an atomic instruction, an addition of whole numbers to shared memory whose old value nobody reads?
bool isCount(const Instruction& i, const ir::Definitions& definitions);

struct PrivatisedCounters {
  std::vector<char> regions;  // by resume point: does its region count in copies?
  uint32_t bytes = 0;         // of one copy: the static variables, to the end of their last 16 bytes
  unsigned copies = 0;        // shared memory itself included
  size_t pitch = 0;  // from copy to copy: the least that has room and is a share of a page more than whole ones

  bool any() const { return copies != 0; }
  size_t scratchBytes() const { return cost::kPage + copies * pitch; }
};

/// A region counts in copies if it adds in a loop and does nothing else with shared memory: all that an addition
/// changes is then what is there in the end. None in kernels whose threads get diverged, that have one region only,
/// or whose shared memory is large or sized at the launch.
PrivatisedCounters findPrivatisedCounters(const ir::Function& function, const ir::SyncPoints& syncPoints,
                                          const ir::Definitions& definitions, const Facts& facts);

std::string print(const PrivatisedCounters& counters, const Regions& regions);

}  // namespace ordito::simt
