// The language's basics as the courses introduce them: qualifiers, indices, launches, guards, shared arrays.
#include <algorithm>
#include <chrono>
#include <numeric>
#include <vector>

#include "expect.hpp"

__host__ __device__ inline int index(int row, int column, int width) { return row * width + column; }
__device__ int onlyOnDevice(int v) { return 3 * v; }
static int onlyOnHost(int v) { return 2 * v; }

template <class T>
static std::vector<T> fetch(const T* device, size_t count) {
  std::vector<T> host(count);
  EXPECT_OK(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
  return host;
}

/// Counts how often each thread of a grid ran, by its number; and what it saw of the extents.
__global__ void visit(int* visits, int* wrong, dim3 grid, dim3 block) {
  const unsigned inBlock = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned number = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  atomicAdd(&visits[number * blockDim.x * blockDim.y * blockDim.z + inBlock], 1);
  const bool same = gridDim.x == grid.x && gridDim.y == grid.y && gridDim.z == grid.z && blockDim.x == block.x &&
                    blockDim.y == block.y && blockDim.z == block.z && warpSize == 32;
  // A warp is 32 consecutive threads of the block: its first lane's number tells.
  const unsigned first = __shfl_sync(__activemask(), inBlock, 0);
  // The last warp has only the lanes that are left, 8 of a block of 40.
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z, left = threads - inBlock / 32 * 32;
  const bool whole = __popc(__activemask()) == static_cast<int>(left < 32 ? left : 32);
  if (!same || !whole || first != inBlock / 32 * 32) atomicAdd(wrong, 1);
}

/// Grids and blocks of one, two and three dimensions: nine combinations.
static void dimensions() {
  const dim3 five(5);
  EXPECT(five.x == 5 && five.y == 1 && five.z == 1);
  const dim3 grids[] = {dim3(6), dim3(2, 3, 1), dim3(3, 4, 2)}, blocks[] = {dim3(40), dim3(5, 4, 1), dim3(4, 3, 5)};
  int* device;
  EXPECT_OK(cudaMalloc(&device, 4096 * sizeof(int)));
  for (const dim3& grid : grids)
    for (const dim3& block : blocks) {
      const size_t threads = size_t{grid.x} * grid.y * grid.z * block.x * block.y * block.z;
      EXPECT_OK(cudaMemset(device, 0, 4096 * sizeof(int)));
      visit<<<grid, block>>>(device, device + 4000, grid, block);
      const std::vector<int> got = fetch(device, 4096);
      EXPECT(std::count(got.begin(), got.begin() + static_cast<long>(threads), 1) == static_cast<long>(threads));
      EXPECT(std::accumulate(got.begin(), got.begin() + 4000, 0) == static_cast<int>(threads) && got[4000] == 0);
    }
  EXPECT_OK(cudaFree(device));
}

__global__ void guarded(int* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = onlyOnDevice(i);
}
__global__ void strided(int* out, int n) {
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n;
       i += static_cast<int>(gridDim.x * blockDim.x))
    out[i] = 3 * i;
}

/// 250 elements and 4 blocks of 64: six threads have none. Guarded, and padded instead; one thread does it all, too.
static void tails() {
  int* device;
  EXPECT_OK(cudaMalloc(&device, 256 * sizeof(int)));
  auto check = [&](int n) {
    const std::vector<int> got = fetch(device, 256);
    for (int i = 0; i < 256; ++i) EXPECT(got[static_cast<size_t>(i)] == (i < n ? 3 * i : -1));
    EXPECT_OK(cudaMemset(device, 0xff, 256 * sizeof(int)));
  };
  EXPECT_OK(cudaMemset(device, 0xff, 256 * sizeof(int)));
  guarded<<<4, 64>>>(device, 250), check(250);
  guarded<<<4, 64>>>(device, 256), check(256);
  strided<<<1, 1>>>(device, 250), check(250);
  strided<<<2, 32>>>(device, 250), check(250);
  EXPECT_OK(cudaFree(device));
}

/// Several arrays in one dynamic area, each aligned as its type wants.
__global__ void carved(double* doubles, int* ints, char* chars, int n) {
  extern __shared__ double area[];
  double* d = area;
  int* i = reinterpret_cast<int*>(d + n);
  char* c = reinterpret_cast<char*>(i + n);
  const int t = static_cast<int>(threadIdx.x);
  d[t] = 0.5 * t, i[t] = 10 * t, c[t] = static_cast<char>(t);
  __syncthreads();
  const int other = n - 1 - t;
  doubles[t] = d[other], ints[t] = i[other], chars[t] = c[other];
}

static void sharedArrays() {
  constexpr int kCount = 37;
  struct Arrays {
    double d[kCount];
    int i[kCount];
    char c[kCount];
  }* device;
  EXPECT_OK(cudaMalloc(&device, sizeof(Arrays)));
  carved<<<1, kCount, kCount * (sizeof(double) + sizeof(int) + 1)>>>(device->d, device->i, device->c, kCount);
  Arrays got;
  EXPECT_OK(cudaMemcpy(&got, device, sizeof got, cudaMemcpyDeviceToHost));
  for (int t = 0; t < kCount; ++t) {
    const int other = kCount - 1 - t;
    EXPECT(got.d[t] == 0.5 * other && got.i[t] == 10 * other && got.c[t] == other);
  }
  EXPECT_OK(cudaFree(device));
}

/// Pointers that promise not to overlap; loops unrolled by pragma and by hand, with half the tests.
__global__ void unrolled(const int* __restrict__ a, const int* __restrict__ b, int* __restrict__ out, int* tests) {
  int rolled = 0, halved = 0, sum = 0, other = 0;
  for (int k = 0; ++rolled, k < 100; ++k) sum += a[k] + b[k];
  for (int k = 0; ++halved, k < 100; k += 2) other += a[k] + b[k] + a[k + 1] + b[k + 1];
  int third = 0;
#pragma unroll 5
  for (int k = 0; k < 100; ++k) third += a[k] + b[k];
  out[0] = sum, out[1] = other, out[2] = third;
  tests[0] = rolled - 1, tests[1] = halved - 1;  // without the one that ends the loop
}

static void unrolling() {
  std::vector<int> values(200);
  std::iota(values.begin(), values.end(), 0);
  int* device;
  EXPECT_OK(cudaMalloc(&device, 256 * sizeof(int)));
  EXPECT_OK(cudaMemcpy(device, values.data(), 200 * sizeof(int), cudaMemcpyHostToDevice));
  unrolled<<<1, 1>>>(device, device + 100, device + 200, device + 210);
  const std::vector<int> got = fetch(device, 256);
  EXPECT(got[200] == 19900 && got[201] == 19900 && got[202] == 19900);
  EXPECT(got[210] == 100 && got[211] == 50);
  EXPECT_OK(cudaFree(device));
}

__global__ void vectors(float4* f, int2* i, double2* d) {
  *f = make_float4(1, 2, f->z + 3, 4);
  i->x += i->y;
  *d = make_double2(d->y, d->x);
}

static void vectorTypes() {
  struct Vectors {
    float4 f;
    double2 d;
    int2 i;
  } *device, v{};
  static_assert(sizeof(float4) == 16 && alignof(float4) == 16 && sizeof(int2) == 8 && alignof(int2) == 8);
  static_assert(sizeof(uchar3) == 3 && sizeof(float3) == 12 && alignof(double2) == 16);
  v.f.z = 10, v.i = make_int2(3, 4), v.d = make_double2(0.5, 1.5);
  EXPECT_OK(cudaMalloc(&device, sizeof v));
  EXPECT_OK(cudaMemcpy(device, &v, sizeof v, cudaMemcpyHostToDevice));
  vectors<<<1, 1>>>(&device->f, &device->i, &device->d);
  EXPECT_OK(cudaMemcpy(&v, device, sizeof v, cudaMemcpyDeviceToHost));
  EXPECT(v.f.x == 1 && v.f.y == 2 && v.f.z == 13 && v.f.w == 4 && v.i.x == 7 && v.d.x == 1.5 && v.d.y == 0.5);
  EXPECT_OK(cudaFree(device));
}

__global__ void waitFor(volatile int* flag) {
  while (*flag == 0) {
  }
}

/// A launch returns before the kernel ends, or this one would never get its flag; only who waits for the kernel
/// measures it.
static void launchesReturnAtOnce() {
  using Clock = std::chrono::steady_clock;
  int *flag, *device;
  cudaEvent_t end;
  EXPECT_OK(cudaHostAlloc(reinterpret_cast<void**>(&flag), sizeof(int), cudaHostAllocMapped));
  EXPECT_OK(cudaHostGetDevicePointer(reinterpret_cast<void**>(&device), flag, 0));
  EXPECT_OK(cudaEventCreate(&end));
  *flag = 1;
  waitFor<<<1, 1>>>(device);  // compiled and loaded
  EXPECT_OK(cudaDeviceSynchronize());
  *flag = 0;
  const auto start = Clock::now();
  waitFor<<<1, 1>>>(device);
  EXPECT_OK(cudaEventRecord(end));
  EXPECT(cudaEventQuery(end) == cudaErrorNotReady);
  const auto returned = Clock::now();
  while (Clock::now() - returned < std::chrono::milliseconds(20)) {
  }
  EXPECT(cudaEventQuery(end) == cudaErrorNotReady);
  *static_cast<volatile int*>(flag) = 1;
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(Clock::now() - start >= std::chrono::milliseconds(20));
  EXPECT_OK(cudaEventQuery(end));
  EXPECT_OK(cudaEventDestroy(end));
  EXPECT_OK(cudaFreeHost(flag));
}

#ifdef __clang__
/// `ordito nvcc` lets the host's integers wrap around; to the letter of C++ the loop would find no negative square.
int negativeSquares(int most) {
  int found = 0;
  for (int i = 0; i < most; ++i) found += i * i < 0;
  return found;
}
#endif

int main() {
  EXPECT(onlyOnHost(4) == 8 && index(2, 3, 10) == 23);
  dimensions();
  tails();
  sharedArrays();
  unrolling();
  vectorTypes();
  launchesReturnAtOnce();
#ifdef __clang__
  EXPECT(negativeSquares(60000) > 0);
#endif
  return finish();
}
