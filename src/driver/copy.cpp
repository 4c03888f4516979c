// See copy.hpp. A side that is an allocation of ours is checked to its last byte: a copy past its end is
// CUDA_ERROR_INVALID_VALUE, as on a real device.
#include "driver/copy.hpp"

#include <algorithm>
#include <cstring>

#include "driver/array.hpp"
#include "driver/capture.hpp"
#include "driver/context.hpp"
#include "driver/device.hpp"
#include "driver/results.hpp"
#include "machine/listener.hpp"
#include "machine/memory.hpp"

namespace ordito::driver {

namespace {

using machine::MemoryKind;

std::byte* at(uint64_t address) { return reinterpret_cast<std::byte*>(address); }

/// Bytes from the first to the last that rows of `region` touch.
uint64_t span(const Region& region, const Extent& extent) {
  return (extent.depth - 1) * region.slice + (extent.height - 1) * region.pitch + extent.width;
}

struct SideCheck {
  CUresult result = CUDA_SUCCESS;
  bool pageable = false;
};

CUresult invalid(const std::string& message) { return remember(CUDA_ERROR_INVALID_VALUE, message); }

SideCheck check(const Region& region, Side side, const Extent& extent, const char* role) {
  uint64_t bytes = span(region, extent);
  const uint64_t left = machine::allocations().bytesFrom(region.base);
  if (left > 0) {
    if (bytes > left)
      return {invalid(fmt::format("the {} of a copy of {} bytes is {}, only {} bytes from its end", role, bytes,
                                  machine::describeAddress(region.base), left))};
    return {};
  }
  if (side == Side::Device)
    return {invalid(fmt::format("the {} {:#x} of a copy is no device memory: {}", role, region.base,
                                machine::describeAddress(region.base)))};
  if (region.base == 0) return {invalid(fmt::format("the {} of a copy is a null pointer", role))};
  return {CUDA_SUCCESS, true};
}

machine::RowsEvent::Side rowsOf(const Region& region) { return {region.base, region.pitch, region.slice}; }

void copyRows(const CopyRequest& r) {
  const Extent& e = r.extent;
  machine::raise(machine::RowsEvent{rowsOf(r.to), rowsOf(r.from), e.width, e.height, e.depth});
  bool flat = e.depth == 1 && (e.height == 1 || (r.to.pitch == e.width && r.from.pitch == e.width));
  if (flat) {
    std::memmove(at(r.to.base), at(r.from.base), e.width * e.height);
    return;
  }
  for (uint64_t z = 0; z < e.depth; ++z)
    for (uint64_t y = 0; y < e.height; ++y)
      std::memmove(at(r.to.base + z * r.to.slice + y * r.to.pitch),
                   at(r.from.base + z * r.from.slice + y * r.from.pitch), e.width);
}

template <class T>
void fillRow(std::byte* row, uint64_t bytes, uint32_t value) {
  auto* elements = reinterpret_cast<T*>(row);
  std::fill(elements, elements + bytes / sizeof(T), static_cast<T>(value));
}

void fillRows(const Region& to, const Extent& extent, uint32_t value, unsigned elementBytes) {
  machine::raise(machine::RowsEvent{rowsOf(to), {}, extent.width, extent.height, 1});
  for (uint64_t y = 0; y < extent.height; ++y) {
    std::byte* row = at(to.base + y * to.pitch);
    if (elementBytes == 1) std::memset(row, static_cast<int>(value & 0xff), extent.width);
    if (elementBytes == 2) fillRow<uint16_t>(row, extent.width, value);
    if (elementBytes == 4) fillRow<uint32_t>(row, extent.width, value);
  }
}

/// `isPromised`: by CUDA's rules the host may rely on the wait. `others`: streams that wait for the operation, too.
CUresult submit(Context& context, Operation operation, const std::shared_ptr<Stream>& stream, bool wait,
                bool isPromised, const std::vector<std::shared_ptr<Stream>>& others = {}) {
  if (!wait) {
    const Point point = stream->submit(std::move(operation));
    for (const auto& other : others) other->submitWait(point);
    return CUDA_SUCCESS;
  }
  stream->run(std::move(operation), isPromised);
  CUresult sticky = context.group.error();
  return sticky == CUDA_SUCCESS ? sticky : remember(sticky, context.group.errorMessage());
}

/// What a descriptor says of a side: where it is, and where in it the copy begins.
struct Described {
  CUmemorytype type;
  uint64_t host, device;
  CUarray array;
  uint64_t x, y, z;
  uint64_t pitch, height;  // 0: as the copy's extent
};

CUresult placeIn(const CUarray_st& array, const Described& d, const Extent& e, Region& region) {
  const bool isInside =
      d.x + e.width <= rowBytes(array) && d.y + e.height <= rows(array) && d.z + e.depth <= slices(array);
  if (!isInside) return invalid("a copy goes beyond the edge of an array");
  region = {array.memory, array.pitch, array.pitch * rows(array)};
  return CUDA_SUCCESS;
}

CUresult placeOf(const Described& d, const Extent& e, Region& region, Side& side) {
  region.pitch = d.pitch ? d.pitch : e.width;
  region.slice = region.pitch * (d.height ? d.height : e.height);
  switch (d.type) {
    case CU_MEMORYTYPE_HOST:
      region.base = d.host;
      side = Side::Host;
      break;
    case CU_MEMORYTYPE_DEVICE:
    case CU_MEMORYTYPE_UNIFIED:
      region.base = d.device;
      side = d.type == CU_MEMORYTYPE_DEVICE ? Side::Device : Side::Either;
      break;
    case CU_MEMORYTYPE_ARRAY:
      if (!isLive(d.array)) return CUDA_ERROR_INVALID_HANDLE;
      if (CUresult bad = placeIn(*d.array, d, e, region)) return bad;
      side = Side::Device;
      break;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
  if (region.pitch < d.x + e.width) return invalid("the pitch of a copy is smaller than its width");
  region.base += d.z * region.slice + d.y * region.pitch + d.x;
  return CUDA_SUCCESS;
}

CUresult requestFrom(const Described& to, const Described& from, CopyRequest& r) {
  if (r.extent.empty()) return CUDA_SUCCESS;
  if (CUresult bad = placeOf(from, r.extent, r.from, r.fromSide)) return bad;
  return placeOf(to, r.extent, r.to, r.toSide);
}

uint64_t number(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

}  // namespace

CUresult prepareCopy(const CopyRequest& request, Work& work, bool& pageable) {
  SideCheck to = check(request.to, request.toSide, request.extent, "destination");
  if (to.result) return to.result;
  SideCheck from = check(request.from, request.fromSide, request.extent, "source");
  if (from.result) return from.result;
  pageable = to.pageable || from.pageable;
  work = [request](std::string&) {
    copyRows(request);
    return CUDA_SUCCESS;
  };
  return CUDA_SUCCESS;
}

namespace {

uint64_t bytesOf(const Extent& e) { return e.width * e.height * e.depth; }

bool isDevices(uint64_t address) {
  const auto allocation = machine::allocations().find(address);
  return allocation && allocation->kind == MemoryKind::Device;
}

/// The default streams of other contexts with which a copy on a default stream is in order if it goes from one device
/// to another: those of the two contexts that have the memory (CUDA C++ Programming Guide, "Peer-to-Peer Memory Copy").
/// Streams that do not wait for them take no part, as was seen on two H200 with driver 580.
std::vector<std::shared_ptr<Stream>> defaultsBetween(const CopyRequest& r, const std::shared_ptr<Stream>& stream) {
  if (devices().size() < 2 || stream != stream->group().legacy()) return {};
  const auto to = machine::allocations().find(r.to.base), from = machine::allocations().find(r.from.base);
  const bool areDevices = to && from && to->kind == MemoryKind::Device && from->kind == MemoryKind::Device;
  if (!areDevices || to->device == from->device) return {};
  std::vector<std::shared_ptr<Stream>> others;
  for (const auto& side : {*to, *from})
    if (const auto& legacy = Context::of(side).group.legacy(); legacy != stream) others.push_back(legacy);
  return others;
}

/// So much of the host's memory is copied at the call, to a place of the driver's: the call returns before the copy is
/// made, and the host may use its memory again (the same page, for transfers from pageable memory).
constexpr uint64_t kMostStaged = 64 * 1024;

/// Listeners are to see what a copy reads and writes as one operation, so there it waits.
bool isStaged(const CopyRequest& r) {
  return bytesOf(r.extent) <= kMostStaged && isDevices(r.to.base) && !machine::allocations().find(r.from.base) &&
         !machine::hasListeners();
}

Work staged(const CopyRequest& request) {
  auto bytes = std::make_shared<std::vector<std::byte>>(bytesOf(request.extent));
  const Extent& e = request.extent;
  CopyRequest in = request, out = request;
  in.to = out.from = {number(bytes->data()), e.width, e.width * e.height};
  copyRows(in);
  return [bytes, out](std::string&) {
    copyRows(out);
    return CUDA_SUCCESS;
  };
}

/// Must the host wait for a copy that is called synchronous, or that reads or writes memory that CUDA does not know?
bool doesCallWait(const CopyRequest& r, bool synchronous, bool pageable) {
  const bool isInside = isDevices(r.to.base) && isDevices(r.from.base);
  return (synchronous && !isInside) || pageable;
}

/// Which calls return when the copy has been made (CUDA Runtime API, "API synchronization behavior"): synchronous ones
/// but for those inside the device, and asynchronous ones to memory that CUDA does not know. One from such memory has
/// only been staged.
bool doesHostWait(const CopyRequest& r, bool synchronous) {
  if (synchronous) return !isDevices(r.to.base) || !isDevices(r.from.base);
  return !machine::allocations().find(r.to.base);
}

}  // namespace

CUresult copy(Context& context, const CopyRequest& request, const std::shared_ptr<Stream>& stream, bool synchronous) {
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  if (request.extent.empty()) return CUDA_SUCCESS;
  bool pageable = false;
  Operation operation;
  if (CUresult bad = prepareCopy(request, operation.run, pageable)) return bad;
  auto node = [&] { return NodeTask{CU_GRAPH_NODE_TYPE_MEMCPY, request, operation.run}; };
  if (auto captured = capture(stream, node)) return *captured;
  operation.what = {.kind = machine::StreamEvent::Kind::Copy,
                    .to = request.to.base,
                    .from = request.from.base,
                    .bytes = bytesOf(request.extent)};
  const auto others = defaultsBetween(request, stream);
  for (const auto& other : others) operation.after.push_back(other->submitWait());
  const bool fromStage = isStaged(request);
  if (fromStage) operation.run = staged(request), operation.quick = true;
  return submit(context, std::move(operation), stream, !fromStage && doesCallWait(request, synchronous, pageable),
                doesHostWait(request, synchronous), others);
}

CUresult prepareFill(const Fill& request, Work& work) {
  const Region& to = request.to;
  const unsigned size = request.elementBytes;
  if (size != 1 && size != 2 && size != 4) return CUDA_ERROR_INVALID_VALUE;
  if (to.base % size || (request.extent.height > 1 && to.pitch % size))
    return invalid(fmt::format("the destination {:#x} of a memset is not aligned to {} bytes", to.base, size));
  SideCheck side = check(to, Side::Device, request.extent, "destination");
  if (side.result) return side.result;
  work = [request](std::string&) {
    fillRows(request.to, request.extent, request.value, request.elementBytes);
    return CUDA_SUCCESS;
  };
  return CUDA_SUCCESS;
}

CUresult fill(Context& context, const Fill& request, const std::shared_ptr<Stream>& stream, bool synchronous) {
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  if (request.extent.empty()) return CUDA_SUCCESS;
  Operation operation;
  if (CUresult bad = prepareFill(request, operation.run)) return bad;
  auto node = [&] { return NodeTask{CU_GRAPH_NODE_TYPE_MEMSET, request, operation.run}; };
  if (auto captured = capture(stream, node)) return *captured;
  operation.what = {.kind = machine::StreamEvent::Kind::Fill, .to = request.to.base, .bytes = bytesOf(request.extent)};
  // The host need not wait for a fill of device memory (the same page of the manual).
  return submit(context, std::move(operation), stream, synchronous, !isDevices(request.to.base));
}

CopyRequest linearCopy(uint64_t to, Side toSide, uint64_t from, Side fromSide, uint64_t bytes) {
  CopyRequest request;
  request.to.base = to;
  request.toSide = toSide;
  request.from.base = from;
  request.fromSide = fromSide;
  request.extent.width = bytes;
  return request;
}

CUresult requestFrom(const CUDA_MEMCPY2D& c, CopyRequest& r) {
  r.extent = {c.WidthInBytes, c.Height, 1};
  return requestFrom(
      Described{c.dstMemoryType, number(c.dstHost), c.dstDevice, c.dstArray, c.dstXInBytes, c.dstY, 0, c.dstPitch, 0},
      Described{c.srcMemoryType, number(c.srcHost), c.srcDevice, c.srcArray, c.srcXInBytes, c.srcY, 0, c.srcPitch, 0},
      r);
}

CUresult requestFrom(const CUDA_MEMCPY3D& c, CopyRequest& r) {
  r.extent = {c.WidthInBytes, c.Height, c.Depth};
  return requestFrom(Described{c.dstMemoryType, number(c.dstHost), c.dstDevice, c.dstArray, c.dstXInBytes, c.dstY,
                               c.dstZ, c.dstPitch, c.dstHeight},
                     Described{c.srcMemoryType, number(c.srcHost), c.srcDevice, c.srcArray, c.srcXInBytes, c.srcY,
                               c.srcZ, c.srcPitch, c.srcHeight},
                     r);
}

int pointerSides(uint64_t pointer) {
  constexpr int kHost = 1, kDevice = 2;
  auto allocation = machine::allocations().find(pointer);
  if (!allocation) return kHost;
  return allocation->kind == MemoryKind::Device ? kDevice : kHost | kDevice;
}

}  // namespace ordito::driver
