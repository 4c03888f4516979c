// The frame of every runtime call: make a context current, do the work, remember the error.
//
// CUDA's rules: the last error is kept per host thread; any call that fails sets it, only cudaGetLastError clears it.
// The error of a kernel that faulted is "sticky": it belongs to the context, so every later call that uses the context
// answers it again, until the device is reset. What the calls answer in each case was recorded on a GPU
// (tests/api/runtime).
#pragma once

#include <string>

#include "cuda.h"
#include "cuda_runtime_api.h"
#include "driver/extensions.hpp"

namespace ordito::runtime {

/// The two APIs number their errors alike (CUDA 10.1 and later); only the names differ.
constexpr cudaError_t toRuntime(CUresult result) { return static_cast<cudaError_t>(result); }
constexpr cudaError_t toRuntime(cudaError_t error) { return error; }

/// Prints, once, the driver's message behind a failure that means "this program's kernels cannot run".
void explain(cudaError_t error);

/// Remembers a failure as the calling thread's last error and gives it back.
cudaError_t finish(cudaError_t error);
inline cudaError_t finish(CUresult result) { return finish(toRuntime(result)); }

/// `kernel<<<...>>>()` of the calling thread failed without a word: the program hears of it only if it asks for the
/// last error. If it has not when the process ends or the device is reset, it is told, once for each kernel.
void noteSilentFailure(const std::string& kernel, cudaError_t error, const std::string& detail);
void tellSilentFailures();

/// The answer of an entry point that Ordito does not have: named once on stderr.
cudaError_t unsupported(const char* name);
/// The same for a call that exists but not with these arguments.
cudaError_t unsupportedUse(const char* name, const char* what);

/// CUDA 13 answers some mistakes differently from CUDA 12: a launch that cannot be is cudaErrorInvalidValue instead of
/// cudaErrorInvalidConfiguration, a function that is no kernel cudaErrorInvalidResourceHandle instead of
/// cudaErrorInvalidDeviceFunction.
bool isCuda13();

/// Starts the driver, once per process.
CUresult startDriver();

/// Makes sure that the calling thread has a current context: its own choice, else the primary context of its device.
CUresult useContext();

/// Runs a call that needs a context. `body` answers a CUresult or a cudaError_t.
template <class Body>
cudaError_t call(Body&& body) {
  if (const CUresult ready = useContext(); ready != CUDA_SUCCESS) return finish(ready);
  return finish(toRuntime(body()));
}

/// Runs a call that only needs the driver (device enumeration).
template <class Body>
cudaError_t callWithoutContext(Body&& body) {
  if (const CUresult ready = startDriver(); ready != CUDA_SUCCESS) return finish(ready);
  return finish(toRuntime(body()));
}

inline CUdeviceptr address(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }
inline CUdeviceptr* address(void** pointer) { return reinterpret_cast<CUdeviceptr*>(pointer); }

}  // namespace ordito::runtime
