// The functions that PTX may call without defining them: libdevice's mathematics (__nv_*), printf, assert and the
// device heap, by name.
#pragma once

#include <cstdint>
#include <string_view>

#include "machine/kernel.hpp"

namespace ordito::interp {

/// What a call of an external function can see: arguments as bit patterns in the order of the call, and who calls.
struct ExternalCall {
  const uint64_t* arguments;
  uint64_t result;
  const machine::BlockFrame& frame;
  const uint32_t* tid;
};

struct External {
  std::string_view name;
  uint8_t arguments;
  bool returns;
  void (*run)(ExternalCall& call);
  void (*watch)(ExternalCall& call) = nullptr;  // what a replay does instead, if it must not do the same
  bool frees = false;                           // gives memory back to the device heap
};

/// The external function called `name`, or null.
const External* findExternal(std::string_view name);

}  // namespace ordito::interp
