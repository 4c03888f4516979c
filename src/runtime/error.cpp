// The last error of each thread, names and descriptions of the codes, and what the user reads on stderr.
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>

#include "runtime/call.hpp"

namespace ordito::runtime {
namespace {

thread_local cudaError_t lastError = cudaSuccess;

/// Errors of a kernel that faulted. They come back from every later call.
bool isSticky(cudaError_t error) {
  switch (error) {
    case cudaErrorECCUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure: return true;
    default: return false;
  }
}

/// Errors that a student meets as "my kernel did not run": always explained. The rest may be a program probing (is
/// there enough memory? is this pointer ours?), so they are explained only when asked for.
bool explainedAlways(cudaError_t error) {
  switch (error) {
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorInvalidKernelImage:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidPtx:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorLaunchOutOfResources:
    case cudaErrorCooperativeLaunchTooLarge: return true;
    default: return isSticky(error);
  }
}

/// ORDITO_EXPLAIN=1 explains every failing call, ORDITO_EXPLAIN=0 none.
bool explained(cudaError_t error) {
  static const char* const setting = std::getenv("ORDITO_EXPLAIN");
  if (setting != nullptr && *setting == '1') return true;
  return (setting == nullptr || *setting != '0') && explainedAlways(error);
}

/// Prints each message once: a sticky error comes back from every later call.
void explain(cudaError_t error) {
  if (!explained(error)) return;
  const char* const message = orditoLastErrorMessage();
  if (message == nullptr || *message == '\0') return;
  static std::mutex mutex;
  static std::set<std::string>& said = *new std::set<std::string>;
  const std::scoped_lock lock(mutex);
  if (!said.insert(message).second) return;
  std::fflush(stdout);
  std::fprintf(stderr, "ordito: %s: %s\n", cudaGetErrorName(error), message);
}

struct ErrorText {
  cudaError_t code;
  const char* name;
  const char* description;
};

constexpr ErrorText kErrors[] = {
#define ERROR(name, description) {name, #name, description},
#include "runtime/errors.def"
};

const ErrorText* findError(cudaError_t error) {
  for (const ErrorText& text : kErrors)
    if (text.code == error) return &text;
  return nullptr;
}

void sayOnce(const char* name, const std::string& text) {
  static std::mutex mutex;
  static std::set<std::string>& said = *new std::set<std::string>;
  const std::scoped_lock lock(mutex);
  if (said.insert(name).second) std::fprintf(stderr, "ordito: %s\n", text.c_str());
}

}  // namespace

cudaError_t finish(cudaError_t error) {
  if (error == cudaSuccess) [[likely]]
    return error;
  // Asking whether something is done is no error.
  if (error == cudaErrorNotReady) return error;
  lastError = error;
  explain(error);
  return error;
}

cudaError_t unsupported(const char* name) {
  sayOnce(name, std::string(name) + " is not supported; it answers cudaErrorNotSupported");
  return finish(cudaErrorNotSupported);
}

cudaError_t unsupportedUse(const char* name, const char* what) {
  sayOnce(what, std::string(name) + ": " + what + "; it answers cudaErrorNotSupported");
  return finish(cudaErrorNotSupported);
}

}  // namespace ordito::runtime

using namespace ordito::runtime;

extern "C" {

cudaError_t cudaPeekAtLastError() { return lastError; }

cudaError_t cudaGetLastError() {
  const cudaError_t error = lastError;
  lastError = cudaSuccess;
  return error;
}

const char* cudaGetErrorName(cudaError_t error) {
  const ErrorText* const text = findError(error);
  return text != nullptr ? text->name : "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  const ErrorText* const text = findError(error);
  return text != nullptr ? text->description : "unrecognized error code";
}

}  // extern "C"
