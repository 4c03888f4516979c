// A suite's cases: functions that the first argument names. Each frees what it took, unless that is what is wrong.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

struct Case {
  const char* name;
  void (*run)();
};

template <class T = int>
T* zeros(size_t count) {
  T* made = nullptr;
  cudaMalloc(&made, count * sizeof(T));
  cudaMemset(made, 0, count * sizeof(T));
  return made;
}

template <size_t N>
int runCase(const Case (&cases)[N], int argc, char** argv) {
  for (const Case& c : cases) {
    if (argc < 2 || std::strcmp(c.name, argv[1])) continue;
    c.run();
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
  }
  return std::printf("no case %s\n", argc > 1 ? argv[1] : ""), 2;
}
