// See windows.hpp; and the calls that register memory.
#include "libs/nccl/windows.hpp"

#include "libs/nccl/interface.hpp"

namespace ordito::libs::nccl {

HandleTable<ncclWindow_t, Window>& windows() {
  static HandleTable<ncclWindow_t, Window> all;
  return all;
}

std::shared_ptr<const Window> symmetricWindow(const Identity& identity, int rank, uint64_t number) {
  return windows().findIf([&](const Window& window) { return window.isOf(identity, rank) && window.number == number; });
}

bool areInWindow(const Communicator& communicator, const std::byte* data, size_t bytes) {
  return windows().findIf([&](const Window& window) {
    return window.isOf(communicator) && data >= window.memory &&
           window.hasRoomFor(static_cast<uint64_t>(data - window.memory), bytes);
  }) != nullptr;
}

}  // namespace ordito::libs::nccl

using namespace ordito::libs::nccl;

ncclResult_t ncclCommRegister(const ncclComm_t comm, void* memory, size_t size, void** handle) {
  return ncclCommWindowRegister(comm, memory, size, reinterpret_cast<ncclWindow_t*>(handle), NCCL_WIN_DEFAULT);
}
ncclResult_t ncclCommDeregister(const ncclComm_t comm, void* handle) {
  return handle ? ncclCommWindowDeregister(comm, static_cast<ncclWindow_t>(handle)) : ncclSuccess;
}

ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void* memory, size_t size, ncclWindow_t* window, int flags) {
  return withCommunicator(comm, "ncclCommWindowRegister", [&](const Owner& communicator) {
    if (!memory || size == 0 || !window) return badArgument("ncclCommWindowRegister", "there is nothing to register");
    Window made{static_cast<std::byte*>(memory),        size, communicator->identity(), communicator->rank(),
                (flags & NCCL_WIN_COLL_SYMMETRIC) != 0, 0};
    {
      const std::scoped_lock lock(communicator->calls());
      if (made.isSymmetric) made.number = communicator->nextWindow++;
      *window = windows().add(std::make_shared<Window>(made));
    }
    // Others of this process may wait for it.
    for (int rank = 0; made.isSymmetric && rank < communicator->ranks(); ++rank) communicator->ring(rank);
    return ncclSuccess;
  });
}
ncclResult_t ncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t window) {
  return withCommunicator(comm, "ncclCommWindowDeregister", [&](const Owner&) {
    return windows().remove(window) ? ncclSuccess
                                    : badArgument("ncclCommWindowDeregister", "there is no such registration");
  });
}
ncclResult_t ncclWinGetUserPtr(ncclComm_t comm, ncclWindow_t window, void** memory) {
  return withCommunicator(comm, "ncclWinGetUserPtr", [&](const Owner&) {
    const auto found = windows().find(window);
    if (!found || !memory) return badArgument("ncclWinGetUserPtr", "there is no such registration");
    *memory = found->memory;
    return ncclSuccess;
  });
}
