// State of a host thread that still works while the program ends.
//
// A plain thread_local object with a destructor is gone when exit() runs the functions given to atexit, and a program's
// last CUDA calls come from exactly there: destructors of its static objects, and the code that unregisters its
// kernels.
#pragma once

namespace ordito {

/// The calling thread's T, one for each Tag. It goes with the thread; used again after that (only the end of the
/// program does so), it is made anew and kept.
template <class T, class Tag = T>
T& threadState() {
  static thread_local T* state = nullptr;
  struct Reaper {
    ~Reaper() {
      delete state;
      state = nullptr;
    }
  };
  if (state == nullptr) [[unlikely]] {
    state = new T();
    static thread_local Reaper reaper;
    static_cast<void>(reaper);
  }
  return *state;
}

}  // namespace ordito
