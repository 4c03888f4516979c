// Breadth-first search that changes its direction. While few vertices are at the frontier, they look for neighbours
// that nobody reached (down); while many are, those that nobody reached look for a neighbour at the frontier, and stop
// at the first (up).
//
// After S. Beamer, K. Asanović and D. Patterson, "Direction-Optimizing Breadth-First Search", SC 2012, with its two
// thresholds: down becomes up when the frontier has more than 1/14 of the edges that are left, up becomes down when it
// has less than 1/24 of the vertices.
#pragma once

#include "kernels.cuh"

constexpr unsigned kNobody = ~0u;
constexpr unsigned kUpwardsFrom = 14;
constexpr unsigned kDownwardsFrom = 24;

/// What a step tells of the frontier that it made.
struct Frontier {
  unsigned vertices;
  unsigned edges;
};

/// Distances are read and written by threads side by side.
__device__ inline volatile unsigned& shared(unsigned* words, unsigned i) {
  return *static_cast<volatile unsigned*>(words + i);
}

/// Adds what the threads of a warp have found, in two atomic operations; all lanes call it.
__device__ inline void tell(Frontier mine, Frontier* next) {
  for (unsigned distance = 16; distance > 0; distance /= 2) {
    mine.vertices += __shfl_xor_sync(0xffffffffu, mine.vertices, distance);
    mine.edges += __shfl_xor_sync(0xffffffffu, mine.edges, distance);
  }
  if (threadIdx.x % 32 != 0 || mine.vertices == 0) return;
  atomicAdd(&next->vertices, mine.vertices);
  atomicAdd(&next->edges, mine.edges);
}

__device__ inline unsigned degree(const DeviceGraph& graph, unsigned v) { return graph.first[v + 1] - graph.first[v]; }

/// A thread for each vertex of the frontier `queue`. The compare-and-swap says who reached a vertex first.
__global__ void graphsSearchDown(DeviceGraph graph, unsigned level, unsigned* distance, const unsigned* queue,
                                 unsigned length, unsigned* nextQueue, unsigned* places, Frontier* next) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  Frontier mine = {0, 0};
  const unsigned v = i < length ? queue[i] : 0;
  const unsigned end = i < length ? graph.first[v + 1] : 0;
  for (unsigned k = i < length ? graph.first[v] : 0; k < end; ++k) {
    const unsigned u = graph.neighbour[k];
    if (shared(distance, u) != kNobody || atomicCAS(&distance[u], kNobody, level + 1) != kNobody) continue;
    nextQueue[atomicAdd(places, 1u)] = u;
    ++mine.vertices;
    mine.edges += degree(graph, u);
  }
  tell(mine, next);
}

/// A thread for each vertex. Others write level + 1 meanwhile, which is not what is looked for.
__global__ void graphsSearchUp(DeviceGraph graph, unsigned level, unsigned* distance, Frontier* next) {
  const unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
  Frontier mine = {0, 0};
  if (v < graph.n && shared(distance, v) == kNobody) {
    for (unsigned k = graph.first[v]; mine.vertices == 0 && k < graph.first[v + 1]; ++k) {
      if (shared(distance, graph.neighbour[k]) == level) mine = {1, degree(graph, v)};
    }
    if (mine.vertices != 0) shared(distance, v) = level + 1;
  }
  tell(mine, next);
}

/// The frontier as a queue, after steps that made none.
__global__ void graphsFrontier(DeviceGraph graph, unsigned level, const unsigned* distance, unsigned* queue,
                               unsigned* length) {
  const unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < graph.n && distance[v] == level) queue[atomicAdd(length, 1u)] = v;
}
