// Graphs: captured from streams and built by hand, launched many times, changed, and the mistakes that captures catch.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "expect.hpp"

__global__ void add(int* x, int n) { x[threadIdx.x] += n; }
__global__ void twice(int* x) { x[threadIdx.x] *= 2; }
__constant__ int constant[4];

static void count(void* calls) { ++*static_cast<int*>(calls); }

// CUDA 13 wants a description of each edge; none means a full dependency.
static cudaError_t depend(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to) {
#if CUDART_VERSION >= 13000
  return cudaGraphAddDependencies(graph, &from, &to, nullptr, 1);
#else
  return cudaGraphAddDependencies(graph, &from, &to, 1);
#endif
}

static size_t edgesOf(cudaGraph_t graph) {
  size_t edges = 0;
#if CUDART_VERSION >= 13000
  EXPECT_OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
#else
  EXPECT_OK(cudaGraphGetEdges(graph, nullptr, nullptr, &edges));
#if defined(__clang__)  // our headers take both forms
  size_t described = 0;
  EXPECT_OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &described));
  EXPECT(described == edges);
#endif
#endif
  return edges;
}

static int* managed(int value) {
  int* x = nullptr;
  EXPECT_OK(cudaMallocManaged(&x, 32 * sizeof(int)));
  for (int i = 0; i < 32; ++i) x[i] = value;
  return x;
}

static cudaGraphExec_t make(cudaGraph_t graph) {
  cudaGraphExec_t executable = nullptr;
  EXPECT_OK(cudaGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
  return executable;
}

static void run(cudaGraphExec_t executable, cudaStream_t stream) {
  EXPECT_OK(cudaGraphLaunch(executable, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
}

/// Two streams, forked and joined by events; nothing runs before the launch.
static void captured() {
  cudaStream_t first = nullptr, second = nullptr;
  cudaEvent_t fork = nullptr, join = nullptr;
  EXPECT_OK(cudaStreamCreate(&first));
  EXPECT_OK(cudaStreamCreate(&second));
  EXPECT_OK(cudaEventCreate(&fork));
  EXPECT_OK(cudaEventCreate(&join));
  int *x = managed(1), *y = managed(5), calls = 0, host[32] = {};
  EXPECT_OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  EXPECT_OK(cudaStreamIsCapturing(first, &status));
  EXPECT(status == cudaStreamCaptureStatusActive);
  add<<<1, 32, 0, first>>>(x, 2);
  EXPECT_OK(cudaEventRecord(fork, first));
  EXPECT_OK(cudaStreamWaitEvent(second, fork, 0));
  EXPECT_OK(cudaMemsetAsync(y, 0, 32 * sizeof(int), second));
  add<<<1, 32, 0, second>>>(y, 7);
  twice<<<1, 32, 0, first>>>(x);
  EXPECT_OK(cudaEventRecord(join, second));
  EXPECT_OK(cudaStreamWaitEvent(first, join, 0));
  EXPECT_OK(cudaMemcpyAsync(host, x, sizeof host, cudaMemcpyDeviceToHost, first));
  EXPECT_OK(cudaLaunchHostFunc(first, count, &calls));
  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaStreamEndCapture(first, &graph));
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(x[0] == 1 && y[0] == 5 && calls == 0);
  size_t nodes = 0, roots = 0;
  EXPECT_OK(cudaGraphGetNodes(graph, nullptr, &nodes));
  EXPECT_OK(cudaGraphGetRootNodes(graph, nullptr, &roots));
  EXPECT(nodes == 6 && roots == 1);
  cudaGraphExec_t executable = make(graph);
  EXPECT_OK(cudaGraphDestroy(graph));
  run(executable, first);
  EXPECT(x[31] == 6 && y[31] == 7 && calls == 1 && host[31] == 6);
  run(executable, second);
  EXPECT(x[31] == 16 && y[31] == 7 && calls == 2 && host[31] == 16);
  EXPECT_OK(cudaGraphExecDestroy(executable));
  EXPECT_OK(cudaStreamDestroy(first));
  EXPECT_OK(cudaStreamDestroy(second));
}

/// Every kind of node; dependencies decide the order, not the order of their making.
static void explicitNodes() {
  int *x = managed(3), *y = managed(0), calls = 0, n = 4;
  cudaGraph_t graph = nullptr, child = nullptr;
  EXPECT_OK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t doubling, adding, copying, filling, calling, inner, joint;
  void *twiceArguments[] = {&x}, *addArguments[] = {&x, &n};
  cudaKernelNodeParams kernel = {};
  kernel.func = (void*)twice;
  kernel.gridDim = dim3(1);
  kernel.blockDim = dim3(32);
  kernel.kernelParams = twiceArguments;
  EXPECT_OK(cudaGraphAddKernelNode(&doubling, graph, nullptr, 0, &kernel));
  kernel.func = (void*)add;
  kernel.kernelParams = addArguments;
  EXPECT_OK(cudaGraphAddKernelNode(&adding, graph, nullptr, 0, &kernel));
  EXPECT_OK(depend(graph, adding, doubling));
  EXPECT_OK(cudaGraphAddMemcpyNode1D(&copying, graph, &doubling, 1, y, x, 16 * sizeof(int), cudaMemcpyDefault));
  cudaMemsetParams fill = {};
  fill.dst = y + 16;
  fill.elementSize = 4;
  fill.value = 9;
  fill.width = 16;
  fill.height = 1;
  EXPECT_OK(cudaGraphAddMemsetNode(&filling, graph, nullptr, 0, &fill));
  cudaHostNodeParams host = {count, &calls};
  const cudaGraphNode_t both[] = {copying, filling};
  EXPECT_OK(cudaGraphAddHostNode(&calling, graph, both, 2, &host));
  EXPECT_OK(cudaGraphCreate(&child, 0));
  EXPECT_OK(cudaGraphAddEmptyNode(&joint, child, nullptr, 0));
  EXPECT_OK(cudaGraphAddHostNode(&joint, child, &joint, 1, &host));
  EXPECT_OK(cudaGraphAddChildGraphNode(&inner, graph, &calling, 1, child));
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  EXPECT_OK(cudaGraphNodeGetType(inner, &type));
  EXPECT(type == cudaGraphNodeTypeGraph);
  EXPECT(edgesOf(graph) == 5);

  cudaGraphExec_t executable = make(graph);
  n = 100;  // parameters were copied
  run(executable, nullptr);
  EXPECT(x[0] == 14 && y[15] == 14 && y[16] == 9 && calls == 2);

  // Other parameters for one launch of the same graph, and for the graph itself.
  EXPECT_OK(cudaGraphExecKernelNodeSetParams(executable, adding, &kernel));
  run(executable, nullptr);
  EXPECT(x[0] == 228);
  cudaKernelNodeParams read = {};
  EXPECT_OK(cudaGraphKernelNodeGetParams(adding, &read));
  EXPECT(*static_cast<int*>(read.kernelParams[1]) == 4 && read.blockDim.x == 32);
  EXPECT_OK(cudaGraphNodeSetEnabled(executable, doubling, 0));
  run(executable, nullptr);
  EXPECT(x[0] == 328);
  *static_cast<int*>(read.kernelParams[1]) = 1;
  EXPECT_OK(cudaGraphKernelNodeSetParams(adding, &read));
  cudaGraphExecUpdateResultInfo info;
  EXPECT_OK(cudaGraphExecUpdate(executable, graph, &info));
  run(executable, nullptr);
  EXPECT(x[0] == 329);

  cudaGraph_t clone = nullptr;
  cudaGraphNode_t twin = nullptr;
  EXPECT_OK(cudaGraphClone(&clone, graph));
  EXPECT_OK(cudaGraphNodeFindInClone(&twin, filling, clone));
  EXPECT_OK(cudaGraphDestroyNode(twin));
  EXPECT_ERROR(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(executable, clone, &info));
  EXPECT(info.result == cudaGraphExecUpdateErrorTopologyChanged);

  EXPECT_OK(depend(graph, doubling, adding));  // now there is a cycle
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphInstantiate(&executable, graph));
}

/// Symbols, memory of the graph's own, events.
static void resources() {
  int numbers[4] = {1, 2, 3, 4}, back[4] = {};
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t in, out, allocated, copied, freed, recorded;
  EXPECT_OK(cudaGraphCreate(&graph, 0));
  EXPECT_OK(cudaGraphAddMemcpyNodeToSymbol(&in, graph, nullptr, 0, constant, numbers, 16, 0, cudaMemcpyHostToDevice));
  cudaMemAllocNodeParams memory = {};
  memory.poolProps.allocType = cudaMemAllocationTypePinned;
  memory.poolProps.location.type = cudaMemLocationTypeDevice;
  memory.bytesize = 64;
  EXPECT_OK(cudaGraphAddMemAllocNode(&allocated, graph, &in, 1, &memory));
  EXPECT_OK(cudaGraphAddMemcpyNodeFromSymbol(&copied, graph, &allocated, 1, memory.dptr, (const void*)constant, 16, 0,
                                             cudaMemcpyDeviceToDevice));
  EXPECT_OK(cudaGraphAddMemcpyNode1D(&out, graph, &copied, 1, back, memory.dptr, 16, cudaMemcpyDeviceToHost));
  EXPECT_OK(cudaGraphAddMemFreeNode(&freed, graph, &out, 1, memory.dptr));
  cudaEvent_t event = nullptr;
  EXPECT_OK(cudaEventCreate(&event));
  EXPECT_OK(cudaGraphAddEventRecordNode(&recorded, graph, &out, 1, event));
  cudaGraphExec_t executable = make(graph);
  EXPECT_OK(cudaGraphDestroy(graph));
  for (int round = 0; round < 2; ++round) {
    back[3] = 0;
    EXPECT_OK(cudaGraphLaunch(executable, nullptr));
    EXPECT_OK(cudaEventSynchronize(event));
    EXPECT(back[0] == 1 && back[3] == 4);
  }
  EXPECT_OK(cudaGraphExecDestroy(executable));
}

/// What a graph allocates and does not free outlives it: it is the program's to free.
static void memoryOutlivesItsGraph() {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  int* out = nullptr;
  EXPECT_OK(cudaStreamCreate(&stream));
  EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT_OK(cudaMallocAsync(&out, sizeof *out, stream));
  EXPECT_OK(cudaMemsetAsync(out, 1, sizeof *out, stream));
  EXPECT_OK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t executable = make(graph);
  EXPECT_OK(cudaGraphLaunch(executable, stream));
  EXPECT_OK(cudaGraphExecDestroy(executable));
  EXPECT_OK(cudaGraphDestroy(graph));
  add<<<1, 1, 0, stream>>>(out, 1);
  int value = 0;
  EXPECT_OK(cudaMemcpyAsync(&value, out, sizeof value, cudaMemcpyDeviceToHost, stream));
  EXPECT_OK(cudaFreeAsync(out, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(value == 0x01010102);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaFree(out));
  EXPECT_OK(cudaStreamDestroy(stream));
}

static cudaGraphExec_t finishCapture(cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaStreamEndCapture(stream, &graph));
  return make(graph);
}

/// Events that captured graphs record and wait for, at each launch, as everybody sees them.
static void externalEvents() {
  cudaStream_t first = nullptr, second = nullptr;
  cudaEvent_t begin = nullptr, end = nullptr;
  int *x = managed(0), *seen = managed(0);
  EXPECT_OK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  EXPECT_OK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  EXPECT_OK(cudaEventCreate(&begin));
  EXPECT_OK(cudaEventCreate(&end));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaEventRecordWithFlags(begin, first, cudaEventRecordExternal));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaStreamWaitEvent(first, begin, cudaEventWaitExternal));
  EXPECT_OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  EXPECT_OK(cudaEventRecordWithFlags(begin, first, cudaEventRecordExternal));
  EXPECT_OK(cudaLaunchHostFunc(first, [](void*) { usleep(20000); }, nullptr));
  add<<<1, 32, 0, first>>>(x, 1);
  EXPECT_OK(cudaEventRecordWithFlags(end, first, cudaEventRecordExternal));
  const cudaGraphExec_t writes = finishCapture(first);
  EXPECT_OK(cudaStreamBeginCapture(second, cudaStreamCaptureModeGlobal));
  EXPECT_OK(cudaStreamWaitEvent(second, end, cudaEventWaitExternal));
  EXPECT_OK(cudaMemcpyAsync(seen, x, 32 * sizeof *x, cudaMemcpyDeviceToDevice, second));
  const cudaGraphExec_t reads = finishCapture(second);
  for (int round = 1; round <= 2; ++round) {
    EXPECT_OK(cudaGraphLaunch(writes, first));
    EXPECT_OK(cudaGraphLaunch(reads, second));
    EXPECT_OK(cudaStreamSynchronize(second));
    EXPECT(seen[31] == round);
  }
  float milliseconds = 0;
  EXPECT_OK(cudaEventElapsedTime(&milliseconds, begin, end));
  EXPECT(milliseconds >= 19 && milliseconds < 10000);
}

static void mistakes() {
  cudaStream_t stream = nullptr, other = nullptr;
  cudaEvent_t event = nullptr;
  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaStreamCreate(&stream));
  EXPECT_OK(cudaStreamCreate(&other));
  EXPECT_OK(cudaEventCreate(&event));
  int* x = managed(0);
  EXPECT_ERROR(cudaErrorIllegalState, cudaStreamEndCapture(stream, &graph));
  EXPECT_ERROR(cudaErrorStreamCaptureUnsupported, cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal));
  // Waiting for work that does not run.
  EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add<<<1, 1, 0, stream>>>(x, 1);
  EXPECT_ERROR(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(stream));
  EXPECT_ERROR(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream, &graph));
  // The legacy stream would wait for the captured one.
  EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add<<<1, 1>>>(x, 1);
  EXPECT(cudaGetLastError() == cudaErrorStreamCaptureImplicit);
  EXPECT_ERROR(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream, &graph));
  // There is no answer then about the legacy stream; the question breaks nothing.
  cudaStreamCaptureStatus status;
  EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT_ERROR(cudaErrorStreamCaptureImplicit, cudaStreamIsCapturing(nullptr, &status));
  EXPECT_OK(cudaStreamEndCapture(stream, &graph));
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT_OK(cudaStreamIsCapturing(nullptr, &status));
  EXPECT(status == cudaStreamCaptureStatusNone);
  // A fork that is never joined.
  EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT_OK(cudaEventRecord(event, stream));
  EXPECT_OK(cudaStreamWaitEvent(other, event, 0));
  add<<<1, 1, 0, other>>>(x, 1);
  EXPECT_ERROR(cudaErrorStreamCaptureUnjoined, cudaStreamEndCapture(stream, &graph));
  // All is forgotten.
  add<<<1, 1, 0, other>>>(x, 1);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(x[0] == 1);
}

static std::string dotOf(cudaGraph_t graph, unsigned flags) {
  char path[] = "/tmp/graphXXXXXX";
  close(mkstemp(path));
  EXPECT_OK(cudaGraphDebugDotPrint(graph, path, flags));
  std::ifstream file(path);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  std::remove(path);
  return text;
}

/// The text for Graphviz tells more of each node if it is asked to.
static void dots() {
  const auto says = [](const std::string& text, const char* what) { return text.find(what) != std::string::npos; };
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  int* x = managed(0);
  EXPECT_OK(cudaStreamCreate(&stream));
  EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add<<<dim3(3, 2), 32, 0, stream>>>(x, 1);
  EXPECT_OK(cudaMemsetAsync(x, 1, 40, stream));
  EXPECT_OK(cudaStreamEndCapture(stream, &graph));
  const std::string plain = dotOf(graph, 0), kernels = dotOf(graph, cudaGraphDebugDotFlagsKernelNodeParams),
                    all = dotOf(graph, cudaGraphDebugDotFlagsVerbose);
  EXPECT(says(plain, "add(") && !says(plain, "threads") && !says(plain, "bytes"));
  EXPECT(says(kernels, "3 x 2 x 1 blocks of 32 x 1 x 1 threads") && !says(kernels, "40 x 1 x 1 bytes"));
  EXPECT(says(all, "32 x 1 x 1 threads") && says(all, "40 x 1 x 1 bytes"));
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT_OK(cudaStreamDestroy(stream));
}

int main() {
  dots();
  captured();
  explicitNodes();
  resources();
  memoryOutlivesItsGraph();
  externalEvents();
  mistakes();
  return finish();
}
