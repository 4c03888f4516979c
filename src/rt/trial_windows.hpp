// What compiled code that runs thread by thread knows of a trial (trial.hpp), so that it need not call: for an
// instruction that reads memory which nobody writes, the part of it that has been asked about. A read inside of it
// is right if it is aligned, and all that is left to do is to mark what it reads.
#pragma once

#include <array>
#include <cstdint>

namespace ordito::rt {

struct TrialWindow {
  uint64_t low = ~uint64_t{0};  // of the first access
  uint64_t span = 0;            // to that of the last one
  uint8_t* marks = nullptr;     // of the unit at `low`
  uint32_t shift = 0;           // units have 1 << shift bytes
  uint32_t last = 0;            // the access's last unit, counted from its first: 0 or 1
};

/// By the number of the instruction; those behind have none. The first thing in a trial.
struct TrialWindows {
  static constexpr uint32_t kCount = 254;
  std::array<TrialWindow, kCount> windows;
};

}  // namespace ordito::rt
