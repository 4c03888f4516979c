// Kernels and copies that use memory before anybody has written it, and others that only look so. The first argument
// names one of the cases; the test (check_test.py) has the verdicts. A case that begins with "ok" is right.
#include <cstdio>
#include <cstring>

constexpr int n = 64;

struct Holed {
  char tag;
  double value;
};
struct Fields {
  unsigned low : 3, high : 5;
};
struct Odd {
  int a, b, c;
};

__global__ void add(int* sum, const int* x) { sum[threadIdx.x] += x[threadIdx.x]; }
__global__ void scale(float* out, const float* x, int count) {
  if (threadIdx.x < count) out[threadIdx.x] = 2 * x[threadIdx.x];
}
__global__ void copy(int* out, const int* in) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void decide(int* out, const int* flags) {
  if (flags[threadIdx.x] > 3) out[threadIdx.x] = 1;
}
__global__ void gather(int* out, const int* in, const int* index) { out[threadIdx.x] = in[index[threadIdx.x] & 7]; }
__global__ void count(int* counter) { atomicAdd(counter, 1); }
__global__ void exchange(int* word, int* old) {
  atomicExch(word, 1);
  *old = 0;
}
__global__ void fill(int* out, int count) {
  if (threadIdx.x < count) out[threadIdx.x] = threadIdx.x;
}
/// `written` of the block's threads bring something for the sum.
__global__ void tree(int* out, int written) {
  __shared__ int part[n];
  if (threadIdx.x < written) part[threadIdx.x] = threadIdx.x;
  __syncthreads();
  for (int s = n / 2; s > 0; s /= 2) {
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = part[0];
}
__global__ void neighbours(int* out, int from) {
  __shared__ int row[n + 2];
  row[threadIdx.x + 1] = threadIdx.x;
  if (threadIdx.x == 0 && from == 0) row[0] = row[n + 1] = 0;
  __syncthreads();
  out[threadIdx.x] = row[threadIdx.x] + row[threadIdx.x + 2];
}
/// The sum of a histogram in local memory, of which `cleared` bins were set to zero.
__global__ void local(int* out, const int* in, int cleared) {
  int bins[8];
  for (int i = 0; i < cleared; ++i) bins[i] = 0;
  for (int i = 0; i < 8; ++i) ++bins[in[i] & 7];
  out[threadIdx.x] = bins[in[threadIdx.x] & 7];
}
/// Words that are copied as they are; the loops stay loops.
__global__ void places(int* out, const int* where) {
  int words[4];
#pragma unroll 1
  for (int i = 0; i < 4; ++i) words[where[i]] = i;
#pragma unroll 1
  for (int i = 0; i < 4; ++i) out[i] = words[i];
}
__device__ int total;
__global__ void symbol(int* out) { out[threadIdx.x] = total + 1; }
__global__ void structs(Holed* out, const Holed* in) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void makeStructs(Holed* out) {
  out[threadIdx.x].tag = 'a';
  out[threadIdx.x].value = threadIdx.x;
}
__global__ void makeOdd(Odd* out) {
  out[threadIdx.x].a = 1;
  out[threadIdx.x].c = 3;
}
__global__ void readOdd(int* out, const Odd* in, bool wantsB) {
  const Odd all = in[threadIdx.x];
  out[threadIdx.x] = all.a + all.c + (wantsB ? all.b : 0);
}
__global__ void fields(int* out, Fields* f) {
  f[threadIdx.x].low = 5;
  out[threadIdx.x] = f[threadIdx.x].low + 1;
}
__global__ void topByte(int* out, const unsigned* in) { out[threadIdx.x] = (in[threadIdx.x] >> 24) + 1; }
__global__ void setTop(unsigned char* bytes, int at) { bytes[4 * threadIdx.x + at] = threadIdx.x; }
/// All lanes compute, and only the first `valid` of them had something to compute with.
__global__ void thrownAway(int* out, const int* in, int valid) {
  const int x = in[threadIdx.x] * 3;
  const int y = __shfl_xor_sync(~0u, x, 1) + 1;
  if (threadIdx.x < valid) out[threadIdx.x] = y;
}
__global__ void warpSum(int* out, const int* in, int valid) {
  int x = threadIdx.x < valid ? in[threadIdx.x] : 0;
  for (int s = 16; s > 0; s /= 2) x += __shfl_down_sync(~0u, x, s);
  if (threadIdx.x == 0) *out = x;
}
__noinline__ __device__ int inner(const Odd all) { return all.a + all.c; }
__global__ void call(int* out, const Odd* in) { out[threadIdx.x] = inner(in[threadIdx.x]); }

int main(int argc, char** argv) {
  const char* which = argc > 1 ? argv[1] : "";
  const auto is = [&](const char* name) { return !strcmp(which, name); };
  int host[4 * n] = {}, *a, *b, *zeros;
  cudaMalloc(&a, 4 * n * sizeof(int));
  cudaMalloc(&b, 4 * n * sizeof(int));
  cudaMalloc(&zeros, 4 * n * sizeof(int));
  cudaMemset(zeros, 0, 4 * n * sizeof(int));
  const auto toHost = [&](const void* from, size_t bytes) { cudaMemcpy(host, from, bytes, cudaMemcpyDeviceToHost); };
  bool isKnown = true;
  if (is("sum"))
    add<<<1, n>>>(a, zeros);
  else if (is("ok_sum"))
    add<<<1, n>>>(zeros, zeros);
  else if (is("half_copied") || is("ok_copied")) {
    cudaMemcpy(b, host, (is("ok_copied") ? n : n / 2) * sizeof(int), cudaMemcpyHostToDevice);
    scale<<<1, n>>>(reinterpret_cast<float*>(a), reinterpret_cast<float*>(b), n);
  } else if (is("ok_guarded")) {
    cudaMemset(b, 0, n / 2 * sizeof(int));
    scale<<<1, n>>>(reinterpret_cast<float*>(a), reinterpret_cast<float*>(b), n / 2);
  } else if (is("branch"))
    decide<<<1, n>>>(zeros, a);
  else if (is("index"))
    gather<<<1, n>>>(b, zeros, a);
  else if (is("counter"))
    count<<<1, n>>>(a);
  else if (is("ok_exchange"))
    exchange<<<1, 1>>>(a, b);
  else if (is("moved")) {
    copy<<<1, n>>>(b, a);
    add<<<1, n>>>(zeros, b);
  } else if (is("ok_moved"))
    copy<<<1, n>>>(b, a);
  else if (is("tree_tail"))
    tree<<<1, n>>>(a, n - 3);
  else if (is("ok_tree"))
    tree<<<1, n>>>(a, n);
  else if (is("halo"))
    neighbours<<<1, n>>>(a, 1);
  else if (is("ok_halo"))
    neighbours<<<1, n>>>(a, 0);
  else if (is("local"))
    local<<<1, 8>>>(a, zeros, is("local") ? 0 : 8);
  else if (is("ok_local"))
    local<<<1, 8>>>(a, zeros, 8);
  else if (is("ok_symbol"))
    symbol<<<1, n>>>(a);
  else if (is("reused")) {
    int* old;
    cudaMallocAsync(&old, 4 * n, 0);
    cudaMemsetAsync(old, 0, 4 * n, 0);
    cudaFreeAsync(old, 0);
    cudaMallocAsync(&old, 4 * n, 0);
    add<<<1, n>>>(zeros, old);
    cudaFreeAsync(old, 0);
  } else if (is("device_copy") || is("ok_device_copy")) {
    cudaMemcpy(b, is("device_copy") ? a : zeros, n * sizeof(int), cudaMemcpyDeviceToDevice);
    add<<<1, n>>>(zeros, b);
  } else if (is("member") || is("ok_member")) {
    makeOdd<<<1, n>>>(reinterpret_cast<Odd*>(a));
    readOdd<<<1, n>>>(b, reinterpret_cast<Odd*>(a), is("member"));
  } else if (is("ok_call")) {
    makeOdd<<<1, n>>>(reinterpret_cast<Odd*>(a));
    call<<<1, n>>>(b, reinterpret_cast<Odd*>(a));
  } else if (is("ok_fields"))
    fields<<<1, n>>>(b, reinterpret_cast<Fields*>(a));
  else if (is("ok_top_byte") || is("wrong_byte")) {
    setTop<<<1, n>>>(reinterpret_cast<unsigned char*>(a), is("ok_top_byte") ? 3 : 0);
    topByte<<<1, n>>>(b, reinterpret_cast<unsigned*>(a));
  } else if (is("thrown_away") || is("ok_thrown_away")) {
    cudaMemset(a, 0, 20 * sizeof(int));
    thrownAway<<<1, 32>>>(b, a, is("ok_thrown_away") ? 20 : 21);
  } else if (is("warp") || is("ok_warp")) {
    cudaMemset(a, 0, 20 * sizeof(int));
    warpSum<<<1, 32>>>(b, a, is("ok_warp") ? 20 : 32);
  } else if (is("copy_none"))
    toHost(a, n * sizeof(int));
  else if (is("copy_word") || is("ok_copy_word")) {
    if (is("ok_copy_word")) fill<<<1, n>>>(a, 1);
    toHost(a, sizeof(int));
  } else if (is("copy_tail") || is("copy_last") || is("ok_copy")) {
    fill<<<1, n>>>(a, is("copy_tail") ? n - 4 : is("copy_last") ? n - 1 : n);
    toHost(a, n * sizeof(int));
  } else if (is("copy_local") || is("ok_copy_local")) {
    const int where[] = {0, 1, is("copy_local") ? 1 : 2, 3};
    cudaMemcpy(b, where, sizeof where, cudaMemcpyHostToDevice);
    places<<<1, 1>>>(a, b);
    toHost(a, sizeof where);
  } else if (is("copy_rows") || is("ok_copy_rows")) {
    size_t pitch = 0;
    char* rows;
    cudaMallocPitch(&rows, &pitch, 100, 4);
    cudaMemset2D(rows, pitch, 0, is("copy_rows") ? 60 : 100, 4);
    cudaMemcpy2D(host, 100, rows, pitch, 100, 4, cudaMemcpyDeviceToHost);
    cudaFree(rows);
  } else if (is("copy_moved") || is("ok_copy_moved")) {
    if (is("ok_copy_moved")) fill<<<1, n>>>(a, n);
    copy<<<1, n>>>(b, a);
    toHost(b, n * sizeof(int));
  } else if (is("ok_holes") || is("ok_moved_holes")) {
    auto *one = reinterpret_cast<Holed*>(a), *two = reinterpret_cast<Holed*>(b);
    makeStructs<<<1, 8>>>(one);
    structs<<<1, 8>>>(two, one);
    toHost(is("ok_holes") ? one : two, 8 * sizeof(Holed));
    toHost(one, sizeof(Holed));
  } else if (is("ok_written_here")) {
    fill<<<1, n>>>(a, n / 2);
    toHost(a, n / 2 * sizeof(int));
  } else
    isKnown = is("ok_none");
  if (!isKnown) return printf("no case %s\n", which), 2;
  const cudaError_t result = cudaDeviceSynchronize();
  cudaFree(a), cudaFree(b), cudaFree(zeros);
  return result == cudaSuccess ? 0 : 1;
}
