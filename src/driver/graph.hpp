// Graphs: work written down once, as nodes with dependencies, and launched many times.
//
// A node holds its parameters, as the program gave them and may ask for them again, and its work: a function that does
// it now. Whatever a stream can run has been checked and compiled when the function is made (PreparedLaunch,
// prepareCopy …), so building a node by hand and capturing it from a stream end in the same place. An instantiated
// graph is the list of its nodes' works in an order that keeps the dependencies; a launch is one operation of a stream
// that runs through the list. Branches that could run side by side run one after the other: the blocks of each kernel
// occupy all host threads anyway.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "cuda.h"
#include "driver/context.hpp"
#include "driver/copy.hpp"
#include "driver/launch.hpp"
#include "driver/stream.hpp"

namespace ordito::driver {

class Graph;
class GraphExec;
class GraphMemory;  // graph_memory.hpp

/// The number that a conditional node looks at, in device memory, where kernels set it. Its address is the handle.
class Condition {
 public:
  Condition(Device& device, CUdeviceptr address, unsigned initial, bool resets);
  ~Condition();
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;
  /// Null if there is no memory for it.
  static std::shared_ptr<Condition> make(Device& device, unsigned initial, bool resets);
  unsigned value() const { return __atomic_load_n(reinterpret_cast<const unsigned*>(address), __ATOMIC_ACQUIRE); }
  /// At each launch, if the program asked for that.
  void reset() const;
  const CUdeviceptr address;

 private:
  Device& device_;
  const unsigned initial_;
  const bool resets_;
};

/// A graph inside of a node of another one. What handles the program has of it end with the node.
class Embedded {
 public:
  explicit Embedded(std::shared_ptr<Graph> graph);
  ~Embedded();
  Embedded(const Embedded&) = delete;
  Embedded& operator=(const Embedded&) = delete;
  const std::shared_ptr<Graph> graph;
};

/// A node that runs one of its graphs, or one of them again and again, as its condition says when its turn comes. An
/// instantiated graph has it without the graphs.
struct Conditional {
  CUgraphConditionalNodeType type;
  std::shared_ptr<Condition> condition;
  std::vector<std::unique_ptr<const Embedded>> bodies;
  std::vector<CUgraph> handles;  // of the bodies
};

/// What a program wants to hear of when nobody refers to it any more (cuUserObjectCreate).
struct UserObject {
  void* pointer;
  CUhostFn destroy;
  UserObject(void* p, CUhostFn d) : pointer(p), destroy(d) {}
  ~UserObject() { destroy(pointer); }
};
/// One element for each reference.
using UserObjects = std::vector<std::shared_ptr<UserObject>>;

/// Stream memory operations that come one after the other.
using Batch = std::vector<CUstreamBatchMemOpParams>;

using NodeParameters =
    std::variant<std::monostate, std::shared_ptr<const Conditional>, std::shared_ptr<const LaunchRequest>, CopyRequest,
                 Fill, CUDA_HOST_NODE_PARAMS, std::shared_ptr<const Embedded>, std::shared_ptr<Event>,
                 std::shared_ptr<GraphMemory>, CUdeviceptr, std::shared_ptr<const Batch>>;

/// What a node does: its parameters and the work made from them (null for nodes that only order others).
struct NodeTask {
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  NodeParameters parameters;
  Work work;
};

struct GraphNode {
  Graph& graph;
  const uint64_t number;  // the same in a clone of the graph
  NodeTask task;
  std::vector<GraphNode*> after;
};

class Graph : public std::enable_shared_from_this<Graph> {
 public:
  ~Graph();

  static CUgraph handle(const std::shared_ptr<Graph>& graph);
  /// False if the handle is of no graph, or of one inside of a node, which ends with that.
  static bool destroy(CUgraph handle);
  static std::shared_ptr<Graph> from(CUgraph handle);
  static CUgraphNode handle(GraphNode* node) { return reinterpret_cast<CUgraphNode>(node); }
  /// Null if the handle is no live node.
  static GraphNode* node(CUgraphNode handle);

  GraphNode* add(NodeTask task, std::vector<GraphNode*> after);
  void remove(GraphNode* node);
  /// Gives a node of this graph another task.
  void change(GraphNode& node, NodeTask task);
  /// Null if it has nodes that cannot be copied: conditional ones, and those that allocate or free memory (CUDA driver
  /// API, cuGraphClone).
  std::shared_ptr<Graph> clone() const;
  GraphNode* find(uint64_t number) const;
  const std::vector<std::unique_ptr<GraphNode>>& nodes() const { return nodes_; }
  /// The nodes, each behind those that it depends on; fewer than all when there is a cycle.
  std::vector<GraphNode*> inOrder() const;
  /// Itself, or the graph that it is inside of at last.
  Graph& root();
  bool hasMemoryNodes() const;
  UserObjects objects;
  /// Made for nodes of this graph and of those inside of it, and not used by one yet.
  std::vector<std::shared_ptr<Condition>> conditions;
  /// The last instance, of which there can be but one while there are memory nodes.
  std::weak_ptr<GraphExec> instance;

 private:
  friend class Embedded;
  void adopt(const NodeTask& task);

  std::vector<std::unique_ptr<GraphNode>> nodes_;
  bool isEmbedded_ = false;
  std::weak_ptr<Graph> owner_;  // of the node that it is inside of
};

/// An instantiated graph. Steps are replaced, never changed, because a launch that is under way keeps its own.
class GraphExec : public std::enable_shared_from_this<GraphExec> {
 public:
  /// CUDA_ERROR_INVALID_VALUE for a cycle, a condition without a node or a body with nodes that none can have, and
  /// CUDA_ERROR_NOT_SUPPORTED for a second instance of a graph that allocates, with a message each.
  static CUresult instantiate(Graph& graph, uint64_t flags, std::shared_ptr<GraphExec>& executable);
  static CUgraphExec handle(const std::shared_ptr<GraphExec>& executable);
  static std::shared_ptr<GraphExec> from(CUgraphExec handle);
  static bool destroy(CUgraphExec handle);

  /// CUDA_ERROR_INVALID_VALUE if memory that an earlier launch allocated has not been freed.
  CUresult launch(const std::shared_ptr<Stream>& stream);
  /// The memory of its allocations is there, as a launch would have it.
  void backMemory();
  /// Gives the step of a node other parameters of the same type; false if there is no such step.
  bool replace(const GraphNode& node, const NodeTask& task);
  /// Takes over all parameters of a graph of the same shape.
  CUgraphExecUpdateResult update(Graph& graph, GraphNode** culprit);
  bool setEnabled(const GraphNode& node, bool enabled);
  bool enabled(const GraphNode& node, bool* answer);
  uint64_t flags() const { return flags_; }

 private:
  struct Step {
    uint64_t number;
    NodeTask task;
    std::vector<size_t> after;
    std::shared_ptr<GraphExec> child;
    std::vector<std::shared_ptr<GraphExec>> bodies;
    bool enabled = true;
  };
  using Steps = std::vector<std::shared_ptr<const Step>>;
  struct Run;

  static CUresult make(Graph& graph, uint64_t flags, bool isBody, std::shared_ptr<GraphExec>& executable);
  static CUresult makeStep(const GraphNode& node, std::vector<size_t> after, bool isBody,
                           std::shared_ptr<const Step>& step);
  Steps* stepsWith(uint64_t number, size_t* index);
  /// `before`: the items of the run that all of this comes behind.
  void collect(Run& run, std::vector<Point>& waits, const std::vector<uint32_t>& before = {});
  static std::vector<std::shared_ptr<Stream>> otherDefaults(const Run& run, const std::shared_ptr<Stream>& stream);

  mutable std::mutex mutex_;
  Steps steps_;
  Point last_;  // launches of one graph run one after the other
  uint64_t flags_ = 0;
  UserObjects objects_;
};

}  // namespace ordito::driver
