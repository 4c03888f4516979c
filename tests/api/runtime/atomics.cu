// Every atomic operation of the language, in global and in shared memory, against what a loop makes of the same
// values; barriers of a block and of a warp around an exchange with neighbours.
#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "expect.hpp"

constexpr unsigned kThreads = 256, kBlocks = 8, kAll = kThreads * kBlocks;

enum Cell { kAdd, kSub, kMin, kMax, kAnd, kOr, kXor, kInc, kDec, kCells };

__device__ unsigned valueOf(unsigned i) { return i * 2654435761u >> 7; }
static unsigned hostValueOf(unsigned i) { return i * 2654435761u >> 7; }

__device__ void allOperations(unsigned* cells, unsigned i) {
  atomicAdd(&cells[kAdd], valueOf(i));
  atomicSub(&cells[kSub], valueOf(i));
  atomicMin(&cells[kMin], valueOf(i));
  atomicMax(&cells[kMax], valueOf(i));
  atomicAnd(&cells[kAnd], valueOf(i) | 0xff00u);
  atomicOr(&cells[kOr], valueOf(i) & 0x0ff0u);
  atomicXor(&cells[kXor], valueOf(i));
  atomicInc(&cells[kInc], 6);
  atomicDec(&cells[kDec], 6);
}

__global__ void inGlobal(unsigned* cells) { allOperations(cells, blockIdx.x * blockDim.x + threadIdx.x); }

__global__ void inShared(unsigned* cells) {
  __shared__ unsigned mine[kCells];
  if (threadIdx.x < kCells) mine[threadIdx.x] = threadIdx.x == kMin || threadIdx.x == kAnd ? ~0u : 0u;
  __syncthreads();
  allOperations(mine, threadIdx.x);
  __syncthreads();
  if (threadIdx.x < kCells) cells[threadIdx.x] = mine[threadIdx.x];
}

static std::vector<unsigned> expected(unsigned threads) {
  std::vector<unsigned> cells(kCells, 0);
  cells[kMin] = cells[kAnd] = ~0u;
  for (unsigned i = 0; i < threads; ++i) {
    const unsigned v = hostValueOf(i);
    cells[kAdd] += v;
    cells[kSub] -= v;
    cells[kMin] = std::min(cells[kMin], v);
    cells[kMax] = std::max(cells[kMax], v);
    cells[kAnd] &= v | 0xff00u;
    cells[kOr] |= v & 0x0ff0u;
    cells[kXor] ^= v;
    cells[kInc] = cells[kInc] >= 6 ? 0 : cells[kInc] + 1;
    cells[kDec] = cells[kDec] == 0 || cells[kDec] > 6 ? 6 : cells[kDec] - 1;
  }
  return cells;
}

static void operations() {
  unsigned* cells;
  std::vector<unsigned> got(kCells, 0);
  EXPECT_OK(cudaMalloc(&cells, kCells * sizeof(unsigned)));
  got[kMin] = got[kAnd] = ~0u;
  EXPECT_OK(cudaMemcpy(cells, got.data(), kCells * sizeof(unsigned), cudaMemcpyHostToDevice));
  inGlobal<<<kBlocks, kThreads>>>(cells);
  EXPECT_OK(cudaMemcpy(got.data(), cells, kCells * sizeof(unsigned), cudaMemcpyDeviceToHost));
  EXPECT(got == expected(kAll));
  inShared<<<1, kThreads>>>(cells);
  EXPECT_OK(cudaMemcpy(got.data(), cells, kCells * sizeof(unsigned), cudaMemcpyDeviceToHost));
  EXPECT(got == expected(kThreads));
  EXPECT_OK(cudaFree(cells));
}

/// What an operation returns is what was there before: exchanged values are passed on and none is lost; increments
/// hand out every number of the ring equally often.
__global__ void returned(unsigned* passed, unsigned* numbers, unsigned* cell, unsigned* counter) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  passed[i] = atomicExch(cell, i + 1);
  numbers[i] = atomicInc(counter, 15);
}

static void returnedValues() {
  unsigned *device, value;
  EXPECT_OK(cudaMalloc(&device, (2 * kAll + 2) * sizeof(unsigned)));
  EXPECT_OK(cudaMemset(device, 0, (2 * kAll + 2) * sizeof(unsigned)));
  returned<<<kBlocks, kThreads>>>(device, device + kAll, device + 2 * kAll, device + 2 * kAll + 1);
  std::vector<unsigned> passed(kAll), numbers(kAll);
  EXPECT_OK(cudaMemcpy(passed.data(), device, kAll * sizeof(unsigned), cudaMemcpyDeviceToHost));
  EXPECT_OK(cudaMemcpy(numbers.data(), device + kAll, kAll * sizeof(unsigned), cudaMemcpyDeviceToHost));
  EXPECT_OK(cudaMemcpy(&value, device + 2 * kAll, sizeof value, cudaMemcpyDeviceToHost));
  passed.push_back(value);
  std::sort(passed.begin(), passed.end());
  for (unsigned i = 0; i <= kAll; ++i) EXPECT(passed[i] == i);
  for (unsigned n = 0; n < 16; ++n) EXPECT(std::count(numbers.begin(), numbers.end(), n) == kAll / 16);
  EXPECT_OK(cudaFree(device));
}

/// atomicCAS is enough to build any other: addition of doubles, and a lock around a plain increment.
__device__ double addByCas(double* where, double value) {
  auto* bits = reinterpret_cast<unsigned long long*>(where);
  unsigned long long seen = *bits, before;
  do {
    before = seen;
    seen = atomicCAS(bits, before,
                     static_cast<unsigned long long>(
                         __double_as_longlong(value + __longlong_as_double(static_cast<long long>(before)))));
  } while (seen != before);
  return __longlong_as_double(static_cast<long long>(before));
}

__global__ void built(double* sum, int* lock, volatile int* count) {
  addByCas(sum, 0.5 * threadIdx.x);
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    *count = *count + 1;
    __threadfence();
    atomicExch(lock, 0);
  }
}

/// 64 bits, signed numbers and floats.
__global__ void types(unsigned long long* u, long long* s, int* i, float* f, double* d) {
  const int t = static_cast<int>(threadIdx.x);
  atomicAdd(u, 1ull << 33);
  atomicMax(u + 1, static_cast<unsigned long long>(t) << 40);
  atomicXor(u + 2, 1ull << (t % 64));
  atomicMin(s, -static_cast<long long>(t) << 33);
  atomicMin(i, -t);
  atomicMax(i + 1, t - 300);
  atomicAdd(f, 0.25f);
  atomicAdd(d, 0.125);
}

static void otherTypes() {
  struct Cells {
    unsigned long long u[3];
    long long s;
    double d, sum;
    int i[2], lock, count;
    float f;
  } *cells, got{};
  got.i[1] = -1000;
  EXPECT_OK(cudaMalloc(&cells, sizeof(Cells)));
  EXPECT_OK(cudaMemcpy(cells, &got, sizeof got, cudaMemcpyHostToDevice));
  types<<<1, kThreads>>>(cells->u, &cells->s, cells->i, &cells->f, &cells->d);
  built<<<kBlocks, kThreads>>>(&cells->sum, &cells->lock, &cells->count);
  EXPECT_OK(cudaMemcpy(&got, cells, sizeof got, cudaMemcpyDeviceToHost));
  EXPECT(got.u[0] == static_cast<unsigned long long>(kThreads) << 33);
  EXPECT(got.u[1] == 255ull << 40 && got.u[2] == 0);
  EXPECT(got.s == -(255ll << 33) && got.i[0] == -255 && got.i[1] == -45);
  EXPECT(got.f == 64 && got.d == 32);
  EXPECT(got.sum == kBlocks * 0.5 * (kThreads * (kThreads - 1) / 2) && got.count == kBlocks && got.lock == 0);
  EXPECT_OK(cudaFree(cells));
}

/// Each thread reads what its neighbours wrote before the barrier; in the second half, of the warp.
__global__ void neighbours(const int* in, int* out) {
  __shared__ int scratch[kThreads];
  const unsigned t = threadIdx.x;
  scratch[t] = 2 * in[t];
  __syncthreads();
  const int left = t == 0 ? 0 : scratch[t - 1], right = t == kThreads - 1 ? 0 : scratch[t + 1];
  __syncthreads();
  scratch[t] = left + right;
  __syncwarp();
  out[t] = scratch[t ^ 1];
}

static void barriers() {
  std::vector<int> in(kThreads), out(kThreads);
  std::iota(in.begin(), in.end(), 1);
  int* device;
  EXPECT_OK(cudaMalloc(&device, 2 * kThreads * sizeof(int)));
  EXPECT_OK(cudaMemcpy(device, in.data(), kThreads * sizeof(int), cudaMemcpyHostToDevice));
  neighbours<<<1, kThreads>>>(device, device + kThreads);
  EXPECT_OK(cudaMemcpy(out.data(), device + kThreads, kThreads * sizeof(int), cudaMemcpyDeviceToHost));
  for (unsigned t = 0; t < kThreads; ++t) {
    const unsigned at = t ^ 1;
    const int left = at == 0 ? 0 : 2 * in[at - 1], right = at == kThreads - 1 ? 0 : 2 * in[at + 1];
    EXPECT(out[t] == left + right);
  }
  EXPECT_OK(cudaFree(device));
}

int main() {
  operations();
  returnedValues();
  otherTypes();
  barriers();
  return finish();
}
