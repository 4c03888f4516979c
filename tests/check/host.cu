// The host touches pinned, mapped, registered and managed memory of operations, behind a wait for them and without one.
// The first argument names a case; the test (check_test.py) has the verdicts. "ok_" before a name: the right
// look-alike.
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

constexpr int kN = 2048;
constexpr size_t kBytes = kN * sizeof(int);

__global__ void put(int* out) { out[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x; }
__global__ void take(const int* in, int* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i];
}
__global__ void add(int* out) { atomicAdd(out + threadIdx.x, 1); }
__global__ void evenOnes(int* out) { out[2 * threadIdx.x] = 1; }
__global__ void oddOnes(int* out) { out[2 * threadIdx.x + 1] = 1; }

// Tells the host by a flag, as a GPU may: the data, a fence, then the flag.
__global__ void tell(int* data, volatile int* flag) {
  data[threadIdx.x] = 7;
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0) *flag = 1;
}

// Waits for the host.
__global__ void listen(volatile int* flag, int* out) {
  while (*flag == 0) {
  }
  *out = 1;
}

struct World {
  cudaStream_t s, t;
  cudaEvent_t e;
  int *pinned, *managed, *device, sum = 0;
  World() {
    cudaStreamCreate(&s), cudaStreamCreate(&t), cudaEventCreate(&e);
    cudaMallocHost(&pinned, kBytes), cudaMallocManaged(&managed, kBytes), cudaMalloc(&device, kBytes);
    memset(pinned, 0, kBytes), memset(managed, 0, kBytes), cudaMemset(device, 0, kBytes);
    cudaDeviceSynchronize();
  }
  void put(int* to) { ::put<<<kN / 256, 256, 0, s>>>(to); }
  void take(const int* from, int* to) { ::take<<<kN / 256, 256, 0, s>>>(from, to); }
};

void kernelWrite(World& w, bool isRight) {
  w.put(w.pinned);
  if (isRight) cudaStreamSynchronize(w.s);
  w.sum += w.pinned[5];
}

// Reading what a kernel reads is right, writing is not.
void kernelRead(World& w, bool isRight) {
  w.take(w.pinned, w.device);
  w.sum += w.pinned[3];
  if (!isRight) w.pinned[3] = 1;
}

void copyRead(World& w, bool isRight) {
  cudaMemcpyAsync(w.device, w.pinned, kBytes, cudaMemcpyHostToDevice, w.s);
  if (isRight) cudaStreamSynchronize(w.s);
  w.pinned[0] = 4;
}

void copyWrite(World& w, bool isRight) {
  cudaMemcpyAsync(w.pinned, w.device, kBytes, cudaMemcpyDeviceToHost, w.s);
  if (isRight) cudaDeviceSynchronize();
  w.sum += w.pinned[kN - 1];
}

// Pieces of a page, in two streams.
void pieces(World& w, bool isRight) {
  constexpr int kPiece = 256;
  for (int k = 0; k < kN / kPiece; ++k)
    cudaMemcpyAsync(w.pinned + k * kPiece, w.device + k * kPiece, kPiece * sizeof(int), cudaMemcpyDeviceToHost,
                    k % 2 ? w.s : w.t);
  if (isRight) cudaStreamSynchronize(w.s), cudaStreamSynchronize(w.t);
  w.sum += w.pinned[kPiece / 2];
}

void managed(World& w, bool isRight) {
  w.put(w.managed);
  if (isRight) cudaDeviceSynchronize();
  w.managed[1] = 3;
}

// A fill of host memory waits where that of a stream does not.
void fill(World& w, bool isRight) {
  isRight ? cudaMemset(w.pinned, 1, kBytes) : cudaMemsetAsync(w.pinned, 1, kBytes, w.s);
  w.sum += w.pinned[9];
}

void otherStream(World& w, bool isRight) {
  w.put(w.managed);
  cudaStreamSynchronize(isRight ? w.s : w.t);
  w.sum += w.managed[0];
}

// To wait for the legacy default stream is to wait for all blocking streams.
void defaultStream(World& w, bool isRight) {
  cudaStream_t apart;
  cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking);
  put<<<kN / 256, 256, 0, isRight ? w.s : apart>>>(w.managed);
  cudaStreamSynchronize(nullptr);
  w.sum += w.managed[0];
}

void earlyEvent(World& w, bool isRight) {
  if (!isRight) cudaEventRecord(w.e, w.s);
  w.put(w.managed);
  if (isRight) cudaEventRecord(w.e, w.s);
  cudaEventSynchronize(w.e);
  w.sum += w.managed[0];
}

void graph(World& w, bool isRight) {
  cudaGraph_t made;
  cudaGraphExec_t exec;
  cudaStreamBeginCapture(w.s, cudaStreamCaptureModeGlobal);
  w.put(w.pinned);
  cudaStreamEndCapture(w.s, &made);
  cudaGraphInstantiate(&exec, made, nullptr, nullptr, 0);
  cudaGraphLaunch(exec, w.s);
  if (isRight) cudaStreamSynchronize(w.s);
  w.sum += w.pinned[0];
}

void registered(World& w, bool isRight) {
  auto* mine = static_cast<int*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  cudaHostRegister(mine, kBytes, cudaHostRegisterDefault);
  w.put(mine);
  if (isRight) cudaStreamSynchronize(w.s);
  w.sum += mine[0];
}

// Two lines of a kernel's, or two kernels', bytes make up the page.
void strided(World& w, bool isRight) {
  evenOnes<<<1, 1024, 0, w.s>>>(w.managed);
  oddOnes<<<1, 1024, 0, w.s>>>(w.managed);
  w.put(w.managed);
  if (isRight) cudaStreamSynchronize(w.s);
  w.sum += w.managed[7];
}

void atomics(World& w, bool isRight) {
  int* few;
  cudaMallocManaged(&few, 256 * sizeof(int));
  add<<<4, 256, 0, w.s>>>(few);
  if (isRight) cudaStreamSynchronize(w.s);
  w.sum += few[200];
}

// The touch is in the C library, on behalf of a line here.
void copyByHost(World& w, bool isRight) {
  static int mine[kN];
  w.put(w.managed);
  if (isRight) cudaStreamSynchronize(w.s);
  memcpy(mine, w.managed, kBytes);
  w.sum += mine[4];
}

// --- right programs without a look-alike

void flag(World& w, bool) {
  tell<<<1, 256, 0, w.s>>>(w.managed, w.pinned);
  while (*static_cast<volatile int*>(w.pinned) == 0) {
  }
  w.sum += w.managed[8];
}

void callback(World& w, bool) {
  w.put(w.managed);
  cudaLaunchHostFunc(w.s, [](void* data) { static_cast<int*>(data)[3]++; }, w.managed);
}

// Chunks of one buffer, of which the host fills one while the other is under way.
void otherHalf(World& w, bool) {
  cudaMemcpyAsync(w.device, w.pinned, 100 * sizeof(int), cudaMemcpyHostToDevice, w.s);
  w.pinned[100] = 1;
  cudaMemcpyAsync(w.device + 1024, w.pinned + 1024, kBytes / 2, cudaMemcpyHostToDevice, w.t);
  w.pinned[101] = 1;
}

// The kernel waits for what the host does behind the launch.
void spin(World& w, bool) {
  listen<<<1, 1, 0, w.s>>>(w.pinned, w.device);
  *static_cast<volatile int*>(w.pinned) = 1;
}

// The first of two kernels waits for the second, by atomic operations alone. After a minute it gives up, and the
// host does something wrong.
__global__ void meet(int* here) {
  const auto now = [] {
    unsigned long long time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
  };
  atomicAdd(here, 1);
  for (const auto start = now(); atomicAdd(here, 0) < 2;)
    if (now() - start > 60'000'000'000) {
      here[1] = 1;
      return;
    }
}

void twoMeet(World& w, bool) {
  cudaMemset(w.device, 0, kBytes);
  cudaDeviceSynchronize();
  meet<<<1, 1, 0, w.s>>>(w.device);
  meet<<<1, 1, 0, w.t>>>(w.device);
  cudaDeviceSynchronize();
  int haveGivenUp = 0;
  cudaMemcpy(&haveGivenUp, w.device + 1, sizeof(int), cudaMemcpyDeviceToHost);
  if (haveGivenUp) cudaFree(&haveGivenUp);
}

const struct {
  const char* name;
  void (*run)(World&, bool);
} kCases[] = {
    {"kernel_write", kernelWrite},
    {"kernel_read", kernelRead},
    {"copy_read", copyRead},
    {"copy_write", copyWrite},
    {"pieces", pieces},
    {"managed", managed},
    {"fill", fill},
    {"other_stream", otherStream},
    {"default_stream", defaultStream},
    {"early_event", earlyEvent},
    {"graph", graph},
    {"registered", registered},
    {"strided", strided},
    {"atomics", atomics},
    {"memcpy", copyByHost},
    {"flag", flag},
    {"callback", callback},
    {"other_half", otherHalf},
    {"spin", spin},
    {"two_meet", twoMeet},
};

int main(int argc, char** argv) {
  const char* const wanted = argc > 1 ? argv[1] : "";
  const bool isRight = strncmp(wanted, "ok_", 3) == 0;
  for (const auto& known : kCases)
    if (strcmp(known.name, isRight ? wanted + 3 : wanted) == 0) {
      World world;
      known.run(world, isRight);
      const cudaError_t error = cudaDeviceSynchronize();
      if (error != cudaSuccess) fprintf(stderr, "%s\n", cudaGetErrorString(error));
      printf("%d\n", world.sum);
      return error != cudaSuccess;
    }
  fprintf(stderr, "no case '%s'\n", wanted);
  return 2;
}
