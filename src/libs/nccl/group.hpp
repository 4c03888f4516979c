// Calls between ncclGroupStart and ncclGroupEnd, and how operations come into streams. A call outside of a group is a
// group of its own.
#pragma once

#include <functional>
#include <memory>
#include <variant>

#include "libs/nccl/operations.hpp"

namespace ordito::libs::nccl {

using Owner = std::shared_ptr<Communicator>;

/// A communicator's operation, in the stream that the call names.
struct Operation {
  Owner communicator;
  CUstream stream;
  const char* name;
  std::variant<Collective, Message, Put, Awaited> what;
};

/// Starts a group in the calling thread; they nest.
void startGroup();
/// Ends it: the outermost one does what was put off, and answers the first error of its calls.
ncclResult_t endGroup();

/// What a call does in itself: `call` checks and says what is to be done. Its error is the group's, too.
ncclResult_t inGroup(const std::function<ncclResult_t()>& call);

/// Puts off until the end of the group: operations; what finishes a host call, in two steps of which all first ones
/// come before all second ones (a thread may speak for several ranks).
void putOff(Operation operation);
void putOff(std::function<ncclResult_t()> first, std::function<ncclResult_t()> second);

}  // namespace ordito::libs::nccl
