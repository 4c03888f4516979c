// What a masked loop carries from one iteration to the next, and nobody reads who has left it. Lanes that have left may
// then get what the others get: no value has to be blended with an old one, which a host without masked instructions
// pays with an instruction, and with the registers of the old one (collatz on AVX2: bench/RESULTS.md, 2026-11-30).
//
// Numbers that become addresses stay as they were: code asks whether lanes lie side by side, or ascend, and those that
// have left do not disturb that if they stay where they were. Floating-point numbers stay, since what a lane goes on
// computing may become denormal, and slow. So does all where lanes read each other's registers: what those of a lane
// that has left hold is open, but a GPU has the last value, and programs have come to rely on it.
#pragma once

#include <vector>

#include "simt/build_code.hpp"

namespace ordito::simt {

/// Phis of a loop's header that may get any value in lanes that do not go round again, on the way back from its latch.
struct FreePhis {
  BlockId latch = ir::kNoBlock;
  std::vector<ValueId> phis;
};

/// None where the loop has several latches, or lanes wait in it for more than its blocks, one after the other.
FreePhis findFreePhis(const CodeInputs& inputs, const std::vector<BlockId>& loop, BlockId header);

}  // namespace ordito::simt
