// Kernels that touch memory that is not theirs, and others that only look so. The first argument names one of the
// cases; the test (check_test.py) has the verdicts. A case that begins with "ok" is right.
#include <cstdio>
#include <cstring>
#include <cuda/atomic>

constexpr int kThreads = 64;

__global__ void shift(int* out, const int* in, int by, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i + by];
}
__global__ void fill(int* out) { out[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
__global__ void guarded(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 1;
}
__global__ void sharedBehind(int* out, int reach) {
  __shared__ int first[kThreads];
  __shared__ int second[kThreads];
  first[threadIdx.x] = 1;
  second[threadIdx.x] = 2;
  __syncthreads();
  out[threadIdx.x] = first[threadIdx.x + reach] + second[threadIdx.x];
}
extern __shared__ int dynamic[];
__global__ void dynamicBehind(int* out, int reach) {
  dynamic[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = dynamic[threadIdx.x + reach];
}
__device__ int table[kThreads];
__device__ int next[kThreads];
__global__ void symbolBehind(int* out, int reach) {
  next[threadIdx.x] = 1;
  out[threadIdx.x] = table[threadIdx.x + reach];
}
__constant__ int fixed[8];
__device__ __noinline__ int increase(int* counter) { return atomicAdd(counter, 1); }
__global__ void countOwn(int* counters) { increase(counters + blockIdx.x); }
/// A pointer to a constant, of which the compiler does not see that it is one.
__global__ void constantWritten(int* out, int isConstant) {
  int* target = isConstant ? const_cast<int*>(fixed) : out;
  asm volatile("" : "+l"(target));
  target[threadIdx.x % 8] = 1;
}
__global__ void constantBehind(int* out, int reach) { out[threadIdx.x] = fixed[threadIdx.x % 8 + reach]; }
__global__ void wide(char* bytes, int by) { *reinterpret_cast<int*>(bytes + 4 * threadIdx.x + by) = 7; }
__global__ void localArray(int* out, int reach) {
  int own[16];
  for (int i = 0; i < 16; ++i) own[i] = i * reach;
  out[threadIdx.x] = own[(threadIdx.x * reach) % 16];
}
__global__ void viaPointer(int** rows, int column) { rows[threadIdx.x][column] = 1; }
__global__ void addOne(int* sum) { atomicAdd(sum + kThreads, 1); }
__global__ void onHeap(int* out) {
  int* own = static_cast<int*>(malloc(16));
  own[3] = threadIdx.x;
  out[threadIdx.x] = own[3];
  free(own);
}
// Made of an atomic of the word around it, as on a GPU.
__global__ void addToShort(unsigned short* sums, int at) {
  cuda::atomic_ref<unsigned short, cuda::thread_scope_device>(sums[at]).fetch_add(1);
}

int main(int argc, char** argv) {
  const char* which = argc > 1 ? argv[1] : "";
  const auto is = [&](const char* name) { return !strcmp(which, name); };
  constexpr int n = kThreads;
  int *a, *b;
  cudaMalloc(&a, n * sizeof(int));
  cudaMalloc(&b, n * sizeof(int));
  cudaMemset(a, 0, n * sizeof(int));
  cudaMemset(b, 0, n * sizeof(int));
  guarded<<<1, n>>>(a, n);  // loads the module, whose variables would else get the place of what is freed here
  bool isKnown = true;
  if (is("past_end"))
    shift<<<1, n>>>(a, b, 1, n);
  else if (is("before_start"))
    shift<<<1, n>>>(a, b, -1, n);
  else if (is("into_neighbour"))
    shift<<<1, n>>>(a, b, int(a - b), n);
  else if (is("no_guard"))
    fill<<<2, n>>>(a);
  else if (is("shared_next_array"))
    sharedBehind<<<1, n>>>(a, 1);
  else if (is("shared_outside"))
    dynamicBehind<<<1, n, n * sizeof(int)>>>(a, 1);
  else if (is("symbol"))
    symbolBehind<<<1, n>>>(a, 1);
  else if (is("constant"))
    constantBehind<<<1, n>>>(a, 1);
  else if (is("misaligned"))
    wide<<<1, 8>>>(reinterpret_cast<char*>(a), 2);
  else if (is("null"))
    fill<<<1, n>>>(nullptr);
  else if (is("atomic"))
    addOne<<<1, 1>>>(a);
  else if (is("short_atomic") || is("ok_short_atomic")) {
    unsigned short* sums;
    cudaMalloc(&sums, 5 * sizeof *sums);
    cudaMemset(sums, 0, 5 * sizeof *sums);
    addToShort<<<1, n>>>(sums, is("short_atomic") ? 6 : 4);
  } else if (is("freed")) {
    cudaFree(b);
    fill<<<1, n>>>(b);
  } else if (is("freed_in_stream")) {
    cudaFreeAsync(b, 0);
    fill<<<1, n>>>(b);
  } else if (is("row") || is("ok_row")) {
    int* host[4] = {a, a + 1, b, b + 1};
    int** rows;
    cudaMalloc(&rows, sizeof host);
    cudaMemcpy(rows, host, sizeof host, cudaMemcpyHostToDevice);
    viaPointer<<<1, 4>>>(rows, 200 * is("row"));
  } else if (is("ok_shift"))
    shift<<<1, n>>>(a, b, 1, n - 1);
  else if (is("ok_middle"))
    shift<<<1, n - 1>>>(a, b + 1, -1, n);
  else if (is("ok_guard"))
    guarded<<<2, n>>>(a, n);
  else if (is("ok_shared"))
    sharedBehind<<<1, n>>>(a, 0);
  else if (is("ok_dynamic"))
    dynamicBehind<<<1, n, (n + 1) * sizeof(int)>>>(a, 1);
  else if (is("ok_symbol"))
    symbolBehind<<<1, n>>>(a, 0);
  else if (is("atomic_in_function") || is("ok_atomic_in_function"))
    countOwn<<<n + is("atomic_in_function"), 1>>>(a);
  else if (is("constant_written") || is("ok_constant_pointer"))
    constantWritten<<<1, 8>>>(a, is("constant_written"));
  else if (is("ok_constant"))
    constantBehind<<<1, n>>>(a, 0);
  else if (is("ok_aligned"))
    wide<<<1, 8>>>(reinterpret_cast<char*>(a), 4);
  else if (is("ok_local"))
    localArray<<<1, n>>>(a, 3);
  else if (is("ok_heap"))
    onHeap<<<1, n>>>(a);
  else if (is("ok_reused")) {
    cudaFree(b);
    cudaMalloc(&b, n * sizeof(int));
    fill<<<1, n>>>(b);
  } else if (is("ok_pinned")) {
    int* p;
    cudaMallocHost(&p, n * sizeof(int));
    fill<<<1, n>>>(p);
    cudaDeviceSynchronize();
    cudaFreeHost(p);
  } else if (is("ok_managed")) {
    int* p;
    cudaMallocManaged(&p, n * sizeof(int));
    fill<<<1, n>>>(p);
    cudaDeviceSynchronize();
    cudaFree(p);
  } else if (is("leak")) {
    int* p;
    cudaMalloc(&p, 12);
  } else
    isKnown = is("ok_none");
  if (!isKnown) return printf("no case %s\n", which), 2;
  const cudaError_t result = cudaDeviceSynchronize();
  cudaFree(a);
  if (!is("freed") && !is("freed_in_stream")) cudaFree(b);
  return result == cudaSuccess ? 0 : 1;
}
