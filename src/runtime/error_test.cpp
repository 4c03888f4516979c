// The last error's rules without a driver: which errors cudaGetLastError clears, and that every code has its own name.
#include <gtest/gtest.h>

#include <cstdio>
#include <set>
#include <string>
#include <thread>

#include "runtime/call.hpp"

// The driver: it has an explanation for real failures only, and nothing is to be told twice.
extern "C" {
const char* orditoLastErrorMessage() { return ""; }
int orditoExplainsAll() { return 0; }
void orditoNoteFailedCall(int, const char*) {}
void orditoNoteErrorRead() {}
void orditoTellOnce(const char* subject, const char* text) {
  static std::set<std::string> told;
  if (told.insert(subject).second) std::fprintf(stderr, "ordito: %s\n", text);
}
}

namespace ordito::runtime {
namespace {

TEST(LastError, IsKeptUntilAskedFor) {
  EXPECT_EQ(finish(cudaErrorInvalidValue), cudaErrorInvalidValue);
  EXPECT_EQ(finish(cudaSuccess), cudaSuccess);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(LastError, BelongsToTheThread) {
  finish(cudaErrorInvalidValue);
  std::thread([] { EXPECT_EQ(cudaGetLastError(), cudaSuccess); }).join();
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
}

TEST(LastError, IsNotSetByAnAnswerThatIsNoError) {
  EXPECT_EQ(finish(cudaErrorNotReady), cudaErrorNotReady);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

std::string told() {
  testing::internal::CaptureStderr();
  tellSilentFailures();
  return testing::internal::GetCapturedStderr();
}

TEST(SilentFailures, AreToldOncePerKernelUnlessTheThreadHasAsked) {
  noteSilentFailure("checked()", cudaErrorInvalidDeviceFunction, "");
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(told(), "");
  noteSilentFailure("unseen()", cudaErrorInvalidDeviceFunction, "a.out: there is no kernel 'unseen()'");
  noteSilentFailure("unseen()", cudaErrorInvalidDeviceFunction, "a.out: there is no kernel 'unseen()'");
  std::thread([] {
    noteSilentFailure("other()", cudaErrorInvalidResourceHandle, "");
    noteSilentFailure("unseen()", cudaErrorInvalidDeviceFunction, "a.out: there is no kernel 'unseen()'");
  }).join();
  EXPECT_EQ(told(),
            "ordito: kernel 'unseen()' did not run: cudaErrorInvalidDeviceFunction: a.out: there is no kernel "
            "'unseen()'; the program has not asked for the error (cudaGetLastError)\n"
            "ordito: kernel 'other()' did not run: cudaErrorInvalidResourceHandle (invalid resource handle); the "
            "program has not asked for the error (cudaGetLastError)\n");
  EXPECT_EQ(told(), "");
}

TEST(ErrorText, NamesAreTheEnumerators) {
  EXPECT_STREQ(cudaGetErrorName(cudaErrorInvalidConfiguration), "cudaErrorInvalidConfiguration");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
  EXPECT_STREQ(cudaGetErrorString(static_cast<cudaError_t>(5000)), "unrecognized error code");
}

}  // namespace
}  // namespace ordito::runtime
