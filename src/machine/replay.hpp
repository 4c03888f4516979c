// Which thread was it? Compiled code runs the lanes of a warp, and often several warps, at once, and a hardware fault
// tells no more than the place in the code. So the reference interpreter runs the block again, in a replay: one lane
// at a time, writing nothing, for a short while. If it meets the same kind of fault at the same line, its message,
// which names the thread and the address, is the one that the user gets.
#pragma once

#include "machine/fault.hpp"
#include "machine/scheduler.hpp"

namespace ordito::machine {

/// Lets the launch's replay look at the block of `frame`, and takes over what it says if that is the same fault.
void nameThread(const GridLaunch& launch, const BlockFrame& frame, Fault& fault);

}  // namespace ordito::machine
