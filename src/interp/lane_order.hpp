// In which order the lanes of a warp run when they stand at different instructions: those first from whose place the
// others' can still be reached, so that lanes wait where ways meet, as a GPU's do.
//
// Text alone does not say that. Compilers put blocks where they please, such as the code behind a loop in front of it;
// lanes that leave the loop early would run ahead, one by one. So each instruction gets a place in an order in which
// code comes behind all that leads to it, but for ways back, and what is behind a loop comes behind the whole loop.
// Where the text is in such an order already, places are those of the text.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/module.hpp"

namespace ordito::interp {

struct LaneOrder {
  std::vector<uint32_t> place;  // by instruction, and one more for the function's end
  /// By instruction: the last place from which a branch leads back here, or 0. Lanes that come to it wait for those
  /// that are still in the loop, so that all meet at the loop's head, where the ways back meet.
  std::vector<uint32_t> loopEnd;
};

LaneOrder laneOrder(const ptx::Function& function);

}  // namespace ordito::interp
