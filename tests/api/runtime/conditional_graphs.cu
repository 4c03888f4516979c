// Graphs that decide: IF, WHILE and SWITCH nodes, whose conditions kernels set; nodes of any type by one call; capture
// into a graph that there is; objects that graphs keep alive.
#include <initializer_list>

#include "expect.hpp"

// Programs for NVRTC, which has no header of it, declare it like this.
extern "C" __device__ __cudart_builtin__ void CUDARTAPI cudaGraphSetConditional(cudaGraphConditionalHandle handle,
                                                                                unsigned int value);

namespace {

int* numbers = nullptr;  // managed

__global__ void add(int* to, int what) { *to += what; }

__global__ void countDown(int* left, cudaGraphConditionalHandle handle) {
  if (--*left <= 0) cudaGraphSetConditional(handle, 0);
}

__global__ void choose(cudaGraphConditionalHandle handle, const int* value) {
  cudaGraphSetConditional(handle, static_cast<unsigned>(*value));
}

cudaGraphNode_t addNode(cudaGraph_t graph, cudaGraphNodeParams* parameters, const cudaGraphNode_t* after = nullptr) {
  cudaGraphNode_t node = nullptr;
#if CUDART_VERSION >= 13000
  EXPECT_OK(cudaGraphAddNode(&node, graph, after, nullptr, after == nullptr ? 0 : 1, parameters));
#else
  EXPECT_OK(cudaGraphAddNode(&node, graph, after, after == nullptr ? 0 : 1, parameters));
#endif
  return node;
}

template <class... Arguments>
cudaGraphNode_t addKernel(cudaGraph_t graph, void (*kernel)(Arguments...), const cudaGraphNode_t* after,
                          Arguments... arguments) {
  void* pointers[] = {&arguments...};
  cudaGraphNodeParams parameters = {cudaGraphNodeTypeKernel};
  parameters.kernel.func = reinterpret_cast<void*>(kernel);
  parameters.kernel.gridDim = parameters.kernel.blockDim = dim3(1, 1, 1);
  parameters.kernel.kernelParams = pointers;
  return addNode(graph, &parameters, after);
}

/// Adds a conditional node; its bodies.
cudaGraph_t* addConditional(cudaGraph_t graph, cudaGraphConditionalHandle handle, cudaGraphConditionalNodeType type,
                            unsigned size, const cudaGraphNode_t* after = nullptr, cudaGraphNode_t* made = nullptr) {
  cudaGraphNodeParams parameters = {cudaGraphNodeTypeConditional};
  parameters.conditional.handle = handle;
  parameters.conditional.type = type;
  parameters.conditional.size = size;
  const cudaGraphNode_t node = addNode(graph, &parameters, after);
  if (made != nullptr) *made = node;
  return parameters.conditional.phGraph_out;
}

void launch(cudaGraph_t graph, int times) {
  cudaGraphExec_t executable = nullptr;
  EXPECT_OK(cudaGraphInstantiate(&executable, graph, 0));
  for (int k = 0; k < times; ++k) EXPECT_OK(cudaGraphLaunch(executable, nullptr));
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT_OK(cudaGraphExecDestroy(executable));
}

cudaGraphConditionalHandle condition(cudaGraph_t graph, unsigned initial = 0, unsigned flags = 0) {
  cudaGraphConditionalHandle handle = 0;
  EXPECT_OK(cudaGraphConditionalHandleCreate(&handle, graph, initial, flags));
  return handle;
}

void branches() {
  for (int value : {0, 1, 5}) {
    numbers[0] = value, numbers[1] = numbers[2] = 0;
    cudaGraph_t graph = nullptr;
    EXPECT_OK(cudaGraphCreate(&graph, 0));
    const cudaGraphConditionalHandle handle = condition(graph);
    const cudaGraphNode_t set =
        addKernel<cudaGraphConditionalHandle, const int*>(graph, choose, nullptr, handle, numbers);
    cudaGraphNode_t node = nullptr;
    cudaGraph_t* bodies = addConditional(graph, handle, cudaGraphCondTypeIf, 1, &set, &node);
    addKernel<int*, int>(bodies[0], add, nullptr, numbers + 1, 10);
    addKernel<int*, int>(graph, add, &node, numbers + 2, 1);
    cudaGraphNodeType type{};
    EXPECT_OK(cudaGraphNodeGetType(node, &type));
    EXPECT(type == cudaGraphNodeTypeConditional);
    launch(graph, 2);
    EXPECT(numbers[1] == (value != 0 ? 20 : 0));
    EXPECT(numbers[2] == 2);
    EXPECT_OK(cudaGraphDestroy(graph));
  }
}

void loops() {
  numbers[0] = 10, numbers[1] = 0;
  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaGraphCreate(&graph, 0));
  const cudaGraphConditionalHandle handle = condition(graph, 1, cudaGraphCondAssignDefault);
  cudaGraph_t* bodies = addConditional(graph, handle, cudaGraphCondTypeWhile, 1);
  const cudaGraphNode_t work = addKernel<int*, int>(bodies[0], add, nullptr, numbers + 1, 1);
  addKernel<int*, cudaGraphConditionalHandle>(bodies[0], countDown, &work, numbers, handle);
  launch(graph, 1);
  EXPECT(numbers[0] == 0 && numbers[1] == 10);
  // The default is there again at the next launch: the body runs once more.
  launch(graph, 1);
  EXPECT(numbers[0] == -1 && numbers[1] == 11);
  EXPECT_OK(cudaGraphDestroy(graph));
}

/// A branch inside of a loop, both captured from a stream.
void nests() {
  numbers[0] = 4, numbers[1] = 0, numbers[2] = 1;
  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaGraphCreate(&graph, 0));
  const cudaGraphConditionalHandle again = condition(graph, 1, cudaGraphCondAssignDefault);
  cudaGraph_t* loop = addConditional(graph, again, cudaGraphCondTypeWhile, 1);
  const cudaGraphConditionalHandle inner = condition(loop[0]);
  const cudaGraphNode_t set =
      addKernel<cudaGraphConditionalHandle, const int*>(loop[0], choose, nullptr, inner, numbers + 2);
  cudaGraphNode_t node = nullptr;
  cudaGraph_t* branch = addConditional(loop[0], inner, cudaGraphCondTypeIf, 1, &set, &node);
  cudaStream_t stream = nullptr;
  EXPECT_OK(cudaStreamCreate(&stream));
  EXPECT_OK(cudaStreamBeginCaptureToGraph(stream, branch[0], nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
  add<<<1, 1, 0, stream>>>(numbers + 1, 100);
  cudaGraph_t captured = nullptr;
  EXPECT_OK(cudaStreamEndCapture(stream, &captured));
  EXPECT(captured == branch[0]);
  EXPECT_OK(cudaStreamBeginCaptureToGraph(stream, loop[0], &node, nullptr, 1, cudaStreamCaptureModeGlobal));
  countDown<<<1, 1, 0, stream>>>(numbers, again);
  EXPECT_OK(cudaStreamEndCapture(stream, nullptr));
  EXPECT_OK(cudaStreamDestroy(stream));
  launch(graph, 1);
  EXPECT(numbers[0] == 0 && numbers[1] == 400);
  EXPECT_OK(cudaGraphDestroy(graph));
}

#if defined(__clang__) || CUDART_VERSION >= 12080
void switches() {
  for (int value : {0, 1, 2, 3}) {
    numbers[0] = value, numbers[1] = 0;
    cudaGraph_t graph = nullptr;
    EXPECT_OK(cudaGraphCreate(&graph, 0));
    const cudaGraphConditionalHandle handle = condition(graph);
    const cudaGraphNode_t set =
        addKernel<cudaGraphConditionalHandle, const int*>(graph, choose, nullptr, handle, numbers);
    cudaGraph_t* bodies = addConditional(graph, handle, cudaGraphCondTypeSwitch, 3, &set);
    for (int k = 0; k < 3; ++k) addKernel<int*, int>(bodies[k], add, nullptr, numbers + 1, 1 << k);
    launch(graph, 1);
    EXPECT(numbers[1] == (value < 3 ? 1 << value : 0));
    EXPECT_OK(cudaGraphDestroy(graph));
  }
}

void otherwise() {
  numbers[0] = 0, numbers[1] = 0;
  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaGraphCreate(&graph, 0));
  const cudaGraphConditionalHandle handle = condition(graph);
  const cudaGraphNode_t set =
      addKernel<cudaGraphConditionalHandle, const int*>(graph, choose, nullptr, handle, numbers);
  cudaGraph_t* bodies = addConditional(graph, handle, cudaGraphCondTypeIf, 2, &set);
  addKernel<int*, int>(bodies[0], add, nullptr, numbers + 1, 1);
  addKernel<int*, int>(bodies[1], add, nullptr, numbers + 1, 2);
  launch(graph, 1);
  EXPECT(numbers[1] == 2);
  EXPECT_OK(cudaGraphDestroy(graph));
}
#endif

void refusals() {
  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaGraphCreate(&graph, 0));
  cudaGraphConditionalHandle handle = 0;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphConditionalHandleCreate(&handle, graph, 0, 8));
  handle = condition(graph);
  cudaGraphNodeParams parameters = {cudaGraphNodeTypeConditional};
  parameters.conditional.handle = handle;
  parameters.conditional.type = cudaGraphCondTypeWhile;
  parameters.conditional.size = 2;
  cudaGraphNode_t node = nullptr;
#if CUDART_VERSION >= 13000
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &parameters));
#else
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphAddNode(&node, graph, nullptr, 0, &parameters));
#endif
  EXPECT_OK(cudaGraphDestroy(graph));
}

int destroyed = 0;

void keepsObjects() {
  cudaUserObject_t object = nullptr;
  EXPECT_OK(cudaUserObjectCreate(&object, nullptr, [](void*) { ++destroyed; }, 1, cudaUserObjectNoDestructorSync));
  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaGraphCreate(&graph, 0));
  EXPECT_OK(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
  cudaGraphExec_t executable = nullptr;
  EXPECT_OK(cudaGraphInstantiate(&executable, graph, 0));
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT(destroyed == 0);
  EXPECT_OK(cudaGraphExecDestroy(executable));
  EXPECT_OK(cudaDeviceSynchronize());
#if defined(__clang__)
  EXPECT(destroyed == 1);  // a GPU's driver may take its time
#endif
}

}  // namespace

int main() {
  EXPECT_OK(cudaMallocManaged(&numbers, 64));
  branches();
  loops();
  nests();
#if defined(__clang__) || CUDART_VERSION >= 12080
  switches();
  otherwise();
#endif
  refusals();
  keepsObjects();
  return finish();
}
