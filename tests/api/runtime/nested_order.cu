// Kernels that launch kernels: in which order grids run, what they see, what launches take along, and what is refused.
#include <cstring>
#include <string>
#include <vector>

#include "expect.hpp"

// --- order: every grid notes its letter

struct Notes {
  unsigned count;
  char text[60];
};

__device__ void add(Notes* notes, char letter) { notes->text[atomicAdd(&notes->count, 1)] = letter; }

__global__ void note(Notes* notes, char letter) { add(notes, letter); }

/// Notes its letter late, behind a grandchild's.
__global__ void slow(Notes* notes, char child, char letter) {
  note<<<1, 1>>>(notes, child);
  for (volatile int i = 0; i < 20000; i = i + 1) {
  }
  note<<<1, 1>>>(notes, letter);
}

/// Launches into the stream that the threads of a block share run one after another, grandchildren included.
__global__ void inOrder(Notes* notes) {
  for (unsigned turn = 0; turn < blockDim.x; ++turn) {
    if (threadIdx.x == turn) slow<<<1, 1>>>(notes, static_cast<char>('a' + turn), static_cast<char>('A' + turn));
    __syncthreads();
  }
}

__global__ void tailOfTail(Notes* notes) {
  add(notes, '1');
  note<<<1, 1, 0, cudaStreamTailLaunch>>>(notes, '3');
  note<<<1, 1>>>(notes, '2');
}

__global__ void tails(Notes* notes) {
  tailOfTail<<<1, 1, 0, cudaStreamTailLaunch>>>(notes);
  note<<<1, 1, 0, cudaStreamTailLaunch>>>(notes, '4');
  slow<<<1, 1, 0, cudaStreamFireAndForget>>>(notes, 'x', 'x');
  slow<<<1, 1>>>(notes, 'x', 'x');
}

__global__ void events(Notes* notes) {
  cudaStream_t first, second;
  cudaEvent_t event;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  slow<<<1, 1, 0, first>>>(notes, 'a', 'b');
  cudaEventRecord(event, first);
  cudaStreamWaitEvent(second, event, 0);
  note<<<1, 1, 0, second>>>(notes, 'c');
  cudaEventDestroy(event);
  cudaStreamDestroy(first);
  cudaStreamDestroy(second);
}

std::string noted(void (*kernel)(Notes*), unsigned threads) {
  Notes *notes = nullptr, host;
  EXPECT_OK(cudaMalloc(&notes, sizeof(Notes)));
  EXPECT_OK(cudaMemset(notes, 0, sizeof(Notes)));
  kernel<<<1, threads>>>(notes);
  EXPECT_OK(cudaMemcpy(&host, notes, sizeof host, cudaMemcpyDeviceToHost));
  EXPECT_OK(cudaFree(notes));
  return std::string(host.text, host.count);
}

void testOrder() {
  EXPECT(noted(inOrder, 5) == "aAbBcCdDeE");
  EXPECT(noted(tails, 1) == "xxxx1234");
  EXPECT(noted(events, 1) == "abc");
}

// --- the host's next operation waits for all of it

__global__ void lateWrite(int* value) {
  for (volatile int i = 0; i < 20000; i = i + 1) {
  }
  *value = 7;
}
__global__ void launchLate(int* value) { lateWrite<<<1, 1, 0, cudaStreamTailLaunch>>>(value); }
__global__ void copyValue(const int* from, int* to) { *to = *from; }

void testCompletion() {
  int *values = nullptr, value = 0;
  EXPECT_OK(cudaMalloc(&values, 2 * sizeof(int)));
  EXPECT_OK(cudaMemset(values, 0, 2 * sizeof(int)));
  launchLate<<<1, 1>>>(values);
  copyValue<<<1, 1>>>(values, values + 1);
  EXPECT_OK(cudaMemcpy(&value, values + 1, sizeof value, cudaMemcpyDeviceToHost));
  EXPECT(value == 7);
  EXPECT_OK(cudaFree(values));
}

// --- a child sees what its block wrote before a barrier and the launch

__global__ void sum(const int* data, int n, int* result) {
  int total = 0;
  for (int i = 0; i < n; ++i) total += data[i];
  *result = total;
}

__global__ void writeAndLaunch(int* data, int* result) {
  data[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) sum<<<1, 1>>>(data, static_cast<int>(blockDim.x), result);
}

void testConsistency() {
  int *data = nullptr, result = 0;
  EXPECT_OK(cudaMalloc(&data, 1025 * sizeof(int)));
  writeAndLaunch<<<1, 1024>>>(data, data + 1024);
  EXPECT_OK(cudaMemcpy(&result, data + 1024, sizeof result, cudaMemcpyDeviceToHost));
  EXPECT(result == 1023 * 1024 / 2);
}

// --- arguments of every size and alignment, templates, namespaces, lambdas, functions for both sides

struct Big {
  char small;
  double number;
  short many[9];
};

namespace inner {
template <int N, class T>
__global__ void arguments(bool yes, char letter, Big big, short two, float4 vector, T value, int* ok) {
  *ok = yes && letter == 'q' && big.small == 's' && big.number == 2.5 && big.many[8] == 88 && two == -2 &&
        vector.w == 4.0f && value == T(N);
}
}  // namespace inner

template <class F>
__global__ void apply(F f) {
  f();
}

__host__ __device__ void launchHere(int* ok) {
  apply<<<1, 1>>>([=] __device__() { ok[2] = 1; });
}

static __global__ void empty() {}
__global__ void defined(int* ok);

template <void (*Kernel)(int*)>
__device__ void launchIt(int* ok) {
  Kernel<<<1, 1>>>(ok);
}

__global__ void manyForms(int* ok, int one) {
  Big big{'s', 2.5, {1, 2, 3, 4, 5, 6, 7, 8, 88}};
  inner::arguments<3><<<dim3(1, 1), dim3(1), 0, 0>>>(one < 2, 'q', big, -2, make_float4(1, 2, 3, 4), 3ull, ok);
  ::inner::arguments<4, long long><<<one, one>>>(one == 1, 'q', big, (short)-2, make_float4(1, 2, 3, 4), 4, ok + 1);
  launchHere(ok);
  if (one) empty<<<1, 1>>>();
  auto launch = [&](auto where) { defined<<<1, 1>>>(where); };
  launch(ok + 3);
  launchIt<defined>(ok + 4);
  one > 0 ? (defined<<<1, 1, 16>>>(ok + 5)) : (void)0;
}

__global__ void defined(int* ok) { *ok = 1; }

void testForms() {
  int *ok = nullptr, host[7] = {};
  EXPECT_OK(cudaMalloc(&ok, sizeof host));
  EXPECT_OK(cudaMemset(ok, 0, sizeof host));
  manyForms<<<1, 1>>>(ok, 1);
  EXPECT_OK(cudaMemcpy(host, ok, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 6; ++i) EXPECT(host[i] == 1);
  EXPECT_OK(cudaMemset(ok, 0, sizeof host));
  launchHere(ok);
  EXPECT_OK(cudaMemcpy(host, ok, sizeof host, cudaMemcpyDeviceToHost));
  EXPECT(host[2] == 1);
}

// --- memory from kernels

__global__ void memory(int* data, int n, int* result) {
  int* mine = nullptr;
  result[0] = cudaMalloc(&mine, n * sizeof(int));
  cudaMemsetAsync(mine, 1, n * sizeof(int), 0);
  cudaMemcpyAsync(data, mine, n * sizeof(int), cudaMemcpyDeviceToDevice, 0);
  cudaMemset2DAsync(data, 4 * sizeof(int), 0, 2 * sizeof(int), n / 4, 0);
  sum<<<1, 1>>>(data, n, result + 1);
  result[2] = cudaMemcpyAsync(data, mine, 4, cudaMemcpyHostToDevice, 0);
  int local = 0;
  result[3] = cudaMemcpyAsync(data, &local, 4, cudaMemcpyDeviceToDevice, 0);
  result[4] = cudaFree(nullptr);
}

void testMemory() {
  const int n = 64;
  int *data = nullptr, result[5];
  EXPECT_OK(cudaMalloc(&data, (n + 5) * sizeof(int)));
  memory<<<1, 1>>>(data, n, data + n);
  EXPECT_OK(cudaMemcpy(result, data + n, sizeof result, cudaMemcpyDeviceToHost));
  EXPECT(result[0] == cudaSuccess);
  EXPECT(result[1] == 0x01010101 * (n / 2));
  EXPECT(result[2] == cudaErrorInvalidMemcpyDirection);
  EXPECT(result[3] == cudaErrorInvalidValue);
  EXPECT(result[4] == cudaSuccess);
}

// --- what is refused, and each thread's last error

__global__ void never(int* ran) { *ran = 1; }

__global__ void refusals(int* results, int* ran) {
  never<<<0, 1>>>(ran);
  results[0] = cudaPeekAtLastError();
  results[1] = cudaGetLastError();
  results[2] = cudaGetLastError();
  never<<<1, 2048>>>(ran);
  results[3] = cudaGetLastError();
  never<<<1, 1, 1 << 20>>>(ran);
  results[4] = cudaGetLastError();
  cudaStream_t stream = nullptr;
  results[5] = cudaStreamCreateWithFlags(&stream, cudaStreamDefault);
  never<<<1, 1, 0, (cudaStream_t)results>>>(ran);
  cudaGetLastError();
  cudaEvent_t event;
  results[6] = cudaEventCreateWithFlags(&event, cudaEventDefault);
  results[7] = cudaStreamDestroy((cudaStream_t)results);
  results[8] = cudaGetErrorName(cudaErrorInvalidConfiguration)[9] == 'I';
}

__global__ void othersErrors(int* results) {
  if (threadIdx.x == 1) never<<<0, 1>>>(results);
  __syncthreads();
  results[threadIdx.x] = cudaGetLastError();
}

__global__ void tooManyTails(int* results) {
  for (int i = 0; i < 20; ++i) {
    empty<<<1, 1, 0, cudaStreamTailLaunch>>>();
    results[i] = cudaGetLastError();
  }
}

void testRefusals() {
  int *results = nullptr, host[20];
  EXPECT_OK(cudaMalloc(&results, 21 * sizeof(int)));
  EXPECT_OK(cudaMemset(results, 0, 21 * sizeof(int)));
  refusals<<<1, 1>>>(results, results + 20);
  EXPECT_OK(cudaMemcpy(host, results, sizeof host, cudaMemcpyDeviceToHost));
  EXPECT(host[0] == cudaErrorInvalidConfiguration);
  EXPECT(host[1] == cudaErrorInvalidConfiguration);
  EXPECT(host[2] == cudaSuccess);
  EXPECT(host[3] == cudaErrorInvalidConfiguration);
  EXPECT(host[4] != cudaSuccess);
  EXPECT(host[5] == cudaErrorInvalidValue);
  EXPECT(host[6] == cudaErrorInvalidValue);
  EXPECT(host[7] != cudaSuccess);
  EXPECT(host[8] == 1);
  int ran = 1;
  EXPECT_OK(cudaMemcpy(&ran, results + 20, sizeof ran, cudaMemcpyDeviceToHost));
  EXPECT(ran == 0);
  othersErrors<<<1, 4>>>(results);
  EXPECT_OK(cudaMemcpy(host, results, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 4; ++i) EXPECT(host[i] == (i == 1 ? cudaErrorInvalidConfiguration : cudaSuccess));
  EXPECT_OK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 15));
  tooManyTails<<<1, 1>>>(results);
  EXPECT_OK(cudaMemcpy(host, results, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 20; ++i) EXPECT(host[i] == (i < 15 ? cudaSuccess : cudaErrorLaunchPendingCountExceeded));
}

// --- a child's fault is the host's error

__global__ void outOfBounds(int* p) { p[1ull << 40] = 1; }
__global__ void launchFault(int* p) { outOfBounds<<<1, 1>>>(p); }

void testFault() {
  int* p = nullptr;
  EXPECT_OK(cudaMalloc(&p, 4));
  launchFault<<<1, 1>>>(p);
  EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
}

int main() {
  testOrder();
  testCompletion();
  testConsistency();
  testForms();
  testMemory();
  testRefusals();
  testFault();
  return finish();
}
