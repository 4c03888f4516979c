// How an interpreted block is begun again on compiled code that came while it ran. It may be as long as it has changed
// nothing outside of itself: registers, local and shared memory are its own, and nobody has seen them.
#pragma once

#include <atomic>

namespace ordito::machine {

class Executable;

/// What a host thread tells the interpreter ahead of a block, and is told behind it.
struct BetterCode {
  const std::atomic<const Executable*>* place = nullptr;  // where it will be; null: nobody waits for any
  bool isTaken = false;                                   // the interpreter has left the block to it
};

/// This thread's.
BetterCode& betterCode();

}  // namespace ordito::machine
