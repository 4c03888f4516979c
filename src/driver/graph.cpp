// See graph.hpp.
#include "driver/graph.hpp"

#include <algorithm>
#include <atomic>
#include <set>
#include <unordered_map>
#include <utility>

#include "driver/graph_memory.hpp"
#include "driver/results.hpp"
#include "machine/listener.hpp"
#include "machine/memory.hpp"

namespace ordito::driver {

namespace {

HandleTable<Graph>& graphs() {
  static auto* table = new HandleTable<Graph>;
  return *table;
}
HandleTable<GraphExec>& executables() {
  static auto* table = new HandleTable<GraphExec>;
  return *table;
}

/// Live nodes, so that a stale handle is found out.
struct Nodes {
  std::mutex mutex;
  std::set<const GraphNode*> live;
};
Nodes& allNodes() {
  static auto* nodes = new Nodes;
  return *nodes;
}

}  // namespace

Condition::Condition(Device& device, CUdeviceptr place, unsigned initial, bool resets)
    : address(place), device_(device), initial_(initial), resets_(resets) {
  *reinterpret_cast<unsigned*>(address) = initial;
}

Condition::~Condition() { device_.memory.free(address); }

std::shared_ptr<Condition> Condition::make(Device& device, unsigned initial, bool resets) {
  auto address = device.memory.allocate(sizeof(unsigned));
  return address ? std::make_shared<Condition>(device, *address, initial, resets) : nullptr;
}

void Condition::reset() const {
  if (resets_) __atomic_store_n(reinterpret_cast<unsigned*>(address), initial_, __ATOMIC_RELEASE);
}

// --- graphs

Graph::~Graph() {
  std::lock_guard lock(allNodes().mutex);
  for (const auto& node : nodes_) allNodes().live.erase(node.get());
}

CUgraph Graph::handle(const std::shared_ptr<Graph>& graph) { return static_cast<CUgraph>(graphs().add(graph)); }
std::shared_ptr<Graph> Graph::from(CUgraph handle) { return graphs().find(handle); }
bool Graph::destroy(CUgraph handle) {
  const auto graph = from(handle);
  return graph && !graph->isEmbedded_ && graphs().remove(handle);
}

Embedded::Embedded(std::shared_ptr<Graph> g) : graph(std::move(g)) { graph->isEmbedded_ = true; }
Embedded::~Embedded() { graphs().remove(graph.get()); }

GraphNode* Graph::node(CUgraphNode handle) {
  auto* node = reinterpret_cast<GraphNode*>(handle);
  std::lock_guard lock(allNodes().mutex);
  return allNodes().live.contains(node) ? node : nullptr;
}

void Graph::adopt(const NodeTask& task) {
  if (const auto* child = std::get_if<std::shared_ptr<const Embedded>>(&task.parameters))
    (*child)->graph->owner_ = weak_from_this();
  if (const auto* conditional = std::get_if<std::shared_ptr<const Conditional>>(&task.parameters))
    for (const auto& body : (*conditional)->bodies) body->graph->owner_ = weak_from_this();
}

Graph& Graph::root() {
  const auto owner = owner_.lock();
  return owner ? owner->root() : *this;
}

namespace {

bool isMemoryNode(const GraphNode& node) {
  return node.task.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || node.task.type == CU_GRAPH_NODE_TYPE_MEM_FREE;
}

}  // namespace

bool Graph::hasMemoryNodes() const {
  return std::ranges::any_of(nodes_, [](const auto& node) { return isMemoryNode(*node); });
}

void Graph::change(GraphNode& node, NodeTask task) {
  adopt(task);
  node.task = std::move(task);
}

GraphNode* Graph::add(NodeTask task, std::vector<GraphNode*> after) {
  static std::atomic<uint64_t> next{1};
  adopt(task);
  nodes_.push_back(std::make_unique<GraphNode>(GraphNode{*this, next++, std::move(task), std::move(after)}));
  std::lock_guard lock(allNodes().mutex);
  allNodes().live.insert(nodes_.back().get());
  return nodes_.back().get();
}

void Graph::remove(GraphNode* node) {
  {
    std::lock_guard lock(allNodes().mutex);
    allNodes().live.erase(node);
  }
  for (const auto& other : nodes_) std::erase(other->after, node);
  std::erase_if(nodes_, [node](const auto& n) { return n.get() == node; });
}

std::shared_ptr<Graph> Graph::clone() const {
  auto copy = std::make_shared<Graph>();
  copy->objects = objects;
  std::unordered_map<const GraphNode*, GraphNode*> twin;
  for (const auto& node : nodes_) {
    if (isMemoryNode(*node) || node->task.type == CU_GRAPH_NODE_TYPE_CONDITIONAL) return nullptr;
    NodeTask task = node->task;
    if (const auto* child = std::get_if<std::shared_ptr<const Embedded>>(&task.parameters)) {
      auto inner = (*child)->graph->clone();
      if (!inner) return nullptr;
      task.parameters = std::make_shared<const Embedded>(std::move(inner));
      copy->adopt(task);
    }
    copy->nodes_.push_back(std::make_unique<GraphNode>(GraphNode{*copy, node->number, std::move(task), {}}));
    twin[node.get()] = copy->nodes_.back().get();
    std::lock_guard lock(allNodes().mutex);
    allNodes().live.insert(copy->nodes_.back().get());
  }
  for (const auto& node : nodes_)
    for (GraphNode* before : node->after) twin[node.get()]->after.push_back(twin[before]);
  return copy;
}

GraphNode* Graph::find(uint64_t number) const {
  for (const auto& node : nodes_)
    if (node->number == number) return node.get();
  return nullptr;
}

std::vector<GraphNode*> Graph::inOrder() const {
  std::unordered_map<const GraphNode*, size_t> unmet;
  std::unordered_map<const GraphNode*, std::vector<GraphNode*>> next;
  std::vector<GraphNode*> order;
  for (const auto& node : nodes_) {
    unmet[node.get()] = node->after.size();
    for (GraphNode* before : node->after) next[before].push_back(node.get());
    if (node->after.empty()) order.push_back(node.get());
  }
  for (size_t i = 0; i < order.size(); ++i)
    for (GraphNode* behind : next[order[i]])
      if (--unmet[behind] == 0) order.push_back(behind);
  return order;
}

// --- instantiated graphs

/// One launch: the works in order, and the events that it records.
struct GraphExec::Run {
  struct Item {
    std::shared_ptr<const Step> step;
    std::shared_ptr<Event::Record> record;
    std::vector<Run> bodies;      // of a conditional node
    std::vector<uint32_t> after;  // items that it comes behind; only for listeners

    machine::GraphNodeEvent event(uint32_t number) const {
      return {number, after, step->task.type == CU_GRAPH_NODE_TYPE_HOST};
    }
  };
  std::vector<Item> items;
  UserObjects objects;  // of the instance and of those inside of it: they live until it is done
  bool isTold = false;  // listeners hear of its items

  CUresult operator()(std::string& message) const {
    for (const Item& item : items) {
      if (isTold) machine::raise(item.event(static_cast<uint32_t>(&item - items.data())));
      if (item.record) item.record->time = std::chrono::steady_clock::now();
      if (const auto* conditional = conditionalOf(item))
        if (CUresult bad = choose(*conditional, item.bodies, message)) return bad;
      if (!item.step->task.work) continue;
      if (CUresult bad = item.step->task.work(message)) return bad;
    }
    return CUDA_SUCCESS;
  }

  /// What it allocates and frees.
  GraphMemoryOfLaunch memory() const;

  /// The contexts that kernels are of and that copied and filled memory is of.
  void addContexts(std::set<Context*>& all) const {
    for (const Item& item : items) {
      const NodeParameters& parameters = item.step->task.parameters;
      if (const auto* launch = std::get_if<std::shared_ptr<const LaunchRequest>>(&parameters))
        all.insert(&(*launch)->function->module.context);
      if (const auto* copy = std::get_if<CopyRequest>(&parameters))
        for (const Region& region : {copy->to, copy->from}) addOwner(region.base, all);
      if (const auto* fill = std::get_if<Fill>(&parameters)) addOwner(fill->to.base, all);
      for (const Run& body : item.bodies) body.addContexts(all);
    }
  }

  /// Runs everything, from the conditions' first values on.
  CUresult launch(std::string& message) const {
    resetConditions();
    return (*this)(message);
  }

 private:
  static void addOwner(uint64_t address, std::set<Context*>& all) {
    const auto allocation = machine::allocations().find(address);
    if (allocation && allocation->kind == machine::MemoryKind::Device) all.insert(&Context::of(*allocation));
  }

  void resetConditions() const {
    for (const Item& item : items) {
      if (const auto* conditional = conditionalOf(item)) conditional->condition->reset();
      for (const Run& body : item.bodies) body.resetConditions();
    }
  }

  static const Conditional* conditionalOf(const Item& item) {
    const auto* found = std::get_if<std::shared_ptr<const Conditional>>(&item.step->task.parameters);
    return found ? found->get() : nullptr;
  }

  static CUresult choose(const Conditional& conditional, const std::vector<Run>& bodies, std::string& message) {
    const unsigned value = conditional.condition->value();
    switch (conditional.type) {
      case CU_GRAPH_COND_TYPE_IF: {
        const size_t k = value ? 0 : 1;
        return k < bodies.size() ? bodies[k](message) : CUDA_SUCCESS;
      }
      case CU_GRAPH_COND_TYPE_SWITCH: return value < bodies.size() ? bodies[value](message) : CUDA_SUCCESS;
      case CU_GRAPH_COND_TYPE_WHILE: break;
    }
    while (conditional.condition->value())
      if (CUresult bad = bodies.front()(message)) return bad;
    return CUDA_SUCCESS;
  }
};

namespace {

/// What the graphs of a conditional node may have (CUDA Programming Guide, "Conditional Graph Nodes").
bool canBeInBody(CUgraphNodeType type) {
  switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_GRAPH:
    case CU_GRAPH_NODE_TYPE_EMPTY:
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: return true;
    default: return false;
  }
}

}  // namespace

CUresult GraphExec::makeStep(const GraphNode& node, std::vector<size_t> after, bool isBody,
                             std::shared_ptr<const Step>& made) {
  if (isBody && !canBeInBody(node.task.type))
    return remember(CUDA_ERROR_INVALID_VALUE,
                    "a conditional node's graph has a node of a type that it cannot have: only kernels, copies, fills, "
                    "child graphs, conditional and empty nodes are allowed there");
  auto step = std::make_shared<Step>(Step{node.number, node.task, std::move(after), nullptr, {}});
  if (auto* child = std::get_if<std::shared_ptr<const Embedded>>(&node.task.parameters)) {
    if (CUresult bad = make(*(*child)->graph, 0, isBody, step->child)) return bad;
    step->task.parameters = std::monostate{};  // the program's graph may end
  }
  if (auto* found = std::get_if<std::shared_ptr<const Conditional>>(&node.task.parameters)) {
    const Conditional& conditional = **found;
    for (const auto& body : conditional.bodies)
      if (CUresult bad = make(*body->graph, 0, true, step->bodies.emplace_back())) return bad;
    step->task.parameters =
        std::make_shared<const Conditional>(Conditional{conditional.type, conditional.condition, {}, {}});
  }
  made = std::move(step);
  return CUDA_SUCCESS;
}

CUresult GraphExec::make(Graph& graph, uint64_t flags, bool isBody, std::shared_ptr<GraphExec>& made) {
  std::vector<GraphNode*> order = graph.inOrder();
  if (order.size() != graph.nodes().size()) return remember(CUDA_ERROR_INVALID_VALUE, "the graph has a cycle");
  auto executable = std::make_shared<GraphExec>();
  executable->flags_ = flags;
  executable->objects_ = graph.objects;
  std::unordered_map<const GraphNode*, size_t> position;
  for (const GraphNode* node : order) {
    position[node] = executable->steps_.size();
    std::vector<size_t> after;
    for (const GraphNode* before : node->after) after.push_back(position[before]);
    if (CUresult bad = makeStep(*node, std::move(after), isBody, executable->steps_.emplace_back())) return bad;
  }
  made = std::move(executable);
  return CUDA_SUCCESS;
}

CUresult GraphExec::instantiate(Graph& graph, uint64_t flags, std::shared_ptr<GraphExec>& executable) {
  if (!graph.conditions.empty())
    return remember(CUDA_ERROR_INVALID_VALUE,
                    "the graph has a condition (cuGraphConditionalHandleCreate) without a node");
  if (graph.hasMemoryNodes() && !graph.instance.expired())
    return remember(CUDA_ERROR_NOT_SUPPORTED,
                    "there is an instance of the graph already, and of one that allocates or frees memory there can be "
                    "but one");
  if (CUresult bad = make(graph, flags, false, executable)) return bad;
  graph.instance = executable;
  return CUDA_SUCCESS;
}

CUgraphExec GraphExec::handle(const std::shared_ptr<GraphExec>& executable) {
  return static_cast<CUgraphExec>(executables().add(executable));
}
std::shared_ptr<GraphExec> GraphExec::from(CUgraphExec handle) { return executables().find(handle); }
bool GraphExec::destroy(CUgraphExec handle) { return executables().remove(handle) != nullptr; }

void GraphExec::collect(Run& run, std::vector<Point>& waits, const std::vector<uint32_t>& before) {
  std::lock_guard lock(mutex_);
  run.objects.insert(run.objects.end(), objects_.begin(), objects_.end());
  // By step, the items that whatever depends on it comes behind: its own and its child's, or those before it if it is
  // disabled.
  std::vector<std::vector<uint32_t>> ends(run.isTold ? steps_.size() : 0);
  for (size_t i = 0; i < steps_.size(); ++i) {
    const auto& step = steps_[i];
    const auto first = static_cast<uint32_t>(run.items.size());
    if (run.isTold) {
      ends[i] = before;
      for (const size_t k : step->after) ends[i].insert(ends[i].end(), ends[k].begin(), ends[k].end());
    }
    if (!step->enabled) continue;
    Run::Item item{step, nullptr, std::vector<Run>(step->bodies.size()), {}};
    if (run.isTold) item.after = std::exchange(ends[i], {first});
    for (size_t k = 0; k < step->bodies.size(); ++k) step->bodies[k]->collect(item.bodies[k], waits);
    const auto* event = std::get_if<std::shared_ptr<Event>>(&step->task.parameters);
    if (event && step->task.type == CU_GRAPH_NODE_TYPE_EVENT_RECORD) item.record = std::make_shared<Event::Record>();
    if (event && step->task.type == CU_GRAPH_NODE_TYPE_WAIT_EVENT)
      if (Point point = (*event)->point(); point.stream) waits.push_back(std::move(point));
    run.items.push_back(std::move(item));
    if (step->child) step->child->collect(run, waits, run.isTold ? ends[i] : before);
    if (run.isTold)
      for (uint32_t k = first + 1; k < run.items.size(); ++k) ends[i].push_back(k);
  }
}

/// The default streams of the other contexts that a graph uses which is launched on a default stream. CUDA does not
/// order it with them, but programs count on a GPU's speed: each kernel there has long ended when the next call comes.
/// Here it may not even have begun. Listeners, who look for what is not ordered, hear of no more than CUDA has.
std::vector<std::shared_ptr<Stream>> GraphExec::otherDefaults(const Run& run, const std::shared_ptr<Stream>& stream) {
  std::vector<std::shared_ptr<Stream>> others;
  if (devices().size() < 2 || stream != stream->group().legacy() || machine::hasListeners()) return others;
  std::set<Context*> contexts;
  run.addContexts(contexts);
  for (Context* context : contexts)
    if (const auto& legacy = context->group.legacy(); legacy != stream) others.push_back(legacy);
  return others;
}

GraphMemoryOfLaunch GraphExec::Run::memory() const {
  GraphMemoryOfLaunch all;
  for (const Item& item : items) {
    if (const auto* taken = std::get_if<std::shared_ptr<GraphMemory>>(&item.step->task.parameters))
      all.allocated.push_back((*taken)->address);
    if (const auto* freed = std::get_if<CUdeviceptr>(&item.step->task.parameters)) all.freed.push_back(*freed);
  }
  return all;
}

void GraphExec::backMemory() {
  Run run;
  std::vector<Point> waits;
  collect(run, waits);
  backGraphMemory(run.memory());
}

CUresult GraphExec::launch(const std::shared_ptr<Stream>& stream) {
  auto run = std::make_shared<Run>();
  run->isTold = machine::areAccessesWanted();
  Operation operation;
  collect(*run, operation.after);
  const bool isAutomatic = flags_ & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
  if (CUresult bad = claimGraphMemory(run->memory(), isAutomatic)) return bad;
  operation.run = [run](std::string& message) { return run->launch(message); };
  operation.what.kind = machine::StreamEvent::Kind::Graph;
  std::lock_guard lock(mutex_);
  if (last_.stream) operation.after.push_back(last_);
  std::erase_if(operation.after, [&](const Point& point) { return point.stream == stream; });
  const auto others = otherDefaults(*run, stream);
  for (const auto& other : others) operation.after.push_back(other->submitWait());
  last_ = stream->submit(std::move(operation));
  for (const auto& other : others) other->submitWait(last_);
  for (const Run::Item& item : run->items)
    if (item.record) std::get<std::shared_ptr<Event>>(item.step->task.parameters)->recordedAt(last_, item.record);
  return CUDA_SUCCESS;
}

GraphExec::Steps* GraphExec::stepsWith(uint64_t number, size_t* index) {
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (steps_[i]->number == number) {
      *index = i;
      return &steps_;
    }
    if (!steps_[i]->child) continue;
    if (Steps* found = steps_[i]->child->stepsWith(number, index)) return found;
  }
  return nullptr;
}

bool GraphExec::replace(const GraphNode& node, const NodeTask& task) {
  GraphNode changed{node.graph, node.number, task, {}};
  std::shared_ptr<const Step> step;  // in the end the old one, which ends when the lock is gone
  std::lock_guard lock(mutex_);
  size_t index = 0;
  Steps* steps = stepsWith(node.number, &index);
  if (!steps || (*steps)[index]->task.type != task.type) return false;
  if (makeStep(changed, (*steps)[index]->after, false, step)) return false;
  std::swap((*steps)[index], step);
  return true;
}

CUgraphExecUpdateResult GraphExec::update(Graph& graph, GraphNode** culprit) {
  std::shared_ptr<GraphExec> fresh;
  if (make(graph, flags_, false, fresh)) return CU_GRAPH_EXEC_UPDATE_ERROR;
  std::vector<GraphNode*> order = graph.inOrder();
  std::lock_guard lock(mutex_);
  if (fresh->steps_.size() != steps_.size()) return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
  for (size_t i = 0; i < steps_.size(); ++i) {
    *culprit = order[i];
    if (fresh->steps_[i]->task.type != steps_[i]->task.type) return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
    if (fresh->steps_[i]->after != steps_[i]->after) return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
  }
  *culprit = nullptr;
  // A step keeps the number of the node that it was made from: later calls name that node.
  for (size_t i = 0; i < steps_.size(); ++i) {
    auto step = std::make_shared<Step>(*fresh->steps_[i]);
    step->number = steps_[i]->number;
    step->enabled = steps_[i]->enabled;
    fresh->steps_[i] = std::exchange(steps_[i], std::move(step));
  }
  std::swap(objects_, fresh->objects_);  // the old ones end with `fresh`, when the lock is gone
  return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

bool GraphExec::setEnabled(const GraphNode& node, bool enabled) {
  std::lock_guard lock(mutex_);
  size_t index = 0;
  Steps* steps = stepsWith(node.number, &index);
  if (!steps) return false;
  auto step = std::make_shared<Step>(*(*steps)[index]);
  step->enabled = enabled;
  (*steps)[index] = std::move(step);
  return true;
}

bool GraphExec::enabled(const GraphNode& node, bool* answer) {
  std::lock_guard lock(mutex_);
  size_t index = 0;
  Steps* steps = stepsWith(node.number, &index);
  if (steps) *answer = (*steps)[index]->enabled;
  return steps != nullptr;
}

}  // namespace ordito::driver
