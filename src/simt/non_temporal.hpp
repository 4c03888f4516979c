// Stores that go round the caches. A grid that writes more than the last cache holds gains nothing by keeping its
// results there, and before a line can be written it would first be read from memory; rows of a tile, far from each
// other, make that the longest part of a transpose (17 against 9 ms of CPU time for 4096 x 4096 on Zen 4). So a warp
// that fills whole lines of an array that its kernel never reads stores them the non-temporal way, if the launch is
// that large.
#pragma once

#include <set>
#include <string>

#include "ir/definitions.hpp"
#include "simt/facts.hpp"

namespace ordito::simt {

struct NonTemporal {
  std::set<const Instruction*> stores;
  size_t bytes = 0;  // that a thread stores so, each instruction counted once
};

/// The plain stores to arrays, each a parameter of the kernel, that nothing in the kernel reads.
NonTemporal findNonTemporal(const ir::Function& function, const ir::Definitions& definitions, const Facts& facts);

std::string print(const NonTemporal& stores, const ir::Function& function);

}  // namespace ordito::simt
