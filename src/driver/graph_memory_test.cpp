// Memory that graphs allocate: how much of it counts, who may free it, and when a graph can be launched again. The
// numbers and answers are those of an H200 with driver 580.
#include "driver/test_kernels.hpp"

namespace ordito::driver {
namespace {

constexpr cuuint64_t kChunk = 32u << 20;

class GraphMemories : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_EQ(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphCreate(&graph_, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuDeviceGraphMemTrim(0), CUDA_SUCCESS);
    cuuint64_t zero = 0;
    for (const auto high : {CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH})
      ASSERT_EQ(cuDeviceSetGraphMemAttribute(0, high, &zero), CUDA_SUCCESS);
  }

  static cuuint64_t get(CUgraphMem_attribute attribute) {
    cuuint64_t value = ~0ull;
    EXPECT_EQ(cuDeviceGetGraphMemAttribute(0, attribute, &value), CUDA_SUCCESS);
    return value;
  }
  static cuuint64_t used() {
    EXPECT_EQ(get(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), get(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT));
    return get(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT);
  }
  static cuuint64_t most() { return get(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH); }

  static CUresult add(CUgraph graph, size_t bytes, CUdeviceptr* memory, CUgraphNode* node) {
    CUDA_MEM_ALLOC_NODE_PARAMS parameters{};
    parameters.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    parameters.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    parameters.bytesize = bytes;
    const CUresult result = cuGraphAddMemAllocNode(node, graph, nullptr, 0, &parameters);
    *memory = parameters.dptr;
    return result;
  }
  CUdeviceptr allocation(size_t bytes) {
    CUdeviceptr memory = 0;
    EXPECT_EQ(add(graph_, bytes, &memory, &node_), CUDA_SUCCESS);
    return memory;
  }
  static CUgraphExec instance(CUgraph graph, unsigned long long flags = 0) {
    CUgraphExec made = nullptr;
    EXPECT_EQ(cuGraphInstantiateWithFlags(&made, graph, flags), CUDA_SUCCESS);
    return made;
  }
  void wait() { EXPECT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS); }

  CUstream stream_ = nullptr;
  CUgraph graph_ = nullptr;
  CUgraphNode node_ = nullptr;
};

TEST_F(GraphMemories, CountFromTheUploadToTheTrim) {
  const CUdeviceptr memory = allocation(1024);
  const CUgraphExec executable = instance(graph_);
  EXPECT_EQ(used(), 0u);
  ASSERT_EQ(cuGraphUpload(executable, stream_), CUDA_SUCCESS);
  EXPECT_EQ(used(), kChunk);
  ASSERT_EQ(cuGraphLaunch(executable, stream_), CUDA_SUCCESS);
  EXPECT_EQ(cuDeviceGraphMemTrim(0), CUDA_SUCCESS);
  EXPECT_EQ(used(), kChunk);
  EXPECT_EQ(cuMemFreeAsync(memory, stream_), CUDA_SUCCESS);
  wait();
  EXPECT_EQ(used(), kChunk);
  EXPECT_EQ(cuDeviceGraphMemTrim(0), CUDA_SUCCESS);
  EXPECT_EQ(used(), 0u);
  EXPECT_EQ(most(), kChunk);
}

TEST_F(GraphMemories, CountWhenTheGraphIsGone) {
  const CUdeviceptr memory = allocation(100 << 20);
  const CUgraphExec executable = instance(graph_);
  ASSERT_EQ(cuGraphLaunch(executable, stream_), CUDA_SUCCESS);
  wait();
  EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(graph_), CUDA_SUCCESS);
  EXPECT_EQ(used(), 4 * kChunk);
  EXPECT_EQ(cuDeviceGraphMemTrim(0), CUDA_SUCCESS);
  EXPECT_EQ(used(), 0u);
  cuuint64_t one = 1;
  EXPECT_EQ(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &one), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &one), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceGetGraphMemAttribute(9, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &one), CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(GraphMemories, AreFreedBeforeTheNextLaunch) {
  const CUdeviceptr memory = allocation(64);
  const CUgraphExec executable = instance(graph_);
  ASSERT_EQ(cuGraphLaunch(executable, stream_), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphLaunch(executable, stream_), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFreeAsync(memory, stream_), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeAsync(memory, stream_), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphLaunch(executable, stream_), CUDA_SUCCESS);
  wait();
  EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(GraphMemories, AreFreedByTheNextLaunchIfThatWasAskedFor) {
  const CUdeviceptr memory = allocation(64);
  const CUgraphExec executable = instance(graph_, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
  for (int k = 0; k < 3; ++k) EXPECT_EQ(cuGraphLaunch(executable, stream_), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeAsync(memory, stream_), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeAsync(memory, stream_), CUDA_ERROR_INVALID_VALUE);
  wait();
}

TEST_F(GraphMemories, AreFreedByAnotherGraph) {
  const CUdeviceptr memory = allocation(64);
  CUgraph other = nullptr;
  CUgraphNode freeing = nullptr;
  ASSERT_EQ(cuGraphCreate(&other, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddMemFreeNode(&freeing, other, nullptr, 0, memory), CUDA_SUCCESS);
  const CUgraphExec takes = instance(graph_), frees = instance(other);
  for (int k = 0; k < 2; ++k) {
    EXPECT_EQ(cuGraphLaunch(takes, stream_), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphLaunch(frees, stream_), CUDA_SUCCESS);
  }
  EXPECT_EQ(cuGraphLaunch(frees, stream_), CUDA_ERROR_INVALID_VALUE);
  wait();
}

TEST_F(GraphMemories, AreOfOneInstanceAtATime) {
  allocation(64);
  CUgraphExec first = instance(graph_), second = nullptr;
  EXPECT_EQ(cuGraphInstantiateWithFlags(&second, graph_, 0), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuGraphExecDestroy(first), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphInstantiateWithFlags(&second, graph_, 0), CUDA_SUCCESS);
  CUgraph clone = nullptr;
  EXPECT_EQ(cuGraphClone(&clone, graph_), CUDA_ERROR_NOT_SUPPORTED);
}

TEST_F(GraphMemories, OfNothingAreNoNodes) {
  CUdeviceptr memory = 77;
  EXPECT_EQ(add(graph_, 0, &memory, &node_), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAllocAsync(&memory, 0, stream_), CUDA_SUCCESS);
  EXPECT_EQ(memory, 0u);
  ASSERT_EQ(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  memory = 77;
  EXPECT_EQ(cuMemAllocAsync(&memory, 0, stream_), CUDA_SUCCESS);
  EXPECT_EQ(memory, 0u);
  EXPECT_EQ(cuMemFreeAsync(0, stream_), CUDA_SUCCESS);
  CUgraph captured = nullptr;
  ASSERT_EQ(cuStreamEndCapture(stream_, &captured), CUDA_SUCCESS);
  size_t count = 99;
  EXPECT_EQ(cuGraphGetNodes(captured, nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 0u);
}

}  // namespace
}  // namespace ordito::driver
