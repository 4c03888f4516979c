#!/bin/sh
# CMake's own CUDA language finds the toolkit through nvcc in PATH, compiles, links device code of two files, and the program runs.
# Ninja and clang++-19 are what Ordito itself is built with; nothing else need be installed.
# usage: cmake_project_test.sh <prefix> <scratch folder>
set -eu
prefix=$1 scratch=$2
rm -rf "$scratch" && mkdir -p "$scratch" && cd "$scratch"
cat > CMakeLists.txt <<'SOURCE'
cmake_minimum_required(VERSION 3.18)
project(sample LANGUAGES CXX CUDA)
add_executable(sample main.cu other.cu host.cpp)
set_target_properties(sample PROPERTIES CUDA_STANDARD 17 CUDA_SEPARABLE_COMPILATION ON)
SOURCE
cat > main.cu <<'SOURCE'
__device__ int increment(int x);
int expected();
__global__ void k(int* p) { *p = increment(*p); }
int main() {
  int* p = nullptr;
  cudaMallocManaged(&p, sizeof *p);
  *p = 41;
  k<<<1, 1>>>(p);
  return cudaDeviceSynchronize() == cudaSuccess && *p == expected() ? 0 : 1;
}
SOURCE
echo '__device__ int increment(int x) { return x + 1; }' > other.cu
echo 'int expected() { return 42; }' > host.cpp
PATH=$prefix/cuda/bin:$PATH CXX=clang++-19 cmake -G Ninja -B build -DCMAKE_CUDA_ARCHITECTURES="70;80" > configure.log 2>&1 || { cat configure.log; exit 1; }
cmake --build build > build.log 2>&1 || { cat build.log; exit 1; }
"$prefix/bin/ordito" run build/sample
