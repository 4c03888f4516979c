// The entry points that the start-up code of clang and nvcc calls. Their names and parameters are an ABI between
// compiler and runtime.
#include <dlfcn.h>

#include <utility>
#include <vector>

#include "base/thread_state.hpp"
#include "runtime/context.hpp"
#include "runtime/elf_section.hpp"
#include "runtime/registry.hpp"

using namespace ordito::runtime;

namespace {

Binary* binaryOf(void** handle) { return reinterpret_cast<Binary*>(handle); }
void** handleOf(Binary* binary) { return reinterpret_cast<void**>(binary); }

/// The configuration between `<<<...>>>` and the kernel's stub. A stack, because evaluating the kernel's arguments may
/// launch another kernel.
struct CallConfiguration {
  dim3 grid, block;
  size_t sharedBytes;
  cudaStream_t stream;
};
std::vector<CallConfiguration>& configurations() { return ordito::threadState<std::vector<CallConfiguration>>(); }

thread_local bool hasTakenConfiguration = false;

/// Managed variables must be ready when main touches them, before any call of the runtime.
cudaError_t loadNow(Binary* binary) {
  return call([&] {
    CUmodule module = nullptr;
    return binary->module(&module);
  });
}

}  // namespace

bool ordito::runtime::takeLaunchSyntax() { return std::exchange(hasTakenConfiguration, false); }

extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) { return handleOf(Registry::instance().addBinary(wrapper)); }

void __cudaRegisterFatBinaryEnd(void** handle) {
  if (binaryOf(handle)->hasManagedVariables()) loadNow(binaryOf(handle));
}

// Runs at exit or when a library is unloaded: launches of its kernels that nobody waited for still finish.
void __cudaUnregisterFatBinary(void** handle) {
  finishAllWork();
  Registry::instance().remove(binaryOf(handle));
}

/// What `clang -fgpu-rdc` calls for each object file, under a name that `ordito nvcc` makes common to all objects.
void __orditoRegisterLinkedBinary(void (*registerSymbols)(void**), void* wrapper, const char* /*module_id*/,
                                  void (* /*keep_alive*/)(void**)) {
  Binary* const binary = Registry::instance().linkedBinary(wrapper);
  registerSymbols(handleOf(binary));
  if (Binary* const ready = Registry::instance().readyForManaged(wrapper); ready != nullptr) loadNow(ready);
}

char __cudaInitModule(void** handle) { return loadNow(binaryOf(handle)) == cudaSuccess ? 1 : 0; }

void __cudaRegisterFunction(void** handle, const char* hostFunction, char* /*device_function*/, const char* name,
                            int /*thread_limit*/, uint3* /*thread_id*/, uint3* /*block_id*/, dim3* /*block*/,
                            dim3* /*grid*/, int* /*warp_size*/) {
  Registry::instance().addKernel(binaryOf(handle), hostFunction, name);
}

void __cudaRegisterVar(void** handle, char* symbol, char* /*device_address*/, const char* name, int /*is_extern*/,
                       size_t bytes, int isConstant, int /*global*/) {
  const bool shared = isConstant == 0 && sectionBeside(symbol, kManagedSection).contains(symbol);
  Registry::instance().addVariable(binaryOf(handle), {symbol, nullptr, shared, isConstant != 0, bytes, name});
}

void __cudaRegisterManagedVar(void** handle, void** slot, char* symbol, const char* name, int /*is_extern*/,
                              size_t bytes, int isConstant, int /*global*/) {
  Registry::instance().addVariable(binaryOf(handle), {symbol, slot, false, isConstant != 0, bytes, name});
}

void __cudaRegisterHostVar(void** /*handle*/, const char* name, char* /*symbol*/, size_t /*bytes*/) {
  unsupportedUse("__cudaRegisterHostVar", name);
}

void __cudaRegisterTexture(void** handle, const void* symbol, const void** /*address*/, const char* name,
                           int /*dimensions*/, int readsFloats, int /*is_extern*/) {
  Registry::instance().addReference(binaryOf(handle), symbol, name, readsFloats != 0);
}

void __cudaRegisterSurface(void** handle, const void* symbol, const void** /*address*/, const char* name,
                           int /*dimensions*/, int /*is_extern*/) {
  Registry::instance().addReference(binaryOf(handle), symbol, name, false);
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t sharedBytes, cudaStream_t stream) {
  configurations().push_back({grid, block, sharedBytes, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* sharedBytes, void* stream) {
  std::vector<CallConfiguration>& pushed = configurations();
  if (pushed.empty()) return finish(cudaErrorMissingConfiguration);
  const CallConfiguration& top = pushed.back();
  *grid = top.grid;
  *block = top.block;
  *sharedBytes = top.sharedBytes;
  *static_cast<cudaStream_t*>(stream) = top.stream;
  pushed.pop_back();
  hasTakenConfiguration = true;
  return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* hostFunction) {
  return finish(Registry::instance().handle(hostFunction, kernel));
}

}  // extern "C"
