// cuFFT: one plan on several GPUs (cufftXt.h). Each holds a part of the data: whole transforms of a batch, or a slab of
// one, along the first dimension in natural order (CUFFT_XT_FORMAT_INPLACE) and along the second one in the order that
// a transform leaves behind (..._INPLACE_SHUFFLED); of one dimension a piece in both. All parts are memory of the
// process, so a transform gathers them, is done as with one GPU, and parts its result.
//
// Streams of other GPUs know nothing of the handle's: a call waits for what they have to do, and returns when it is
// done.
//
// cuFFT API, "Multiple GPU Data Organization": earlier GPUs hold one more where a size does not divide.
#include <algorithm>
#include <cstring>

#include "libs/cufft/handles.hpp"

namespace ordito::cufft {
namespace {

/// A box of rows: `planes` x `rows` x `bytes`, in memory that lies one behind the other.
struct Box {
  int64_t planes, rows, bytes;  // of a row
};

/// Which planes, or which rows of each plane, a GPU holds.
struct Part {
  int64_t first, count;
};
Part partOf(int64_t size, int64_t parts, int64_t i) {
  const int64_t each = size / parts, more = size % parts;
  return {i * each + std::min(i, more), each + (i < more ? 1 : 0)};
}

size_t elementSize(const Description& what) { return what.precision == Precision::Double ? 16 : 8; }

/// The whole data as a box. Real numbers lie as a transform in place needs them.
Box boxOf(const Description& what) {
  const int64_t row = what.lastComplex() * static_cast<int64_t>(elementSize(what));
  if (what.batch > 1) return {what.batch, 1, what.rows() * row};
  if (what.rank == 1) return {what.lastComplex(), 1, static_cast<int64_t>(elementSize(what))};
  if (what.rank == 2) return {what.size[0], what.lastComplex(), static_cast<int64_t>(elementSize(what))};
  return {what.size[0], what.size[1], row};
}

/// Only a single transform of more than one dimension is parted along the second.
bool isShuffled(const Description& what, int format) {
  return format == CUFFT_XT_FORMAT_INPLACE_SHUFFLED && what.batch == 1 && what.rank > 1;
}

/// What a plan on several GPUs knows of a descriptor.
struct Distribution {
  Box box;
  bool isShuffled;
  int64_t parts;

  Part part(int64_t i) const { return partOf(isShuffled ? box.rows : box.planes, parts, i); }
  int64_t bytes(int64_t i) const { return part(i).count * (isShuffled ? box.planes : box.rows) * box.bytes; }
  /// Calls with each run of bytes: where it is in the whole, where in the part, and how long it is.
  template <class Body>
  void eachRun(int64_t i, const Body& body) const {
    const auto [first, count] = part(i);
    if (!isShuffled) return body(first * box.rows * box.bytes, 0, bytes(i));
    for (int64_t plane = 0; plane < box.planes; ++plane)
      body((plane * box.rows + first) * box.bytes, plane * count * box.bytes, count * box.bytes);
  }
};

Distribution distributionOf(const Description& what, const cudaLibXtDesc& data) {
  return {boxOf(what), isShuffled(what, data.subFormat), data.descriptor->nGPUs};
}

using Parts = std::vector<char*>;
Parts partsOf(const cudaLibXtDesc& data) {
  Parts parts;
  for (int i = 0; i < data.descriptor->nGPUs; ++i) parts.push_back(static_cast<char*>(data.descriptor->data[i]));
  return parts;
}

void gather(const Distribution& from, const Parts& parts, char* whole) {
  for (size_t i = 0; i < parts.size(); ++i)
    from.eachRun(static_cast<int64_t>(i), [&](int64_t in, int64_t at, int64_t bytes) {
      std::memcpy(whole + in, parts[i] + at, static_cast<size_t>(bytes));
    });
}
void scatter(const char* whole, const Distribution& to, const Parts& parts) {
  for (size_t i = 0; i < parts.size(); ++i)
    to.eachRun(static_cast<int64_t>(i), [&](int64_t in, int64_t at, int64_t bytes) {
      std::memcpy(parts[i] + at, whole + in, static_cast<size_t>(bytes));
    });
}

size_t wholeBytes(const Box& box) { return static_cast<size_t>(box.planes * box.rows * box.bytes); }

bool isDescriptor(const cudaLibXtDesc* data) {
  return data && data->descriptor && data->library == LIB_FORMAT_CUFFT && data->descriptor->nGPUs > 0;
}

/// A copy of the handle of a plan on several GPUs.
cufftResult findSeveral(cufftHandle number, Handle* handle) {
  const cufftResult found = Handles::all().with(number, [&](const Handle& it) {
    *handle = it;
    return it.plan && !it.devices.empty() ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
  });
  return found;
}

void copyParts(const Description& what, void* to, const void* from, cufftXtCopyType type) {
  const auto* source = static_cast<const cudaLibXtDesc*>(from);
  const auto* target = static_cast<const cudaLibXtDesc*>(to);
  if (type == CUFFT_COPY_HOST_TO_DEVICE)
    return scatter(static_cast<const char*>(from), distributionOf(what, *target), partsOf(*target));
  const Distribution part = distributionOf(what, *source);
  if (type == CUFFT_COPY_DEVICE_TO_HOST) return gather(part, partsOf(*source), static_cast<char*>(to));
  std::vector<char> whole(wholeBytes(part.box));
  gather(part, partsOf(*source), whole.data());
  scatter(whole.data(), distributionOf(what, *target), partsOf(*target));
}

/// The format a transform leaves its data in.
int otherFormat(int format) {
  return format == CUFFT_XT_FORMAT_INPLACE ? CUFFT_XT_FORMAT_INPLACE_SHUFFLED : CUFFT_XT_FORMAT_INPLACE;
}

/// Waits for the legacy streams of the plan's GPUs, and so for their blocking ones.
CUresult awaitGpus(const std::vector<int>& devices) {
  for (const int device : devices) {
    CUcontext context = nullptr;
    if (const CUresult failed = cuDevicePrimaryCtxRetain(&context, device)) return failed;
    CUresult result = cuCtxPushCurrent(context);
    if (result == CUDA_SUCCESS) {
      result = cuStreamSynchronize(nullptr);
      cuCtxPopCurrent(nullptr);
    }
    cuDevicePrimaryCtxRelease(device);
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

/// Runs the task in the handle's stream; between what the GPUs did before and will do, if it is not captured.
CUresult runAlone(const Handle& handle, const char* name, std::function<void()> task, libs::Work work = {}) {
  if (libs::isCaptured(handle.stream)) return libs::enqueue(handle.stream, name, std::move(task), work);
  if (const CUresult failed = awaitGpus(handle.devices)) return failed;
  const CUresult queued = libs::enqueue(handle.stream, name, std::move(task), work);
  return queued == CUDA_SUCCESS ? libs::await(handle.stream) : queued;
}

/// `form`: what the function's name says; none: whatever the plan is for.
cufftResult executeSeveral(cufftHandle number, cudaLibXtDesc* input, cudaLibXtDesc* output, int direction,
                           std::optional<Form> form, Precision precision) {
  Handle handle;
  if (const cufftResult found = findSeveral(number, &handle)) return found;
  const Description& what = handle.plan->description();
  if (form && (*form != what.form || precision != what.precision)) return CUFFT_INVALID_PLAN;
  if (!isDescriptor(input) || !isDescriptor(output) || input->descriptor->nGPUs != output->descriptor->nGPUs)
    return CUFFT_INVALID_VALUE;
  if (what.form == Form::Complex && direction != CUFFT_FORWARD && direction != CUFFT_INVERSE)
    return CUFFT_INVALID_VALUE;
  const Distribution from = distributionOf(what, *input);
  output->subFormat = otherFormat(input->subFormat);
  const Distribution to = distributionOf(what, *output);
  for (int i = 0; i < output->descriptor->nGPUs; ++i) output->descriptor->size[i] = static_cast<size_t>(to.bytes(i));
  const auto task = [plan = handle.plan, from, to, source = partsOf(*input), target = partsOf(*output),
                     isInverse = direction == CUFFT_INVERSE] {
    std::vector<char> whole(wholeBytes(from.box));
    gather(from, source, whole.data());
    plan->transform(whole.data(), whole.data(), isInverse);
    scatter(whole.data(), to, target);
  };
  return statusOf(runAlone(handle, "cufftXtExecDescriptor", task, {what.operations(), what.bytes()}));
}

}  // namespace
}  // namespace ordito::cufft

using namespace ordito::cufft;

extern "C" {

cufftResult cufftXtSetGPUs(cufftHandle plan, int count, int* devices) {
  int known = 0;
  if (!ordito::libs::hasContext() || cuDeviceGetCount(&known) != CUDA_SUCCESS) return CUFFT_SETUP_FAILED;
  const bool areMany = count >= 2 && count <= MAX_CUDA_DESCRIPTOR_GPUS && devices;
  const bool areKnown =
      areMany && std::all_of(devices, devices + count, [&](int device) { return device >= 0 && device < known; });
  return Handles::all().with(plan, [&](Handle& handle) {
    if (handle.plan) return CUFFT_INVALID_PLAN;
    if (!areMany) return CUFFT_INVALID_VALUE;
    if (!areKnown) return CUFFT_INVALID_DEVICE;
    handle.devices.assign(devices, devices + count);
    return CUFFT_SUCCESS;
  });
}

cufftResult cufftXtMalloc(cufftHandle plan, cudaLibXtDesc** data, cufftXtSubFormat format) {
  Handle handle;
  if (const cufftResult found = findSeveral(plan, &handle)) return found;
  if (!data) return CUFFT_INVALID_VALUE;
  const Description& what = handle.plan->description();
  if (what.input || what.output || what.precision == Precision::Half || what.precision == Precision::Bfloat16)
    return CUFFT_NOT_SUPPORTED;
  const auto parts = static_cast<int>(handle.devices.size());
  auto owned = std::make_unique<cudaXtDesc>();
  *owned = {};
  owned->nGPUs = parts;
  auto made = std::make_unique<cudaLibXtDesc>();
  *made = {0, owned.get(), LIB_FORMAT_CUFFT,
           format == CUFFT_XT_FORMAT_INPLACE_SHUFFLED ? format : CUFFT_XT_FORMAT_INPLACE, nullptr};
  // The same memory holds both formats.
  const Distribution natural{boxOf(what), false, parts},
      shuffled{boxOf(what), isShuffled(what, CUFFT_XT_FORMAT_INPLACE_SHUFFLED), parts};
  for (int i = 0; i < parts; ++i) {
    const auto bytes = static_cast<size_t>(std::max<int64_t>({natural.bytes(i), shuffled.bytes(i), 1}));
    CUdeviceptr memory = 0;
    if (cuMemAlloc(&memory, bytes) != CUDA_SUCCESS) {
      for (int done = 0; done < i; ++done) cuMemFree(reinterpret_cast<CUdeviceptr>(owned->data[done]));
      return CUFFT_ALLOC_FAILED;
    }
    owned->GPUs[i] = handle.devices[static_cast<size_t>(i)];
    owned->data[i] = reinterpret_cast<void*>(memory);
    owned->size[i] = static_cast<size_t>(natural.bytes(i));
  }
  made->descriptor = owned.release();
  *data = made.release();
  return CUFFT_SUCCESS;
}

cufftResult cufftXtFree(cudaLibXtDesc* data) {
  if (!isDescriptor(data)) return CUFFT_INVALID_VALUE;
  for (int i = 0; i < data->descriptor->nGPUs; ++i) cuMemFree(reinterpret_cast<CUdeviceptr>(data->descriptor->data[i]));
  delete data->descriptor;
  delete data;
  return CUFFT_SUCCESS;
}

/// The host has its data in natural order; a copy between descriptors brings it into that order.
cufftResult cufftXtMemcpy(cufftHandle plan, void* to, void* from, cufftXtCopyType type) {
  Handle handle;
  if (const cufftResult found = findSeveral(plan, &handle)) return found;
  auto *target = static_cast<cudaLibXtDesc*>(to), *source = static_cast<cudaLibXtDesc*>(from);
  const bool toDevice = type != CUFFT_COPY_DEVICE_TO_HOST, fromDevice = type != CUFFT_COPY_HOST_TO_DEVICE;
  if (type < CUFFT_COPY_HOST_TO_DEVICE || type > CUFFT_COPY_DEVICE_TO_DEVICE) return CUFFT_INVALID_TYPE;
  if (!to || !from || (toDevice && !isDescriptor(target)) || (fromDevice && !isDescriptor(source)))
    return CUFFT_INVALID_VALUE;
  if (type == CUFFT_COPY_DEVICE_TO_DEVICE) target->subFormat = CUFFT_XT_FORMAT_INPLACE;
  return statusOf(
      runAlone(handle, "cufftXtMemcpy", [=, plan = handle.plan] { copyParts(plan->description(), to, from, type); }));
}

cufftResult cufftXtExecDescriptor(cufftHandle plan, cudaLibXtDesc* input, cudaLibXtDesc* output, int direction) {
  return executeSeveral(plan, input, output, direction, std::nullopt, Precision::Single);
}
cufftResult cufftXtExecDescriptorC2C(cufftHandle plan, cudaLibXtDesc* input, cudaLibXtDesc* output, int direction) {
  return executeSeveral(plan, input, output, direction, Form::Complex, Precision::Single);
}
cufftResult cufftXtExecDescriptorZ2Z(cufftHandle plan, cudaLibXtDesc* input, cudaLibXtDesc* output, int direction) {
  return executeSeveral(plan, input, output, direction, Form::Complex, Precision::Double);
}
cufftResult cufftXtExecDescriptorR2C(cufftHandle plan, cudaLibXtDesc* input, cudaLibXtDesc* output) {
  return executeSeveral(plan, input, output, CUFFT_FORWARD, Form::RealToComplex, Precision::Single);
}
cufftResult cufftXtExecDescriptorD2Z(cufftHandle plan, cudaLibXtDesc* input, cudaLibXtDesc* output) {
  return executeSeveral(plan, input, output, CUFFT_FORWARD, Form::RealToComplex, Precision::Double);
}
cufftResult cufftXtExecDescriptorC2R(cufftHandle plan, cudaLibXtDesc* input, cudaLibXtDesc* output) {
  return executeSeveral(plan, input, output, CUFFT_INVERSE, Form::ComplexToReal, Precision::Single);
}
cufftResult cufftXtExecDescriptorZ2D(cufftHandle plan, cudaLibXtDesc* input, cudaLibXtDesc* output) {
  return executeSeveral(plan, input, output, CUFFT_INVERSE, Form::ComplexToReal, Precision::Double);
}

}  // extern "C"
