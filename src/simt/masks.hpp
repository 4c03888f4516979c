// Which blocks of a region run under a mask of their own. A block is *masked* when some divergent branch may have sent
// only a part of the lanes there. Connected masked blocks form a component, which is emitted as one straight sequence;
// behind it all lanes are together again, and branches are plain branches.
//
// A version of the region assumes of some divergent branches that all lanes agree there; these part nobody.
#pragma once

#include <string>
#include <vector>

#include "simt/regions.hpp"
#include "simt/versions.hpp"

namespace ordito::simt {

struct Masks {
  static constexpr uint32_t kNoComponent = ~0u;
  struct Component {
    std::vector<BlockId> blocks;  // in the region's order
    BlockId next = ir::kNoBlock;  // where all lanes go on; none if they end or stop
    bool loses = false;           // lanes may end or stop in it
  };
  std::vector<char> masked;         // by block
  std::vector<uint32_t> component;  // by block
  std::vector<Component> components;
};

Masks findMasks(const ir::Shapes& shapes, const Versions& versions, const Regions& regions, const Region& region,
                const std::vector<BlockId>& assumed);

/// Of each region, in the version that assumes nothing.
std::string printMasks(const ir::Shapes& shapes, const Versions& versions, const Regions& regions);

}  // namespace ordito::simt
