// Driver API: nodes of any type by one call, conditions, and the objects that graphs keep alive.
#include <algorithm>
#include <map>
#include <mutex>

#include "driver/api.hpp"
#include "driver/graph_parameters.hpp"

using namespace ordito::driver;

namespace {

/// The references that the program itself holds, and objects by handle.
struct Objects {
  std::mutex mutex;
  std::map<CUuserObject, UserObjects> held;
  std::map<CUuserObject, std::weak_ptr<UserObject>> all;

  std::shared_ptr<UserObject> find(CUuserObject handle) {
    const auto found = all.find(handle);
    return found == all.end() ? nullptr : found->second.lock();
  }
};

Objects& objects() {
  static auto* table = new Objects;
  return *table;
}

/// Takes `count` references from a list; none if there are fewer.
bool take(UserObjects& from, CUuserObject handle, unsigned count, UserObjects& taken) {
  const auto is = [&](const auto& object) { return reinterpret_cast<CUuserObject>(object.get()) == handle; };
  if (std::count_if(from.begin(), from.end(), is) < std::ptrdiff_t(count)) return false;
  for (unsigned k = 0; k < count; ++k) {
    const auto found = std::find_if(from.begin(), from.end(), is);
    taken.push_back(std::move(*found));
    from.erase(found);
  }
  return true;
}

}  // namespace

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle* handle, CUgraph graphHandle, CUcontext,
                                        unsigned int initial, unsigned int flags) {
  ORDITO_CONTEXT(context);
  auto graph = Graph::from(graphHandle);
  if (!handle || !graph || flags & ~unsigned{CU_GRAPH_COND_ASSIGN_DEFAULT}) return CUDA_ERROR_INVALID_VALUE;
  auto condition = Condition::make(context->device, initial, flags & CU_GRAPH_COND_ASSIGN_DEFAULT);
  if (!condition) return CUDA_ERROR_OUT_OF_MEMORY;
  *handle = condition->address;
  graph->root().conditions.push_back(std::move(condition));
  return CUDA_SUCCESS;
}

CUresult cuGraphAddNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                        CUgraphNodeParams* p) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return cuGraphAddKernelNode(node, graph, after, count, &p->kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return cuGraphAddMemcpyNode(node, graph, after, count, &p->memcpy.copyParams, p->memcpy.copyCtx);
    case CU_GRAPH_NODE_TYPE_MEMSET: return cuGraphAddMemsetNode(node, graph, after, count, &p->memset, nullptr);
    case CU_GRAPH_NODE_TYPE_HOST: return cuGraphAddHostNode(node, graph, after, count, &p->host);
    case CU_GRAPH_NODE_TYPE_GRAPH: return cuGraphAddChildGraphNode(node, graph, after, count, p->graph.graph);
    case CU_GRAPH_NODE_TYPE_EMPTY: return cuGraphAddEmptyNode(node, graph, after, count);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return cuGraphAddEventWaitNode(node, graph, after, count, p->eventWait.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return cuGraphAddEventRecordNode(node, graph, after, count, p->eventRecord.event);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: return cuGraphAddMemAllocNode(node, graph, after, count, &p->alloc);
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return cuGraphAddMemFreeNode(node, graph, after, count, p->free.dptr);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return addNode(node, graph, after, count, [&](Context&, NodeTask& task) {
        return conditionalTask(*Graph::from(graph), p->conditional, task);
      });
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: {
      const CUDA_BATCH_MEM_OP_NODE_PARAMS batch{p->memOp.ctx, p->memOp.count, p->memOp.paramArray, p->memOp.flags};
      return cuGraphAddBatchMemOpNode(node, graph, after, count, &batch);
    }
    default: return remember(CUDA_ERROR_NOT_SUPPORTED, "graph nodes of external semaphores are not supported");
  }
}

CUresult cuUserObjectCreate(CUuserObject* object, void* pointer, CUhostFn destroy, unsigned int references,
                            unsigned int flags) {
  constexpr unsigned kNoDestructorSync = 1;
  if (!object || !destroy || references == 0 || flags != kNoDestructorSync) return CUDA_ERROR_INVALID_VALUE;
  auto made = std::make_shared<UserObject>(pointer, destroy);
  *object = reinterpret_cast<CUuserObject>(made.get());
  const std::scoped_lock lock(objects().mutex);
  objects().all[*object] = made;
  objects().held[*object].assign(references, made);
  return CUDA_SUCCESS;
}

CUresult cuUserObjectRetain(CUuserObject object, unsigned int count) {
  const std::scoped_lock lock(objects().mutex);
  const auto found = objects().find(object);
  if (!found || count == 0) return CUDA_ERROR_INVALID_VALUE;
  auto& held = objects().held[object];
  held.insert(held.end(), count, found);
  return CUDA_SUCCESS;
}

// The program's function runs where the last reference goes, outside of the lock.
CUresult cuUserObjectRelease(CUuserObject object, unsigned int count) {
  UserObjects taken;  // outlives the lock
  const std::scoped_lock lock(objects().mutex);
  return count && take(objects().held[object], object, count, taken) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphRetainUserObject(CUgraph handle, CUuserObject object, unsigned int count, unsigned int flags) {
  constexpr unsigned kMove = 1;
  auto graph = Graph::from(handle);
  if (!graph || count == 0 || flags & ~kMove) return CUDA_ERROR_INVALID_VALUE;
  const std::scoped_lock lock(objects().mutex);
  const auto found = objects().find(object);
  if (!found) return CUDA_ERROR_INVALID_VALUE;
  if (flags & kMove)
    return take(objects().held[object], object, count, graph->objects) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  graph->objects.insert(graph->objects.end(), count, found);
  return CUDA_SUCCESS;
}

CUresult cuGraphReleaseUserObject(CUgraph handle, CUuserObject object, unsigned int count) {
  auto graph = Graph::from(handle);
  UserObjects taken;
  return graph && count && take(graph->objects, object, count, taken) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
