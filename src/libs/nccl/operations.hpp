// What a rank does in its stream: its part of a collective operation, messages, and what it puts into windows of
// others.
#pragma once

#include <vector>

#include "libs/nccl/communicator.hpp"
#include "libs/nccl/reduction.hpp"

namespace ordito::libs::nccl {

enum class Kind : uint32_t { AllReduce, Reduce, Broadcast, AllGather, ReduceScatter, AllToAll, Gather, Scatter };

struct Collective {
  const char* name;
  Kind kind;
  const std::byte* send;
  std::byte* receive;
  size_t count;  // as the call has it: of one rank's part, where data are divided
  ncclDataType_t type;
  ncclRedOp_t operation = ncclSum;  // of a reduction; ncclNumOps: with this rank's factor
  Element factor{};
  const void* factorPlace = nullptr;  // if it is on the device
  int root = 0;
};

struct Message {
  bool isSent;
  int peer;
  std::byte* data;  // not written if it is sent
  size_t bytes;
};

/// Bytes for a window of another rank, and a signal that tells it; or the signal alone.
struct Put {
  int peer;
  const std::byte* data;
  size_t bytes;
  uint64_t window, offset;
};
/// Signals of another rank to wait for.
struct Awaited {
  int peer;
  uint32_t count;
};

/// This rank's part; returns when the others need nothing more of it.
void perform(Communicator& communicator, const Collective& collective);

/// Sends and receives all of them, at once; those between the same two in this order.
void exchange(Communicator& communicator, const std::vector<Message>& messages);

/// Puts all of them, in this order, and waits for no rank but one that has yet to register the window.
void put(Communicator& communicator, const std::vector<Put>& puts);
/// Waits for all of them; what was put before these signals is in this rank's windows then.
void awaitSignals(Communicator& communicator, const std::vector<Awaited>& awaited);

/// memcpy by the threads that run blocks.
void copyBytes(std::byte* to, const std::byte* from, size_t bytes);

}  // namespace ordito::libs::nccl
