// When a program has its first result, in time and in CPU time: the latter tells more where others work on the machine.
#pragma once

#include <chrono>
#include <cstdio>
#include <ctime>

inline double sinceStart() {
  static const auto start = std::chrono::steady_clock::now();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

inline bool succeeded(cudaError_t error) {
  if (error != cudaSuccess) std::printf("FAILED: %s\n", cudaGetErrorString(error));
  return error == cudaSuccess;
}

/// Waits for the launch before it. The first call tells the time.
inline bool launched() {
  if (!succeeded(cudaDeviceSynchronize())) return false;
  static bool told = false;
  if (!told)
    std::printf("first result after %.2f s (CPU %.2f s), ", sinceStart(), double(std::clock()) / CLOCKS_PER_SEC);
  told = true;
  return true;
}
