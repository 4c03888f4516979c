// Kernels whose accesses are awkward on purpose: strided, misaligned, wide, partly masked, with bank conflicts and
// broadcasts. A GPU's profiler counted them once (access_counters.json, made by record_counters.sh); check_counters.py
// compares what Ordito counts. Accesses stand in inline PTX, so that every compiler emits the same ones.
#include <cstdio>

using u32 = unsigned;
using u64 = unsigned long long;

__device__ u32 sink;

/// Keeps loaded values alive. None is 77, but no compiler knows that.
__device__ void keep(u32 v) {
  if (v == 77) sink = v;
}

__device__ u32 load8(const void* p) {
  u32 v;
  asm volatile("ld.global.u8 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
__device__ u32 load16(const void* p) {
  u32 v;
  asm volatile("{ .reg .u16 t; ld.global.u16 t, [%1]; cvt.u32.u16 %0, t; }" : "=r"(v) : "l"(p) : "memory");
  return v;
}
__device__ u32 load32(const void* p) {
  u32 v;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
__device__ u32 load64(const void* p) {
  u64 v;
  asm volatile("ld.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
  return u32(v) ^ u32(v >> 32);
}
__device__ u32 load128(const void* p) {
  u32 a, b, c, d;
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(p) : "memory");
  return a ^ b ^ c ^ d;
}
__device__ void store8(void* p, u32 v) { asm volatile("st.global.u8 [%0], %1;" ::"l"(p), "r"(v) : "memory"); }
__device__ void store32(void* p, u32 v) { asm volatile("st.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); }
__device__ void store64(void* p, u64 v) { asm volatile("st.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory"); }
__device__ void store128(void* p, u32 v) {
  asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(p), "r"(v) : "memory");
}

__device__ u32 sharedLoad8(u32 a) {
  u32 v;
  asm volatile("ld.shared.u8 %0, [%1];" : "=r"(v) : "r"(a) : "memory");
  return v;
}
__device__ u32 sharedLoad32(u32 a) {
  u32 v;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(a) : "memory");
  return v;
}
__device__ u32 sharedLoad64(u32 a) {
  u64 v;
  asm volatile("ld.shared.u64 %0, [%1];" : "=l"(v) : "r"(a) : "memory");
  return u32(v) ^ u32(v >> 32);
}
__device__ u32 sharedLoad128(u32 s) {
  u32 a, b, c, d;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(s) : "memory");
  return a ^ b ^ c ^ d;
}
__device__ void sharedStore8(u32 a, u32 v) { asm volatile("st.shared.u8 [%0], %1;" ::"r"(a), "r"(v) : "memory"); }
__device__ void sharedStore32(u32 a, u32 v) { asm volatile("st.shared.u32 [%0], %1;" ::"r"(a), "r"(v) : "memory"); }
__device__ void sharedStore64(u32 a, u64 v) { asm volatile("st.shared.u64 [%0], %1;" ::"r"(a), "l"(v) : "memory"); }
__device__ void sharedStore128(u32 a, u32 v) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(a), "r"(v) : "memory");
}

/// Copies to shared memory without a register; `given` bytes come from memory, the rest of `Size` are zeros.
template <int Size>
__device__ void copyAsync(u32 to, const void* from, int given = Size) {
  if (Size == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(given) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(Size), "r"(given)
                 : "memory");
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
}

constexpr u32 kBlocks = 3, kThreads = 96;
constexpr u32 kBytes = 1 << 20;

// A kernel that executes one statement; i numbers the threads of the grid, lane those of a warp, p is global memory and
// s shared memory of which the first half is in use.
#define GLOBAL(name, statement)                                                              \
  __global__ void name(char* p) {                                                            \
    [[maybe_unused]] u32 i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32; \
    statement;                                                                               \
  }
#define SHARED(name, statement)                                    \
  __global__ void name(char* p) {                                  \
    alignas(16) __shared__ char space[32768];                      \
    u32 s = u32(__cvta_generic_to_shared(space));                  \
    [[maybe_unused]] u32 i = threadIdx.x, lane = threadIdx.x % 32; \
    (void)p;                                                       \
    statement;                                                     \
  }

GLOBAL(load_consecutive, keep(load32(p + 4 * i)))
GLOBAL(load_misaligned, keep(load32(p + 4 * i + 4)))
GLOBAL(load_reversed, keep(load32(p + 4 * (4096 - i))))
GLOBAL(load_stride_2, keep(load32(p + 8 * i)))
GLOBAL(load_stride_8, keep(load32(p + 32 * i)))
GLOBAL(load_stride_9, keep(load32(p + 36 * i)))
GLOBAL(load_stride_256, keep(load32(p + 1024 * i)))
GLOBAL(load_same, keep(load32(p + 64)))
GLOBAL(load_pairs, keep(load32(p + 4 * (i / 2))))
GLOBAL(load_rows, keep(load32(p + 4 * (i % 16) + 2048 * (i / 16))))
GLOBAL(load_scattered, keep(load32(p + (i * 2654435761u % kBytes & ~3u))))
GLOBAL(load_bytes, keep(load8(p + i)))
GLOBAL(load_bytes_stride_3, keep(load8(p + 3 * i)))
GLOBAL(load_halves_stride_3, keep(load16(p + 6 * i)))
GLOBAL(load_8, keep(load64(p + 8 * i)))
GLOBAL(load_8_misaligned, keep(load64(p + 8 * i + 8)))
GLOBAL(load_8_stride_2, keep(load64(p + 16 * i)))
GLOBAL(load_16, keep(load128(p + 16 * i)))
GLOBAL(load_16_misaligned, keep(load128(p + 16 * i + 16)))
GLOBAL(load_16_stride_2, keep(load128(p + 32 * i)))
GLOBAL(load_16_same, keep(load128(p + 16)))
GLOBAL(load_odd_lanes, if (lane % 2) keep(load32(p + 4 * i)))
GLOBAL(load_five_lanes, if (lane < 5) keep(load32(p + 4 * i)))
GLOBAL(load_one_lane, if (lane == 17) keep(load128(p + 16 * i)))
GLOBAL(load_no_lane, if (i > 100000) keep(load32(p + 4 * i)))
GLOBAL(store_consecutive, store32(p + 4 * i, i))
GLOBAL(store_misaligned, store32(p + 4 * i + 4, i))
GLOBAL(store_stride_2, store32(p + 8 * i, i))
GLOBAL(store_stride_8, store32(p + 32 * i, i))
GLOBAL(store_same, store32(p + 64, i))
GLOBAL(store_scattered, store32(p + (i * 2654435761u % kBytes & ~3u), i))
GLOBAL(store_bytes, store8(p + i, i))
GLOBAL(store_bytes_stride_5, store8(p + 5 * i, i))
GLOBAL(store_8, store64(p + 8 * i, i))
GLOBAL(store_8_stride_3, store64(p + 24 * i, i))
GLOBAL(store_16, store128(p + 16 * i, i))
GLOBAL(store_16_stride_3, store128(p + 48 * i, i))
GLOBAL(store_odd_lanes, if (lane % 2) store32(p + 4 * i, i))
GLOBAL(atomic_consecutive, atomicAdd((u32*)(p + 4 * i), 1))
GLOBAL(atomic_same, atomicAdd((u32*)(p + 64), 1))
GLOBAL(atomic_result, keep(atomicAdd((u32*)(p + 4 * (i % 7)), 0)))
GLOBAL(exchange_stride_2, keep(atomicExch((u32*)(p + 8 * i), 1)))

SHARED(shared_load_consecutive, keep(sharedLoad32(s + 4 * i)))
SHARED(shared_load_stride_2, keep(sharedLoad32(s + 8 * i)))
SHARED(shared_load_stride_3, keep(sharedLoad32(s + 12 * i)))
SHARED(shared_load_stride_4, keep(sharedLoad32(s + 16 * i)))
SHARED(shared_load_stride_32, keep(sharedLoad32(s + 128 * i)))
SHARED(shared_load_stride_33, keep(sharedLoad32(s + 132 * i)))
SHARED(shared_load_same, keep(sharedLoad32(s + 4)))
SHARED(shared_load_broadcast_conflict, keep(sharedLoad32(s + 128 * (lane / 8))))
SHARED(shared_load_mixed, keep(sharedLoad32(s + (lane < 20 ? 128 * (lane % 5) : 4 * lane))))
SHARED(shared_load_odd_lanes_stride_2, if (lane % 2) keep(sharedLoad32(s + 8 * i)))
SHARED(shared_load_bytes, keep(sharedLoad8(s + i)))
SHARED(shared_load_bytes_stride_128, keep(sharedLoad8(s + 128 * (lane / 4) + lane % 4)))
SHARED(shared_load_8, keep(sharedLoad64(s + 8 * i)))
SHARED(shared_load_8_stride_2, keep(sharedLoad64(s + 16 * i)))
SHARED(shared_load_8_stride_16, keep(sharedLoad64(s + 128 * i)))
SHARED(shared_load_8_same, keep(sharedLoad64(s + 8)))
SHARED(shared_load_8_pairs, keep(sharedLoad64(s + 8 * (lane / 2))))
SHARED(shared_load_8_halves, keep(sharedLoad64(s + 8 * (lane % 16))))
SHARED(shared_load_8_one_lane, if (lane == 3) keep(sharedLoad64(s + 8 * i)))
SHARED(shared_load_8_low_lanes, if (lane < 16) keep(sharedLoad64(s + 16 * i)))
SHARED(shared_load_16, keep(sharedLoad128(s + 16 * i)))
SHARED(shared_load_16_stride_2, keep(sharedLoad128(s + 32 * i)))
SHARED(shared_load_16_stride_8, keep(sharedLoad128(s + 128 * i)))
SHARED(shared_load_16_same, keep(sharedLoad128(s + 16)))
SHARED(shared_load_16_quarters, keep(sharedLoad128(s + 16 * (lane % 8))))
SHARED(shared_load_16_five_lanes, if (lane < 5) keep(sharedLoad128(s + 16 * i)))
SHARED(shared_store_consecutive, sharedStore32(s + 4 * i, i))
SHARED(shared_store_stride_2, sharedStore32(s + 8 * i, i))
SHARED(shared_store_stride_32, sharedStore32(s + 128 * i, i))
SHARED(shared_store_same, sharedStore32(s + 4, i))
SHARED(shared_store_broadcast_conflict, sharedStore32(s + 128 * (lane / 8), i))
SHARED(shared_store_bytes, sharedStore8(s + i, i))
SHARED(shared_store_8, sharedStore64(s + 8 * i, i))
SHARED(shared_store_8_stride_2, sharedStore64(s + 16 * i, i))
SHARED(shared_store_8_same, sharedStore64(s + 8, i))
SHARED(shared_store_16, sharedStore128(s + 16 * i, i))
SHARED(shared_store_16_stride_2, sharedStore128(s + 32 * i, i))
SHARED(shared_store_16_same, sharedStore128(s + 16, i))
SHARED(shared_store_odd_lanes, if (lane % 2) sharedStore32(s + 8 * i, i))
SHARED(shared_atomic_consecutive, atomicAdd((u32*)__cvta_shared_to_generic(s + 4 * i), 1))
SHARED(shared_atomic_same, atomicAdd((u32*)__cvta_shared_to_generic(s + 4), 1))
SHARED(shared_exchange_stride_2, atomicExch((u32*)__cvta_shared_to_generic(s + 8 * i), 1))
SHARED(copy_4, copyAsync<4>(s + 4 * i, p + 4 * i))
SHARED(copy_4_stride_2, copyAsync<4>(s + 8 * i, p + 8 * i))
SHARED(copy_8, copyAsync<8>(s + 8 * i, p + 8 * i))
SHARED(copy_16, copyAsync<16>(s + 16 * i, p + 16 * i))
SHARED(copy_16_misaligned, copyAsync<16>(s + 16 * i, p + 16 * i + 16))
SHARED(copy_16_rows, copyAsync<16>(s + 80 * (i / 4) + 16 * (i % 4), p + 1024 * (i / 4) + 16 * (i % 4)))
SHARED(copy_16_conflict, copyAsync<16>(s + 128 * i, p + 16 * i))
SHARED(copy_16_part, copyAsync<16>(s + 16 * i, p + 16 * i, 4))
SHARED(copy_16_nothing, copyAsync<16>(s + 16 * i, p + 16 * i, 0))
SHARED(copy_16_five_lanes, if (lane < 5) copyAsync<16>(s + 16 * i, p + 16 * i))
SHARED(barriers, {
  sharedStore32(s + 4 * i, i);
  __syncthreads();
  keep(sharedLoad32(s + 4 * (95 - i)));
  __syncthreads();
  keep(i);
})

void run(void (*kernel)(char*), char* memory) {
  kernel<<<kBlocks, kThreads>>>(memory);
  if (cudaDeviceSynchronize() != cudaSuccess)
    std::printf("a launch failed: %s\n", cudaGetErrorString(cudaGetLastError()));
}

int main() {
  char* memory;
  if (cudaMalloc(&memory, 2 * kBytes) != cudaSuccess) return 1;
  cudaMemset(memory, 0, 2 * kBytes);
  void (*const kernels[])(char*) = {load_consecutive,
                                    load_misaligned,
                                    load_reversed,
                                    load_stride_2,
                                    load_stride_8,
                                    load_stride_9,
                                    load_stride_256,
                                    load_same,
                                    load_pairs,
                                    load_rows,
                                    load_scattered,
                                    load_bytes,
                                    load_bytes_stride_3,
                                    load_halves_stride_3,
                                    load_8,
                                    load_8_misaligned,
                                    load_8_stride_2,
                                    load_16,
                                    load_16_misaligned,
                                    load_16_stride_2,
                                    load_16_same,
                                    load_odd_lanes,
                                    load_five_lanes,
                                    load_one_lane,
                                    load_no_lane,
                                    store_consecutive,
                                    store_misaligned,
                                    store_stride_2,
                                    store_stride_8,
                                    store_same,
                                    store_scattered,
                                    store_bytes,
                                    store_bytes_stride_5,
                                    store_8,
                                    store_8_stride_3,
                                    store_16,
                                    store_16_stride_3,
                                    store_odd_lanes,
                                    atomic_consecutive,
                                    atomic_same,
                                    atomic_result,
                                    exchange_stride_2,
                                    shared_load_consecutive,
                                    shared_load_stride_2,
                                    shared_load_stride_3,
                                    shared_load_stride_4,
                                    shared_load_stride_32,
                                    shared_load_stride_33,
                                    shared_load_same,
                                    shared_load_broadcast_conflict,
                                    shared_load_mixed,
                                    shared_load_odd_lanes_stride_2,
                                    shared_load_bytes,
                                    shared_load_bytes_stride_128,
                                    shared_load_8,
                                    shared_load_8_stride_2,
                                    shared_load_8_stride_16,
                                    shared_load_8_same,
                                    shared_load_8_pairs,
                                    shared_load_8_halves,
                                    shared_load_8_one_lane,
                                    shared_load_8_low_lanes,
                                    shared_load_16,
                                    shared_load_16_stride_2,
                                    shared_load_16_stride_8,
                                    shared_load_16_same,
                                    shared_load_16_quarters,
                                    shared_load_16_five_lanes,
                                    shared_store_consecutive,
                                    shared_store_stride_2,
                                    shared_store_stride_32,
                                    shared_store_same,
                                    shared_store_broadcast_conflict,
                                    shared_store_bytes,
                                    shared_store_8,
                                    shared_store_8_stride_2,
                                    shared_store_8_same,
                                    shared_store_16,
                                    shared_store_16_stride_2,
                                    shared_store_16_same,
                                    shared_store_odd_lanes,
                                    shared_atomic_consecutive,
                                    shared_atomic_same,
                                    shared_exchange_stride_2,
                                    copy_4,
                                    copy_4_stride_2,
                                    copy_8,
                                    copy_16,
                                    copy_16_misaligned,
                                    copy_16_rows,
                                    copy_16_conflict,
                                    copy_16_part,
                                    copy_16_nothing,
                                    copy_16_five_lanes,
                                    barriers};
  for (auto kernel : kernels) run(kernel, memory);
  cudaFree(memory);
}
