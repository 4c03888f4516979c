// The last error of each thread, names and descriptions of the codes, and what the user reads on stderr.
#include <algorithm>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "driver/runtime_errors.hpp"
#include "runtime/call.hpp"

namespace ordito::runtime {
namespace {

thread_local cudaError_t lastError = cudaSuccess;

/// The driver itself tells of launches that it refuses and of kernels that fault. Other failures may be a program
/// probing (is there enough memory? is this pointer ours?), so their explanation is for those who ask:
/// ORDITO_EXPLAIN=1.
bool everyFailureExplained() {
  static const bool all = orditoExplainsAll() != 0;
  return all;
}

/// A sticky error comes back from every later call.
void sayOnce(const std::string& subject, const std::string& text) { orditoTellOnce(subject.c_str(), text.c_str()); }

/// Failed launches that their threads have not asked about.
struct SilentFailures {
  struct Failure {
    std::string kernel, text;
    std::thread::id thread;
  };
  std::mutex mutex;
  std::vector<Failure> all;
};

SilentFailures& silentFailures() {
  static auto& failures = *new SilentFailures;
  return failures;
}

thread_local bool hasSilentFailures = false;

/// The calling thread has looked at its last error, whichever call it came from.
void forgetSilentFailures() {
  if (!hasSilentFailures) [[likely]]
    return;
  hasSilentFailures = false;
  SilentFailures& failures = silentFailures();
  const std::scoped_lock lock(failures.mutex);
  std::erase_if(failures.all, [](const auto& failure) { return failure.thread == std::this_thread::get_id(); });
}

}  // namespace

void noteSilentFailure(const std::string& kernel, cudaError_t error, const std::string& detail) {
  std::string text = "kernel '" + kernel + "' did not run: " + cudaGetErrorName(error);
  text += detail.empty() ? std::string(" (") + cudaGetErrorString(error) + ")" : ": " + detail;
  text += "; the program has not asked for the error (cudaGetLastError)";
  hasSilentFailures = true;
  SilentFailures& failures = silentFailures();
  const std::scoped_lock lock(failures.mutex);
  const bool known = std::any_of(failures.all.begin(), failures.all.end(), [&](const auto& failure) {
    return failure.kernel == kernel && failure.thread == std::this_thread::get_id();
  });
  if (!known) failures.all.push_back({kernel, std::move(text), std::this_thread::get_id()});
}

void tellSilentFailures() {
  std::vector<SilentFailures::Failure> failures;
  {
    const std::scoped_lock lock(silentFailures().mutex);
    failures.swap(silentFailures().all);
  }
  for (const auto& failure : failures) sayOnce("launch of " + failure.kernel, failure.text);
}

void explain(cudaError_t error) {
  const char* const message = orditoLastErrorMessage();
  if (message != nullptr && *message != '\0') sayOnce(message, std::string(cudaGetErrorName(error)) + ": " + message);
}

cudaError_t finish(cudaError_t error) {
  if (error == cudaSuccess) [[likely]]
    return error;
  // Asking whether something is done is no error.
  if (error == cudaErrorNotReady) return error;
  lastError = error;
  orditoNoteFailedCall(error, cudaGetErrorName(error));
  if (everyFailureExplained()) explain(error);
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

cudaError_t cudaPeekAtLastError() {
  forgetSilentFailures();
  orditoNoteErrorRead();
  return lastError;
}

cudaError_t cudaGetLastError() {
  forgetSilentFailures();
  orditoNoteErrorRead();
  const cudaError_t error = lastError;
  lastError = cudaSuccess;
  return error;
}

const char* cudaGetErrorName(cudaError_t error) {
  const auto* const text = ordito::driver::findErrorText(error);
  return text != nullptr ? text->name : "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  const auto* const text = ordito::driver::findErrorText(error);
  return text != nullptr ? text->description : "unrecognized error code";
}

}  // extern "C"
