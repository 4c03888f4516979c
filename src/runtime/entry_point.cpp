// Driver functions by name, for programs that use both APIs without linking to the driver.
#include "runtime/call.hpp"

using namespace ordito::runtime;

namespace {

cudaError_t find(const char* symbol, void** function, int version, unsigned long long flags,
                 cudaDriverEntryPointQueryResult* result) {
  if (symbol == nullptr || function == nullptr) return finish(cudaErrorInvalidValue);
  return callWithoutContext([&] {
    return cuGetProcAddress(symbol, function, version, flags,
                            reinterpret_cast<CUdriverProcAddressQueryResult*>(result));
  });
}

/// The flags of a program that was built for per-thread default streams, unless it asks for something itself.
unsigned long long perThread(unsigned long long flags) { return flags == 0 ? cudaEnablePerThreadDefaultStream : flags; }

int driverVersion() {
  int version = 0;
  cuDriverGetVersion(&version);
  return version;
}

}  // namespace

extern "C" {

cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* result) {
  return find(symbol, function, driverVersion(), flags, result);
}

cudaError_t cudaGetDriverEntryPoint_ptsz(const char* symbol, void** function, unsigned long long flags,
                                         cudaDriverEntryPointQueryResult* result) {
  return find(symbol, function, driverVersion(), perThread(flags), result);
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned int version,
                                             unsigned long long flags, cudaDriverEntryPointQueryResult* result) {
  return find(symbol, function, static_cast<int>(version), flags, result);
}

cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char* symbol, void** function, unsigned int version,
                                                  unsigned long long flags, cudaDriverEntryPointQueryResult* result) {
  return find(symbol, function, static_cast<int>(version), perThread(flags), result);
}

}  // extern "C"
