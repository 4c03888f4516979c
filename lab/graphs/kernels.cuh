// Colouring, independent sets, breadth-first search and components, a thread for each vertex.
//
// The rounds of the first two are two kernels, one that decides and one that applies: a decision must see no other
// decision of its round.
#pragma once

#include <cstdint>

struct DeviceGraph {
  const unsigned* first;
  const unsigned* neighbour;
  unsigned n;
};

/// Numbers that look random and depend on round and vertex alone: a multiply and xorshift mixer of 32 bits.
__host__ __device__ inline unsigned drawn(unsigned round, unsigned v) {
  unsigned x = (v + 1) * 0x9e3779b9u ^ (round + 1) * 0x85ebca6bu;
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

/// Ties are broken by the vertices' numbers.
__device__ inline bool before(unsigned round, unsigned a, unsigned b) {
  const unsigned x = drawn(round, a);
  const unsigned y = drawn(round, b);
  return x != y ? x < y : a < b;
}

/// Jones and Plassmann: a vertex whose neighbours without colour all come behind it takes the smallest colour that is
/// free. Two such are never neighbours, so that no vertex reads a colour that is being written.
__global__ void graphsSelect(DeviceGraph graph, const unsigned* colours, unsigned char* selected) {
  const unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= graph.n) return;
  bool mine = colours[v] == 0;
  for (unsigned k = graph.first[v]; mine && k < graph.first[v + 1]; ++k) {
    const unsigned u = graph.neighbour[k];
    mine = colours[u] != 0 || before(0, v, u);
  }
  selected[v] = mine ? 1 : 0;
}

__global__ void graphsColour(DeviceGraph graph, unsigned* colours, const unsigned char* selected, unsigned* left) {
  const unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= graph.n || selected[v] == 0) return;
  unsigned colour = 0;
  for (bool used = true; used;) {
    ++colour;
    used = false;
    for (unsigned k = graph.first[v]; k < graph.first[v + 1]; ++k) used = used || colours[graph.neighbour[k]] == colour;
  }
  colours[v] = colour;
  atomicSub(left, 1u);
}

enum : unsigned char { kOpen = 0, kIn = 1, kOut = 2 };

/// Luby: of the vertices that are still open, one that drew less than its open neighbours is selected.
__global__ void graphsDraw(DeviceGraph graph, unsigned round, const unsigned char* state, unsigned char* selected) {
  const unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= graph.n) return;
  bool mine = state[v] == kOpen;
  for (unsigned k = graph.first[v]; mine && k < graph.first[v + 1]; ++k) {
    const unsigned u = graph.neighbour[k];
    mine = state[u] != kOpen || before(round, v, u);
  }
  selected[v] = mine ? 1 : 0;
}

__global__ void graphsClose(DeviceGraph graph, unsigned char* state, const unsigned char* selected, unsigned* left) {
  const unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= graph.n || state[v] != kOpen) return;
  unsigned char mine = selected[v] != 0 ? kIn : kOpen;
  for (unsigned k = graph.first[v]; mine == kOpen && k < graph.first[v + 1]; ++k) {
    if (selected[graph.neighbour[k]] != 0) mine = kOut;
  }
  if (mine == kOpen) return;
  state[v] = mine;
  atomicSub(left, 1u);
}

/// Vertices at `level` reach their neighbours. Several may reach the same one: all write the same distance, and the
/// compare-and-swap says who was first.
__global__ void graphsReach(DeviceGraph graph, unsigned level, unsigned* distance, unsigned* reached) {
  const unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= graph.n || *static_cast<volatile unsigned*>(&distance[v]) != level) return;
  for (unsigned k = graph.first[v]; k < graph.first[v + 1]; ++k) {
    if (atomicCAS(&distance[graph.neighbour[k]], ~0u, level + 1) == ~0u) atomicAdd(reached, 1u);
  }
}

/// The smallest label travels along the edges; labels also take that of the vertex that they name (pointer jumping).
__global__ void graphsSpread(DeviceGraph graph, unsigned* label, unsigned* changed) {
  const unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= graph.n) return;
  const unsigned mine = atomicAdd(&label[v], 0u);
  unsigned least = min(mine, atomicAdd(&label[mine], 0u));
  for (unsigned k = graph.first[v]; k < graph.first[v + 1]; ++k) {
    least = min(least, atomicAdd(&label[graph.neighbour[k]], 0u));
  }
  if (least == mine) return;
  atomicMin(&label[v], least);
  atomicMin(&label[mine], least);
  *reinterpret_cast<volatile unsigned*>(changed) = 1;
}
