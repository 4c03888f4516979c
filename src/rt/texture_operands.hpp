// The operands of a texture fetch as compiled code hands them over: numbers of one operand, four for each lane of a
// warp; null where the instruction has none.
#pragma once

#include "machine/image.hpp"
#include "machine/lanes.hpp"

namespace ordito::rt {

template <class Number>
using LaneNumbers = const Number (*)[machine::kWarpSize];

struct TextureOperands {
  const uint64_t* handles;
  LaneNumbers<uint32_t> coordinates;
  LaneNumbers<int32_t> offsets;
  LaneNumbers<float> level, gradientY;  // level: or the gradient along x

  machine::TextureArguments of(uint32_t lane) const {
    machine::TextureArguments arguments;
    for (unsigned k = 0; k < 4; ++k) {
      arguments.coordinates[k] = coordinates[k][lane];
      if (offsets) arguments.offset[k] = offsets[k][lane];
      if (level) arguments.level[k] = level[k][lane];
      if (gradientY) arguments.gradientY[k] = gradientY[k][lane];
    }
    return arguments;
  }
};

}  // namespace ordito::rt
