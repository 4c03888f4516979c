// Kernels that leave their local arrays, and others that stay inside. A case that begins with "ok" is right.
#include "cases.cuh"

namespace {

constexpr int kThreads = 64;

/// Neighbours in local memory, of which one is used too far.
__global__ void neighbours(int* out, const int* in, int reach) {
  int first[8], window[8], last[8];
  for (int i = 0; i < 8; ++i) first[i] = i, window[i] = in[i], last[i] = 2 * i;
  const int at = threadIdx.x % 8 + reach;
  window[at] = 7;
  out[threadIdx.x] = window[threadIdx.x % 8] + first[(threadIdx.x + in[1]) % 8] + last[(threadIdx.x + in[2]) % 8];
}

__global__ void sums(int* out, const int* in, int from, int to) {
  int before[8], window[8];
  for (int i = 0; i < 8; ++i) before[i] = in[i], window[i] = in[i] + threadIdx.x;
  int sum = before[(threadIdx.x + in[0]) % 8];
#pragma unroll 1
  for (int i = from; i < to; ++i) sum += window[i];
  out[threadIdx.x] = sum;
}

struct Record {
  int count;
  char text[20];
  int values[6];
};

/// The struct is one object: who leaves `text` is still in it.
__global__ void inStruct(int* out, const int* in, int at) {
  Record record, other;
  memset(&record, 0, sizeof record);
  other = record;
  other.count = 3;
  record.values[at] = in[0];
  out[threadIdx.x] = record.values[threadIdx.x % 6] + other.values[(threadIdx.x + in[1]) % 6] + other.text[in[2]];
}

__global__ void copies(int* out, const int* in, int n) {
  Record from, to;
  from.count = in[1];
  for (int i = 0; i < 20; ++i) from.text[i] = in[i];
  for (int i = 0; i < 6; ++i) from.values[i] = in[i];
  memcpy(&to, &from, sizeof to);
  out[threadIdx.x] = to.values[n] + to.text[threadIdx.x % 20];
}

/// Gets only an address, which says nothing of the object.
__device__ __noinline__ void fill(int* values, int count) {
  for (int i = 0; i < count; ++i) values[i] = i;
}
__global__ void called(int* out, const int* in, int count) {
  int before[8], window[8], behind[8];
  for (int i = 0; i < 8; ++i) before[i] = behind[i] = in[i];
  fill(window, count);
  out[threadIdx.x] = window[threadIdx.x % 8] + before[(threadIdx.x + in[0]) % 8] + behind[(threadIdx.x + in[1]) % 8];
}

/// Each call has an array of its own.
__device__ __noinline__ int descend(int depth, int at, int* callers) {
  int window[8];
  for (int i = 0; i < 8; ++i) window[i] = depth + i;
  window[at] += callers[at];
  const int below = depth > 0 ? descend(depth - 1, at, window) : 0;
  return below + window[(at + depth) % 8];
}
__global__ void recursion(int* out, const int* in, int at) {
  int top[8];
  for (int i = 0; i < 8; ++i) top[i] = i;
  out[threadIdx.x] = descend(3, at, top) + top[(threadIdx.x + in[0]) % 8];
}
/// In one that calls itself, the array of the caller.
__device__ __noinline__ int ascend(int depth, int at, int* callers) {
  int window[8];
  for (int i = 0; i < 8; ++i) window[i] = depth + i;
  if (depth == 0) return callers[at];
  return ascend(depth - 1, at, window) + window[(depth + threadIdx.x) % 8];
}
__global__ void callersArray(int* out, const int* in, int at) {
  int top[8];
  for (int i = 0; i < 8; ++i) top[i] = i;
  out[threadIdx.x] = ascend(2, at, top) + top[(threadIdx.x + in[0]) % 8];
}

/// Either of two: the address is generic, and belongs to one that is known when the kernel runs.
__global__ void generic(int* out, const int* in, int at, bool isLocal) {
  int window[8], behind[8];
  for (int i = 0; i < 8; ++i) window[i] = behind[i] = in[i];
  int* const where = isLocal ? window : out;
  where[isLocal ? at : at + threadIdx.x] = 1;
  if (isLocal) out[threadIdx.x] = window[threadIdx.x % 8] + behind[(threadIdx.x + in[1]) % 8];
}

struct Nothing {
#ifdef __clang__
  int values[0];
#else  // nvcc takes no variable without a size
  int values[1];
#endif
};
__global__ void nothing(int* out, const int* in, int n) {
  Nothing none;
  int window[8];
  for (int i = 0; i < 8; ++i) window[i] = in[i];
  for (int i = 0; i < n; ++i) none.values[i] = 1;
  out[threadIdx.x] = window[(threadIdx.x + n) % 8];
}

template <class... Arguments>
void run(void (*kernel)(int*, const int*, Arguments...), Arguments... arguments) {
  int *const out = zeros(kThreads), *const in = zeros(kThreads);
  kernel<<<1, kThreads>>>(out, in, arguments...);
  cudaDeviceSynchronize();
  cudaFree(out);
  cudaFree(in);
}

constexpr Case kCases[] = {
    {"past_end", [] { run(sums, 0, 9); }},         {"before_start", [] { run(sums, -1, 8); }},
    {"next_array", [] { run(neighbours, 8); }},    {"array_before", [] { run(neighbours, -8); }},
    {"struct_end", [] { run(inStruct, 6); }},      {"copied_struct", [] { run(copies, 6); }},
    {"called_past_end", [] { run(called, 9); }},   {"recursion", [] { run(recursion, 8); }},
    {"recursion_far", [] { run(recursion, 16); }}, {"callers_array", [] { run(callersArray, 9); }},
    {"generic", [] { run(generic, 8, true); }},    {"ok_last", [] { run(sums, 0, 8); }},
    {"ok_next_array", [] { run(neighbours, 0); }}, {"ok_struct", [] { run(inStruct, 5); }},
    {"ok_copied_struct", [] { run(copies, 5); }},  {"ok_called", [] { run(called, 8); }},
    {"ok_recursion", [] { run(recursion, 7); }},   {"ok_callers_array", [] { run(callersArray, 7); }},
    {"ok_generic", [] { run(generic, 7, true); }}, {"ok_generic_global", [] { run(generic, 0, false); }},
    {"ok_nothing", [] { run(nothing, 0); }},
};

}  // namespace

int main(int argc, char** argv) { return runCase(kCases, argc, argv); }
