// What the calls of the interface share: the communicators that programs hold, and their arguments.
#pragma once

#include <string>

#include "libs/handle_table.hpp"
#include "libs/nccl/group.hpp"

namespace ordito::libs::nccl {

using Communicators = HandleTable<ncclComm_t, Communicator>;
Communicators& communicators();

/// Notes why a call fails.
inline ncclResult_t failed(ncclResult_t result, const std::string& text) {
  setLastError(text);
  return result;
}
inline ncclResult_t badArgument(const char* call, const char* which) {
  return failed(ncclInvalidArgument, std::string(call) + ": " + which);
}

/// Calls body(communicator), or says that there is none.
template <class Body>
ncclResult_t withCommunicator(ncclComm_t handle, const char* call, const Body& body) {
  const Owner communicator = communicators().find(handle);
  return communicator ? body(communicator) : badArgument(call, "there is no such communicator");
}

}  // namespace ordito::libs::nccl
