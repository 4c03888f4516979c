// Which device a host thread uses, and the primary contexts behind it.
#pragma once

#include "runtime/call.hpp"

namespace ordito::runtime {

/// The primary context of `device`, retained once per process and reset.
CUresult primaryContext(int device, CUcontext* context);

/// The device of the calling thread: that of its current context, else the one it chose (0 at first).
int currentDevice();

/// Number of devices; 0 if the driver does not start.
int deviceCount();

/// Waits for all work of the process, so that what kernels print is printed before it ends.
void finishAllWork();

}  // namespace ordito::runtime
