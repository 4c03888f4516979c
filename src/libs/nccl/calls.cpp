// The calls that put operations into streams, and reductions of the program's own.
#include <cstring>

#include "libs/nccl/interface.hpp"
#include "libs/nccl/windows.hpp"

using namespace ordito::libs::nccl;

namespace {

struct Arguments {
  Collective collective;
  bool hasOperation = false, isRooted = false;
  bool needsSend = true, needsReceive = true;  // on every rank, or (rooted) where it is said
  ncclRedOp_t operation = ncclSum;
};

/// Looks the program's own operation up.
ncclResult_t chooseOperation(Communicator& communicator, Arguments& arguments) {
  Collective& collective = arguments.collective;
  collective.operation = arguments.operation;
  if (arguments.operation >= ncclSum && arguments.operation < ncclNumOps) return ncclSuccess;
  const std::scoped_lock lock(communicator.calls());
  const auto found = communicator.factors.find(arguments.operation);
  if (found == communicator.factors.end()) return badArgument(collective.name, "there is no such operation");
  if (found->second.type != collective.type)
    return badArgument(collective.name, "the operation was made for another type");
  collective.operation = ncclNumOps;
  collective.factor = found->second.bytes;
  collective.factorPlace = found->second.place;
  return ncclSuccess;
}

ncclResult_t check(const Communicator& communicator, const Arguments& arguments) {
  const Collective& collective = arguments.collective;
  const bool isRoot = communicator.rank() == collective.root;
  if (!sizeOf(collective.type)) return badArgument(collective.name, "there is no such type");
  if (arguments.isRooted && (collective.root < 0 || collective.root >= communicator.ranks()))
    return badArgument(collective.name, "the root is none of the ranks");
  if (collective.count == 0) return ncclSuccess;
  if (!collective.send && (arguments.needsSend || isRoot))
    return badArgument(collective.name, "there is nothing to send");
  if (!collective.receive && (arguments.needsReceive || isRoot))
    return badArgument(collective.name, "there is no place for the result");
  if (collective.kind == Kind::AllToAll && collective.send == collective.receive)
    return badArgument(collective.name, "the result is not to be where the elements are");
  return ncclSuccess;
}

ncclResult_t submit(Arguments arguments, ncclComm_t handle, cudaStream_t stream) {
  const char* const name = arguments.collective.name;
  return inGroup([&] {
    return withCommunicator(handle, name, [&](const Owner& communicator) {
      ncclResult_t result = communicator->error();
      if (result == ncclSuccess) result = check(*communicator, arguments);
      if (result == ncclSuccess && arguments.hasOperation) result = chooseOperation(*communicator, arguments);
      if (result == ncclSuccess) putOff({communicator, stream, name, arguments.collective});
      return result;
    });
  });
}

Collective collective(const char* name, Kind kind, const void* send, void* receive, size_t count, ncclDataType_t type,
                      int root = 0) {
  return {.name = name,
          .kind = kind,
          .send = static_cast<const std::byte*>(send),
          .receive = static_cast<std::byte*>(receive),
          .count = count,
          .type = type,
          .root = root};
}

ncclResult_t submitMessage(const char* name, bool isSent, void* data, size_t count, ncclDataType_t type, int peer,
                           ncclComm_t handle, cudaStream_t stream) {
  return inGroup([&] {
    return withCommunicator(handle, name, [&](const Owner& communicator) {
      if (communicator->error() != ncclSuccess) return communicator->error();
      if (!sizeOf(type)) return badArgument(name, "there is no such type");
      if (peer < 0 || peer >= communicator->ranks()) return badArgument(name, "the peer is none of the ranks");
      if (!data && count) return badArgument(name, "there are no elements");
      putOff({communicator, stream, name, Message{isSent, peer, static_cast<std::byte*>(data), count * sizeOf(type)}});
      return ncclSuccess;
    });
  });
}

/// There is one signal between two ranks, in one context, and no flag.
ncclResult_t checkSignal(const char* name, const Communicator& communicator, int peer, int signal, int context) {
  if (peer < 0 || peer >= communicator.ranks()) return badArgument(name, "the peer is none of the ranks");
  if (signal != 0 || context != 0) return badArgument(name, "there is no signal but 0 and no context but 0");
  return ncclSuccess;
}

/// Both places are in windows that all ranks registered together; without a window it is the signal alone.
ncclResult_t chooseWindow(const char* name, const Communicator& communicator, ncclWindow_t window, Put& put) {
  const auto target = windows().find(window);
  if (!target || !target->isOf(communicator)) return badArgument(name, "the peer's window is no symmetric one");
  if (!put.data) return badArgument(name, "there are no elements");
  if (!areInWindow(communicator, put.data, put.bytes))
    return badArgument(name, "the elements are not in a symmetric window");
  put.window = target->number;
  return ncclSuccess;
}

ncclResult_t submitPut(const char* name, Put put, const ncclWindow_t* window, int signal, int context, unsigned flags,
                       ncclComm_t handle, cudaStream_t stream) {
  return inGroup([&] {
    return withCommunicator(handle, name, [&](const Owner& communicator) {
      ncclResult_t result = communicator->error();
      if (result == ncclSuccess) result = checkSignal(name, *communicator, put.peer, signal, context);
      if (result == ncclSuccess && flags) result = badArgument(name, "there are no flags");
      if (result == ncclSuccess && window) result = chooseWindow(name, *communicator, *window, put);
      if (result == ncclSuccess) putOff({communicator, stream, name, put});
      return result;
    });
  });
}

}  // namespace

ncclResult_t ncclAllReduce(const void* send, void* receive, size_t count, ncclDataType_t type, ncclRedOp_t operation,
                           ncclComm_t comm, cudaStream_t stream) {
  return submit({.collective = collective("ncclAllReduce", Kind::AllReduce, send, receive, count, type),
                 .hasOperation = true,
                 .operation = operation},
                comm, stream);
}

ncclResult_t ncclReduce(const void* send, void* receive, size_t count, ncclDataType_t type, ncclRedOp_t operation,
                        int root, ncclComm_t comm, cudaStream_t stream) {
  return submit({.collective = collective("ncclReduce", Kind::Reduce, send, receive, count, type, root),
                 .hasOperation = true,
                 .isRooted = true,
                 .needsReceive = false,
                 .operation = operation},
                comm, stream);
}

ncclResult_t ncclReduceScatter(const void* send, void* receive, size_t count, ncclDataType_t type,
                               ncclRedOp_t operation, ncclComm_t comm, cudaStream_t stream) {
  return submit({.collective = collective("ncclReduceScatter", Kind::ReduceScatter, send, receive, count, type),
                 .hasOperation = true,
                 .operation = operation},
                comm, stream);
}

ncclResult_t ncclBroadcast(const void* send, void* receive, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream) {
  return submit({.collective = collective("ncclBroadcast", Kind::Broadcast, send, receive, count, type, root),
                 .isRooted = true,
                 .needsSend = false},
                comm, stream);
}

ncclResult_t ncclBcast(void* data, size_t count, ncclDataType_t type, int root, ncclComm_t comm, cudaStream_t stream) {
  return submit(
      {.collective = collective("ncclBcast", Kind::Broadcast, data, data, count, type, root), .isRooted = true}, comm,
      stream);
}

ncclResult_t ncclAllGather(const void* send, void* receive, size_t count, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
  return submit({.collective = collective("ncclAllGather", Kind::AllGather, send, receive, count, type)}, comm, stream);
}

ncclResult_t ncclAlltoAll(const void* send, void* receive, size_t count, ncclDataType_t type, ncclComm_t comm,
                          cudaStream_t stream) {
  return submit({.collective = collective("ncclAlltoAll", Kind::AllToAll, send, receive, count, type)}, comm, stream);
}

ncclResult_t ncclGather(const void* send, void* receive, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                        cudaStream_t stream) {
  return submit({.collective = collective("ncclGather", Kind::Gather, send, receive, count, type, root),
                 .isRooted = true,
                 .needsReceive = false},
                comm, stream);
}

ncclResult_t ncclScatter(const void* send, void* receive, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                         cudaStream_t stream) {
  return submit({.collective = collective("ncclScatter", Kind::Scatter, send, receive, count, type, root),
                 .isRooted = true,
                 .needsSend = false},
                comm, stream);
}

ncclResult_t ncclSend(const void* send, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return submitMessage("ncclSend", true, const_cast<void*>(send), count, type, peer, comm, stream);
}

ncclResult_t ncclRecv(void* receive, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return submitMessage("ncclRecv", false, receive, count, type, peer, comm, stream);
}

ncclResult_t ncclPutSignal(const void* data, size_t count, ncclDataType_t type, int peer, ncclWindow_t window,
                           size_t offset, int signal, int context, unsigned flags, ncclComm_t comm,
                           cudaStream_t stream) {
  constexpr const char* kName = "ncclPutSignal";
  if (!sizeOf(type)) return badArgument(kName, "there is no such type");
  const Put put{peer, static_cast<const std::byte*>(data), count * sizeOf(type), 0, offset};
  return submitPut(kName, put, &window, signal, context, flags, comm, stream);
}

ncclResult_t ncclSignal(int peer, int signal, int context, unsigned flags, ncclComm_t comm, cudaStream_t stream) {
  return submitPut("ncclSignal", Put{peer, nullptr, 0, 0, 0}, nullptr, signal, context, flags, comm, stream);
}

ncclResult_t ncclWaitSignal(int count, ncclWaitSignalDesc_t* signals, ncclComm_t comm, cudaStream_t stream) {
  constexpr const char* kName = "ncclWaitSignal";
  return inGroup([&] {
    return withCommunicator(comm, kName, [&](const Owner& communicator) {
      if (communicator->error() != ncclSuccess) return communicator->error();
      if (count <= 0 || !signals) return badArgument(kName, "there is nothing to wait for");
      for (int i = 0; i < count; ++i) {
        const ncclWaitSignalDesc_t& one = signals[i];
        if (one.opCnt <= 0) return badArgument(kName, "there is nothing to wait for");
        if (const ncclResult_t bad = checkSignal(kName, *communicator, one.peer, one.sigIdx, one.ctx);
            bad != ncclSuccess)
          return bad;
      }
      for (int i = 0; i < count; ++i)
        putOff({communicator, stream, kName, Awaited{signals[i].peer, static_cast<uint32_t>(signals[i].opCnt)}});
      return ncclSuccess;
    });
  });
}

ncclResult_t ncclGroupStart() {
  startGroup();
  return ncclSuccess;
}
ncclResult_t ncclGroupEnd() { return endGroup(); }

ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t* operation, void* factor, ncclDataType_t type,
                                      ncclScalarResidence_t residence, ncclComm_t comm) {
  constexpr const char* kName = "ncclRedOpCreatePreMulSum";
  return withCommunicator(comm, kName, [&](const Owner& communicator) {
    const bool isOnDevice = residence == ncclScalarDevice;
    if (!operation || !factor || !sizeOf(type) || (!isOnDevice && residence != ncclScalarHostImmediate))
      return badArgument(kName, "an operation is made of a factor, its type and where it is");
    Factor made{type, {}, isOnDevice ? factor : nullptr};
    if (!isOnDevice) std::memcpy(made.bytes.data(), factor, sizeOf(type));
    const std::scoped_lock lock(communicator->calls());
    communicator->factors[communicator->nextFactor] = made;
    *operation = static_cast<ncclRedOp_t>(communicator->nextFactor++);
    return ncclSuccess;
  });
}

ncclResult_t ncclRedOpDestroy(ncclRedOp_t operation, ncclComm_t comm) {
  return withCommunicator(comm, "ncclRedOpDestroy", [&](const Owner& communicator) {
    const std::scoped_lock lock(communicator->calls());
    return communicator->factors.erase(operation) ? ncclSuccess
                                                  : badArgument("ncclRedOpDestroy", "there is no such operation");
  });
}
