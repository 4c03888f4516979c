// The kernels of the stream programs. Those that compute are exact (whole numbers in floats, fixed point), so a
// sequential loop gives the same bits; those that meet count how many of them run at once.
#pragma once

#include "../common/lab.hpp"

/// c = a + b, `repeats` times over: an artificial load. How often is not derived from n: else a part of the array would
/// be repeated less often than the whole.
__global__ void sumArrays(const float* a, const float* b, volatile float* c, int n, int repeats) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int k = 0; k < repeats; ++k) c[i] = a[i] + b[i];
}

/// Any function of two elements will do for the programs of 1000 chunks.
__host__ __device__ inline int mixed(int a, int b) { return (3 * a + 5 * b) / 4; }

__global__ void mix(const int* a, const int* b, int* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = mixed(a[i], b[i]);
}

/// sqrt|sin^2 x - cos^2 x| at n points from `first` on.
__global__ void tabulate(float* values, int first, int n, float step) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = static_cast<float>(first + i) * step;
  const float s = sinf(x), c = cosf(x);
  values[i] = sqrtf(fabsf(s * s - c * c));
}

/// Numbers with 26 bits behind the point: host and device compute alike, whatever a compiler fuses.
constexpr int kFraction = 26;
constexpr int kMostSteps = 64;

__host__ __device__ inline unsigned char escapeSteps(int column, int row, int side) {
  constexpr long long kOne = 1ll << kFraction;
  const long long re = -2 * kOne + 3 * kOne * column / side;
  const long long im = -3 * kOne / 2 + 3 * kOne * row / side;
  long long x = 0, y = 0;
  int steps = 0;
  for (; steps < kMostSteps; ++steps) {
    const long long xx = x * x >> kFraction, yy = y * y >> kFraction;
    if (xx + yy > 4 * kOne) break;
    y = (x * y >> (kFraction - 1)) + im;
    x = xx - yy + re;
  }
  return static_cast<unsigned char>(steps);
}

/// The Mandelbrot set's n pixels from number `first` on, in rows of `side`.
__global__ void mandelbrot(unsigned char* pixels, int first, int n, int side) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) pixels[i] = escapeSteps((first + i) % side, (first + i) / side, side);
}

__host__ __device__ inline unsigned char luma(const unsigned char* rgb) {
  return static_cast<unsigned char>((77 * rgb[0] + 150 * rgb[1] + 29 * rgb[2]) >> 8);
}

/// Red, green and blue to grey.
__global__ void grey(const unsigned char* rgb, unsigned char* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = luma(rgb + 3 * i);
}

/// One more digit at the end: the order of launches can be read from the number.
__global__ void append(long long* number, int digit) { *number = *number * 10 + digit; }

// ---------------------------------------------------------------------------------------------------------- meetings

/// How many are inside, and how many there were at most.
struct Meeting {
  int inside, most;
};

__device__ inline unsigned long long nanoseconds() {
  unsigned long long time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

/// Comes in and leaves when `expected` have been inside at once, or when its patience (in ns) ends: kernels that may
/// overlap meet, and kernels that may not are alone.
__device__ inline void meetOthers(Meeting* meeting, int expected, unsigned long long patience) {
  atomicMax_system(&meeting->most, atomicAdd_system(&meeting->inside, 1) + 1);
  const unsigned long long start = nanoseconds();
  while (atomicAdd_system(&meeting->most, 0) < expected && nanoseconds() - start < patience) {
  }
  atomicAdd_system(&meeting->inside, -1);
}

/// The roots of powers of two, which are infinite in a float from 2^256 on.
__global__ void roots(float* values, int n, Meeting* meeting, int expected, unsigned long long patience) {
  if (threadIdx.x == 0) meetOthers(meeting, expected, patience);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    values[i] = static_cast<float>(sqrt(pow(2.0, static_cast<double>(i))));
  }
}

__global__ void dummy() {}

/// Says that it is inside, and waits until the host says go (20 s at most). Then each element becomes one more.
__global__ void waitForHost(Meeting* meeting, volatile int* go, int* values, int n) {
  if (threadIdx.x == 0) {
    atomicAdd_system(&meeting->inside, 1);
    const unsigned long long start = nanoseconds();
    while (*go == 0 && nanoseconds() - start < 20000000000ull) {
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) ++values[i];
}
