// Kernels that launch kernels: what the dynamic parallelism of CUDA 12 promises about order and completion, and the
// algorithms that courses build on it. Compile with -rdc=true under nvcc.
#include <algorithm>
#include <vector>

#include "expect.hpp"

// --- recursive reduction: each level halves the data of all blocks, and the next one starts behind the whole grid

__global__ void reduceTail(int* data, unsigned stride, unsigned width, unsigned* launches) {
  int* mine = data + blockIdx.x * width;
  if (threadIdx.x < stride) mine[threadIdx.x] += mine[threadIdx.x + stride];
  if (stride == 1 || blockIdx.x > 0 || threadIdx.x > 0) return;
  ++*launches;
  reduceTail<<<gridDim.x, stride / 2, 0, cudaStreamTailLaunch>>>(data, stride / 2, width, launches);
}

void testReduction() {
  const unsigned n = 1 << 16, width = 512;
  std::vector<int> host(n);
  for (unsigned i = 0; i < n; ++i) host[i] = static_cast<int>(i % 1000);
  int* data = nullptr;
  EXPECT_OK(cudaMalloc(&data, n * sizeof(int)));
  EXPECT_OK(cudaMemcpy(data, host.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  unsigned *launches = nullptr, counted = 0;
  EXPECT_OK(cudaMalloc(&launches, sizeof counted));
  EXPECT_OK(cudaMemset(launches, 0, sizeof counted));
  reduceTail<<<n / width, width / 2>>>(data, width / 2, width, launches);
  EXPECT_OK(cudaMemcpy(&counted, launches, sizeof counted, cudaMemcpyDeviceToHost));
  EXPECT(counted == 8);
  std::vector<int> result(n);
  EXPECT_OK(cudaMemcpy(result.data(), data, n * sizeof(int), cudaMemcpyDeviceToHost));
  for (unsigned block = 0; block < n / width; ++block) {
    int sum = 0;
    for (unsigned i = 0; i < width; ++i) sum += host[block * width + i];
    EXPECT(result[block * width] == sum);
  }
  EXPECT_OK(cudaFree(data));
}

// --- the same with a child for each block, which waits for nobody but its own parent's writes

__global__ void reduceChildren(int* in, int* out, unsigned size, unsigned* launches) {
  int* mine = in + blockIdx.x * size;
  const unsigned stride = size / 2;
  if (size == 2) {
    if (threadIdx.x == 0) out[blockIdx.x] = mine[0] + mine[1];
    return;
  }
  if (threadIdx.x < stride) mine[threadIdx.x] += mine[threadIdx.x + stride];
  __syncthreads();
  if (threadIdx.x > 0) return;
  atomicAdd(launches, 1);
  reduceChildren<<<1, stride / 2>>>(mine, out + blockIdx.x, stride, launches);
}

void testNestedReduction() {
  const unsigned blocks = 16, size = 512;
  std::vector<int> host(blocks * size, 3), sums(blocks);
  int *in = nullptr, *out = nullptr;
  unsigned *launches = nullptr, counted = 0;
  EXPECT_OK(cudaMalloc(&in, host.size() * sizeof(int)));
  EXPECT_OK(cudaMalloc(&out, blocks * sizeof(int)));
  EXPECT_OK(cudaMalloc(&launches, sizeof(unsigned)));
  EXPECT_OK(cudaMemset(launches, 0, sizeof(unsigned)));
  EXPECT_OK(cudaMemcpy(in, host.data(), host.size() * sizeof(int), cudaMemcpyHostToDevice));
  reduceChildren<<<blocks, size / 2>>>(in, out, size, launches);
  EXPECT_OK(cudaMemcpy(sums.data(), out, blocks * sizeof(int), cudaMemcpyDeviceToHost));
  EXPECT_OK(cudaMemcpy(&counted, launches, sizeof counted, cudaMemcpyDeviceToHost));
  for (int sum : sums) EXPECT(sum == 3 * int(size));
  EXPECT(counted == 8 * blocks);
}

// --- quicksort: two children for the two sides, each in a stream of its own

template <class T>
__device__ void insertionSort(T* data, int count) {
  for (int i = 1; i < count; ++i) {
    const T moving = data[i];
    int k = i;
    for (; k > 0 && data[k - 1] > moving; --k) data[k] = data[k - 1];
    data[k] = moving;
  }
}

template <class T>
__global__ void quicksort(T* data, int count, int depth) {
  if (count <= 32 || depth == 20) return insertionSort(data, count);
  const T pivot = data[count / 2];
  int left = 0, right = count - 1;
  while (left <= right) {
    while (data[left] < pivot) ++left;
    while (data[right] > pivot) --right;
    if (left > right) break;
    const T x = data[left];
    data[left++] = data[right];
    data[right--] = x;
  }
  if (right > 0) quicksort<<<1, 1, 0, cudaStreamFireAndForget>>>(data, right + 1, depth + 1);
  if (left < count - 1) {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    quicksort<T><<<1, 1, 0, stream>>>(data + left, count - left, depth + 1);
    cudaStreamDestroy(stream);
  }
}

template <class T>
void testQuicksort() {
  std::vector<T> host(20000);
  unsigned random = 12345;
  for (T& x : host) x = static_cast<T>((random = random * 1664525 + 1013904223) >> 8);
  T* data = nullptr;
  EXPECT_OK(cudaMalloc(&data, host.size() * sizeof(T)));
  EXPECT_OK(cudaMemcpy(data, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  quicksort<<<1, 1>>>(data, static_cast<int>(host.size()), 0);
  EXPECT_OK(cudaMemcpy(host.data(), data, host.size() * sizeof(T), cudaMemcpyDeviceToHost));
  EXPECT(std::is_sorted(host.begin(), host.end()));
  EXPECT_OK(cudaFree(data));
}

// --- a parent of 256 blocks: as many children if one thread of each launches, 16384 if all do

__global__ void count(unsigned* children) {
  if (threadIdx.x == 0 && blockIdx.x == 0) atomicAdd(children, 1);
}

__global__ void parent(unsigned* children, bool onlyOne) {
  if (!onlyOne || threadIdx.x == 0) count<<<16, 1>>>(children);
}

void testFanOut() {
  unsigned *children = nullptr, counted = 0;
  EXPECT_OK(cudaMalloc(&children, sizeof(unsigned)));
  EXPECT_OK(cudaMemset(children, 0, sizeof(unsigned)));
  parent<<<256, 64>>>(children, true);
  EXPECT_OK(cudaMemcpy(&counted, children, sizeof counted, cudaMemcpyDeviceToHost));
  EXPECT(counted == 256);
  EXPECT_OK(cudaMemset(children, 0, sizeof(unsigned)));
  EXPECT_OK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 16384));
  parent<<<256, 64>>>(children, false);
  EXPECT_OK(cudaMemcpy(&counted, children, sizeof counted, cudaMemcpyDeviceToHost));
  EXPECT(counted == 16384);
}

// --- a tree of grids as deep as CUDA allows

__global__ void tree(unsigned* nodes, int height) {
  if (threadIdx.x == 0) atomicAdd(nodes, 1);
  if (height > 0 && threadIdx.x < 2) tree<<<1, 32, 0, cudaStreamFireAndForget>>>(nodes, height - 1);
}

__global__ void chain(int* deepest, int depth) {
  *deepest = depth;
  chain<<<1, 1>>>(deepest, depth + 1);
}

void testDepth() {
  unsigned *nodes = nullptr, counted = 0;
  EXPECT_OK(cudaMalloc(&nodes, sizeof(unsigned)));
  EXPECT_OK(cudaMemset(nodes, 0, sizeof(unsigned)));
  tree<<<1, 32>>>(nodes, 9);
  EXPECT_OK(cudaMemcpy(&counted, nodes, sizeof counted, cudaMemcpyDeviceToHost));
  EXPECT(counted == (1u << 10) - 1);
  chain<<<1, 1>>>(reinterpret_cast<int*>(nodes), 0);
  EXPECT_OK(cudaMemcpy(&counted, nodes, sizeof counted, cudaMemcpyDeviceToHost));
  EXPECT(counted == 24);
}

int main() {
  testReduction();
  testNestedReduction();
  testQuicksort<int>();
  testQuicksort<double>();
  testFanOut();
  testDepth();
  return finish();
}
