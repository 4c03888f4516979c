// What graphs keep alive, what ends with them, and which graph a condition is of: the answers that an H200 with driver
// 580 was seen to give.
#include <atomic>
#include <thread>

#include "driver/test_kernels.hpp"

namespace ordito::driver {
namespace {

class GraphLifetime : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_EQ(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  }

  static CUgraph graph() {
    CUgraph made = nullptr;
    EXPECT_EQ(cuGraphCreate(&made, 0), CUDA_SUCCESS);
    return made;
  }
  /// With a node that calls `function(data)`.
  static CUgraph graphOf(CUhostFn function, void* data = nullptr) {
    CUgraph made = graph();
    CUDA_HOST_NODE_PARAMS host{};
    host.fn = function, host.userData = data;
    CUgraphNode node = nullptr;
    EXPECT_EQ(cuGraphAddHostNode(&node, made, nullptr, 0, &host), CUDA_SUCCESS);
    return made;
  }
  static void nothing(void*) {}

  /// A graph with a node and an object that only the graph keeps: `ended` counts when that is over.
  static CUgraph graphWith(std::atomic<int>& ended, CUuserObject* object = nullptr, CUhostFn function = nothing,
                           void* data = nullptr) {
    CUgraph made = graphOf(function, data);
    CUuserObject own = nullptr;
    const auto end = [](void* count) { ++*static_cast<std::atomic<int>*>(count); };
    EXPECT_EQ(cuUserObjectCreate(&own, &ended, end, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphRetainUserObject(made, own, 1, CU_GRAPH_USER_OBJECT_MOVE), CUDA_SUCCESS);
    if (object) *object = own;
    return made;
  }
  /// Puts a copy of `child` into `parent` and destroys `child`.
  static CUgraphNode embed(CUgraph parent, CUgraph child) {
    CUgraphNode node = nullptr;
    EXPECT_EQ(cuGraphAddChildGraphNode(&node, parent, nullptr, 0, child), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphDestroy(child), CUDA_SUCCESS);
    return node;
  }
  static CUgraph embedded(CUgraphNode node) {
    CUgraph inner = nullptr;
    EXPECT_EQ(cuGraphChildGraphNodeGetGraph(node, &inner), CUDA_SUCCESS);
    return inner;
  }
  static CUgraphExec instance(CUgraph graph) {
    CUgraphExec made = nullptr;
    EXPECT_EQ(cuGraphInstantiateWithFlags(&made, graph, 0), CUDA_SUCCESS);
    return made;
  }
  static CUgraphConditionalHandle condition(CUgraph graph) {
    CUgraphConditionalHandle handle = 0;
    EXPECT_EQ(cuGraphConditionalHandleCreate(&handle, graph, nullptr, 0, 0), CUDA_SUCCESS);
    return handle;
  }
  static CUresult branch(CUgraph graph, CUgraphConditionalHandle handle, CUgraph* body = nullptr,
                         CUgraphNode* made = nullptr) {
    CUgraphNodeParams parameters{};
    parameters.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    parameters.conditional.handle = handle;
    parameters.conditional.type = CU_GRAPH_COND_TYPE_IF;
    parameters.conditional.size = 1;
    CUgraphNode node = nullptr;
    const CUresult result = cuGraphAddNode(&node, graph, nullptr, 0, &parameters);
    if (result == CUDA_SUCCESS && body) *body = parameters.conditional.phGraph_out[0];
    if (made) *made = node;
    return result;
  }
  static bool isThere(CUgraph graph) {
    size_t count = 0;
    return cuGraphGetNodes(graph, nullptr, &count) == CUDA_SUCCESS;
  }

  CUstream stream_ = nullptr;
};

TEST_F(GraphLifetime, AnEmbeddedGraphEndsWithItsNode) {
  std::atomic<int> ended = 0;
  CUgraph parent = graph();
  const CUgraphNode node = embed(parent, graphWith(ended));
  const CUgraph inner = embedded(node);
  EXPECT_EQ(embedded(node), inner);
  EXPECT_EQ(cuGraphDestroy(inner), CUDA_ERROR_INVALID_VALUE);
  EXPECT_TRUE(isThere(inner));
  EXPECT_EQ(ended, 0);
  EXPECT_EQ(cuGraphDestroyNode(node), CUDA_SUCCESS);
  EXPECT_EQ(ended, 1);
  EXPECT_FALSE(isThere(inner));
}

TEST_F(GraphLifetime, AnEmbeddedGraphHoldsItsObjectsOnce) {
  std::atomic<int> ended = 0;
  CUuserObject object = nullptr;
  CUgraph parent = graph();
  const CUgraphNode node = embed(parent, graphWith(ended, &object));
  EXPECT_EQ(cuGraphReleaseUserObject(embedded(node), object, 1), CUDA_SUCCESS);
  EXPECT_EQ(ended, 1);
}

TEST_F(GraphLifetime, WhatIsEmbeddedDeeplyEndsWithTheOutermost) {
  std::atomic<int> ended = 0;
  CUgraph outer = graph(), middle = graph();
  embed(middle, graphWith(ended));
  const CUgraphNode node = embed(outer, middle);
  CUgraphNode inner = nullptr;
  size_t count = 1;
  ASSERT_EQ(cuGraphGetNodes(embedded(node), &inner, &count), CUDA_SUCCESS);
  const CUgraph deepest = embedded(inner);
  EXPECT_TRUE(isThere(deepest));
  EXPECT_EQ(cuGraphDestroy(outer), CUDA_SUCCESS);
  EXPECT_EQ(ended, 1);
  EXPECT_FALSE(isThere(deepest));
}

TEST_F(GraphLifetime, ACloneHasChildrenOfItsOwn) {
  CUgraph parent = graph(), clone = nullptr;
  const CUgraphNode node = embed(parent, graphOf(nothing));
  ASSERT_EQ(cuGraphClone(&clone, parent), CUDA_SUCCESS);
  CUgraphNode twin = nullptr;
  ASSERT_EQ(cuGraphNodeFindInClone(&twin, node, clone), CUDA_SUCCESS);
  EXPECT_NE(embedded(twin), embedded(node));
  EXPECT_EQ(cuGraphDestroy(parent), CUDA_SUCCESS);
  EXPECT_TRUE(isThere(embedded(twin)));
}

TEST_F(GraphLifetime, AnInstanceKeepsObjectsAndNotTheGraph) {
  std::atomic<int> ended = 0;
  CUgraph parent = graph();
  const CUgraph inner = embedded(embed(parent, graphWith(ended)));
  const CUgraphExec executable = instance(parent);
  EXPECT_EQ(cuGraphDestroy(parent), CUDA_SUCCESS);
  EXPECT_FALSE(isThere(inner));
  EXPECT_EQ(ended, 0);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(ended, 1);
}

TEST_F(GraphLifetime, ALaunchKeepsObjectsUntilItIsDone) {
  struct Gate {
    std::atomic<bool> began = false, isOpen = false;
  } gate;
  std::atomic<int> ended = 0;
  CUgraph waiting = graphWith(
      ended, nullptr,
      [](void* data) {
        auto& g = *static_cast<Gate*>(data);
        g.began = true;
        while (!g.isOpen) std::this_thread::yield();
      },
      &gate);
  const CUgraphExec executable = instance(waiting);
  EXPECT_EQ(cuGraphDestroy(waiting), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(executable, stream_), CUDA_SUCCESS);
  while (!gate.began) std::this_thread::yield();
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(ended, 0);
  gate.isOpen = true;
  EXPECT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
  for (int k = 0; k < 2000 && ended == 0; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(ended, 1);
}

TEST_F(GraphLifetime, AnUpdateTakesTheNewObjectsAndLetsTheOldOnesGo) {
  std::atomic<int> first = 0, second = 0;
  CUgraph old = graphWith(first), fresh = graphWith(second);
  const CUgraphExec executable = instance(old);
  CUgraphExecUpdateResultInfo info{};
  ASSERT_EQ(cuGraphExecUpdate(executable, fresh, &info), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(old), CUDA_SUCCESS);
  EXPECT_EQ(first, 1);
  EXPECT_EQ(cuGraphDestroy(fresh), CUDA_SUCCESS);
  EXPECT_EQ(second, 0);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(second, 1);
}

TEST_F(GraphLifetime, AnotherChildTakesTheOldOnesPlace) {
  std::atomic<int> first = 0, second = 0, third = 0;
  CUgraph parent = graph(), next = graphWith(second), last = graphWith(third);
  const CUgraphNode node = embed(parent, graphWith(first));
  const CUgraph inner = embedded(node);
  const CUgraphExec executable = instance(parent);
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_GRAPH;
  parameters.graph.graph = next;
  ASSERT_EQ(cuGraphNodeSetParams(node, &parameters), CUDA_SUCCESS);
  EXPECT_FALSE(isThere(inner));
  EXPECT_EQ(first, 0);  // the instance has it
  ASSERT_EQ(cuGraphExecChildGraphNodeSetParams(executable, node, last), CUDA_SUCCESS);
  EXPECT_EQ(first, 1);
  for (const CUgraph each : {next, last, parent}) EXPECT_EQ(cuGraphDestroy(each), CUDA_SUCCESS);
  EXPECT_EQ(second, 1);
  EXPECT_EQ(third, 0);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(third, 1);
}

TEST_F(GraphLifetime, AConditionIsOfOneGraphAndOfOneNode) {
  CUgraph one = graph(), other = graph(), body = nullptr;
  const CUgraphConditionalHandle handle = condition(one);
  EXPECT_EQ(branch(other, handle), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(branch(one, handle, &body), CUDA_SUCCESS);
  EXPECT_EQ(branch(one, handle), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphDestroy(body), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(branch(body, condition(one)), CUDA_SUCCESS);
  EXPECT_EQ(branch(body, condition(body)), CUDA_SUCCESS);
  EXPECT_EQ(branch(one, condition(body)), CUDA_SUCCESS);
  EXPECT_EQ(branch(body, condition(other)), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphExecDestroy(instance(one)), CUDA_SUCCESS);
}

TEST_F(GraphLifetime, AConditionWithoutANodeIsNotInstantiated) {
  CUgraph alone = graph();
  condition(alone);
  CUgraphExec executable = nullptr;
  EXPECT_EQ(cuGraphInstantiateWithFlags(&executable, alone, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(GraphLifetime, ABodyHasWorkOfTheDeviceOnly) {
  std::atomic<int> ended = 0;
  CUgraph outer = graph(), body = nullptr;
  CUgraphNode node = nullptr;
  ASSERT_EQ(branch(outer, condition(outer), &body, &node), CUDA_SUCCESS);
  embed(body, graphWith(ended));
  CUgraphExec executable = nullptr;
  EXPECT_EQ(cuGraphInstantiateWithFlags(&executable, outer, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphDestroyNode(node), CUDA_SUCCESS);
  EXPECT_EQ(ended, 1);
  EXPECT_FALSE(isThere(body));
}

TEST_F(GraphLifetime, GraphsWithConditionsAreNotCopied) {
  CUgraph outer = graph(), clone = nullptr;
  ASSERT_EQ(branch(outer, condition(outer)), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphClone(&clone, outer), CUDA_ERROR_NOT_SUPPORTED);
  CUgraphNode node = nullptr;
  EXPECT_EQ(cuGraphAddChildGraphNode(&node, graph(), nullptr, 0, outer), CUDA_ERROR_NOT_SUPPORTED);
}

TEST_F(GraphLifetime, ALaunchIsNotCaptured) {
  const CUgraphExec executable = instance(graphOf(nothing));
  ASSERT_EQ(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphLaunch(executable, stream_), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CUgraph captured = nullptr;
  EXPECT_EQ(cuStreamEndCapture(stream_, &captured), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

}  // namespace
}  // namespace ordito::driver
