// See device_runtime.hpp. The functions are those of the CUDA programming guide's table of device-side API functions; a
// new one is a body and a row of kFunctions.
#include "machine/device_runtime.hpp"

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "machine/device_functions.hpp"
#include "machine/device_heap.hpp"
#include "machine/listener.hpp"
#include "machine/undefined.hpp"

namespace ordito::machine {

namespace {

using Words = const uint64_t*;
using Caller = DeviceCaller;

// Numbers of the CUDA API.
constexpr int kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kInvalidDirection = 21, kDepthExceeded = 65,
              kPendingExceeded = 69, kInvalidHandle = 400, kNotSupported = 801;
constexpr uint64_t kPerThreadStream = 2, kTailLaunch = 3, kFireAndForget = 4;
constexpr uint64_t kNonBlocking = 1, kDisableTiming = 2;
constexpr uint64_t kDeviceToDevice = 3, kDefaultDirection = 4;

DeviceBlock& block(const Caller& caller) { return *caller.frame.device; }
LaunchHost& host(const Caller& caller) { return block(caller).grid().nest().host(); }

template <class T>
T* pointer(uint64_t word) {
  return reinterpret_cast<T*>(word);
}

/// What a function returns; the thread's last error if it is one.
uint64_t finish(const Caller& caller, int error) {
  if (error) block(caller).setError(caller.thread, error);
  return static_cast<uint64_t>(error);
}

/// The stream that a handle means; null for tail launches, fire-and-forget and bad handles.
std::shared_ptr<DeviceStream> streamOf(const Caller& caller, uint64_t handle) {
  return handle <= kPerThreadStream ? block(caller).implicitStream() : block(caller).stream(handle);
}

// --- launches

void tell(const Caller& caller, const Child& child, uint64_t handle) {
  using Stream = ChildLaunchEvent::Stream;
  if (!areAccessesWanted()) return;
  raise(ChildLaunchEvent{caller.frame, caller.thread, child.launch.number,
                         handle == kTailLaunch      ? Stream::Tail
                         : handle == kFireAndForget ? Stream::FireAndForget
                                                    : Stream::Ordered});
}

int submit(const Caller& caller, Child child, uint64_t handle) {
  DeviceBlock& here = block(caller);
  Nest& nest = here.grid().nest();
  const auto stream = streamOf(caller, handle);
  if (!stream && handle != kTailLaunch && handle != kFireAndForget) return kInvalidHandle;
  _mm_sfence();  // a child sees what was stored before, also by stores that went round the caches
  tell(caller, child, handle);
  Child told;
  told.launch = child.launch;
  const auto answer = handle == kTailLaunch      ? nest.launchTail(here.grid(), std::move(child))
                      : handle == kFireAndForget ? nest.fireAndForget(here.grid(), std::move(child))
                                                 : nest.launch(here.grid(), stream, std::move(child));
  switch (answer) {
    case Nest::Answer::TooDeep:
      host(caller).refused(told, "launches from kernels may be 24 deep; a tail launch adds no depth");
      return kDepthExceeded;
    case Nest::Answer::TooMany:
      host(caller).refused(told,
                           "too many launches are pending; cudaDeviceSetLimit(cudaLimitDevRuntimePending"
                           "LaunchCount, n) allows more");
      return kPendingExceeded;
    default: return kSuccess;
  }
}

DeviceBlock::Prepared withBuffer(size_t bytes) {
  // Compilers store in units of up to 16 bytes.
  const size_t rounded = (bytes + 31) / 16 * 16;
  return {.child = {}, .buffer = std::make_unique<std::byte[]>(rounded), .bytes = rounded};
}

Dim3 dim3(Words words) {
  return {static_cast<uint32_t>(words[0]), static_cast<uint32_t>(words[1]), static_cast<uint32_t>(words[2])};
}

/// A buffer for the arguments of a launch, 0 if the launch is not allowed.
uint64_t getParameterBufferV2(const Caller& caller, Words w) {
  Child child;
  if (int error = host(caller).prepare(w[0], dim3(w + 1), dim3(w + 4), static_cast<uint32_t>(w[7]), child))
    return finish(caller, error), 0;
  auto prepared = withBuffer(child.parameters.size());
  prepared.child = std::move(child);
  return block(caller).keepPrepared(std::move(prepared));
}

uint64_t launchPrepared(const Caller& caller, DeviceBlock::Prepared& prepared, uint64_t stream) {
  Child& child = prepared.child;
  std::memcpy(child.parameters.data(), prepared.buffer.get(), std::min(child.parameters.size(), prepared.bytes));
  return finish(caller, submit(caller, std::move(child), stream));
}

uint64_t launchDeviceV2(const Caller& caller, Words w) {
  auto prepared = block(caller).takePrepared(w[0]);
  if (!prepared || !prepared->child.launch.executable) return finish(caller, kInvalidValue);
  return launchPrepared(caller, *prepared, w[1]);
}

/// The form of before CUDA 12 asks for a buffer before it names the kernel.
uint64_t getParameterBuffer(const Caller& caller, Words w) {
  constexpr uint64_t kMostBytes = 32768;
  if (w[0] > 4096 || w[1] > kMostBytes) return finish(caller, kInvalidValue), 0;
  return block(caller).keepPrepared(withBuffer(w[1]));
}

uint64_t launchDevice(const Caller& caller, Words w) {
  auto prepared = block(caller).takePrepared(w[1]);
  if (!prepared) return finish(caller, kInvalidValue);
  if (int error = host(caller).prepare(w[0], dim3(w + 2), dim3(w + 5), static_cast<uint32_t>(w[8]), prepared->child))
    return finish(caller, error);
  return launchPrepared(caller, *prepared, w[9]);
}

// --- memory

/// A copy or a filling as a grid of one block, so that a bad address is reported as that of a kernel is.
class MemoryWork : public Executable {
 public:
  explicit MemoryWork(std::function<void()> work) : work_(std::move(work)) {}
  BlockStatus runBlock(const BlockFrame&) const override {
    work_();
    return BlockStatus::Ended;
  }
  size_t scratchBytes() const override { return 0; }
  size_t localBytes() const override { return 0; }

 private:
  std::function<void()> work_;
};

uint64_t submitWork(const Caller& caller, const char* name, uint64_t stream, std::function<void()> work) {
  auto executable = std::make_shared<MemoryWork>(std::move(work));
  Child child;
  child.launch.executable = executable.get();
  child.launch.kernelName = name;
  child.keeps = std::move(executable);
  return finish(caller, submit(caller, std::move(child), stream));
}

/// Shared and local memory are the calling block's own and may be gone by the time of the copy.
bool isOwn(const Caller& caller, uint64_t address) {
  const auto within = [&](const std::byte* start, size_t bytes) {
    const auto first = reinterpret_cast<uint64_t>(start);
    return start && address >= first && address < first + bytes;
  };
  const BlockFrame& frame = caller.frame;
  return within(frame.shared, frame.totalSharedBytes) || within(frame.local, frame.localBytes) ||
         (caller.isLocal && caller.isLocal(caller.engine, address));
}

int checkCopy(const Caller& caller, uint64_t to, uint64_t from, uint64_t direction) {
  if (direction != kDeviceToDevice && direction != kDefaultDirection) return kInvalidDirection;
  return isOwn(caller, to) || isOwn(caller, from) ? kInvalidValue : kSuccess;
}

uint64_t mallocOnDevice(const Caller& caller, Words w) {
  void* memory = w[1] == 0 || areAccessesWanted() ? nullptr : allocateOnDeviceHeap(w[1]);
  if (memory == nullptr) memory = deviceMalloc(w[1]);
  *pointer<void*>(w[0]) = memory;
  return finish(caller, memory || w[1] == 0 ? kSuccess : kOutOfMemory);
}

uint64_t freeOnDevice(const Caller&, Words w) {
  deviceFree(pointer<void>(w[0]));
  return kSuccess;
}

uint64_t memcpyAsync(const Caller& caller, Words w) {
  if (int error = checkCopy(caller, w[0], w[1], w[3])) return finish(caller, error);
  return submitWork(caller, "cudaMemcpyAsync", w[4], [to = w[0], from = w[1], bytes = w[2]] {
    std::memcpy(pointer<void>(to), pointer<void>(from), bytes);
    noteWritten(to, bytes);
  });
}

/// Rows of a box in memory.
struct Rows {
  uint64_t address = 0, pitch = 0, slice = 0;
  std::byte* row(uint64_t y, uint64_t z) const { return pointer<std::byte>(address + y * pitch + z * slice); }
};

struct Box {
  uint64_t width = 0, height = 0, depth = 0;
};

uint64_t copyBox(const Caller& caller, const char* name, const Rows& to, const Rows& from, const Box& box,
                 uint64_t direction, uint64_t stream) {
  if (int error = checkCopy(caller, to.address, from.address, direction)) return finish(caller, error);
  if (box.width > to.pitch || box.width > from.pitch) return finish(caller, kInvalidValue);
  return submitWork(caller, name, stream, [=] {
    for (uint64_t z = 0; z < box.depth; ++z)
      for (uint64_t y = 0; y < box.height; ++y) {
        std::memcpy(to.row(y, z), from.row(y, z), box.width);
        noteWritten(reinterpret_cast<uint64_t>(to.row(y, z)), box.width);
      }
  });
}

uint64_t fillBox(const Caller& caller, const char* name, const Rows& to, int value, const Box& box, uint64_t stream) {
  if (isOwn(caller, to.address) || (box.width > to.pitch && box.height > 1)) return finish(caller, kInvalidValue);
  return submitWork(caller, name, stream, [=] {
    for (uint64_t z = 0; z < box.depth; ++z)
      for (uint64_t y = 0; y < box.height; ++y) {
        std::memset(to.row(y, z), value, box.width);
        noteWritten(reinterpret_cast<uint64_t>(to.row(y, z)), box.width);
      }
  });
}

uint64_t memcpy2DAsync(const Caller& caller, Words w) {
  return copyBox(caller, "cudaMemcpy2DAsync", {w[0], w[1], 0}, {w[2], w[3], 0}, {w[4], w[5], 1}, w[6], w[7]);
}

/// cudaMemcpy3DParms, whose members are all of 64 bits but the last.
struct Copy3D {
  struct Side {
    uint64_t array, x, y, z, address, pitch, width, height;
    Rows rows() const { return {address + x + (z * height + y) * pitch, pitch, pitch * height}; }
  };
  Side from, to;
  Box box;
  uint32_t direction;
};

uint64_t memcpy3DAsync(const Caller& caller, Words w) {
  Copy3D copy;
  std::memcpy(&copy, pointer<void>(w[0]), sizeof copy - 4);
  if (copy.from.array || copy.to.array) return finish(caller, kNotSupported);
  return copyBox(caller, "cudaMemcpy3DAsync", copy.to.rows(), copy.from.rows(), copy.box, copy.direction, w[1]);
}

uint64_t memsetAsync(const Caller& caller, Words w) {
  return fillBox(caller, "cudaMemsetAsync", {w[0], w[2], 0}, static_cast<int>(w[1]), {w[2], 1, 1}, w[3]);
}

uint64_t memset2DAsync(const Caller& caller, Words w) {
  return fillBox(caller, "cudaMemset2DAsync", {w[0], w[1], 0}, static_cast<int>(w[2]), {w[3], w[4], 1}, w[5]);
}

uint64_t memset3DAsync(const Caller& caller, Words w) {
  return fillBox(caller, "cudaMemset3DAsync", {w[0], w[1], w[1] * w[3]}, static_cast<int>(w[4]), {w[5], w[6], w[7]},
                 w[8]);
}

// --- streams and events

uint64_t streamCreate(const Caller& caller, Words w) {
  if (w[1] != kNonBlocking) return finish(caller, kInvalidValue);
  *pointer<uint64_t>(w[0]) = block(caller).createStream();
  return kSuccess;
}

uint64_t streamDestroy(const Caller& caller, Words w) {
  return finish(caller, block(caller).destroyStream(w[0]) ? kSuccess : kInvalidHandle);
}

uint64_t eventCreate(const Caller& caller, Words w) {
  if (w[1] != kDisableTiming) return finish(caller, kInvalidValue);
  *pointer<uint64_t>(w[0]) = block(caller).createEvent();
  return kSuccess;
}

uint64_t eventDestroy(const Caller& caller, Words w) {
  return finish(caller, block(caller).destroyEvent(w[0]) ? kSuccess : kInvalidHandle);
}

using Ordering = void (Nest::*)(NestedGrid&, const std::shared_ptr<DeviceStream>&, std::shared_ptr<DeviceEvent>);

uint64_t order(const Caller& caller, uint64_t streamHandle, uint64_t eventHandle, Ordering how) {
  auto stream = streamOf(caller, streamHandle);
  auto event = block(caller).event(eventHandle);
  if (!stream || !event) return finish(caller, kInvalidHandle);
  NestedGrid& grid = block(caller).grid();
  (grid.nest().*how)(grid, stream, std::move(event));
  return kSuccess;
}

uint64_t streamWaitEvent(const Caller& caller, Words w) { return order(caller, w[0], w[1], &Nest::wait); }
uint64_t eventRecord(const Caller& caller, Words w) { return order(caller, w[1], w[0], &Nest::record); }

// --- questions

uint64_t getLastError(const Caller& caller, Words) {
  const int error = block(caller).error(caller.thread);
  block(caller).clearError(caller.thread);
  return static_cast<uint64_t>(error);
}

uint64_t peekAtLastError(const Caller& caller, Words) {
  return static_cast<uint64_t>(block(caller).error(caller.thread));
}

uint64_t getErrorString(const Caller& caller, Words w) {
  return reinterpret_cast<uint64_t>(host(caller).errorText(static_cast<int>(w[0])));
}

uint64_t getErrorName(const Caller& caller, Words w) {
  return reinterpret_cast<uint64_t>(host(caller).errorName(static_cast<int>(w[0])));
}

uint64_t getDevice(const Caller& caller, Words w) {
  *pointer<int>(w[0]) = host(caller).device();
  return kSuccess;
}

uint64_t getDeviceCount(const Caller& caller, Words w) {
  *pointer<int>(w[0]) = host(caller).deviceCount();
  return kSuccess;
}

uint64_t deviceGetAttribute(const Caller& caller, Words w) {
  return finish(caller, host(caller).attribute(pointer<int>(w[0]), static_cast<int>(w[1]), static_cast<int>(w[2])));
}

uint64_t deviceGetLimit(const Caller& caller, Words w) {
  return finish(caller, host(caller).limit(pointer<uint64_t>(w[0]), static_cast<int>(w[1])));
}

/// Cache and shared memory configurations: there is only the default one.
uint64_t getConfiguration(const Caller&, Words w) {
  *pointer<int>(w[0]) = 0;
  return kSuccess;
}

uint64_t funcGetAttributes(const Caller& caller, Words w) {
  return finish(caller, host(caller).functionAttributes(pointer<std::byte>(w[0]), w[1]));
}

uint64_t occupancy(const Caller& caller, Words w) {
  return finish(caller, host(caller).occupancy(pointer<int>(w[0]), w[1], static_cast<int>(w[2]), w[3]));
}

uint64_t runtimeGetVersion(const Caller& caller, Words w) {
  *pointer<int>(w[0]) = host(caller).version();
  return kSuccess;
}

/// Names without the prefix: cuda in the programming guide, __cudaCDP2 in what nvcc makes of that.
constexpr DeviceFunction kFunctions[] = {
    {"GetParameterBuffer", "lll", getParameterBuffer},
    {"GetParameterBufferV2", "llddi", getParameterBufferV2},
    {"LaunchDevice", "illddil", launchDevice},
    {"LaunchDeviceV2", "ill", launchDeviceV2},
    {"Malloc", "ill", mallocOnDevice},
    {"Free", "il", freeOnDevice},
    {"MemcpyAsync", "illlil", memcpyAsync},
    {"Memcpy2DAsync", "illllllil", memcpy2DAsync},
    {"Memcpy3DAsync", "ill", memcpy3DAsync},
    {"MemsetAsync", "ilill", memsetAsync},
    {"Memset2DAsync", "illilll", memset2DAsync},
    {"Memset3DAsync", "ipiel", memset3DAsync},
    {"StreamCreateWithFlags", "ili", streamCreate},
    {"StreamDestroy", "il", streamDestroy},
    {"StreamWaitEvent", "illi", streamWaitEvent},
    {"EventCreateWithFlags", "ili", eventCreate},
    {"EventRecord", "ill", eventRecord},
    {"EventRecordWithFlags", "illi", eventRecord},
    {"EventDestroy", "il", eventDestroy},
    {"GetLastError", "i", getLastError},
    {"PeekAtLastError", "i", peekAtLastError},
    {"GetErrorString", "li", getErrorString},
    {"GetErrorName", "li", getErrorName},
    {"GetDevice", "il", getDevice},
    {"GetDeviceCount", "il", getDeviceCount},
    {"DeviceGetAttribute", "ilii", deviceGetAttribute},
    {"DeviceGetLimit", "ili", deviceGetLimit},
    {"DeviceGetCacheConfig", "il", getConfiguration},
    {"DeviceGetSharedMemConfig", "il", getConfiguration},
    {"FuncGetAttributes", "ill", funcGetAttributes},
    {"OccupancyMaxActiveBlocksPerMultiprocessor", "illil", occupancy},
    {"OccupancyMaxActiveBlocksPerMultiprocessorWithFlags", "illili", occupancy},
    {"RuntimeGetVersion", "il", runtimeGetVersion},
};

constexpr unsigned wordsOf(std::string_view signature) {
  unsigned words = 0;
  for (char letter : signature.substr(1)) words += letter == 'd' || letter == 'e' ? 3 : letter == 'p' ? 4 : 1;
  return words;
}
static_assert(std::ranges::all_of(kFunctions,
                                  [](const DeviceFunction& f) { return wordsOf(f.signature) <= kMostDeviceWords; }));

/// "cudaFree", "__cudaCDP2Free" and "__cudaCDP2Free_ptsz" are one function; empty for other names.
std::string_view plainName(std::string_view name) {
  for (std::string_view prefix : {"__cudaCDP2", "cuda"}) {
    if (!name.starts_with(prefix)) continue;
    name.remove_prefix(prefix.size());
    if (name.ends_with("_ptsz")) name.remove_suffix(5);
    return name;
  }
  return {};
}

}  // namespace

DeviceArgument deviceArgument(char letter) {
  switch (letter) {
    case 'i': return {1, 4};
    case 'd': return {3, 4};
    case 'p': return {4, 8};
    case 'e': return {3, 8};
    default: return {1, 8};
  }
}

std::span<const DeviceFunction> deviceFunctions() { return kFunctions; }

const DeviceFunction* findDeviceFunction(std::string_view name) {
  const std::string_view plain = plainName(name);
  const auto* found = std::ranges::find(kFunctions, plain, &DeviceFunction::name);
  return found == std::end(kFunctions) ? nullptr : found;
}

const char* removedDeviceFunction(std::string_view name) {
  if (plainName(name) != "DeviceSynchronize" && name != "__cudaDeviceSynchronizeDeprecationAvoidance") return nullptr;
  return "CUDA 12 removed cudaDeviceSynchronize() from device code: put what comes after the child grids into a kernel "
         "and launch that into the stream cudaStreamTailLaunch, which runs when this grid and its children are "
         "complete";
}

}  // namespace ordito::machine
