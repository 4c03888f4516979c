// cuda::atomic and cuda::atomic_ref of every size and scope, on the device and on the host; <nv/target>.
#include <cuda/atomic>
#include <nv/target>
#include <thread>
#include <vector>

#include "expect.hpp"

constexpr int kThreads = 512;

struct Pair {
  short a, b;
  __host__ __device__ bool operator==(const Pair& o) const { return a == o.a && b == o.b; }
};

/// What many threads do to cells of one type; 100 fits all of them.
template <class T>
struct Cells {
  T sum, low, high, last, won;
};

template <class T, cuda::thread_scope Scope>
__host__ __device__ void change(Cells<T>& cells, int rank) {
  cuda::atomic_ref<T, Scope> sum(cells.sum), low(cells.low), high(cells.high), last(cells.last), won(cells.won);
  if (rank < 100) sum.fetch_add(T(1), cuda::memory_order_relaxed);
  if (rank < 40) sum -= T(1);
  low.fetch_min(T(rank % 100));
  high.fetch_max(T(rank % 100), cuda::memory_order_acq_rel);
  last.exchange(T(rank % 100));
  T expected = T(0);
  won.compare_exchange_strong(expected, T(1 + rank % 90), cuda::memory_order_acq_rel, cuda::memory_order_acquire);
}

template <class T, cuda::thread_scope Scope>
__global__ void changeOnDevice(Cells<T>* cells) {
  change<T, Scope>(*cells, blockIdx.x * blockDim.x + threadIdx.x);
}

template <class T>
bool isRight(const Cells<T>& c) {
  return c.sum == T(60) && c.low == T(0) && c.high == T(99) && c.last >= T(0) && c.last < T(100) && c.won >= T(1) &&
         c.won <= T(90);
}

template <class T, cuda::thread_scope Scope>
void check(bool oneBlock) {
  Cells<T>* cells = nullptr;
  EXPECT_OK(cudaMallocManaged(&cells, sizeof(Cells<T>)));
  *cells = {T(0), T(50), T(0), T(0), T(0)};
  changeOnDevice<T, Scope><<<oneBlock ? 1 : 4, oneBlock ? kThreads : kThreads / 4>>>(cells);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(isRight(*cells));
  *cells = {T(0), T(50), T(0), T(0), T(0)};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([=] {
      for (int i = t; i < kThreads; i += 4) change<T, Scope>(*cells, i);
    });
  for (auto& thread : threads) thread.join();
  EXPECT(isRight(*cells));
  EXPECT_OK(cudaFree(cells));
}

template <class T>
void checkScopes() {
  check<T, cuda::thread_scope_block>(true);
  check<T, cuda::thread_scope_device>(false);
  check<T, cuda::thread_scope_system>(false);
}

__global__ void bitsAndPointers(cuda::atomic<unsigned, cuda::thread_scope_device>* bits, cuda::atomic<int*>* at,
                                Pair* pair) {
  bits->fetch_or(1u << (threadIdx.x % 32));
  *bits ^= 0u;
  *bits &= 0xffffffffu;
  at->fetch_add(2);
  --*at;
  cuda::atomic_ref<Pair, cuda::thread_scope_device> both(*pair);
  Pair seen = both.load();
  while (!both.compare_exchange_weak(seen, Pair{static_cast<short>(seen.a + 1), static_cast<short>(seen.b - 1)})) {
  }
}

/// A message: what is written before a release is there behind an acquire.
__global__ void passMessage(int* data, int* flag, int* out) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  if (blockIdx.x == 0) {
    *data = 42;
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
    ready.store(1, cuda::memory_order_release);
  } else {
    ready.wait(0, cuda::memory_order_acquire);
    *out = *data;
  }
}

__host__ __device__ int side() {
  int value = 0;
  NV_IF_TARGET(NV_IS_HOST, (value = 1;), (value = 2;))
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (value += 20;), (value += 10;))
  NV_DISPATCH_TARGET(NV_PROVIDES_SM_120, (value += 300;), NV_PROVIDES_SM_50, (int a = 100, b = 100; value += a + b;),
                     NV_ANY_TARGET, (value += 100;))
  return value;
}

__global__ void deviceSide(int* out) { *out = side(); }

int main() {
  checkScopes<int>();
  checkScopes<unsigned>();
  checkScopes<long long>();
  checkScopes<unsigned long>();
  checkScopes<float>();
  checkScopes<double>();
  checkScopes<short>();
  checkScopes<unsigned char>();

  int* cells = nullptr;
  EXPECT_OK(cudaMallocManaged(&cells, 64));
  auto* bits = new (cells) cuda::atomic<unsigned, cuda::thread_scope_device>(0u);
  auto* at = new (cells + 2) cuda::atomic<int*>(cells);
  auto* pair = new (cells + 4) Pair{0, 0};
  bitsAndPointers<<<2, 64>>>(bits, at, pair);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(*bits == 0xffffffffu);
  EXPECT(at->load() == cells + 128);
  EXPECT(*pair == (Pair{128, -128}));

  cells[0] = cells[1] = cells[2] = 0;
  passMessage<<<2, 1>>>(cells, cells + 1, cells + 2);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(cells[2] == 42);

  deviceSide<<<1, 1>>>(cells);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(cells[0] == 222);
  EXPECT(side() == 111);
  return finish();
}
