// Nodes of stream memory operations and events: what they do, what they answer about themselves, and how they change.
#include "driver/test_kernels.hpp"

namespace ordito::driver {
namespace {

class GraphNodes : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_EQ(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphCreate(&graph_, 0), CUDA_SUCCESS);
  }

  static CUstreamBatchMemOpParams write(CUdeviceptr to, unsigned value) {
    CUstreamBatchMemOpParams operation{};
    operation.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    operation.writeValue.address = to;
    operation.writeValue.value = value;
    return operation;
  }
  static CUstreamBatchMemOpParams waitFor(CUdeviceptr from, unsigned value) {
    CUstreamBatchMemOpParams operation{};
    operation.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    operation.waitValue.address = from;
    operation.waitValue.value = value;
    operation.waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    return operation;
  }
  void launch() {
    CUgraphExec executable = nullptr;
    ASSERT_EQ(cuGraphInstantiateWithFlags(&executable, graph_, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphLaunch(executable, stream_), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  }

  CUstream stream_ = nullptr;
  CUgraph graph_ = nullptr;
};

TEST_F(GraphNodes, ABatchIsDoneInOrder) {
  CUdeviceptr words = allocate(8);
  CUstreamBatchMemOpParams batch[] = {write(words, 7), waitFor(words, 7), write(words + 4, 9)};
  ASSERT_EQ(cuStreamBatchMemOp(stream_, 3, batch, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
  EXPECT_EQ(read(words, 2)[0], 7u);
  EXPECT_EQ(read(words, 2)[1], 9u);
}

TEST_F(GraphNodes, ABatchIsCheckedAtTheCall) {
  CUdeviceptr words = allocate(8);
  CUstreamBatchMemOpParams good = write(words, 1), odd = write(words + 2, 1), unknown{};
  EXPECT_EQ(cuStreamBatchMemOp(stream_, 0, &good, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamBatchMemOp(stream_, 1, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamBatchMemOp(stream_, 1, &odd, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamBatchMemOp(stream_, 1, &unknown, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(GraphNodes, ABatchNodeTellsAndTakesItsOperations) {
  CUdeviceptr words = allocate(4);
  CUstreamBatchMemOpParams first = write(words, 5), second = write(words, 6);
  CUDA_BATCH_MEM_OP_NODE_PARAMS parameters{};
  parameters.count = 1;
  parameters.paramArray = &first;
  CUgraphNode node = nullptr;
  ASSERT_EQ(cuGraphAddBatchMemOpNode(&node, graph_, nullptr, 0, &parameters), CUDA_SUCCESS);
  launch();
  EXPECT_EQ(read(words, 1)[0], 5u);
  CUDA_BATCH_MEM_OP_NODE_PARAMS told{};
  ASSERT_EQ(cuGraphBatchMemOpNodeGetParams(node, &told), CUDA_SUCCESS);
  ASSERT_EQ(told.count, 1u);
  EXPECT_EQ(told.paramArray[0].writeValue.value, 5u);
  CUgraphNodeParams any{};
  any.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
  any.memOp.count = 1;
  any.memOp.paramArray = &second;
  ASSERT_EQ(cuGraphNodeSetParams(node, &any), CUDA_SUCCESS);
  launch();
  EXPECT_EQ(read(words, 1)[0], 6u);
}

TEST_F(GraphNodes, StreamMemoryOperationsAreCaptured) {
  CUdeviceptr words = allocate(4);
  ASSERT_EQ(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWriteValue32(stream_, words, 11, 0), CUDA_SUCCESS);
  CUgraph captured = nullptr;
  ASSERT_EQ(cuStreamEndCapture(stream_, &captured), CUDA_SUCCESS);
  CUgraphNode node = nullptr;
  size_t count = 1;
  ASSERT_EQ(cuGraphGetNodes(captured, &node, &count), CUDA_SUCCESS);
  CUgraphNodeType type{};
  ASSERT_EQ(cuGraphNodeGetType(node, &type), CUDA_SUCCESS);
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
  graph_ = captured;
  launch();
  EXPECT_EQ(read(words, 1)[0], 11u);
}

TEST_F(GraphNodes, EventsOfNodesChange) {
  CUevent first = nullptr, second = nullptr, told = nullptr;
  ASSERT_EQ(cuEventCreate(&first, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&second, 0), CUDA_SUCCESS);
  CUgraphNode record = nullptr, wait = nullptr;
  ASSERT_EQ(cuGraphAddEventRecordNode(&record, graph_, nullptr, 0, first), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddEventWaitNode(&wait, graph_, &record, 1, first), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphEventRecordNodeGetEvent(record, &told), CUDA_SUCCESS);
  EXPECT_EQ(told, first);
  EXPECT_EQ(cuGraphEventRecordNodeGetEvent(wait, &told), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuGraphEventWaitNodeSetEvent(wait, second), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphEventWaitNodeGetEvent(wait, &told), CUDA_SUCCESS);
  EXPECT_EQ(told, second);
  CUgraphExec executable = nullptr;
  ASSERT_EQ(cuGraphInstantiateWithFlags(&executable, graph_, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphExecEventRecordNodeSetEvent(executable, record, second), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(executable, stream_), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
  float milliseconds = -1;
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, second, second), CUDA_SUCCESS);
}

}  // namespace
}  // namespace ordito::driver
