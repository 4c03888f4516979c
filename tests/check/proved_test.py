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

# Any texel may be fetched, by any block. Whoever writes the texture's memory in the same launch is not proved.
IMAGES = """
__global__ void blur(cudaTextureObject_t image, float* out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) sum += tex2D<float>(image, x + dx + 0.75f, y + dy + 0.75f);
  out[y * n + x] = sum / 9;
}
int main() {
  const int n = 256;
  const bool isInPlace = %d, isWritten = %d;
  float *in, *out;
  size_t pitch;
  cudaMallocPitch(&in, &pitch, n * sizeof(float), n);
  cudaMalloc(&out, n * n * sizeof(float));
  if (isWritten) cudaMemset2D(in, pitch, 0, n * sizeof(float), n);
  cudaMemset(out, 0, n * n * sizeof(float));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D = {in, cudaCreateChannelDesc<float>(), n, n, pitch};
  cudaTextureDesc how{};
  how.filterMode = cudaFilterModeLinear;
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  cudaTextureObject_t image;
  cudaCreateTextureObject(&image, &resource, &how, nullptr);
  blur<<<dim3(16, 32), dim3(16, 8)>>>(image, isInPlace ? in : out, n);
  cudaDeviceSynchronize();
  cudaDestroyTextureObject(image);
  cudaFree(in), cudaFree(out);
}
"""

# Whether a thread stores hangs on the data; where it would, it has loaded before. Only in the block behind the middle is
# anything out of order. Without most barriers (1), or if a barrier lies between the load and the store, behind which a
# neighbour loads, too (2), that block has a race.
SORT = """
__global__ void sort(int* keys) {
  const int mode = %d;
  __shared__ int mine[256];
  const int t = threadIdx.x;
  int* const own = keys + blockIdx.x * 256;
  mine[t] = own[t], mine[t + 128] = own[t + 128];
  for (int stage = 2; stage <= 256; stage *= 2)
    for (int distance = stage / 2; distance > 0; distance /= 2) {
      if (mode != 1 || distance == stage / 2) __syncthreads();
      const int low = 2 * t - (t & (distance - 1)), a = mine[low], b = mine[low + distance];
      if (mode == 2) {
        __syncthreads();
        own[t] = mine[(low + 32) %% 256];
      }
      if (a != b && (a > b) == ((low & stage) == 0)) mine[low] = b, mine[low + distance] = a;
    }
  __syncthreads();
  own[t] = mine[t], own[t + 128] = mine[t + 128];
}
int main() {
  const int blocks = 256, n = blocks * 256;
  static int host[n];
  for (int i = 0; i < n; ++i) host[i] = i / 256 == blocks / 2 + 1 ? i * 7919 %% 1000 : i / 256;
  int* keys;
  cudaMalloc(&keys, n * sizeof(int));
  cudaMemcpy(keys, host, n * sizeof(int), cudaMemcpyHostToDevice);
  sort<<<blocks, 128>>>(keys);
  cudaDeviceSynchronize();
  cudaFree(keys);
}
"""

# A byte is no more than 255, so nobody needs to look where in `mine` it leads. In the block behind the middle all bytes
# are 255: with an index one further (1) its threads leave the array. With a thread's own element read in front of the
# barrier (2) each block has a race, far behind the first of its many atomic operations.
HISTOGRAM = """
__global__ void histogram(const unsigned char* text, unsigned* bins) {
  const int mode = %d;
  __shared__ unsigned mine[256], next[256];
  mine[threadIdx.x] = next[threadIdx.x] = 0;
  __syncthreads();
  for (int k = 0; k < 600; ++k) atomicAdd(&mine[text[(blockIdx.x * 600 + k) * 256 + threadIdx.x] + (mode == 1)], 1u);
  if (mode != 2) __syncthreads();
  atomicAdd(&bins[threadIdx.x], mine[threadIdx.x] + next[threadIdx.x]);
}
int main() {
  const unsigned blocks = 64, n = blocks * 600 * 256;
  static unsigned char host[n];
  for (unsigned i = 0; i < n; ++i) host[i] = i / 256 / 600 == blocks / 2 + 1 ? 255 : i * 7919 / 64 %% 251;
  unsigned char* text;
  unsigned* bins;
  cudaMalloc(&text, n), cudaMalloc(&bins, 256 * sizeof(unsigned));
  cudaMemcpy(text, host, n, cudaMemcpyHostToDevice);
  cudaMemset(bins, 0, 256 * sizeof(unsigned));
  histogram<<<blocks, 256>>>(text, bins);
  cudaDeviceSynchronize();
  cudaFree(text), cudaFree(bins);
}
"""


def proved(options, name, source):
    """The rules that were broken, and how many blocks were proved."""
    program = random_programs.build(options.ordito, options.folder / f"{name}.cu", source)
    found, blocks = random_programs.check(options.ordito, program, [], {})
    print(f"{name}: {len(found)} findings, {blocks}")
    return found, blocks["proved"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ordito")
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    wrong = 0
    for n in (1024, 1021):  # and where the last blocks are not full
        found, blocks = proved(options, f"stencil_{n}", STENCIL % n)
        wrong += bool(found) or blocks != 64 * 128 - 9
    found, blocks = proved(options, "blur", IMAGES % (False, True))
    wrong += bool(found) or blocks != 16 * 32 - 1
    for name, is_in_place, is_written in (("blur_in_place", True, True), ("blur_of_nothing", False, False)):
        found, blocks = proved(options, name, IMAGES % (is_in_place, is_written))
        wrong += not found or blocks != 0
    found, blocks = proved(options, "sort", SORT % 0)
    wrong += bool(found) or blocks != 256 - 1
    for mode in (1, 2):
        found, blocks = proved(options, f"sort_{mode}", SORT % mode)
        wrong += all(rule != "race.shared" for rule, _, _ in found) or blocks != 0
    found, blocks = proved(options, "histogram", HISTOGRAM % 0)
    wrong += bool(found) or blocks != 64 - 1
    for mode, rule in ((1, "memory.bounds"), (2, "race.atomic_load")):
        found, blocks = proved(options, f"histogram_{mode}", HISTOGRAM % mode)
        wrong += all(broken != rule for broken, _, _ in found)
    sys.exit(1 if wrong else 0)


main()
