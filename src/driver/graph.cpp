// See graph.hpp.
#include "driver/graph.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

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

struct Conditions {
  std::mutex mutex;
  std::map<CUdeviceptr, std::weak_ptr<Condition>> live;
};
Conditions& conditions() {
  static auto* all = new Conditions;
  return *all;
}

}  // namespace

Condition::Condition(Device& device, CUdeviceptr place, unsigned initial, bool resets)
    : address(place), device_(device), initial_(initial), resets_(resets) {
  *reinterpret_cast<unsigned*>(address) = initial;
}

Condition::~Condition() {
  std::lock_guard lock(conditions().mutex);
  conditions().live.erase(address);
  device_.memory.free(address);
}

std::shared_ptr<Condition> Condition::make(Device& device, unsigned initial, bool resets) {
  auto address = device.memory.allocate(sizeof(unsigned));
  if (!address) return nullptr;
  auto condition = std::make_shared<Condition>(device, *address, initial, resets);
  std::lock_guard lock(conditions().mutex);
  conditions().live[*address] = condition;
  return condition;
}

std::shared_ptr<Condition> Condition::from(CUdeviceptr address) {
  std::lock_guard lock(conditions().mutex);
  const auto found = conditions().live.find(address);
  return found == conditions().live.end() ? nullptr : found->second.lock();
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
bool Graph::destroy(CUgraph handle) { return graphs().remove(handle) != nullptr; }

Conditional::~Conditional() {
  for (const CUgraph handle : handles) Graph::destroy(handle);
}

GraphNode* Graph::node(CUgraphNode handle) {
  auto* node = reinterpret_cast<GraphNode*>(handle);
  std::lock_guard lock(allNodes().mutex);
  return allNodes().live.contains(node) ? node : nullptr;
}

GraphNode* Graph::add(NodeTask task, std::vector<GraphNode*> after) {
  static std::atomic<uint64_t> next{1};
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
    copy->nodes_.push_back(std::make_unique<GraphNode>(GraphNode{*copy, node->number, node->task, {}}));
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

std::shared_ptr<const GraphExec::Step> GraphExec::makeStep(const GraphNode& node, std::vector<size_t> after) {
  auto step = std::make_shared<Step>(Step{node.number, node.task, std::move(after), nullptr, {}});
  if (auto* child = std::get_if<std::shared_ptr<Graph>>(&node.task.parameters)) {
    step->child = instantiate(**child, 0);
    if (!step->child) return nullptr;
  }
  if (auto* conditional = std::get_if<std::shared_ptr<const Conditional>>(&node.task.parameters))
    for (const auto& body : (*conditional)->bodies) {
      step->bodies.push_back(instantiate(*body, 0));
      if (!step->bodies.back()) return nullptr;
    }
  return step;
}

std::shared_ptr<GraphExec> GraphExec::instantiate(const Graph& graph, uint64_t flags) {
  std::vector<GraphNode*> order = graph.inOrder();
  if (order.size() != graph.nodes().size()) return nullptr;
  auto executable = std::make_shared<GraphExec>();
  executable->flags_ = flags;
  executable->objects_ = graph.objects;
  std::unordered_map<const GraphNode*, size_t> position;
  for (const GraphNode* node : order) {
    position[node] = executable->steps_.size();
    std::vector<size_t> after;
    for (const GraphNode* before : node->after) after.push_back(position[before]);
    auto step = makeStep(*node, std::move(after));
    if (!step) return nullptr;
    executable->steps_.push_back(std::move(step));
  }
  return executable;
}

CUgraphExec GraphExec::handle(const std::shared_ptr<GraphExec>& executable) {
  return static_cast<CUgraphExec>(executables().add(executable));
}
std::shared_ptr<GraphExec> GraphExec::from(CUgraphExec handle) { return executables().find(handle); }
bool GraphExec::destroy(CUgraphExec handle) { return executables().remove(handle) != nullptr; }

void GraphExec::collect(Run& run, std::vector<Point>& waits, const std::vector<uint32_t>& before) {
  std::lock_guard lock(mutex_);
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

CUresult GraphExec::launch(const std::shared_ptr<Stream>& stream) {
  auto run = std::make_shared<Run>();
  run->isTold = machine::areAccessesWanted();
  Operation operation;
  collect(*run, operation.after);
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

Work GraphExec::asWork() {
  auto run = std::make_shared<Run>();
  std::vector<Point> waits;
  collect(*run, waits);
  return [run](std::string& message) { return run->launch(message); };
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
  std::lock_guard lock(mutex_);
  size_t index = 0;
  Steps* steps = stepsWith(node.number, &index);
  if (!steps || (*steps)[index]->task.type != task.type) return false;
  auto step = makeStep(changed, (*steps)[index]->after);
  if (!step) return false;
  (*steps)[index] = std::move(step);
  return true;
}

CUgraphExecUpdateResult GraphExec::update(const Graph& graph, GraphNode** culprit) {
  auto fresh = instantiate(graph, flags_);
  if (!fresh) return CU_GRAPH_EXEC_UPDATE_ERROR;
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
    steps_[i] = std::move(step);
  }
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
