// The lanes of a warp as bits of a word.
#pragma once

#include <bit>
#include <cstdint>

namespace ordito::machine {

/// body(number) for each lane that is on, in order.
template <class Body>
void forEachLane(uint32_t lanes, Body&& body) {
  for (; lanes; lanes &= lanes - 1) body(static_cast<unsigned>(std::countr_zero(lanes)));
}

/// body(number) for each lane that is on, in any order: a whole warp is a loop that compilers make vectors of.
template <class Body>
void forEachLaneInVectors(uint32_t lanes, Body&& body) {
  if (lanes != ~uint32_t{0}) return forEachLane(lanes, body);
  for (unsigned lane = 0; lane < 32; ++lane) body(lane);
}

}  // namespace ordito::machine
