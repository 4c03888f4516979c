// A thread that makes good code while kernels run on code that was made in a hurry.
#pragma once

#include <atomic>
#include <functional>

namespace ordito::jit {

/// A job looks at `stops` now and then, and returns soon when it is set: the process wants to end.
using BackgroundJob = std::function<void(const std::atomic<bool>& stops)>;

/// Does jobs one after the other, in the order in which they came. When the process ends, those that have not begun are
/// dropped, and the one that has is waited for.
void inBackground(BackgroundJob job);

}  // namespace ordito::jit
