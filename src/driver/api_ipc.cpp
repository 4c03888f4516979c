// Driver API: memory and events of one process in another one of the same host and user.
//
// A handle names a file descriptor of the process that made it, which others open by /proc/PID/fd/N; the file's number
// tells whether that descriptor still is the same file. So nothing is left behind when processes end, however they do,
// and handles need no server. Memory is moved into such a file when it is first asked for a handle, the program's
// pointers to it staying what they are.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <mutex>

#include "driver/api.hpp"
#include "driver/device.hpp"
#include "driver/shared_event.hpp"
#include "machine/memory.hpp"
#include "machine/undefined.hpp"

using namespace ordito::driver;
using ordito::machine::SharedAllocation;

namespace {

enum class Shared : uint32_t { Memory = 0x6d656d31, Event = 0x65767431 };  // "mem1", "evt1": of this layout

/// What is in the 64 bytes of a handle, the rest being zeros.
struct Name {
  Shared kind{};
  pid_t process = 0;
  int file = -1;
  uint64_t inode = 0, offset = 0, bytes = 0;

  auto operator<=>(const Name&) const = default;
};
static_assert(sizeof(Name) <= CU_IPC_HANDLE_SIZE);

std::optional<uint64_t> inodeOf(int file) {
  struct stat status{};
  if (fstat(file, &status) != 0) return std::nullopt;
  return status.st_ino;
}

template <class Handle>
CUresult write(Handle* handle, Shared kind, int file, uint64_t offset, uint64_t bytes) {
  const Name name{kind, getpid(), file, inodeOf(file).value_or(0), offset, bytes};
  *handle = {};
  std::memcpy(handle->reserved, &name, sizeof name);
  return CUDA_SUCCESS;
}

template <class Handle>
Name read(const Handle& handle) {
  Name name;
  std::memcpy(&name, handle.reserved, sizeof name);
  return name;
}

/// Opens what the name stands for.
CUresult openFile(const Name& name, Shared kind, int& file) {
  if (name.kind != kind) return remember(CUDA_ERROR_INVALID_HANDLE, "the handle is not one that a process has made");
  if (name.process == getpid())
    return remember(CUDA_ERROR_INVALID_CONTEXT, "the handle was made by this very process; it is for other ones");
  const std::string path = fmt::format("/proc/{}/fd/{}", name.process, name.file);
  file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file >= 0 && inodeOf(file) == name.inode) return CUDA_SUCCESS;
  if (file >= 0) close(file);
  return remember(CUDA_ERROR_MAP_FAILED,
                  fmt::format("what process {} shared is gone, or it is another user's process", name.process));
}

/// Memory of other processes that is open here: opened again it has the same address, until it is closed as often.
class OpenMemory {
 public:
  CUresult open(const Name& name, int device, CUdeviceptr* pointer) {
    std::lock_guard lock(mutex_);
    if (const auto known = open_.find(name); known != open_.end()) {
      ++known->second.uses;
      *pointer = known->second.address;
      return CUDA_SUCCESS;
    }
    int file = -1;
    if (CUresult bad = openFile(name, Shared::Memory, file)) return bad;
    const auto address = ordito::machine::mapShared(SharedAllocation{file, name.offset, name.bytes}, device);
    ::close(file);
    if (!address) return remember(CUDA_ERROR_MAP_FAILED, address.error().message);
    ordito::machine::noteWritten(*address, name.bytes);  // by whom, and how far, this process cannot know
    open_[name] = {*address, 1};
    *pointer = *address;
    return CUDA_SUCCESS;
  }

  bool close(CUdeviceptr pointer) {
    std::lock_guard lock(mutex_);
    for (auto it = open_.begin(); it != open_.end(); ++it) {
      if (it->second.address != pointer) continue;
      if (--it->second.uses > 0) return true;
      ordito::machine::unmapShared(pointer);
      open_.erase(it);
      return true;
    }
    return false;
  }

 private:
  struct Use {
    CUdeviceptr address;
    int uses;
  };
  std::mutex mutex_;
  std::map<Name, Use> open_;
};

OpenMemory& openMemory() {
  static auto* all = new OpenMemory;  // never destroyed: atexit handlers of user programs still close memory
  return *all;
}

}  // namespace

CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr pointer) {
  ORDITO_CONTEXT(context);
  const auto known = ordito::machine::allocations().find(pointer);
  Device* const owner = known ? findDevice(known->device) : nullptr;
  if (!handle || !owner) return CUDA_ERROR_INVALID_VALUE;
  // Its pages are moved: nothing may use them meanwhile.
  context->group.synchronizeAll(false);
  if (owner != &context->device) owner->primary->group.synchronizeAll(false);
  const auto shared = owner->memory.share(pointer);
  if (!shared) return remember(shared.error());
  if (shared->file < 0)
    return remember(CUDA_ERROR_INVALID_VALUE,
                    fmt::format("{:#x} is no memory that cuMemAlloc or cudaMalloc gave", pointer));
  ordito::machine::noteWritten(known->address, known->bytes);  // from now on others write it, too
  return write(handle, Shared::Memory, shared->file, shared->offset, shared->bytes);
}

CUresult cuIpcOpenMemHandle(CUdeviceptr* pointer, CUipcMemHandle handle, unsigned int flags) {
  ORDITO_CONTEXT(context);
  if (!pointer || flags & ~static_cast<unsigned>(CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)) return CUDA_ERROR_INVALID_VALUE;
  return openMemory().open(read(handle), context->device.ordinal, pointer);
}

CUresult cuIpcCloseMemHandle(CUdeviceptr pointer) {
  ORDITO_CONTEXT(context);
  context->group.synchronizeAll();  // a kernel may still use it
  return openMemory().close(pointer) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuIpcGetEventHandle(CUipcEventHandle* handle, CUevent eventHandle) {
  ORDITO_CONTEXT(context);
  if (!handle) return CUDA_ERROR_INVALID_VALUE;
  const auto event = context->event(eventHandle);
  if (!event || !event->shared())
    return remember(CUDA_ERROR_INVALID_HANDLE, "it is no event, or was made without CU_EVENT_INTERPROCESS");
  return write(handle, Shared::Event, event->shared()->file(), 0, 0);
}

CUresult cuIpcOpenEventHandle(CUevent* result, CUipcEventHandle handle) {
  ORDITO_CONTEXT(context);
  if (!result) return CUDA_ERROR_INVALID_VALUE;
  int file = -1;
  if (CUresult bad = openFile(read(handle), Shared::Event, file)) return bad;
  auto shared = SharedEvent::open(file);
  if (!shared) return CUDA_ERROR_MAP_FAILED;
  constexpr unsigned kFlags = CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING;
  *result =
      static_cast<CUevent>(context->events.add(std::make_shared<Event>(kFlags, &context->group, std::move(shared))));
  return CUDA_SUCCESS;
}
