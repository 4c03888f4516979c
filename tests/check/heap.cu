// Memory that kernels take with malloc() and new, or the host in many ways, and what goes wrong with it; right ones
// look alike. The first argument names one of the cases; the test (check_test.py) has the verdicts. A case that begins
// with "ok" is right.
#include "cases.cuh"

constexpr int kThreads = 32, kInts = 16;

/// Each thread takes a piece and fills so many of its numbers.
__global__ void take(int** pieces, int filled) {
  int* piece = static_cast<int*>(malloc(kInts * sizeof(int)));
  for (int i = 0; i < filled; ++i) piece[i] = i + threadIdx.x;
  pieces[threadIdx.x] = piece;
}
__global__ void give(int** pieces, int offset) { free(pieces[threadIdx.x] + offset); }
__global__ void giveNothing() { free(nullptr); }
__global__ void sum(int** pieces, int* out, int first, int last) {
  int s = 0;
  for (int i = first; i < last; ++i) s += pieces[threadIdx.x][i];
  out[threadIdx.x] = s;
}
__global__ void put(int** pieces, int at) { pieces[threadIdx.x][at] = 1; }
__global__ void add(int** pieces, int at) { atomicAdd(&pieces[threadIdx.x][at], 1); }
__global__ void givePointer(int* pointer) { free(pointer); }
__global__ void twice(int** pieces) {
  free(pieces[0]);
  if (threadIdx.x == 0) pieces[0] = nullptr;
}
struct Pair {
  int a[4];
  int b;
};
__global__ void objects(Pair** pairs, int index, bool frees) {
  Pair* pair = new Pair[2];
  pair[index].b = threadIdx.x;
  pairs[threadIdx.x] = pair;
  if (frees) delete[] pair;
}
__global__ void useObjects(Pair** pairs, int* out) { out[threadIdx.x] = pairs[threadIdx.x][1].b; }
__global__ void deleteObjects(Pair** pairs) { delete[] pairs[threadIdx.x]; }
/// One thread takes a piece for all of the block and gives it back.
__global__ void shared(int* out, bool waits) {
  __shared__ int* piece;
  if (threadIdx.x == 0) piece = static_cast<int*>(malloc(blockDim.x * sizeof(int)));
  __syncthreads();
  piece[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = piece[blockDim.x - 1 - threadIdx.x];
  if (waits) __syncthreads();
  if (threadIdx.x == 0) free(piece);
}

struct Pieces {
  int** all = zeros<int*>(kThreads);
  int* out = zeros(kThreads);
  explicit Pieces(int filled = kInts) { take<<<1, kThreads>>>(all, filled); }
  void free() { give<<<1, kThreads>>>(all, 0); }
  ~Pieces() {
    cudaDeviceSynchronize();
    cudaFree(all);
    cudaFree(out);
  }
};

void withObjects(int index, bool frees, bool uses) {
  Pair** pairs = zeros<Pair*>(kThreads);
  int* out = zeros(kThreads);
  objects<<<1, kThreads>>>(pairs, index, frees);
  if (uses) useObjects<<<1, kThreads>>>(pairs, out);
  if (!frees) deleteObjects<<<1, kThreads>>>(pairs);
  cudaDeviceSynchronize();
  cudaFree(pairs);
  cudaFree(out);
}
void withShared(bool waits) {
  int* out = zeros(64);
  shared<<<1, 64>>>(out, waits);
  cudaDeviceSynchronize();
  cudaFree(out);
}
void withPointer(int* pointer, int* freed) {
  givePointer<<<1, 1>>>(pointer);
  cudaDeviceSynchronize();
  cudaFree(freed);
}
__global__ void wide(char* bytes, int by) { reinterpret_cast<int*>(bytes + by)[threadIdx.x] = 7; }
__global__ void wider(char* bytes, int by) { reinterpret_cast<double2*>(bytes + by)[threadIdx.x] = make_double2(1, 2); }
__global__ void readWide(const char* bytes, int by, double* out) {
  out[threadIdx.x] = reinterpret_cast<const double*>(bytes + by)[threadIdx.x];
}
__global__ void inShared(int* out, int by) {
  __shared__ alignas(16) char bytes[kThreads * 8 + 16];
  *reinterpret_cast<long long*>(bytes + by + 8 * threadIdx.x) = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = bytes[8 * threadIdx.x + by];
}
__global__ void count(char* bytes, int by) { atomicAdd(reinterpret_cast<unsigned long long*>(bytes + by), 1ull); }
__global__ void odd(char* bytes, int by) { *reinterpret_cast<short*>(bytes + 2 * threadIdx.x + by) = 3; }
template <class F>
void aligned(F launch) {
  char* bytes = zeros<char>(4096);
  int* out = zeros(1024);
  launch(bytes, out);
  cudaDeviceSynchronize();
  cudaFree(bytes);
  cudaFree(out);
}

const Case cases[] = {
    {"piece_past_end",
     [] {
       Pieces p(kInts + 1);
       p.free();
     }},
    {"piece_before_start",
     [] {
       Pieces p;
       put<<<1, kThreads>>>(p.all, -1);
       p.free();
     }},
    {"piece_read",
     [] {
       Pieces p;
       sum<<<1, kThreads>>>(p.all, p.out, 1, kInts + 1);
       p.free();
     }},
    {"piece_atomic",
     [] {
       Pieces p;
       add<<<1, kThreads>>>(p.all, kInts);
       p.free();
     }},
    {"piece_far",
     [] {
       Pieces p;
       put<<<1, kThreads>>>(p.all, 40);
       p.free();
     }},
    {"object_past_end", [] { withObjects(2, false, false); }},
    {"ok_piece",
     [] {
       Pieces p;
       sum<<<1, kThreads>>>(p.all, p.out, 0, kInts);
       p.free();
     }},
    {"ok_piece_last",
     [] {
       Pieces p;
       put<<<1, kThreads>>>(p.all, kInts - 1);
       p.free();
     }},
    {"ok_piece_atomic",
     [] {
       Pieces p;
       add<<<1, kThreads>>>(p.all, 0);
       p.free();
     }},
    {"ok_object", [] { withObjects(1, false, true); }},
    {"ok_object_deleted", [] { withObjects(1, true, false); }},
    {"piece_freed",
     [] {
       Pieces p;
       p.free();
       sum<<<1, kThreads>>>(p.all, p.out, 0, 2);
     }},
    {"piece_freed_write",
     [] {
       Pieces p;
       p.free();
       put<<<1, kThreads>>>(p.all, 0);
     }},
    {"piece_freed_atomic",
     [] {
       Pieces p;
       p.free();
       add<<<1, kThreads>>>(p.all, 3);
     }},
    {"object_freed", [] { withObjects(1, true, true); }},
    {"ok_piece_again",
     [] {
       Pieces p;
       p.free();
       take<<<1, kThreads>>>(p.all, kInts);
       p.free();
     }},
    {"ok_shared_piece", [] { withShared(true); }},
    {"shared_piece_early", [] { withShared(false); }},
    {"piece_twice",
     [] {
       Pieces p;
       p.free();
       p.free();
     }},
    {"piece_inside",
     [] {
       Pieces p;
       give<<<1, kThreads>>>(p.all, 1);
       p.free();
     }},
    {"piece_by_all",
     [] {
       Pieces p;
       twice<<<1, kThreads>>>(p.all);
       p.free();
     }},
    {"host_memory_given",
     [] {
       int* a = zeros(8);
       withPointer(a, a);
     }},
    {"stack_given",
     [] {
       int word = 0;
       withPointer(&word, nullptr);
     }},
    {"ok_nothing_given", [] { giveNothing<<<1, kThreads>>>(); }},
    {"leak_piece", [] { Pieces p; }},
    {"leak_pinned",
     [] {
       int* a;
       cudaMallocHost(&a, 64);
     }},
    {"leak_managed",
     [] {
       int* a;
       cudaMallocManaged(&a, 64);
     }},
    {"leak_pool",
     [] {
       int* a;
       cudaMallocAsync(&a, 64, 0);
     }},
    {"leak_array",
     [] {
       cudaArray_t a;
       const auto d = cudaCreateChannelDesc<float>();
       cudaMallocArray(&a, &d, 8, 8);
     }},
    {"leak_pitched",
     [] {
       int* a;
       size_t pitch;
       cudaMallocPitch(&a, &pitch, 40, 4);
     }},
    {"ok_leak_piece",
     [] {
       Pieces p;
       p.free();
     }},
    {"ok_leak_pinned",
     [] {
       int* a;
       cudaMallocHost(&a, 64);
       cudaFreeHost(a);
     }},
    {"ok_leak_managed",
     [] {
       int* a;
       cudaMallocManaged(&a, 64);
       cudaFree(a);
     }},
    {"ok_leak_pool",
     [] {
       int* a;
       cudaMallocAsync(&a, 64, 0);
       cudaFreeAsync(a, 0);
     }},
    {"ok_leak_array",
     [] {
       cudaArray_t a;
       const auto d = cudaCreateChannelDesc<float>();
       cudaMallocArray(&a, &d, 8, 8);
       cudaFreeArray(a);
     }},
    {"ok_leak_pitched",
     [] {
       int* a;
       size_t pitch;
       cudaMallocPitch(&a, &pitch, 40, 4);
       cudaFree(a);
     }},
    {"wide_vector", [] { aligned([](char* b, int*) { wider<<<1, 4>>>(b, 8); }); }},
    {"wide_read", [] { aligned([](char* b, int* o) { readWide<<<1, 8>>>(b, 4, reinterpret_cast<double*>(o)); }); }},
    {"wide_shared", [] { aligned([](char*, int* o) { inShared<<<1, kThreads>>>(o, 4); }); }},
    {"wide_atomic", [] { aligned([](char* b, int*) { count<<<1, 8>>>(b, 4); }); }},
    {"wide_short", [] { aligned([](char* b, int*) { odd<<<1, 8>>>(b, 1); }); }},
    {"ok_wide", [] { aligned([](char* b, int*) { wide<<<1, 4>>>(b, 12); }); }},
    {"ok_wide_vector", [] { aligned([](char* b, int*) { wider<<<1, 4>>>(b, 16); }); }},
    {"ok_wide_read", [] { aligned([](char* b, int* o) { readWide<<<1, 8>>>(b, 8, reinterpret_cast<double*>(o)); }); }},
    {"ok_wide_shared", [] { aligned([](char*, int* o) { inShared<<<1, kThreads>>>(o, 8); }); }},
    {"ok_wide_atomic", [] { aligned([](char* b, int*) { count<<<1, 8>>>(b, 8); }); }},
    {"ok_wide_short", [] { aligned([](char* b, int*) { odd<<<1, 8>>>(b, 2); }); }},
};

int main(int argc, char** argv) { return runCase(cases, argc, argv); }
