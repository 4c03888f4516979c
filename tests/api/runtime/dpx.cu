// The DPX functions on host and device: sums with the largest and smallest of two and three, whole and in halves.
#include "expect.hpp"

constexpr unsigned pair(int high, int low) { return unsigned(high) << 16 | (unsigned(low) & 0xffffu); }

__host__ __device__ int failuresHere() {
  int wrong = 0;
  wrong += __viaddmax_s32(3, 4, 5) != 7 || __viaddmin_s32(3, 4, 5) != 5 || __viaddmax_s32_relu(-9, 1, -3) != 0;
  wrong += __viaddmax_s32(2147483647, 1, 0) != 0;  // the sum wraps around
  wrong += __viaddmax_u32(4294967295u, 2u, 0u) != 1u || __vimax3_s32(-1, 7, 3) != 7 || __vimin3_u32(9u, 2u, 5u) != 2u;
  wrong += __vimax_s32_relu(-5, -6) != 0 || __vimin_s32_relu(4, 9) != 4;
  wrong += __viaddmax_s16x2(pair(-4, 30000), pair(1, 10000), pair(-9, -7)) != pair(-3, -7);
  wrong += __viaddmin_u16x2(pair(1, 2), pair(3, 4), pair(9, 5)) != pair(4, 5);
  wrong += __vimax3_s16x2_relu(pair(-1, 5), pair(-2, 6), pair(-3, 4)) != pair(0, 6);
  bool first = false, high = false, low = true;
  wrong += __vibmax_s32(-1, -2, &first) != -1 || !first;
  wrong += __vibmin_u16x2(pair(1, 9), pair(2, 8), &high, &low) != pair(1, 8) || !high || low;
  return wrong;
}

__global__ void run(int* wrong) { *wrong = failuresHere(); }

int main() {
  int* wrong = nullptr;
  EXPECT_OK(cudaMallocManaged(&wrong, sizeof(int)));
  *wrong = -1;
  run<<<1, 1>>>(wrong);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(*wrong == 0 && failuresHere() == 0);
  return finish();
}
