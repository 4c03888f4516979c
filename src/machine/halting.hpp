// Stops a thread for good in the middle of a library's code: see background.hpp.
#pragma once

#include <pthread.h>

#include <atomic>

namespace ordito::machine {

/// Halts `thread` if it is Haltable and where it may be halted just now; it sets `*halted` then, which the thread has
/// announced by announceHalts. Else nothing happens, and one asks again.
void tryToHalt(pthread_t thread);
/// Tells where this thread notes that it has been halted.
void announceHalts(std::atomic<bool>* halted);

}  // namespace ordito::machine
