// Histograms of the three channels of a colour image: 768 bins, red at [v], green at [256 + v], blue at [512 + v].
#pragma once

constexpr unsigned kValues = 256;
constexpr unsigned kBins = 3 * kValues;

/// One thread for each pixel, three additions in global memory.
__global__ void rgbGlobal(const unsigned char* rgb, unsigned width, unsigned height, unsigned* bins) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= width * height) return;
  const unsigned char* pixel = rgb + 3 * static_cast<std::size_t>(x);
  atomicAdd(&bins[pixel[0]], 1u);
  atomicAdd(&bins[kValues + pixel[1]], 1u);
  atomicAdd(&bins[2 * kValues + pixel[2]], 1u);
}

/// A private histogram for each block, in a grid-stride loop over the pixels.
__global__ void rgbPrivate(const unsigned char* rgb, unsigned width, unsigned height, unsigned* bins) {
  __shared__ unsigned mine[kBins];
  for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) mine[bin] = 0;
  __syncthreads();
  for (unsigned x = blockIdx.x * blockDim.x + threadIdx.x; x < width * height; x += gridDim.x * blockDim.x) {
    const unsigned char* pixel = rgb + 3 * static_cast<std::size_t>(x);
    atomicAdd(&mine[pixel[0]], 1u);
    atomicAdd(&mine[kValues + pixel[1]], 1u);
    atomicAdd(&mine[2 * kValues + pixel[2]], 1u);
  }
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
    if (mine[bin] != 0) atomicAdd(&bins[bin], mine[bin]);
  }
}

/// Counts the four bytes of a word. `phase` is the channel of its first byte, which the compiler knows.
template <unsigned Phase>
__device__ inline void countWord(unsigned* mine, unsigned word) {
  for (unsigned k = 0; k < 4; ++k) atomicAdd(&mine[(Phase + k) % 3 * kValues + (word >> 8 * k & 0xff)], 1u);
}

/// The same, 12 bytes (four pixels) at a time, and a histogram for each warp: warps do not wait for each other.
/// Blocks are multiples of 32, of at most 8 warps.
constexpr unsigned kMostWarps = 8;

__global__ void rgbPrivateWarps(const unsigned char* rgb, unsigned width, unsigned height, unsigned* bins) {
  __shared__ unsigned copies[kMostWarps * kBins];
  for (unsigned bin = threadIdx.x; bin < kMostWarps * kBins; bin += blockDim.x) copies[bin] = 0;
  __syncthreads();
  unsigned* mine = copies + threadIdx.x / 32 * kBins;
  const unsigned pixels = width * height;
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  const uint3* groups = reinterpret_cast<const uint3*>(rgb);
  for (unsigned g = thread; g < pixels / 4; g += gridDim.x * blockDim.x) {
    const uint3 group = groups[g];
    countWord<0>(mine, group.x);
    countWord<1>(mine, group.y);
    countWord<2>(mine, group.z);
  }
  const unsigned rest = pixels - pixels % 4 + thread;
  if (rest < pixels) {
    for (unsigned k = 0; k < 3; ++k) atomicAdd(&mine[k * kValues + rgb[3 * static_cast<std::size_t>(rest) + k]], 1u);
  }
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
    unsigned sum = 0;
    for (unsigned warp = 0; warp < kMostWarps; ++warp) sum += copies[warp * kBins + bin];
    if (sum != 0) atomicAdd(&bins[bin], sum);
  }
}
