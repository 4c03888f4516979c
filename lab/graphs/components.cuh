// Connected components as sets that are united. A vertex names another of its component, and in the end that one's
// smallest. Each edge is looked at once: the roots of both ends are found, and the larger one is hooked to the smaller.
//
// After J. Jaiganesh and M. Burtscher, "A High-Performance Connected Components Implementation for GPUs", HPDC 2018.
// All threads read and write the names side by side; a name only ever becomes smaller and stays in its component, so
// that an old one is as good as a new one.
#pragma once

#include "kernels.cuh"

__device__ inline volatile unsigned& nameOf(unsigned* names, unsigned v) {
  return *static_cast<volatile unsigned*>(names + v);
}

/// The root of v. On the way, every other vertex gets the name of the one after the next.
__device__ inline unsigned rootOf(unsigned* names, unsigned v) {
  unsigned previous = v;
  unsigned current = nameOf(names, v);
  for (unsigned next = nameOf(names, current); next < current; next = nameOf(names, current)) {
    nameOf(names, previous) = next;
    previous = current;
    current = next;
  }
  return current;
}

/// The first neighbour that is smaller is a good name to begin with.
__global__ void graphsName(DeviceGraph graph, unsigned* names) {
  const unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= graph.n) return;
  unsigned name = v;
  for (unsigned k = graph.first[v]; name == v && k < graph.first[v + 1]; ++k) name = min(v, graph.neighbour[k]);
  names[v] = name;
}

__global__ void graphsHook(DeviceGraph graph, unsigned* names) {
  const unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= graph.n) return;
  unsigned mine = rootOf(names, v);
  for (unsigned k = graph.first[v]; k < graph.first[v + 1]; ++k) {
    const unsigned u = graph.neighbour[k];
    if (u > v) continue;  // the edge is looked at from its larger end
    unsigned its = rootOf(names, u);
    while (mine != its) {
      const unsigned larger = max(mine, its);
      const unsigned smaller = min(mine, its);
      const unsigned found = atomicCAS(&names[larger], larger, smaller);
      mine = smaller;
      its = found == larger ? smaller : found;  // somebody else hooked it: to where?
    }
  }
}

__global__ void graphsFlatten(DeviceGraph graph, unsigned* names) {
  const unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= graph.n) return;
  unsigned root = nameOf(names, v);
  for (unsigned next = nameOf(names, root); next != root; next = nameOf(names, root)) root = next;
  nameOf(names, v) = root;
}
