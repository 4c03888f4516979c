// See nested.hpp. A kernel can only launch kernels of its own module: after linking, that is all of its program.
#include "driver/nested.hpp"

#include <cstring>

#include "driver/context.hpp"
#include "driver/results.hpp"
#include "driver/runtime_errors.hpp"
#include "machine/device_runtime.hpp"
#include "machine/listener.hpp"
#include "machine/nesting.hpp"
#include "machine/occupancy.hpp"

namespace ordito::driver {

namespace {

using machine::Child;
using machine::Dim3;

class ModuleHost : public machine::LaunchHost {
 public:
  ModuleHost(std::shared_ptr<Module> module, std::string launcher)
      : module_(std::move(module)), launcher_(std::move(launcher)) {}

  int prepare(uint64_t kernel, const Dim3& grid, const Dim3& block, uint32_t sharedBytes, Child& child) override {
    auto function = module_->functionAt(kernel);
    if (!function) return cudaErrorInvalidDeviceFunction;
    LaunchRequest request;
    request.function = *function;
    request.grid = grid;
    request.block = block;
    request.sharedBytes = sharedBytes;
    const std::string& name = (*function)->displayName;
    if (LaunchRefusal refusal = checkLaunch(request); refusal.result != CUDA_SUCCESS) {
      explain(name, refusal.message);
      return refusal.configuration ? static_cast<int>(cudaErrorInvalidConfiguration) : refusal.result;
    }
    auto prepared = prepareLaunch(std::move(request));
    if (!prepared) {
      explain(name, prepared.error().message);
      return prepared.error().code ? prepared.error().code : static_cast<int>(cudaErrorNotSupported);
    }
    child.launch = (*prepared)->grid();
    child.parameters.resize((*function)->kernel.parameterBytes);
    if (machine::hasListeners()) {
      child.begun = [launch = *prepared, launcher = launcher_](const machine::GridLaunch& grid) {
        launch->raiseBegin(grid, launcher);
      };
      child.ended = [launch = *prepared, launcher = launcher_, grid = child.launch](const machine::GridResult& result,
                                                                                    uint64_t wallNs) {
        launch->raiseEnd(grid, result, wallNs, launcher);
      };
    }
    child.keeps = std::move(*prepared);
    return cudaSuccess;
  }

  void refused(const Child& child, std::string_view why) override { explain(child.launch.kernelName, why); }

  int device() override { return module_->context.device.ordinal; }
  int deviceCount() override { return static_cast<int>(devices().size()); }

  int attribute(int* value, int attribute, int device) override {
    return cuDeviceGetAttribute(value, static_cast<CUdevice_attribute>(attribute), device);
  }

  int limit(uint64_t* value, int limit) override {
    Context& context = module_->context;
    std::lock_guard lock(context.settingsMutex);
    auto it = context.limits.find(limit);
    if (it == context.limits.end()) return cudaErrorUnsupportedLimit;
    *value = it->second;
    return cudaSuccess;
  }

  int functionAttributes(std::byte* attributes, uint64_t kernel) override {
    auto function = module_->functionAt(kernel);
    if (!function) return cudaErrorInvalidDeviceFunction;
    const auto handle = reinterpret_cast<CUfunction>(*function);
    auto value = [&](CUfunction_attribute which) {
      int answer = 0;
      cuFuncGetAttribute(&answer, which, handle);
      return answer;
    };
    cudaFuncAttributes out = {};
    out.sharedSizeBytes = static_cast<size_t>(value(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
    out.constSizeBytes = static_cast<size_t>(value(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES));
    out.localSizeBytes = static_cast<size_t>(value(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES));
    out.maxThreadsPerBlock = value(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    out.numRegs = value(CU_FUNC_ATTRIBUTE_NUM_REGS);
    out.ptxVersion = value(CU_FUNC_ATTRIBUTE_PTX_VERSION);
    out.binaryVersion = value(CU_FUNC_ATTRIBUTE_BINARY_VERSION);
    out.maxDynamicSharedSizeBytes = value(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    std::memcpy(attributes, &out, sizeof out);
    return cudaSuccess;
  }

  int occupancy(int* blocks, uint64_t kernel, int blockSize, uint64_t sharedBytes) override {
    auto function = module_->functionAt(kernel);
    if (!function) return cudaErrorInvalidDeviceFunction;
    return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, reinterpret_cast<CUfunction>(*function), blockSize,
                                                       sharedBytes);
  }

  int version() override { return CUDA_VERSION; }
  const char* errorName(int error) override {
    const ErrorText* found = findErrorText(error);
    return found ? found->name : "unrecognized error code";
  }
  const char* errorText(int error) override {
    const ErrorText* found = findErrorText(error);
    return found ? found->description : "unrecognized error code";
  }

 private:
  /// Once for each reason: thousands of threads may be refused.
  static void explain(std::string_view kernel, std::string_view why) {
    tellOnce(fmt::format("kernel '{}' was not launched by a kernel: {}", kernel, why));
  }

  std::shared_ptr<Module> module_;
  std::string launcher_;
};

size_t pendingLimit(Context& context) {
  std::lock_guard lock(context.settingsMutex);
  return std::max<size_t>(context.limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT], 1);
}

}  // namespace

machine::GridResult runNested(const PreparedLaunch& launch, const machine::GridLaunch& grid) {
  ModuleHost host(launch.module(), launch.request().function->displayName);
  auto nest = std::make_shared<machine::Nest>(machine::scheduler(), host, pendingLimit(launch.module()->context));
  return nest->run(grid);
}

}  // namespace ordito::driver
