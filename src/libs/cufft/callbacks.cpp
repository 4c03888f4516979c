// See callbacks.hpp.
#include "libs/cufft/callbacks.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "driver/extensions.hpp"
#include "libs/cufft/handles.hpp"
#include "ordito/cufft_callbacks.h"

namespace ordito::cufft {
namespace {

bool isLoad(cufftXtCallbackType type) { return type < CUFFT_CB_ST_COMPLEX; }

cufftXtCallbackType typeOf(const Description& what, bool isInput) {
  if (what.precision == Precision::Half || what.precision == Precision::Bfloat16) return CUFFT_CB_UNDEFINED;
  const bool isReal = what.form == (isInput ? Form::RealToComplex : Form::ComplexToReal);
  const int kind = (isReal ? 2 : 0) + (what.precision == Precision::Double ? 1 : 0);
  return static_cast<cufftXtCallbackType>(kind + (isInput ? CUFFT_CB_LD_COMPLEX : CUFFT_CB_ST_COMPLEX));
}

size_t bytesOf(cufftXtCallbackType type) {
  constexpr std::array<size_t, 4> kBytes{8, 16, 4, 8};
  return kBytes[static_cast<size_t>(type) % 4];
}

std::string kernelName(cufftXtCallbackType type) {
  return std::string(isLoad(type) ? "orditoFftLoad" : "orditoFftStore") + "CZRD"[type % 4];
}

/// The names that a callback may have: its parameters are the same for all but the element.
std::vector<std::string> namesOf(const std::string& symbol, cufftXtCallbackType type) {
  constexpr const char* kElement[] = {"6float2", "7double2", "f", "d"};
  const std::string rest = isLoad(type) ? "S_S_" : std::string(kElement[type % 4]) + "S_S_";
  return libs::namesOf(symbol, {"Pvy" + rest, "Pvm" + rest});  // unsigned long long, size_t
}

/// The program's function of this name, with or without what C++ adds to it, and the kernel that calls it; null if the
/// code has none.
std::shared_ptr<const libs::LinkedModule> linkCallback(const std::string& symbol, const void* image, size_t bytes,
                                                       cufftXtCallbackType type) {
  libs::DeviceCode code;
  if (!code.add(image, bytes)) return nullptr;
  const auto function = code.find(namesOf(symbol, type));
  if (!function) return nullptr;
  code.add(callbackKernel(function->name, type));
  auto module = std::make_shared<const libs::LinkedModule>(code);
  return module->function(kCallbackKernel) ? module : nullptr;
}

/// Memory for packed elements, from and for the stream.
class StreamMemory {
 public:
  StreamMemory(CUstream stream, size_t bytes) : stream_(stream) {
    result_ = cuMemAllocAsync(&memory_, std::max<size_t>(bytes, 1), stream);
  }
  ~StreamMemory() {
    if (memory_) cuMemFreeAsync(memory_, stream_);
  }
  StreamMemory(const StreamMemory&) = delete;
  StreamMemory& operator=(const StreamMemory&) = delete;
  CUresult result() const { return result_; }
  char* data() const { return reinterpret_cast<char*>(memory_); }

 private:
  CUstream stream_;
  CUdeviceptr memory_ = 0;
  CUresult result_;
};

/// One side of a transform: elements in the program's layout, and packed.
struct Side {
  cufftXtCallbackType type;
  Places places;
  void* data;

  /// By the callback, or by a task that copies.
  CUresult move(CUstream stream, const Callbacks& callbacks, char* packed) const {
    const auto found = callbacks.all.find(type);
    if (found == callbacks.all.end()) return copy(stream, packed);
    OrditoFftPlaces spread{};
    spread.count = static_cast<unsigned long long>(places.count()), spread.batchStep = places.batchStep;
    std::copy(places.size.begin(), places.size.end(), spread.size);
    std::copy(places.step.begin(), places.step.end(), spread.step);
    const Callback& callback = found->second;
    void *function = reinterpret_cast<void*>(callback.function), *from = data, *info = callback.info, *to = packed;
    // The same values, as one structure or one by one.
    void* together[] = {&function, &from, &spread, &info, &to};
    void* apart[] = {
        &function,         &from,           &spread.count,   &spread.size[0], &spread.size[1], &spread.size[2],
        &spread.batchStep, &spread.step[0], &spread.step[1], &spread.step[2], &info,           &to};
    constexpr unsigned kThreads = 256;
    const auto shared = callbacks.sharedBytes.find(type);
    return cuLaunchKernel(callback.kernel, static_cast<unsigned>((spread.count + kThreads - 1) / kThreads), 1, 1,
                          kThreads, 1, 1, shared == callbacks.sharedBytes.end() ? 0 : shared->second, stream,
                          callback.module ? apart : together, nullptr);
  }

 private:
  CUresult copy(CUstream stream, char* packed) const {
    return libs::enqueue(stream, "cufft packing", [side = *this, packed] {
      const size_t bytes = bytesOf(side.type);
      side.places.each([&](int64_t i, int64_t at) {
        char* const inside = packed + i * static_cast<int64_t>(bytes);
        char* const outside = static_cast<char*>(side.data) + at * static_cast<int64_t>(bytes);
        isLoad(side.type) ? std::memcpy(inside, outside, bytes) : std::memcpy(outside, inside, bytes);
      });
    });
  }
};

bool isCallbackType(cufftXtCallbackType type) { return type >= CUFFT_CB_LD_COMPLEX && type < CUFFT_CB_UNDEFINED; }

}  // namespace

bool fits(const Description& what, cufftXtCallbackType type) {
  return type == typeOf(what, true) || type == typeOf(what, false);
}

CUresult executeWithCallbacks(CUstream stream, const char* name, const Callbacks& callbacks, const Description& what,
                              const void* from, void* to, bool isInverse) {
  const bool isInPlace = from == to;
  const Side input{typeOf(what, true), placesOf(what, true, isInPlace), const_cast<void*>(from)};
  const Side output{typeOf(what, false), placesOf(what, false, isInPlace), to};
  const StreamMemory in(stream, static_cast<size_t>(input.places.count()) * bytesOf(input.type));
  const StreamMemory out(stream, static_cast<size_t>(output.places.count()) * bytesOf(output.type));
  if (in.result() != CUDA_SUCCESS || out.result() != CUDA_SUCCESS) return CUDA_ERROR_OUT_OF_MEMORY;
  CUresult result = input.move(stream, callbacks, in.data());
  if (result == CUDA_SUCCESS)
    result = libs::enqueue(stream, name,
                           [plan = callbacks.packed, source = in.data(), target = out.data(), isInverse] {
                             plan->transform(source, target, isInverse);
                           },
                           {what.operations(), what.bytes()});
  return result == CUDA_SUCCESS ? output.move(stream, callbacks, out.data()) : result;
}

}  // namespace ordito::cufft

using namespace ordito::cufft;

extern "C" {

/// `callbacks` and `info` are arrays with one for each GPU.
cufftResult cufftXtSetCallback(cufftHandle plan, void** callbacks, cufftXtCallbackType type, void** info) {
  if (!callbacks || !callbacks[0] || !isCallbackType(type)) return CUFFT_INVALID_VALUE;
  if (!ordito::libs::hasContext()) return CUFFT_SETUP_FAILED;
  Callback callback{nullptr, reinterpret_cast<CUdeviceptr>(callbacks[0]), info ? info[0] : nullptr, nullptr};
  if (orditoKernelBeside(&callback.kernel, callback.function, kernelName(type).c_str()) != CUDA_SUCCESS) {
    orditoTellOnce("cufftXtSetCallback",
                   "cufftXtSetCallback: the callback is no address of a device function of a program that was compiled "
                   "with Ordito's cufftXt.h; recompile it with `ordito nvcc`, or use cufftXtSetJITCallback");
    return CUFFT_INVALID_VALUE;
  }
  return Handles::all().with(plan, [&](Handle& handle) {
    if (!handle.plan || !handle.devices.empty()) return CUFFT_INVALID_PLAN;
    if (!fits(handle.plan->description(), type)) return CUFFT_INVALID_TYPE;
    handle.callbacks.all[type] = callback;
    return CUFFT_SUCCESS;
  });
}

cufftResult cufftXtClearCallback(cufftHandle plan, cufftXtCallbackType type) {
  return Handles::all().with(plan, [&](Handle& handle) {
    const auto found = handle.callbacks.all.find(type);
    if (found == handle.callbacks.all.end()) return CUFFT_INVALID_TYPE;
    if (found->second.module) return CUFFT_NOT_SUPPORTED;  // as on a GPU
    handle.callbacks.all.erase(found);
    return CUFFT_SUCCESS;
  });
}

cufftResult cufftXtSetCallbackSharedSize(cufftHandle plan, cufftXtCallbackType type, size_t bytes) {
  if (!isCallbackType(type) || bytes > 16384) return CUFFT_INVALID_VALUE;
  return Handles::all().with(plan, [&](Handle& handle) {
    handle.callbacks.sharedBytes[type] = static_cast<unsigned>(bytes);
    return CUFFT_SUCCESS;
  });
}

/// Before the plan is made. The code is PTX, or a fat binary with PTX.
cufftResult __cufftXtSetJITCallback_12_7(cufftHandle plan, const char* symbol, const void* code, size_t bytes,
                                         cufftXtCallbackType type, void** info) {
  if (!symbol || !code || bytes == 0 || !isCallbackType(type)) return CUFFT_INVALID_VALUE;
  if (!ordito::libs::hasContext()) return CUFFT_SETUP_FAILED;
  const auto module = linkCallback(symbol, code, bytes, type);
  if (!module) {
    orditoTellOnce(
        "cufftXtSetJITCallback",
        "cufftXtSetJITCallback: the code has no PTX, or no function of that name with a callback's parameters");
    return CUFFT_INVALID_VALUE;
  }
  return Handles::all().with(plan, [&](Handle& handle) {
    if (handle.plan) return CUFFT_INVALID_PLAN;
    handle.callbacks.all[type] = {module->function(kCallbackKernel), 0, info ? info[0] : nullptr, module};
    return CUFFT_SUCCESS;
  });
}

}  // extern "C"
