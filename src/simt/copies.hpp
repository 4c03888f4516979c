// Copies of a table in which threads count: how many there are, and where they lie.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "simt/facts.hpp"

namespace ordito::simt {

/// As many as leave room for other things in the first cache.
inline unsigned copiesOf(uint32_t bytes, unsigned fewest) {
  return std::clamp(std::bit_floor(cost::kPrivatisedRoom / bytes), fewest, cost::kMostPrivatisedCopies);
}

/// From copy to copy: the least that has room and is a share of a page more than whole ones.
inline size_t pitchOf(size_t bytes, unsigned copies) {
  const size_t share = cost::kPage / copies;
  return bytes <= share ? share : roundedUp(bytes - share, cost::kPage) + share;
}

}  // namespace ordito::simt
