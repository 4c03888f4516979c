// Driver API: launches, old and new, and occupancy.
#include <algorithm>
#include <cstring>

#include "base/thread_state.hpp"
#include "driver/api.hpp"
#include "driver/extensions.hpp"
#include "driver/launch.hpp"
#include "machine/listener.hpp"
#include "machine/occupancy.hpp"

using namespace ordito::driver;
using ordito::machine::Dim3;

namespace {

struct Shape {
  Dim3 grid, block;
  size_t sharedBytes;
};

CUresult start(CUfunction handle, const Shape& shape, CUstream streamHandle, void** parameters, void** extra,
               bool cooperative, bool* badConfiguration = nullptr) {
  ORDITO_CONTEXT(context);
  Function* function = functionFrom(handle);
  if (!function) return CUDA_ERROR_INVALID_HANDLE;
  ORDITO_STREAM(stream, context, streamHandle);
  // CUDA C++ guide, "Stream and Event Behavior": a launch into another device's stream fails.
  if (&stream->group() != &context->group) return CUDA_ERROR_INVALID_HANDLE;
  LaunchRequest request;
  request.function = function;
  request.grid = shape.grid;
  request.block = shape.block;
  request.sharedBytes = shape.sharedBytes;
  request.stream = std::move(stream);
  request.cooperative = cooperative;
  auto gathered = gatherParameters(*function, parameters, extra);
  if (!gathered) return remember(gathered.error());
  request.parameters = std::move(*gathered);
  return launch(std::move(request), badConfiguration);
}

CUresult startOld(CUfunction handle, int width, int height, CUstream stream) {
  Function* function = functionFrom(handle);
  if (!function) return CUDA_ERROR_INVALID_HANDLE;
  auto& old = function->oldLaunch;
  old.parameters.resize(function->kernel.parameterBytes);
  size_t bytes = old.parameters.size();
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, old.parameters.data(), CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  Shape shape{{static_cast<unsigned>(width), static_cast<unsigned>(height), 1},
              {old.block[0], old.block[1], old.block[2]},
              old.sharedBytes};
  return start(handle, shape, stream, nullptr, extra, false);
}

CUresult setOldParameter(CUfunction handle, int offset, const void* data, unsigned bytes) {
  Function* function = functionFrom(handle);
  if (!function) return CUDA_ERROR_INVALID_HANDLE;
  auto& parameters = function->oldLaunch.parameters;
  parameters.resize(function->kernel.parameterBytes);
  if (offset < 0 || !data || static_cast<size_t>(offset) + bytes > parameters.size()) return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(parameters.data() + offset, data, bytes);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuLaunchKernel(CUfunction function, unsigned int gridX, unsigned int gridY, unsigned int gridZ,
                        unsigned int blockX, unsigned int blockY, unsigned int blockZ, unsigned int sharedBytes,
                        CUstream stream, void** parameters, void** extra) {
  return start(function, {{gridX, gridY, gridZ}, {blockX, blockY, blockZ}, sharedBytes}, stream, parameters, extra,
               false);
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int gridX, unsigned int gridY, unsigned int gridZ,
                                   unsigned int blockX, unsigned int blockY, unsigned int blockZ,
                                   unsigned int sharedBytes, CUstream stream, void** parameters) {
  return start(function, {{gridX, gridY, gridZ}, {blockX, blockY, blockZ}, sharedBytes}, stream, parameters, nullptr,
               true);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters, void** extra) {
  if (!config || (config->numAttrs && !config->attrs)) return CUDA_ERROR_INVALID_VALUE;
  bool cooperative = false;
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const CUlaunchAttribute& attribute = config->attrs[i];
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) cooperative = attribute.value.cooperative != 0;
    if (attribute.id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) continue;
    const auto& cluster = attribute.value.clusterDim;
    if (cluster.x > 1 || cluster.y > 1 || cluster.z > 1)
      return remember(CUDA_ERROR_NOT_SUPPORTED, "thread block clusters are not supported");
  }
  Shape shape{{config->gridDimX, config->gridDimY, config->gridDimZ},
              {config->blockDimX, config->blockDimY, config->blockDimZ},
              config->sharedMemBytes};
  return start(function, shape, config->hStream, parameters, extra, cooperative);
}

CUresult orditoLaunchKernel(CUfunction function, const unsigned int grid[3], const unsigned int block[3],
                            size_t sharedBytes, CUstream stream, void** parameters, int cooperative,
                            int* badConfiguration) {
  bool bad = false;
  CUresult result = start(function, {{grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]}, sharedBytes}, stream,
                          parameters, nullptr, cooperative != 0, &bad);
  if (badConfiguration) *badConfiguration = bad;
  return result;
}

const char* orditoLastErrorMessage() {
  struct MessageInUse;
  auto& text = ordito::threadState<std::string, MessageInUse>();
  text = lastMessage();
  Context* context = nullptr;
  if (currentContextEvenBroken(context) == CUDA_SUCCESS && context->group.error() != CUDA_SUCCESS)
    text = context->group.errorMessage();
  return text.c_str();
}

void orditoProfileFlush() { ordito::machine::flushListeners(); }

// --- launches before CUDA 4.0

CUresult cuFuncSetBlockShape(CUfunction handle, int x, int y, int z) {
  Function* function = functionFrom(handle);
  if (!function) return CUDA_ERROR_INVALID_HANDLE;
  if (x < 1 || y < 1 || z < 1) return CUDA_ERROR_INVALID_VALUE;
  function->oldLaunch.block[0] = static_cast<unsigned>(x);
  function->oldLaunch.block[1] = static_cast<unsigned>(y);
  function->oldLaunch.block[2] = static_cast<unsigned>(z);
  return CUDA_SUCCESS;
}

CUresult cuFuncSetSharedSize(CUfunction handle, unsigned int bytes) {
  Function* function = functionFrom(handle);
  if (!function) return CUDA_ERROR_INVALID_HANDLE;
  function->oldLaunch.sharedBytes = bytes;
  return CUDA_SUCCESS;
}

CUresult cuParamSetSize(CUfunction handle, unsigned int bytes) {
  Function* function = functionFrom(handle);
  if (!function) return CUDA_ERROR_INVALID_HANDLE;
  return bytes <= function->kernel.parameterBytes ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuParamSeti(CUfunction function, int offset, unsigned int value) {
  return setOldParameter(function, offset, &value, sizeof value);
}
CUresult cuParamSetf(CUfunction function, int offset, float value) {
  return setOldParameter(function, offset, &value, sizeof value);
}
CUresult cuParamSetv(CUfunction function, int offset, void* data, unsigned int bytes) {
  return setOldParameter(function, offset, data, bytes);
}
CUresult cuLaunch(CUfunction function) { return startOld(function, 1, 1, nullptr); }
CUresult cuLaunchGrid(CUfunction function, int width, int height) { return startOld(function, width, height, nullptr); }
CUresult cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream) {
  return startOld(function, width, height, stream);
}

// --- occupancy

namespace {

uint32_t sharedOf(const Function& function, size_t dynamicBytes) {
  size_t total = dynamicBytes ? function.layout.dynamicSharedOffset + dynamicBytes : function.layout.staticSharedBytes;
  return static_cast<uint32_t>(std::min<size_t>(total, ~0u));
}

const ordito::machine::GpuDescription& gpuOf(const Function& function) { return function.module.context.device.gpu; }

}  // namespace

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction handle, int blockSize,
                                                     size_t dynamicShared) {
  Function* function = functionFrom(handle);
  if (!function) return CUDA_ERROR_INVALID_HANDLE;
  if (!blocks || blockSize <= 0) return CUDA_ERROR_INVALID_VALUE;
  *blocks = 0;
  if (static_cast<uint32_t>(blockSize) > function->maxThreads()) return CUDA_SUCCESS;
  *blocks = static_cast<int>(
      ordito::machine::occupancy(gpuOf(*function), {static_cast<uint32_t>(blockSize), function->registers(),
                                                    sharedOf(*function, dynamicShared)})
          .blocks);
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function, int blockSize,
                                                              size_t dynamicShared, unsigned int) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, blockSize, dynamicShared);
}

CUresult cuOccupancyMaxPotentialBlockSize(int* minGrid, int* blockSize, CUfunction handle,
                                          CUoccupancyB2DSize sharedForBlock, size_t dynamicShared, int blockLimit) {
  Function* function = functionFrom(handle);
  if (!function) return CUDA_ERROR_INVALID_HANDLE;
  if (!minGrid || !blockSize || blockLimit < 0) return CUDA_ERROR_INVALID_VALUE;
  uint32_t limit = function->maxThreads();
  if (blockLimit > 0) limit = std::min(limit, static_cast<uint32_t>(blockLimit));
  auto best = ordito::machine::bestBlockSize(gpuOf(*function), function->registers(), limit, [&](uint32_t size) {
    return sharedOf(*function, sharedForBlock ? sharedForBlock(static_cast<int>(size)) : dynamicShared);
  });
  *minGrid = static_cast<int>(best.gridSize);
  *blockSize = static_cast<int>(best.blockSize);
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* minGrid, int* blockSize, CUfunction function,
                                                   CUoccupancyB2DSize sharedForBlock, size_t dynamicShared,
                                                   int blockLimit, unsigned int) {
  return cuOccupancyMaxPotentialBlockSize(minGrid, blockSize, function, sharedForBlock, dynamicShared, blockLimit);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, CUfunction handle, int blocks, int blockSize) {
  Function* function = functionFrom(handle);
  if (!function) return CUDA_ERROR_INVALID_HANDLE;
  if (!bytes || blocks <= 0 || blockSize <= 0) return CUDA_ERROR_INVALID_VALUE;
  const auto& gpu = gpuOf(*function);
  size_t share = gpu.sharedPerMultiprocessor / static_cast<unsigned>(blocks);
  share = share / gpu.sharedAllocationUnit * gpu.sharedAllocationUnit;
  size_t taken = function->layout.dynamicSharedOffset + gpu.sharedReservedPerBlock;
  size_t most = function->maxDynamicShared();
  *bytes = share > taken ? std::min(share - taken, most) : 0;
  return CUDA_SUCCESS;
}

namespace {

/// Blocks of a cluster of a launch; 0 if it has no sense.
unsigned clusterBlocks(const CUlaunchConfig& config) {
  for (unsigned i = 0; config.attrs && i < config.numAttrs; ++i)
    if (config.attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
      const auto& size = config.attrs[i].value.clusterDim;
      return size.x * size.y * size.z;
    }
  return 1;
}

}  // namespace

// Clusters have one block here. So many are active as blocks are.
CUresult cuOccupancyMaxPotentialClusterSize(int* blocks, CUfunction handle, const CUlaunchConfig* config) {
  if (!functionFrom(handle)) return CUDA_ERROR_INVALID_HANDLE;
  if (!blocks || !config) return CUDA_ERROR_INVALID_VALUE;
  *blocks = 1;
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction handle, const CUlaunchConfig* config) {
  Function* function = functionFrom(handle);
  if (!function) return CUDA_ERROR_INVALID_HANDLE;
  if (!clusters || !config || clusterBlocks(*config) == 0) return CUDA_ERROR_INVALID_VALUE;
  *clusters = 0;
  if (clusterBlocks(*config) > 1) return CUDA_SUCCESS;
  const auto blockSize = static_cast<int>(config->blockDimX * config->blockDimY * config->blockDimZ);
  int blocks = 0;
  if (CUresult bad = cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, handle, blockSize, config->sharedMemBytes))
    return bad;
  *clusters = blocks * static_cast<int>(gpuOf(*function).multiprocessors);
  return CUDA_SUCCESS;
}
