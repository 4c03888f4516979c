// What a call of a library is: a task in a stream, done in the stream's order by host threads, which reach device
// memory as it is.
#pragma once

#include <functional>

#include "cuda.h"

namespace ordito::libs {

/// Makes sure that the thread has a context: like the runtime, this takes the device's primary one if there is none.
bool hasContext();

/// What a call does, for `ordito profile`: operations on floating-point numbers, and bytes that it must read and write
/// at least; 0 where there is no closed form.
struct Work {
  double operations = 0, bytes = 0;
};

/// Puts the task behind what the stream has to do. If the stream is being captured it becomes a node, runs at every
/// launch and belongs to the graph. The profiler and faults name it `name`.
CUresult enqueue(CUstream stream, const char* name, std::function<void()> task, Work work = {});

/// Waits for what the stream has to do; an error, which ends the capture, if it is being captured.
CUresult await(CUstream stream);

/// Whether the stream is being captured into a graph.
bool isCaptured(CUstream stream);

/// Calls body(i) for each i below `count` on the threads that run blocks.
void parallelFor(unsigned count, const std::function<void(unsigned)>& body);
unsigned parallelThreads();

}  // namespace ordito::libs
