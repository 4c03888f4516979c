#!/usr/bin/env python3
"""Launches that must be proved: all blocks but the first of each class run unheard.

usage: proved_test.py PATH/TO/ordito SCRATCH_FOLDER
"""
import argparse
import pathlib
import sys

import random_programs

# Of two comparisons with one bound the compiler makes one of max(x, y): each edge of the grid is still one class. There
# are 9 classes of 64 × 128 blocks.
STENCIL = """
__global__ void stencil(const float* in, float* out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x == 0 || y == 0 || x >= n - 1 || y >= n - 1) return;
  int i = y * n + x;
  out[i] = in[i] + in[i - 1] + in[i + 1] + in[i - n] + in[i + n];
}
int main() {
  const int n = %d;
  float *in, *out;
  cudaMalloc(&in, n * n * sizeof(float)), cudaMalloc(&out, n * n * sizeof(float));
  cudaMemset(in, 0, n * n * sizeof(float)), cudaMemset(out, 0, n * n * sizeof(float));
  stencil<<<dim3(64, 128), dim3(16, 8)>>>(in, out, n);
  cudaDeviceSynchronize();
  cudaFree(in), cudaFree(out);
}
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ordito")
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    wrong = 0
    for n in (1024, 1021):  # and where the last blocks are not full
        program = random_programs.build(options.ordito, options.folder / f"stencil_{n}.cu", STENCIL % n)
        found, blocks = random_programs.check(options.ordito, program, [], {})
        print(f"stencil of {n} × {n}: {len(found)} findings, {blocks}")
        wrong += bool(found) or blocks["proved"] != 64 * 128 - 9
    sys.exit(1 if wrong else 0)


main()
