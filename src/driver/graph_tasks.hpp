// From the parameters of a node, as the API has them, to its task and back.
#pragma once

#include "driver/graph.hpp"

namespace ordito::driver {

CUresult kernelTask(const CUDA_KERNEL_NODE_PARAMS& parameters, NodeTask& task);
CUresult copyTask(const CUDA_MEMCPY3D& copy, NodeTask& task);
CUresult fillTask(const CUDA_MEMSET_NODE_PARAMS& parameters, NodeTask& task);
CUresult hostTask(const CUDA_HOST_NODE_PARAMS& parameters, NodeTask& task);
CUresult childTask(CUgraph child, NodeTask& task);
CUresult eventTask(Context& context, CUgraphNodeType type, CUevent event, NodeTask& task);
/// For a node of `graph`, or of a graph inside of that. Makes the bodies, whose handles stay the node's, and takes the
/// condition, which must be the graph's and no other node's.
CUresult conditionalTask(Graph& graph, CUDA_CONDITIONAL_NODE_PARAMS& parameters, NodeTask& task);
/// The answer to a copy of a graph that cannot be copied (Graph::clone).
CUresult refuseCopy();

/// The parameter pointers stay valid as long as the node keeps these parameters.
void describeKernel(const NodeTask& task, CUDA_KERNEL_NODE_PARAMS& parameters);
void describeCopy(const NodeTask& task, CUDA_MEMCPY3D& copy);
void describeFill(const NodeTask& task, CUDA_MEMSET_NODE_PARAMS& parameters);

/// Writes a graph in the language of Graphviz, with what the flags of cuGraphDebugDotPrint ask for.
CUresult writeDot(const Graph& graph, const char* path, unsigned flags);

}  // namespace ordito::driver
