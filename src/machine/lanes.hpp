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

}  // namespace ordito::machine
