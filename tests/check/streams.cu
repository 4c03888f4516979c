// Operations of streams and graphs that use the same memory, with and without an order between them. The first argument
// names one of the cases; the test (check_test.py) has the verdicts. A case that begins with "ok" is right.
#include <cstdio>
#include <cstring>
#include <initializer_list>

constexpr int kN = 64;
constexpr size_t kBytes = kN * sizeof(int);

__global__ void put(int* out) { out[threadIdx.x] = threadIdx.x; }
__global__ void take(const int* in, int* out) { out[threadIdx.x] = in[kN - 1 - threadIdx.x]; }
__global__ void add(int* out) { atomicAdd(out, 1); }

// What most cases need: three streams, one of them non-blocking, memory of the device and of the host, events.
struct World {
  cudaStream_t s, t, free;
  int *a, *b, *c, *pinned, *other;
  cudaEvent_t e, f;

  World() {
    cudaStreamCreate(&s), cudaStreamCreate(&t), cudaStreamCreateWithFlags(&free, cudaStreamNonBlocking);
    for (int** p : {&a, &b, &c}) cudaMalloc(p, kBytes), cudaMemset(*p, 0, kBytes);
    for (int** p : {&pinned, &other}) cudaMallocHost(p, kBytes), memset(*p, 0, kBytes);
    cudaEventCreate(&e), cudaEventCreate(&f);
    cudaDeviceSynchronize();
  }
  void put(cudaStream_t stream, int* to) { ::put<<<1, kN, 0, stream>>>(to); }
  void take(cudaStream_t stream, const int* from, int* to) { ::take<<<1, kN, 0, stream>>>(from, to); }
  void order(cudaStream_t first, cudaStream_t second) {
    cudaEventRecord(e, first);
    cudaStreamWaitEvent(second, e, 0);
  }
  void read(cudaStream_t stream, int* to, const int* from) {
    cudaMemcpyAsync(to, from, kBytes, cudaMemcpyDeviceToHost, stream);
  }
};

// --- streams: a case, and its right look-alike

void twoStreams(World& w, bool isRight) {
  w.put(w.s, w.a);
  if (isRight) w.order(w.s, w.t);
  w.take(w.t, w.a, w.b);
}

void copyBehind(World& w, bool isRight) {
  w.put(w.s, w.a);
  if (isRight) cudaStreamSynchronize(w.s);
  w.read(w.t, w.pinned, w.a);
}

void fillBeside(World& w, bool isRight) {
  cudaMemsetAsync(w.a, 0, kBytes, w.t);
  if (isRight) cudaDeviceSynchronize();
  w.put(w.s, w.a);
}

void twoCopies(World& w, bool isRight) {
  w.read(w.s, w.pinned, w.a);
  w.read(w.t, isRight ? w.other : w.pinned, w.b);
}

// The legacy default stream and blocking streams wait for each other.
void defaultStream(World& w, bool isRight) {
  w.put(nullptr, w.a);
  w.take(isRight ? w.s : w.free, w.a, w.b);
}

void behindDefaultStream(World& w, bool isRight) {
  w.put(isRight ? w.s : w.free, w.a);
  w.take(nullptr, w.a, w.b);
}

// A wait takes the event as it was recorded last at the call.
void recordedEarly(World& w, bool isRight) {
  if (!isRight) cudaEventRecord(w.e, w.s);
  w.put(w.s, w.a);
  if (isRight) cudaEventRecord(w.e, w.s);
  cudaStreamWaitEvent(w.t, w.e, 0);
  w.take(w.t, w.a, w.b);
  if (!isRight) cudaEventRecord(w.e, w.s);
}

void neverRecorded(World& w, bool isRight) {
  w.put(w.s, w.a);
  cudaEventRecord(w.e, w.s);
  cudaStreamWaitEvent(w.t, isRight ? w.e : w.f, 0);
  w.take(w.t, w.a, w.b);
}

// cudaMemset does not wait for device memory to be filled.
void hostFill(World& w, bool isRight) {
  cudaMemset(w.a, 0, kBytes);
  if (isRight) cudaStreamSynchronize(nullptr);
  w.take(w.free, w.a, w.b);
}

// Nor does a copy inside the device.
void hostCopy(World& w, bool isRight) {
  if (isRight)
    cudaMemcpy(w.a, w.pinned, kBytes, cudaMemcpyHostToDevice);
  else
    cudaMemcpy(w.a, w.c, kBytes, cudaMemcpyDeviceToDevice);
  w.take(w.free, w.a, w.b);
}

void bufferReused(World& w, bool isRight) {
  cudaMemcpyAsync(w.a, w.pinned, kBytes, cudaMemcpyHostToDevice, w.s);
  if (isRight) cudaEventRecord(w.e, w.s), cudaEventSynchronize(w.e);
  w.read(w.t, w.pinned, w.b);
}

void edges(World& w, bool isRight) {
  cudaMemsetAsync(w.a, 0, isRight ? 128 : 129, w.s);
  cudaMemsetAsync(reinterpret_cast<char*>(w.a) + 128, 1, 128, w.t);
}

// An order that goes through a third stream.
void chain(World& w, bool isRight) {
  w.put(w.s, w.a);
  w.order(w.s, w.t);
  if (isRight) w.put(w.t, w.c);
  if (isRight)
    w.order(w.t, w.free);
  else
    cudaEventRecord(w.f, w.t);
  w.take(w.free, w.a, w.b);
}

void perThread(World& w, bool isRight) {
  w.put(cudaStreamPerThread, w.a);
  w.take(isRight ? cudaStreamLegacy : w.s, w.a, w.b);
}

// What the call has staged is the host's again; the device's memory is not there yet.
void pageable(World& w, bool isRight) {
  static int mine[kN];
  cudaMemcpyAsync(w.a, mine, kBytes, cudaMemcpyHostToDevice, w.s);
  if (isRight) cudaMemcpyAsync(w.c, mine, kBytes, cudaMemcpyHostToDevice, w.t);
  w.take(w.t, isRight ? w.c : w.a, w.b);
}

void atomics(World& w, bool isRight) {
  add<<<1, kN, 0, w.s>>>(w.a);
  if (isRight)
    add<<<1, kN, 0, w.t>>>(w.a);
  else
    w.take(w.t, w.a, w.b);
}

void readers(World& w, bool isRight) {
  w.take(w.s, w.a, w.b);
  w.take(w.t, w.a, isRight ? w.c : w.b);
}

void destroyed(World& w, bool isRight) {
  w.put(w.s, w.a);
  cudaStreamDestroy(w.s);
  if (isRight) cudaDeviceSynchronize();
  w.take(w.t, w.a, w.b);
}

// --- graphs

struct Nodes {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  Nodes() { cudaGraphCreate(&graph, 0); }
  template <class... Args>
  cudaGraphNode_t kernel(void* function, cudaGraphNode_t after, Args... args) {
    void* arguments[] = {&args...};
    cudaKernelNodeParams p{};
    p.func = function, p.gridDim = 1, p.blockDim = kN, p.kernelParams = arguments;
    cudaGraphNode_t node;
    cudaGraphAddKernelNode(&node, graph, &after, after ? 1 : 0, &p);
    return node;
  }
  void instantiate() { cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0); }
  void launch(cudaStream_t stream) { cudaGraphLaunch(exec, stream); }
  void run(cudaStream_t stream) { instantiate(), launch(stream); }
};

void* const kPut = reinterpret_cast<void*>(put);
void* const kTake = reinterpret_cast<void*>(take);
void* const kAdd = reinterpret_cast<void*>(add);

void nodes(World& w, bool isRight) {
  Nodes n;
  const auto first = n.kernel(kPut, nullptr, w.a);
  n.kernel(kTake, isRight ? first : nullptr, w.a, w.b);
  n.run(w.s);
}

void copyNode(World& w, bool isRight) {
  Nodes n;
  const auto first = n.kernel(kPut, nullptr, w.a);
  cudaGraphNode_t copy;
  cudaGraphAddMemcpyNode1D(&copy, n.graph, &first, isRight ? 1 : 0, w.pinned, w.a, kBytes, cudaMemcpyDeviceToHost);
  n.run(w.s);
}

void fillNode(World& w, bool isRight) {
  Nodes n;
  cudaMemsetParams p{};
  p.dst = w.a, p.elementSize = 4, p.width = isRight ? kN / 2 : kN / 2 + 1, p.height = 1;
  cudaGraphNode_t one, two;
  cudaGraphAddMemsetNode(&one, n.graph, nullptr, 0, &p);
  p.dst = w.a + kN / 2, p.width = kN / 2;
  cudaGraphAddMemsetNode(&two, n.graph, nullptr, 0, &p);
  n.run(w.s);
}

void captured(World& w, bool isRight) {
  Nodes n;
  cudaStreamBeginCapture(w.s, cudaStreamCaptureModeGlobal);
  if (!isRight) w.order(w.s, w.t);
  w.put(w.s, w.a);
  if (isRight) w.order(w.s, w.t);
  w.take(w.t, w.a, w.b);
  w.order(w.t, w.s);
  cudaStreamEndCapture(w.s, &n.graph);
  n.run(w.s);
}

void childGraph(World& w, bool isRight) {
  Nodes child, n;
  child.kernel(kPut, nullptr, w.a);
  cudaGraphNode_t inner;
  cudaGraphAddChildGraphNode(&inner, n.graph, nullptr, 0, child.graph);
  n.kernel(kTake, isRight ? inner : nullptr, w.a, w.b);
  n.run(w.s);
}

// Two branches that meet again.
void diamond(World& w, bool isRight) {
  Nodes n;
  const auto top = n.kernel(kPut, nullptr, w.a);
  const cudaGraphNode_t sides[] = {n.kernel(kTake, top, w.a, w.b), n.kernel(kTake, top, w.a, isRight ? w.c : w.b)};
  cudaGraphNode_t bottom;
  cudaGraphAddMemcpyNode1D(&bottom, n.graph, sides, 2, w.pinned, w.b, kBytes, cudaMemcpyDeviceToHost);
  n.run(w.s);
}

// What a disabled node has ordered stays in order.
void disabled(World& w, bool isRight) {
  Nodes n;
  const auto first = n.kernel(kPut, nullptr, w.a);
  const auto middle = n.kernel(kPut, isRight ? first : nullptr, w.c);
  n.kernel(kTake, middle, w.a, w.b);
  n.instantiate();
  cudaGraphNodeSetEnabled(n.exec, middle, 0);
  n.launch(w.s);
}

void atomicNodes(World& w, bool isRight) {
  Nodes n;
  n.kernel(kAdd, nullptr, w.a);
  n.kernel(isRight ? kAdd : kPut, nullptr, w.a);
  n.run(w.s);
}

// Launches of one graph come one after the other in any streams.
void graphTwice(World& w, bool isRight) {
  Nodes n, m;
  n.kernel(kPut, nullptr, w.a);
  m.kernel(kPut, nullptr, w.a);
  n.run(w.s);
  m.instantiate();
  isRight ? n.launch(w.t) : m.launch(w.t);
}

void graphBeside(World& w, bool isRight) {
  Nodes n;
  n.kernel(kPut, nullptr, w.a);
  n.run(w.s);
  if (isRight) w.order(w.s, w.t);
  w.take(w.t, w.a, w.b);
}

// --- memory of pools

int* allocate(cudaStream_t stream) {
  int* p = nullptr;
  cudaMallocAsync(&p, kBytes, stream);
  return p;
}

void usedElsewhere(World& w, bool isRight) {
  int* const p = allocate(w.s);
  if (isRight) w.order(w.s, w.t);
  w.put(w.t, p);
}

void freedElsewhere(World& w, bool isRight) {
  int* const p = allocate(w.s);
  w.put(w.s, p);
  if (isRight) w.order(w.s, w.t);
  cudaFreeAsync(p, w.t);
}

void freedBesideUse(World& w, bool isRight) {
  int* const p = allocate(w.s);
  w.order(w.s, w.t);
  w.put(w.t, p);
  if (isRight) w.order(w.t, w.s);
  cudaFreeAsync(p, w.s);
}

// cudaFree does not wait for what uses memory of a pool.
void hostFree(World& w, bool isRight) {
  int* const p = allocate(w.s);
  w.put(w.s, p);
  if (isRight) cudaStreamSynchronize(w.s);
  cudaFree(p);
}

void filledElsewhere(World& w, bool isRight) {
  int* const p = allocate(w.s);
  if (isRight) cudaStreamSynchronize(w.s);
  cudaMemsetAsync(p, 0, kBytes, w.t);
}

void poolAndDefaultStream(World& w, bool isRight) {
  int* const p = allocate(isRight ? w.s : w.free);
  w.put(nullptr, p);
}

void deviceMemoryFreed(World& w, bool isRight) {
  w.put(w.s, w.a);
  cudaFreeAsync(w.a, isRight ? w.s : w.t);
}

void usedBehindFree(World& w, bool isRight) {
  cudaFreeAsync(w.a, w.s);
  w.put(w.t, isRight ? w.b : w.a);
}

const struct {
  const char* name;
  void (*run)(World&, bool);
} kCases[] = {
    {"two_streams", twoStreams},
    {"copy_behind", copyBehind},
    {"fill_beside", fillBeside},
    {"two_copies", twoCopies},
    {"default_stream", defaultStream},
    {"behind_default_stream", behindDefaultStream},
    {"recorded_early", recordedEarly},
    {"never_recorded", neverRecorded},
    {"host_fill", hostFill},
    {"host_copy", hostCopy},
    {"buffer_reused", bufferReused},
    {"edges", edges},
    {"chain", chain},
    {"per_thread", perThread},
    {"pageable", pageable},
    {"atomics", atomics},
    {"readers", readers},
    {"destroyed", destroyed},
    {"nodes", nodes},
    {"copy_node", copyNode},
    {"fill_node", fillNode},
    {"captured", captured},
    {"child_graph", childGraph},
    {"diamond", diamond},
    {"disabled", disabled},
    {"atomic_nodes", atomicNodes},
    {"graph_twice", graphTwice},
    {"graph_beside", graphBeside},
    {"used_elsewhere", usedElsewhere},
    {"freed_elsewhere", freedElsewhere},
    {"freed_beside_use", freedBesideUse},
    {"host_free", hostFree},
    {"filled_elsewhere", filledElsewhere},
    {"pool_and_default_stream", poolAndDefaultStream},
    {"device_memory_freed", deviceMemoryFreed},
    {"used_behind_free", usedBehindFree},
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
      return error != cudaSuccess;
    }
  fprintf(stderr, "no case '%s'\n", wanted);
  return 2;
}
