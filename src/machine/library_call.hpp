// A library's call that has ended, as listeners hear of it, whether it came from a stream or from a graph.
#pragma once

#include <cstdint>

namespace ordito::machine {

struct LibraryCall {
  const char* name;
  uint64_t wallNs;
  double operations, bytes;  // of floating-point numbers, as the library counts them; 0: it does not say
};

}  // namespace ordito::machine
