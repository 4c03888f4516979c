// One unit's statics. The file is compiled twice: UNIT is the number of the unit, ASK the name of its function. Kernels
// and the host code that uses their variables stand in both orders.
#include "expect.hpp"
#include "unit_statics.hpp"

__constant__ static int scale = 1;
static __device__ int counter;
static __device__ int untouched = 100 * UNIT;

namespace {

__device__ int hidden = 5;
__constant__ int table[4] = {UNIT, UNIT + 1, UNIT + 2, UNIT + 3};

struct Tag {
  static constexpr int value = 7 * UNIT;
};

template <class T>
__device__ int valueOf() {
  return T::value;
}
template <>
__device__ int valueOf<int>() {
  return 1000 * UNIT;
}

template <class T>
__global__ void typed(int* out) {
  *out = valueOf<T>() + hidden;
}

}  // namespace

static __global__ void fill(int* out) {
  out[0] = 10 * scale;
  out[1] = atomicAdd(&counter, UNIT) + UNIT;
  out[6] = untouched;
}

static __global__ void readTable(int* out, int i);

Answers ASK(int* device, int constant, int newHidden) {
  EXPECT_OK(cudaMemcpyToSymbol(scale, &constant, sizeof constant));
  EXPECT_OK(cudaMemcpyToSymbol(hidden, &newHidden, sizeof newHidden));
  fill<<<1, 1>>>(device);
  typed<Tag><<<1, 1>>>(device + 2);
  typed<int><<<1, 1>>>(device + 3);
  readTable<<<1, 1>>>(device, 3);
  EXPECT_OK(cudaGetLastError());
  Answers answers;
  EXPECT_OK(cudaMemcpy(&answers, device, sizeof answers, cudaMemcpyDeviceToHost));
  int counted = 0;
  EXPECT_OK(cudaMemcpyFromSymbol(&counted, counter, sizeof counted));
  EXPECT(counted == answers.counted);
  return answers;
}

static __global__ void readTable(int* out, int i) {
  out[4] = hidden;
  out[5] = table[i];
}
