// Stream memory operations: a stream stores a number, or waits until memory holds one (CUDA driver API, "Stream Memory
// Operations"). A batch of them is one operation of a stream, or one node of a graph.
#pragma once

#include "driver/graph.hpp"

namespace ordito::driver {

/// Checks a batch and makes the task that does it, one after the other.
CUresult batchTask(const CUstreamBatchMemOpParams* operations, unsigned count, unsigned flags, NodeTask& task);

}  // namespace ordito::driver
