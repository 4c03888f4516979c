// Kernels that misuse barriers and masks, and others that only look so. The first argument names one of the cases; the
// test (check_test.py) has the verdicts. A case that begins with "ok" is right.
#include <cstdio>
#include <cstring>

constexpr unsigned kAll = 0xffffffff;

__global__ void syncwarp(int* out, unsigned mask) {
  if (threadIdx.x < 16) __syncwarp(mask);
  out[threadIdx.x] = 1;
}

__global__ void shuffle(int* out, unsigned mask) {
  if (threadIdx.x < 16) out[threadIdx.x] = __shfl_sync(mask, threadIdx.x, 0);
}

__global__ void vote(int* out, unsigned mask) {
  if (threadIdx.x < 16) out[threadIdx.x] = __any_sync(mask, threadIdx.x == 3);
}

__global__ void ballot(int* out, unsigned mask) {
  if (threadIdx.x < 16) out[threadIdx.x] = __ballot_sync(mask, threadIdx.x & 1);
}

__global__ void match(int* out, unsigned mask) {
  if (threadIdx.x < 16) out[threadIdx.x] = __match_any_sync(mask, threadIdx.x / 2);
}

__global__ void reduce(int* out, unsigned mask) {
  if (threadIdx.x < 16) out[threadIdx.x] = __reduce_add_sync(mask, threadIdx.x);
}

// Each half names itself.
__global__ void own(int* out) {
  const unsigned half = threadIdx.x % 32 < 16 ? 0xffffu : 0xffff0000u;
  out[threadIdx.x] = __shfl_xor_sync(half, threadIdx.x, 1);
}

__global__ void branches(int* out, int from) {
  __shared__ int words[128];
  if (threadIdx.x < from) {
    words[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = words[0];
  } else {
    words[threadIdx.x] = 2;
    __syncthreads();
    out[threadIdx.x] = words[127];
  }
}

// Lanes that are done early meet the others at a barrier of their own.
__global__ void early(int* out, int from) {
  out[threadIdx.x] = 0;
  if (threadIdx.x >= from) {
    __syncthreads();
    return;
  }
  out[threadIdx.x] = 3;
  __syncthreads();
  out[threadIdx.x] += 4;
}

__global__ void oddLanes(int* out, int bit) {
  if (threadIdx.x & bit) {
    out[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] += 1;
  } else {
    out[threadIdx.x] = 2;
    __syncthreads();
    out[threadIdx.x] *= 5;
  }
}

// A warp that goes through the loop once more than the others meets their last barrier.
__global__ void turns(int* out, int more) {
  const int n = threadIdx.x < 32 ? 2 + more : 2;
  for (int k = 0; k < n; ++k) {
    out[threadIdx.x] = k;
    __syncthreads();
  }
  out[threadIdx.x] += 1;
  if (threadIdx.x >= 32 || !more) __syncthreads();
  out[threadIdx.x] += 1;
}

// Four ways, by lanes or by warps, each with a barrier of its own.
__global__ void fourWays(int* out, int unit) {
  switch (threadIdx.x / unit % 4) {
    case 0:
      out[threadIdx.x] = 1;
      __syncthreads();
      break;
    case 1:
      out[threadIdx.x] = 2;
      __syncthreads();
      out[threadIdx.x] *= 3;
      break;
    case 2:
      out[threadIdx.x] = 3;
      __syncthreads();
      out[threadIdx.x] += 5;
      break;
    default: __syncthreads(); out[threadIdx.x] = 7;
  }
}

// The first `few` threads work, the others only keep them company.
__global__ void company(int* out, int few) {
  if (threadIdx.x < few) {
    for (int k = 0; k < 2; ++k) {
      out[threadIdx.x] = k;
      __syncthreads();
    }
  } else {
    for (int k = 0; k < 2; ++k) __syncthreads();
  }
}

// Threads go round as often as they have work; what is left of their barriers stands behind the loop.
__global__ void uneven(int* out, int unit) {
  const int n = 1 + threadIdx.x / unit % 2;
  for (int k = 0; k < n; ++k) {
    out[threadIdx.x] = k;
    __syncthreads();
  }
  for (int k = n; k < 2; ++k) {
    out[threadIdx.x] += 2;
    __syncthreads();
  }
}

// The same barrier for all, whatever they did before.
__global__ void joins(int* out, int unit) {
  if (threadIdx.x / unit % 2)
    out[threadIdx.x] = 1;
  else
    for (int k = 0; k <= threadIdx.x % 5; ++k) out[threadIdx.x] = k;
  __syncthreads();
  out[threadIdx.x] += 1;
}

__global__ void leave(int* out, int n) {
  if (threadIdx.x >= n) return;
  out[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = 2;
}

__global__ void halves(int* out) {
  if (threadIdx.x < 64)
    asm volatile("bar.sync 1, 64;" ::: "memory");
  else
    asm volatile("bar.sync 2, 64;" ::: "memory");
  out[threadIdx.x] = 1;
}

__global__ void countOnes(int* out) { out[threadIdx.x] = __syncthreads_count(threadIdx.x & 1); }

int main(int, char** arguments) {
  const char* which = arguments[1];
  const auto is = [&](const char* name) { return std::strcmp(which, name) == 0; };
  int* a = nullptr;
  cudaMalloc(&a, 128 * sizeof(int));
  const int n = 128;
  if (is("syncwarp"))
    syncwarp<<<1, 32>>>(a, 0xff);
  else if (is("ok_syncwarp"))
    syncwarp<<<1, 32>>>(a, 0xffff);
  else if (is("shuffle"))
    shuffle<<<1, 32>>>(a, 0xff);
  else if (is("ok_shuffle"))
    shuffle<<<1, 32>>>(a, 0xffff);
  else if (is("vote"))
    vote<<<1, 32>>>(a, 0xfffe);
  else if (is("ok_vote"))
    vote<<<1, 32>>>(a, 0xffff);
  else if (is("ballot"))
    ballot<<<1, 32>>>(a, 0x5555);
  else if (is("match"))
    match<<<1, 32>>>(a, 0xff);
  else if (is("ok_match"))
    match<<<1, 32>>>(a, 0xffff);
  else if (is("reduce"))
    reduce<<<1, 32>>>(a, 0x7fff);
  else if (is("ok_few"))  // the lanes above 15 do not exist
    reduce<<<1, 16>>>(a, kAll);
  else if (is("ok_own"))
    own<<<1, n>>>(a);
  else if (is("branches"))
    branches<<<1, n>>>(a, 40);
  else if (is("roles"))
    branches<<<1, n>>>(a, 64);
  else if (is("ok_uniform"))
    branches<<<1, n>>>(a, 128);
  else if (is("early"))
    early<<<1, n>>>(a, 50);
  else if (is("first_warp"))
    early<<<1, n>>>(a, 32);
  else if (is("odd_lanes"))
    oddLanes<<<1, 32>>>(a, 1);
  else if (is("turns"))
    turns<<<1, n>>>(a, 1);
  else if (is("ok_loop"))
    turns<<<1, n>>>(a, 0);
  else if (is("four_ways"))
    fourWays<<<1, 32>>>(a, 1);
  else if (is("four_warps"))
    fourWays<<<1, n>>>(a, 32);
  else if (is("ok_one_way"))
    fourWays<<<1, n>>>(a, 128);
  else if (is("company"))
    company<<<1, 32>>>(a, 1);
  else if (is("company_of_warps"))
    company<<<1, n>>>(a, 96);
  else if (is("ok_company"))
    company<<<1, n>>>(a, 128);
  else if (is("uneven"))
    uneven<<<1, 32>>>(a, 1);
  else if (is("uneven_warps"))
    uneven<<<1, n>>>(a, 32);
  else if (is("ok_even"))
    uneven<<<1, n>>>(a, 128);
  else if (is("ok_joins"))
    joins<<<1, n>>>(a, 1);
  else if (is("ok_joins_warps"))
    joins<<<1, n>>>(a, 32);
  else if (is("ok_return"))
    leave<<<1, n>>>(a, 100);
  else if (is("ok_halves"))
    halves<<<1, n>>>(a);
  else if (is("ok_count"))
    countOnes<<<1, n>>>(a);
  else
    return printf("no case %s\n", which), 2;
  const cudaError_t result = cudaDeviceSynchronize();
  cudaFree(a);
  return result == cudaSuccess ? 0 : 1;
}
