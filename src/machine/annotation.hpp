// What a program says of itself by NVTX.
#pragma once

#include <cstdint>
#include <string>

namespace ordito::machine {

/// A range that has ended, or a mark.
struct Annotation {
  std::string name, domain, category, payload;  // empty where the program does not say
  uint32_t color = 0;                           // ARGB; 0: none
  uint64_t thread = 0;                          // the operating system's number of the thread that began it
  bool isMark = false;
  bool isOfThread = true;           // by push and pop; else it may end on another thread, and cross others
  uint64_t beginNs = 0, endNs = 0;  // of the host's steady clock
};

/// A name for what has only a number.
struct NameEvent {
  enum class Of : uint8_t { Thread, Stream };
  Of of{};
  uint64_t number = 0;
  std::string name;
};

}  // namespace ordito::machine
