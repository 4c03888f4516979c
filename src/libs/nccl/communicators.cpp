// The calls that make, divide and end communicators, and what they tell of themselves.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <tuple>
#include <vector>

#include "libs/nccl/interface.hpp"
#include "libs/stream_task.hpp"

using namespace ordito::libs;
using namespace ordito::libs::nccl;

namespace {

/// Whether the program wants to be asked again rather than to wait.
bool wantsNoWaiting(const ncclConfig_t* config) { return config && config->blocking == 0; }

ncclResult_t checkConfig(const char* call, const ncclConfig_t* config) {
  if (!config) return ncclSuccess;
  const auto isSet = [](int value) { return value != NCCL_CONFIG_UNDEF_INT; };
  if (config->magic != NCCL_API_MAGIC || config->size < offsetof(ncclConfig_t, netName))
    return badArgument(call, "the configuration was not made by NCCL_CONFIG_INITIALIZER");
  if (isSet(config->blocking) && config->blocking != 0 && config->blocking != 1)
    return badArgument(call, "blocking is 0 or 1");
  if (isSet(config->cgaClusterSize) && config->cgaClusterSize < 0)
    return badArgument(call, "cgaClusterSize is not negative");
  if ((isSet(config->minCTAs) && config->minCTAs <= 0) || (isSet(config->maxCTAs) && config->maxCTAs <= 0) ||
      (isSet(config->minCTAs) && isSet(config->maxCTAs) && config->minCTAs > config->maxCTAs))
    return badArgument(call, "minCTAs and maxCTAs are positive and in order");
  return ncclSuccess;
}

ncclResult_t currentDevice(CUdevice& device) {
  return hasContext() && cuCtxGetDevice(&device) == CUDA_SUCCESS ? ncclSuccess : ncclUnhandledCudaError;
}

/// Makes a rank; the group's end waits for the others.
ncclResult_t add(const Communicator::Place& place, bool waits, ncclComm_t* comm) {
  Owner made;
  const ncclResult_t result = Communicator::create(place, made);
  if (result != ncclSuccess) return result;
  const ncclComm_t handle = communicators().add(made);
  *comm = handle;
  if (waits)
    putOff(nullptr, [made, handle, comm] {
      const ncclResult_t connected = made->connect();
      if (connected == ncclSuccess) return connected;
      communicators().remove(handle);
      *comm = nullptr;
      return connected;
    });
  return ncclSuccess;
}

ncclResult_t initRank(const char* call, ncclComm_t* comm, int ranks, const ncclUniqueId& id, int rank,
                      const ncclConfig_t* config) {
  return inGroup([&] {
    if (!comm) return badArgument(call, "there is no place for the communicator");
    if (ranks < 1 || rank < 0 || rank >= ranks) return badArgument(call, "the rank is none of them");
    if (const ncclResult_t result = checkConfig(call, config); result != ncclSuccess) return result;
    const Identity identity = Identity::read(id);
    if (!identity.isValid()) return badArgument(call, "the identity was not made by ncclGetUniqueId");
    if (!identity.isOfThisHost())
      return failed(ncclSystemError, std::string(call) + ": the ranks are to be on one host");
    CUdevice device = 0;
    if (const ncclResult_t result = currentDevice(device); result != ncclSuccess) return result;
    return add({identity, ranks, rank, device}, !wantsNoWaiting(config), comm);
  });
}

/// The communicators that a split makes: those of this rank's color, in the order of their keys.
ncclResult_t finishSplit(const Owner& parent, uint64_t child, bool waits, ncclComm_t* comm) {
  if (!parent->awaitSplit()) return parent->error();
  const int color = parent->split(parent->rank())[0];
  if (color == NCCL_SPLIT_NOCOLOR) return ncclSuccess;
  std::vector<std::pair<int, int>> members;
  for (int other = 0; other < parent->ranks(); ++other)
    if (const auto [theirs, key] = parent->split(other); theirs == color) members.emplace_back(key, other);
  std::sort(members.begin(), members.end());
  const auto own =
      std::find_if(members.begin(), members.end(), [&](const auto& member) { return member.second == parent->rank(); });
  const Identity identity = parent->identity().derived(mixed(child, static_cast<uint64_t>(color)));
  return add({identity, static_cast<int>(members.size()), static_cast<int>(own - members.begin()), parent->device()},
             waits, comm);
}

/// What makes a grown communicator's identity another one than those of splits.
constexpr uint64_t kGrown = 0x67726f77;

Identity grownIdentity(const Communicator& parent, uint64_t child) {
  return parent.identity().derived(mixed(child, kGrown));
}

/// A rank of the parent keeps its number. It knows the identity by itself; one that it gets has to be the same.
ncclResult_t growWith(const char* call, const Owner& parent, int ranks, const ncclUniqueId* id, int rank, bool waits,
                      ncclComm_t* made) {
  if (rank != -1 || ranks <= parent->ranks())
    return badArgument(call, "a rank of the communicator keeps its number (-1), and the new one has more ranks");
  const Identity identity = grownIdentity(*parent, parent->peekChild());
  ncclUniqueId own{};
  identity.write(own);
  if (id && std::memcmp(id, &own, sizeof own) != 0)
    return badArgument(call, "the identity was not made by ncclCommGetUniqueId of this communicator, or is used");
  parent->nextChild();
  return add({identity, ranks, parent->rank(), parent->device()}, waits, made);
}

/// Ends the program's handle. Operations that are in streams still run.
ncclResult_t forget(const char* call, ncclComm_t comm) {
  if (!comm) return ncclSuccess;
  return communicators().remove(comm) ? ncclSuccess : badArgument(call, "there is no such communicator");
}

}  // namespace

namespace ordito::libs::nccl {

Communicators& communicators() {
  static auto* const all = new Communicators;  // streams may end later than static objects
  return *all;
}

}  // namespace ordito::libs::nccl

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  if (!id) return badArgument("ncclGetUniqueId", "there is no place for the identity");
  Identity::create().write(*id);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank) {
  return initRank("ncclCommInitRank", comm, ranks, id, rank, nullptr);
}
ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank, ncclConfig_t* config) {
  return initRank("ncclCommInitRankConfig", comm, ranks, id, rank, config);
}
ncclResult_t ncclCommInitRankScalable(ncclComm_t* comm, int ranks, int rank, int ids, ncclUniqueId* id,
                                      ncclConfig_t* config) {
  if (ids < 1 || ids > ranks || !id) return badArgument("ncclCommInitRankScalable", "identities are missing");
  return initRank("ncclCommInitRankScalable", comm, ranks, *id, rank, config);
}

ncclResult_t ncclCommInitAll(ncclComm_t* comms, int count, const int* devices) {
  constexpr const char* kName = "ncclCommInitAll";
  int there = 0;
  if (!comms || count < 1) return badArgument(kName, "there are no communicators to make");
  if (cuInit(0) != CUDA_SUCCESS || cuDeviceGetCount(&there) != CUDA_SUCCESS) return ncclUnhandledCudaError;
  const Identity identity = Identity::create();
  return inGroup([&] {
    for (int i = 0; i < count; ++i)
      if (const int number = devices ? devices[i] : i; number < 0 || number >= there)
        return badArgument(kName, "there is no such device; ordito run --gpus N shows N of them");
    for (int i = 0; i < count; ++i) {
      CUdevice device = 0;
      if (cuDeviceGet(&device, devices ? devices[i] : i) != CUDA_SUCCESS) return ncclUnhandledCudaError;
      if (const ncclResult_t result = add({identity, count, i, device}, true, comms + i); result != ncclSuccess)
        return result;
    }
    return ncclSuccess;
  });
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* made, ncclConfig_t* config) {
  constexpr const char* kName = "ncclCommSplit";
  return inGroup([&] {
    return withCommunicator(comm, kName, [&](const Owner& parent) {
      if (!made) return badArgument(kName, "there is no place for the communicator");
      if (color < 0 && color != NCCL_SPLIT_NOCOLOR) return badArgument(kName, "colors are not negative");
      if (const ncclResult_t result = checkConfig(kName, config); result != ncclSuccess) return result;
      if (const ncclResult_t result = parent->connect(); result != ncclSuccess) return result;
      *made = nullptr;
      parent->announceSplit(color, key);
      putOff([=, child = parent->nextChild(),
              waits = !wantsNoWaiting(config)] { return finishSplit(parent, child, waits, made); },
             nullptr);
      return ncclSuccess;
    });
  });
}

ncclResult_t ncclCommShrink(ncclComm_t comm, int* excluded, int count, ncclComm_t* made, ncclConfig_t* config,
                            int flags) {
  constexpr const char* kName = "ncclCommShrink";
  return inGroup([&] {
    return withCommunicator(comm, kName, [&](const Owner& parent) {
      if (!made || !excluded || count < 1 || count >= parent->ranks())
        return badArgument(kName, "some ranks are to go and some to stay");
      if (const ncclResult_t result = checkConfig(kName, config); result != ncclSuccess) return result;
      if (flags & NCCL_SHRINK_ABORT) parent->abort();
      const std::vector<int> gone(excluded, excluded + count);
      uint64_t reason = parent->nextChild();
      int ranks = 0, rank = -1;
      for (int other = 0; other < parent->ranks(); ++other) {
        if (std::find(gone.begin(), gone.end(), other) != gone.end()) continue;
        if (other == parent->rank()) rank = ranks;
        ++ranks;
        reason = mixed(reason, static_cast<uint64_t>(other));
      }
      if (rank < 0) return badArgument(kName, "a rank that goes does not call");
      return add({parent->identity().derived(reason), ranks, rank, parent->device()}, !wantsNoWaiting(config), made);
    });
  });
}

ncclResult_t ncclCommGetUniqueId(ncclComm_t comm, ncclUniqueId* id) {
  constexpr const char* kName = "ncclCommGetUniqueId";
  return withCommunicator(comm, kName, [&](const Owner& parent) {
    if (!id) return badArgument(kName, "there is no place for the identity");
    grownIdentity(*parent, parent->peekChild()).write(*id);
    return ncclSuccess;
  });
}

ncclResult_t ncclCommGrow(ncclComm_t comm, int ranks, const ncclUniqueId* id, int rank, ncclComm_t* made,
                          ncclConfig_t* config) {
  constexpr const char* kName = "ncclCommGrow";
  if (!comm) return id ? initRank(kName, made, ranks, *id, rank, config) : badArgument(kName, "there is no identity");
  return inGroup([&] {
    return withCommunicator(comm, kName, [&](const Owner& parent) {
      if (!made) return badArgument(kName, "there is no place for the communicator");
      if (const ncclResult_t result = checkConfig(kName, config); result != ncclSuccess) return result;
      return growWith(kName, parent, ranks, id, rank, !wantsNoWaiting(config), made);
    });
  });
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  return withCommunicator(comm, "ncclCommFinalize", [](const Owner& communicator) {
    const std::scoped_lock lock(communicator->calls());
    if (communicator->lastOperation && cuEventSynchronize(communicator->lastOperation) != CUDA_SUCCESS)
      return ncclUnhandledCudaError;
    return communicator->error();
  });
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) { return forget("ncclCommDestroy", comm); }

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  if (const Owner communicator = communicators().find(comm)) communicator->abort();
  return forget("ncclCommAbort", comm);
}

ncclResult_t ncclCommRevoke(ncclComm_t comm, int flags) {
  return withCommunicator(comm, "ncclCommRevoke", [&](const Owner& communicator) {
    if (flags != NCCL_REVOKE_DEFAULT) return badArgument("ncclCommRevoke", "there are no flags");
    communicator->abort();
    return ncclSuccess;
  });
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  return withCommunicator(comm, "ncclCommGetAsyncError", [&](const Owner& communicator) {
    if (!error) return badArgument("ncclCommGetAsyncError", "there is no place for the error");
    *error = communicator->connectIfAllCame() ? communicator->error() : ncclInProgress;
    return ncclSuccess;
  });
}

namespace {

ncclResult_t tell(ncclComm_t comm, const char* call, int* answer, int (Communicator::*question)() const) {
  return withCommunicator(comm, call, [&](const Owner& communicator) {
    if (!answer) return badArgument(call, "there is no place for the answer");
    *answer = (communicator.get()->*question)();
    return ncclSuccess;
  });
}

}  // namespace

ncclResult_t ncclCommCount(const ncclComm_t comm, int* count) {
  return tell(comm, "ncclCommCount", count, &Communicator::ranks);
}
ncclResult_t ncclCommUserRank(const ncclComm_t comm, int* rank) {
  return tell(comm, "ncclCommUserRank", rank, &Communicator::rank);
}
ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int* device) {
  return tell(comm, "ncclCommCuDevice", device, &Communicator::device);
}

ncclResult_t ncclMemAlloc(void** memory, size_t size) {
  if (!memory || size == 0) return badArgument("ncclMemAlloc", "memory has a place and a size");
  CUdeviceptr made = 0;
  if (!hasContext() || cuMemAlloc(&made, size) != CUDA_SUCCESS) return ncclUnhandledCudaError;
  *memory = reinterpret_cast<void*>(made);
  return ncclSuccess;
}
ncclResult_t ncclMemFree(void* memory) {
  if (!memory) return ncclSuccess;
  return hasContext() && cuMemFree(reinterpret_cast<CUdeviceptr>(memory)) == CUDA_SUCCESS ? ncclSuccess
                                                                                          : ncclUnhandledCudaError;
}

ncclResult_t ncclGetVersion(int* version) {
  if (!version) return badArgument("ncclGetVersion", "there is no place for the version");
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess: return "no error";
    case ncclUnhandledCudaError: return "a call of CUDA failed";
    case ncclSystemError: return "a call of the system failed";
    case ncclInternalError: return "internal error";
    case ncclInvalidArgument: return "invalid argument";
    case ncclInvalidUsage: return "invalid usage";
    case ncclRemoteError: return "another rank ended or failed";
    case ncclInProgress: return "the operation is in progress";
    case ncclTimeout: return "timeout";
    default: return "unknown result";
  }
}

const char* ncclGetLastError(ncclComm_t) { return lastError(); }
