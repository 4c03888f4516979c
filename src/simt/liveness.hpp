// Which values live across resume points, and which across the borders of blocks at all: only those need a place
// besides the code that makes them.
#pragma once

#include <string>
#include <vector>

#include "simt/regions.hpp"

namespace ordito::simt {

struct Liveness {
  std::vector<std::vector<ValueId>> at;  // by resume point: what its region finds when it starts, in ascending order
  std::vector<char> crossesResume;       // by value
  std::vector<char> crossesBlock;        // by value; phis always do, since edges assign them

  bool isLiveAt(ValueId v, uint32_t resumePoint) const;
};

Liveness findLiveness(const ir::Function& function, const ir::Definitions& definitions, const Regions& regions);

std::string print(const Liveness& liveness, const ir::Function& function, const Regions& regions);

}  // namespace ordito::simt
