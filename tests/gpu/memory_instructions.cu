// One kernel for each kind of instruction that touches memory, one access each and nothing else: matrices of a warp,
// fragments, textures, surfaces, atomics with and without a result, generic addresses, asynchronous copies. A GPU's
// profiler counted them once (memory_instructions.json); check_counters.py compares what Ordito counts.
#include <mma.h>

#include <cstdio>

using u32 = unsigned;
using u64 = unsigned long long;

__device__ u32 sink;
__device__ void keep(u32 v) {
  if (v == 77) sink = v;
}
__device__ u32 sharedAddress(const void* p) { return static_cast<u32>(__cvta_generic_to_shared(p)); }

constexpr int kThreads = 64;

// ---- matrices of a warp
template <int Count, int Pitch>
__device__ void loadMatrices() {
  __shared__ alignas(16) char tile[32 * 144];
  const u32 row = sharedAddress(tile) + threadIdx.x % 32 * Pitch;
  u32 a = 0, b = 0, c = 0, d = 0;
  if (Count == 1) asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(a) : "r"(row) : "memory");
  if (Count == 2)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(row) : "memory");
  if (Count == 4)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "r"(row)
                 : "memory");
  keep(a ^ b ^ c ^ d);
}
__global__ void ldmatrix_1() { loadMatrices<1, 16>(); }
__global__ void ldmatrix_2() { loadMatrices<2, 16>(); }
__global__ void ldmatrix_4() { loadMatrices<4, 16>(); }
__global__ void ldmatrix_4_conflicts() { loadMatrices<4, 128>(); }
__global__ void ldmatrix_4_padded() { loadMatrices<4, 144>(); }

template <int Count, int Pitch>
__device__ void storeMatrices() {
  __shared__ alignas(16) char tile[32 * 144];
  const u32 row = sharedAddress(tile) + threadIdx.x % 32 * Pitch, v = threadIdx.x;
  if (Count == 1) asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(row), "r"(v) : "memory");
  if (Count == 4)
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %1, %1, %1};" ::"r"(row), "r"(v) : "memory");
}
__global__ void stmatrix_1() { storeMatrices<1, 16>(); }
__global__ void stmatrix_4() { storeMatrices<4, 16>(); }
__global__ void stmatrix_4_conflicts() { storeMatrices<4, 128>(); }

// ---- fragments
namespace wmma = nvcuda::wmma;
using FragmentA = wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major>;
using FragmentC = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;
__global__ void wmma_load_global(const __half* in) {
  FragmentA a;
  wmma::load_matrix_sync(a, in, 16);
  float sum = 0;
  for (int k = 0; k < a.num_elements; ++k) sum += __half2float(a.x[k]);
  keep(__float_as_uint(sum));
}
__global__ void wmma_load_shared() {
  __shared__ alignas(32) __half tile[256];
  FragmentA a;
  wmma::load_matrix_sync(a, tile, 16);
  float sum = 0;
  for (int k = 0; k < a.num_elements; ++k) sum += __half2float(a.x[k]);
  keep(__float_as_uint(sum));
}
__global__ void wmma_store_global(float* out) {
  FragmentC c;
  wmma::fill_fragment(c, float(threadIdx.x / 32));
  wmma::store_matrix_sync(out, c, 16, wmma::mem_row_major);
}
__global__ void wmma_store_shared() {
  __shared__ alignas(32) float tile[256];
  FragmentC c;
  wmma::fill_fragment(c, float(threadIdx.x / 32));
  wmma::store_matrix_sync(tile, c, 16, wmma::mem_row_major);
}

// ---- textures and surfaces
__global__ void texture_linear(cudaTextureObject_t t) { keep(__float_as_uint(tex1Dfetch<float>(t, threadIdx.x))); }
__global__ void texture_2d(cudaTextureObject_t t) {
  keep(__float_as_uint(tex2D<float>(t, threadIdx.x % 8 + 0.5f, threadIdx.x / 8 + 0.5f)));
}
__global__ void surface_load(cudaSurfaceObject_t s) {
  keep(__float_as_uint(surf2Dread<float>(s, threadIdx.x % 8 * 4, threadIdx.x / 8)));
}
__global__ void surface_store(cudaSurfaceObject_t s) {
  surf2Dwrite<float>(1.0f, s, threadIdx.x % 8 * 4, threadIdx.x / 8);
}

// ---- atomics
__global__ void atom_global_read(u32* p) {
  u32 v;
  asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(v) : "l"(p + threadIdx.x) : "memory");
  keep(v);
}
__global__ void atom_global_unread(u32* p) { atomicAdd(p + threadIdx.x, 1u); }
__global__ void red_global(u32* p) { asm volatile("red.global.add.u32 [%0], 1;" ::"l"(p + threadIdx.x) : "memory"); }
__global__ void red_global_one_address(u32* p) { asm volatile("red.global.add.u32 [%0], 1;" ::"l"(p) : "memory"); }
__global__ void cas_global(u32* p) { keep(atomicCAS(p + threadIdx.x, 5u, 6u)); }
__global__ void exch_global(u32* p) { keep(atomicExch(p + threadIdx.x, 6u)); }
__global__ void atom_f16x2_global(__half2* p) {
  asm volatile("red.global.add.noftz.f16x2 [%0], %1;" ::"l"(p + threadIdx.x), "r"(0x3c003c00u) : "memory");
}
__global__ void atom_shared_read() {
  __shared__ u32 cells[64];
  keep(atomicAdd(cells + threadIdx.x, 1u));
}
__global__ void atom_shared_unread() {
  __shared__ u32 cells[64];
  atomicAdd(cells + threadIdx.x, 1u);
}
__global__ void cas_shared() {
  __shared__ u32 cells[64];
  keep(atomicCAS(cells + threadIdx.x, 5u, 6u));
}
__global__ void atom_v2_global(float* p) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  float a, b;
  asm volatile("atom.global.add.v2.f32 {%0, %1}, [%2], {%3, %3};"
               : "=f"(a), "=f"(b)
               : "l"(p + 2 * threadIdx.x), "f"(1.f)
               : "memory");
  keep(__float_as_uint(a + b));
#endif
}
__global__ void red_v2_global(float* p) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  asm volatile("red.global.add.v2.f32 [%0], {%1, %1};" ::"l"(p + 2 * threadIdx.x), "f"(1.f) : "memory");
#endif
}

// ---- generic addresses
__device__ u32 genericLoad(const void* p) {
  u32 v;
  asm volatile("ld.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
__device__ void genericStore(void* p, u32 v) { asm volatile("st.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); }
__device__ u32 genericAtom(void* p) {
  u32 v;
  asm volatile("atom.add.u32 %0, [%1], 1;" : "=r"(v) : "l"(p) : "memory");
  return v;
}
__global__ void generic_load_global(const u32* p) { keep(genericLoad(p + threadIdx.x)); }
__global__ void generic_store_global(u32* p) { genericStore(p + threadIdx.x, 1); }
__global__ void generic_atom_global(u32* p) { keep(genericAtom(p + threadIdx.x)); }
__global__ void generic_load_shared(u64 hidden) {
  __shared__ u32 cells[64];
  keep(genericLoad(reinterpret_cast<char*>(cells + threadIdx.x) + hidden));
}
__global__ void generic_store_shared(u64 hidden) {
  __shared__ u32 cells[64];
  genericStore(reinterpret_cast<char*>(cells + threadIdx.x) + hidden, 1);
}
__global__ void generic_atom_shared(u64 hidden) {
  __shared__ u32 cells[64];
  keep(genericAtom(reinterpret_cast<char*>(cells + threadIdx.x) + hidden));
}
/// Odd lanes read global memory, even lanes shared memory: one instruction, two spaces.
__global__ void generic_load_mixed(u32* p) {
  __shared__ u32 cells[64];
  keep(genericLoad(threadIdx.x % 2 ? p + threadIdx.x : cells + threadIdx.x));
}

// ---- other spaces and kinds of load
__constant__ u32 table[64];
__global__ void constant_uniform(u32 k) { keep(table[k]); }
__global__ void constant_by_lane() { keep(table[threadIdx.x]); }
__global__ void local_array(u32 k, u32 m) {
  u32 a[16];
  asm volatile("st.local.u32 [%0], %1;" ::"l"(__cvta_generic_to_local(a + k)), "r"(k) : "memory");
  u32 v;
  asm volatile("ld.local.u32 %0, [%1];" : "=r"(v) : "l"(__cvta_generic_to_local(a + m)) : "memory");
  keep(v);
}
__global__ void load_nc(const u32* p) { keep(__ldg(p + threadIdx.x)); }
__global__ void load_volatile(const volatile u32* p) { keep(p[threadIdx.x]); }
__global__ void load_acquire(const u32* p) {
  u32 v;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p + threadIdx.x) : "memory");
  keep(v);
}
__global__ void store_release(u32* p) {
  asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(p + threadIdx.x) : "memory");
}
__global__ void prefetch_l2(const u32* p) { asm volatile("prefetch.global.L2 [%0];" ::"l"(p + threadIdx.x)); }

// ---- asynchronous
__global__ void mbarrier_rounds() {
  __shared__ u64 barrier;
  const u32 b = sharedAddress(&barrier);
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(b) : "memory");
  __syncthreads();
  asm volatile("{ .reg .b64 t; mbarrier.arrive.shared.b64 t, [%0]; }" ::"r"(b) : "memory");
}
__global__ void bulk_load(const u32* in) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  __shared__ alignas(128) u32 cells[256];
  __shared__ u64 barrier;
  const u32 b = sharedAddress(&barrier);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(b) : "memory");
    asm volatile("fence.proxy.async;" ::: "memory");
    asm volatile("{ .reg .b64 t; mbarrier.arrive.expect_tx.shared.b64 t, [%0], 1024; }" ::"r"(b) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];" ::"r"(
                     sharedAddress(cells)),
                 "l"(in), "r"(b)
                 : "memory");
  }
  __syncthreads();
  u32 done = 0;
  while (!done)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(b)
                 : "memory");
#endif
}
__global__ void bulk_store(u32* out) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  __shared__ alignas(128) u32 cells[256];
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;" ::"l"(out), "r"(sharedAddress(cells))
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
#endif
}

// ---- calls
__device__ __noinline__ u32 called(u32 v) { return v * 3 + clock(); }
__global__ void call_once() { keep(called(threadIdx.x)); }
__global__ void no_branch(u32* p) { p[threadIdx.x] = 1; }
__global__ void one_branch(u32* p, u32 n) {
  if (threadIdx.x < n) asm volatile("st.global.u32 [%0], 1;" ::"l"(p + threadIdx.x) : "memory");
}
__global__ void loop_uniform(u32* p, u32 n) {
#pragma unroll 1
  for (u32 k = 0; k < n; ++k) asm volatile("st.global.u32 [%0], 1;" ::"l"(p + threadIdx.x) : "memory");
}
__global__ void loop_by_lane(u32* p) {
#pragma unroll 1
  for (u32 k = 0; k <= threadIdx.x % 4; ++k) asm volatile("st.global.u32 [%0], 1;" ::"l"(p + threadIdx.x) : "memory");
}

// ---- the host
#define CHECK(call)                                                                                  \
  do {                                                                                               \
    const cudaError_t status = call;                                                                 \
    if (status != cudaSuccess) return std::printf("%s: %s\n", #call, cudaGetErrorString(status)), 1; \
  } while (false)
#define RUN(kernel, ...)                  \
  do {                                    \
    kernel<<<1, kThreads>>>(__VA_ARGS__); \
    CHECK(cudaDeviceSynchronize());       \
  } while (false)

int main() {
  u32* p = nullptr;
  CHECK(cudaMalloc(&p, 1 << 16));
  CHECK(cudaMemset(p, 0, 1 << 16));
  cudaResourceDesc linear = {};
  linear.resType = cudaResourceTypeLinear;
  linear.res.linear.devPtr = p;
  linear.res.linear.desc = cudaCreateChannelDesc<float>();
  linear.res.linear.sizeInBytes = 1024;
  cudaTextureDesc description = {};
  cudaTextureObject_t texture1d = 0, texture2d = 0;
  CHECK(cudaCreateTextureObject(&texture1d, &linear, &description, nullptr));
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  CHECK(cudaMallocArray(&array, &format, 8, 8, cudaArraySurfaceLoadStore));
  cudaResourceDesc ofArray = {};
  ofArray.resType = cudaResourceTypeArray;
  ofArray.res.array.array = array;
  CHECK(cudaCreateTextureObject(&texture2d, &ofArray, &description, nullptr));
  cudaSurfaceObject_t surface = 0;
  CHECK(cudaCreateSurfaceObject(&surface, &ofArray));

  RUN(ldmatrix_1);
  RUN(ldmatrix_2);
  RUN(ldmatrix_4);
  RUN(ldmatrix_4_conflicts);
  RUN(ldmatrix_4_padded);
  RUN(stmatrix_1);
  RUN(stmatrix_4);
  RUN(stmatrix_4_conflicts);
  RUN(wmma_load_global, reinterpret_cast<const __half*>(p));
  RUN(wmma_load_shared);
  RUN(wmma_store_global, reinterpret_cast<float*>(p));
  RUN(wmma_store_shared);
  RUN(texture_linear, texture1d);
  RUN(texture_2d, texture2d);
  RUN(surface_load, surface);
  RUN(surface_store, surface);
  RUN(atom_global_read, p);
  RUN(atom_global_unread, p);
  RUN(red_global, p);
  RUN(red_global_one_address, p);
  RUN(cas_global, p);
  RUN(exch_global, p);
  RUN(atom_f16x2_global, reinterpret_cast<__half2*>(p));
  RUN(atom_shared_read);
  RUN(atom_shared_unread);
  RUN(cas_shared);
  RUN(atom_v2_global, reinterpret_cast<float*>(p));
  RUN(red_v2_global, reinterpret_cast<float*>(p));
  RUN(generic_load_global, p);
  RUN(generic_store_global, p);
  RUN(generic_atom_global, p);
  RUN(generic_load_shared, 0);
  RUN(generic_store_shared, 0);
  RUN(generic_atom_shared, 0);
  RUN(generic_load_mixed, p);
  RUN(constant_uniform, 3);
  RUN(constant_by_lane);
  RUN(local_array, 3, 5);
  RUN(load_nc, p);
  RUN(load_volatile, p);
  RUN(load_acquire, p);
  RUN(store_release, p);
  RUN(prefetch_l2, p);
  RUN(mbarrier_rounds);
  RUN(bulk_load, p);
  RUN(bulk_store, p);
  RUN(call_once);
  RUN(no_branch, p);
  RUN(one_branch, p, 40);
  RUN(loop_uniform, p, 3);
  RUN(loop_by_lane, p);
  std::printf("done\n");
}
