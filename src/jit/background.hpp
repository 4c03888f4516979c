// A thread that makes good code while kernels run on code that was made in a hurry.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>

namespace ordito::jit {

/// A job looks at `stops` now and then, and returns soon when it is set: the process wants to end.
using BackgroundJob = std::function<void(const std::atomic<bool>& stops)>;

/// What becomes of a job when the process ends before it is done. Its code may be of use to the next process: this one
/// has begun its kernels without waiting for it, and pays at its end what it saved, up to kLongestFarewell for all jobs
/// together.
enum class AtExit { Drop, Finish };
inline constexpr std::chrono::seconds kLongestFarewell{10};

/// Does jobs one after the other, in the order in which they came. A job that has begun is waited for in any case.
void inBackground(BackgroundJob job, AtExit atExit);

}  // namespace ordito::jit
