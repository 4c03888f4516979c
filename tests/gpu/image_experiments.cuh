// What the experiments with textures and surfaces share: calls that must succeed, noise, and the file of answers, for
// each experiment a line "name: bytes" and the bytes of its answers.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

inline void require(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}
#define REQUIRE(call) require(call, #call)

inline std::uint32_t hashOf(std::uint32_t n) {
  n = (n ^ 61u ^ n >> 16) * 9u;
  n = (n ^ n >> 4) * 0x27d4eb2du;
  return n ^ n >> 15;
}

inline std::FILE* file;

template <class T>
void write(const std::string& name, const T* device, std::size_t count) {
  std::vector<T> host(count);
  REQUIRE(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
  std::fprintf(file, "%s: %zu\n", name.c_str(), count * sizeof(T));
  std::fwrite(host.data(), sizeof(T), count, file);
}

/// The program's only argument is the file; its exit status is what this returns.
template <class Experiments>
int record(int argc, char** argv, Experiments experiments) {
  if (argc != 2) return std::printf("usage: %s FILE\n", argv[0]), 2;
  file = std::fopen(argv[1], "wb");
  if (file == nullptr) return std::printf("cannot write %s\n", argv[1]), 2;
  experiments();
  return std::fclose(file) != 0;
}
