// Kernel launches, what a kernel needs, and how many of its blocks fit on a multiprocessor.
#include <algorithm>
#include <vector>

#include "base/kernel_name.hpp"
#include "runtime/context.hpp"
#include "runtime/registry.hpp"

using namespace ordito::runtime;

namespace {

/// Runs `body` with the function of the current context that stands behind a host function. A kernel of a library
/// (cudaLibraryGetKernel) stands for itself.
template <class Body>
cudaError_t withFunction(const void* hostFunction, Body&& body) {
  return call([&]() -> cudaError_t {
    CUfunction function = nullptr;
    const cudaError_t found = Registry::instance().function(hostFunction, &function);
    auto* kernel = static_cast<CUkernel>(const_cast<void*>(hostFunction));
    if (found != cudaSuccess && cuKernelGetFunction(&function, kernel) != CUDA_SUCCESS) return found;
    return toRuntime(body(function));
  });
}

/// Of launches that are refused and kernels that fault the driver tells. What fails before it comes to that is noted
/// where nobody sees the result: kernel<<<...>>>() drops it.
void noteFailure(const void* hostFunction, cudaError_t error) {
  const std::string symbol = Registry::instance().kernelSymbol(hostFunction);
  const bool isMissing = error == cudaErrorInvalidDeviceFunction && !symbol.empty();
  noteSilentFailure(symbol.empty() ? "?" : ordito::kernelName(symbol), error,
                    isMissing ? orditoLastErrorMessage() : "");
}

bool isToldByDriver(CUresult result) {
  return result != CUDA_ERROR_INVALID_HANDLE && result != CUDA_ERROR_INVALID_CONTEXT &&
         result != CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

cudaError_t launch(const void* hostFunction, dim3 grid, dim3 block, void** arguments, size_t sharedBytes,
                   cudaStream_t stream, bool cooperative) {
  const bool dropsResult = takeLaunchSyntax();
  bool isTold = false;
  const cudaError_t result = withFunction(hostFunction, [&](CUfunction function) {
    const unsigned gridSize[3] = {grid.x, grid.y, grid.z};
    const unsigned blockSize[3] = {block.x, block.y, block.z};
    int badConfiguration = 0;
    const CUresult launched = orditoLaunchKernel(function, gridSize, blockSize, sharedBytes, stream, arguments,
                                                 cooperative ? 1 : 0, &badConfiguration);
    isTold = isToldByDriver(launched);
    return launched == CUDA_ERROR_INVALID_VALUE && badConfiguration != 0 && !isCuda13() ? cudaErrorInvalidConfiguration
                                                                                        : toRuntime(launched);
  });
  if (result != cudaSuccess && dropsResult && !isTold) noteFailure(hostFunction, result);
  return result;
}

/// Attributes of an extended launch: those that change what runs are obeyed or refused, those that only steer
/// performance are taken.
struct LaunchAttributes {
  bool cooperative = false;
  const char* refused = nullptr;
};

LaunchAttributes readAttributes(const cudaLaunchConfig_t& config) {
  LaunchAttributes result;
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const cudaLaunchAttributeValue& value = config.attrs[i].val;
    switch (config.attrs[i].id) {
      case cudaLaunchAttributeCooperative: result.cooperative = value.cooperative != 0; break;
      case cudaLaunchAttributeClusterDimension:
        if (value.clusterDim.x * value.clusterDim.y * value.clusterDim.z > 1) result.refused = "thread block clusters";
        break;
      case cudaLaunchAttributeProgrammaticEvent:
      case cudaLaunchAttributeLaunchCompletionEvent: result.refused = "programmatic launch events"; break;
      case cudaLaunchAttributeDeviceUpdatableKernelNode: result.refused = "device-updatable kernel nodes"; break;
      default: break;
    }
  }
  return result;
}

/// Largest block that can run, as a fact of the kernel.
CUresult readAttributes(cudaFuncAttributes* attributes, CUfunction function) {
  struct Field {
    CUfunction_attribute attribute;
    int* value;
  };
  int shared = 0, constant = 0, local = 0;
  const Field fields[] = {
      {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &shared},
      {CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, &constant},
      {CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &local},
      {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &attributes->maxThreadsPerBlock},
      {CU_FUNC_ATTRIBUTE_NUM_REGS, &attributes->numRegs},
      {CU_FUNC_ATTRIBUTE_PTX_VERSION, &attributes->ptxVersion},
      {CU_FUNC_ATTRIBUTE_BINARY_VERSION, &attributes->binaryVersion},
      {CU_FUNC_ATTRIBUTE_CACHE_MODE_CA, &attributes->cacheModeCA},
      {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, &attributes->maxDynamicSharedSizeBytes},
      {CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, &attributes->preferredShmemCarveout},
  };
  for (const Field& field : fields)
    if (const CUresult got = cuFuncGetAttribute(field.value, field.attribute, function); got != CUDA_SUCCESS)
      return got;
  attributes->sharedSizeBytes = static_cast<size_t>(shared);
  attributes->constSizeBytes = static_cast<size_t>(constant);
  attributes->localSizeBytes = static_cast<size_t>(local);
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t sharedBytes,
                             cudaStream_t stream) {
  return launch(function, grid, block, arguments, sharedBytes, stream, false);
}

// nvcc 13 launches through a handle.
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t sharedBytes,
                               cudaStream_t stream) {
  return launch(kernel, grid, block, arguments, sharedBytes, stream, false);
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                        size_t sharedBytes, cudaStream_t stream) {
  return launch(function, grid, block, arguments, sharedBytes, stream, true);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
  if (config == nullptr || (config->numAttrs > 0 && config->attrs == nullptr)) return finish(cudaErrorInvalidValue);
  const LaunchAttributes attributes = readAttributes(*config);
  if (attributes.refused != nullptr) return unsupportedUse("cudaLaunchKernelExC", attributes.refused);
  return launch(function, config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes, config->stream,
                attributes.cooperative);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  if (attributes == nullptr) return finish(cudaErrorInvalidValue);
  *attributes = {};
  return withFunction(function, [&](CUfunction f) { return readAttributes(attributes, f); });
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  return withFunction(function, [&](CUfunction f) {
    return cuFuncSetAttribute(f, static_cast<CUfunction_attribute>(attribute), value);
  });
}

cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache config) {
  return withFunction(function,
                      [&](CUfunction f) { return cuFuncSetCacheConfig(f, static_cast<CUfunc_cache>(config)); });
}

cudaError_t cudaFuncSetSharedMemConfig(const void* function, cudaSharedMemConfig config) {
  return withFunction(function,
                      [&](CUfunction f) { return cuFuncSetSharedMemConfig(f, static_cast<CUsharedconfig>(config)); });
}

cudaError_t cudaFuncGetName(const char** name, const void* function) {
  if (name == nullptr) return finish(cudaErrorInvalidValue);
  return withFunction(function, [&](CUfunction f) { return cuFuncGetName(name, f); });
}

cudaError_t cudaFuncGetParamInfo(const void* function, size_t index, size_t* offset, size_t* size) {
  return withFunction(function, [&](CUfunction f) { return cuFuncGetParamInfo(f, index, offset, size); });
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* symbol) {
  if (function == nullptr) return finish(cudaErrorInvalidValue);
  return withFunction(symbol, [&](CUfunction f) {
    *function = f;
    return CUDA_SUCCESS;
  });
}

cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* symbol) {
  if (kernel == nullptr) return finish(cudaErrorInvalidValue);
  return finish(Registry::instance().handle(symbol, kernel));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int blockSize,
                                                          size_t dynamicSharedBytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, blockSize, dynamicSharedBytes,
                                                                cudaOccupancyDefault);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function, int blockSize,
                                                                   size_t dynamicSharedBytes, unsigned int flags) {
  if (blocks == nullptr) return finish(cudaErrorInvalidValue);
  return withFunction(function, [&](CUfunction f) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, f, blockSize, dynamicSharedBytes, flags);
  });
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* dynamicSharedBytes, const void* function, int blocks,
                                                      int blockSize) {
  if (dynamicSharedBytes == nullptr) return finish(cudaErrorInvalidValue);
  return withFunction(function, [&](CUfunction f) {
    return cuOccupancyAvailableDynamicSMemPerBlock(dynamicSharedBytes, f, blocks, blockSize);
  });
}

// From before double precision was everywhere: nothing to convert.
cudaError_t cudaSetDoubleForDevice(double* /*value*/) { return cudaSuccess; }
cudaError_t cudaSetDoubleForHost(double* /*value*/) { return cudaSuccess; }

cudaError_t cudaProfilerStart() {
  return call([] { return cuProfilerStart(); });
}

cudaError_t cudaProfilerStop() {
  return call([] { return cuProfilerStop(); });
}

}  // extern "C"
