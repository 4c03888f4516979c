// cuDNN's graphs of operations (cudnnBackend*): a program describes tensors and operations, asks for an engine, of
// which there is one, and executes the plan with memory for the tensors. A call is a task in the handle's stream.
#include "libs/cudnn/graph/descriptor.hpp"
#include "libs/cudnn/graph/kinds.hpp"

using namespace ordito::libs;
using namespace ordito::libs::cudnn;
using namespace ordito::libs::cudnn::graph;

namespace {

Descriptor* of(cudnnBackendDescriptor_t descriptor) {
  return descriptor ? static_cast<Place*>(descriptor)->descriptor.get() : nullptr;
}

/// Memory of the tensors that are not virtual. Numbers of the host are copied, so they may change after the call.
struct Bindings {
  std::map<int64_t, void*> places;
  std::vector<std::shared_ptr<std::array<std::byte, 16>>> copies;

  cudnnStatus_t bind(const Graph& graph, const Descriptor& pack) {
    const auto uids = pack.all<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
    const auto pointers = pack.all<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
    for (size_t i = 0; i < uids.size(); ++i) places[uids[i]] = pointers[i];
    for (const graph::Tensor& tensor : graph.outside()) {
      const auto found = places.find(tensor.uid);
      if (found == places.end() || !found->second) return noPointer();
      if (!tensor.isByValue) continue;
      CUDNN_CHECK(tensor.count() == 1);
      copies.push_back(std::make_shared<std::array<std::byte, 16>>());
      std::memcpy(copies.back()->data(), found->second, cudnn::sizeOf(tensor.type));
      found->second = copies.back()->data();
    }
    return CUDNN_STATUS_SUCCESS;
  }
};

}  // namespace

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t* descriptor) {
  CUDNN_CHECK(descriptor);
  *descriptor = nullptr;
  constexpr auto kLast = CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR;
  if (type < CUDNN_BACKEND_POINTWISE_DESCRIPTOR || type > kLast)  // as a GPU's library has it
    return status(CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED, 2);
  if (!isKnown(type)) return refuse("a descriptor of this type in a graph");
  *descriptor = new Place{std::make_shared<Descriptor>(type)};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  if (!descriptor) return noPointer();
  delete static_cast<Place*>(descriptor);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendInitialize(cudnnBackendDescriptor_t descriptor) {
  CUDNN_CHECK(descriptor);
  auto* place = static_cast<Place*>(descriptor);
  place->descriptor = std::make_shared<Descriptor>(place->descriptor->type());
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  if (!descriptor) return noPointer();
  return of(descriptor)->finalize();
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t count, const void* values) {
  CUDNN_CHECK(descriptor);
  return of(descriptor)->set(name, type, count, values);
}

cudnnStatus_t cudnnBackendGetAttribute(const cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t wanted, int64_t* count, void* values) {
  CUDNN_CHECK(descriptor);
  return of(descriptor)->get(name, type, wanted, count, values);
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t pack) {
  CUDNN_CHECK(handle && plan && pack);
  const Descriptor &planned = *of(plan), &packed = *of(pack);
  if (planned.type() != CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR || !planned.isFinal()) return notFinal();
  if (packed.type() != CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR || !packed.isFinal()) return notFinal();
  Bindings bindings;
  CUDNN_TRY(bindings.bind(*planned.graph, packed));
  return submit(
      handle, "cudnnBackendExecute",
      [graph = planned.graph, bindings = std::move(bindings)] { graph->run(bindings.places); }, planned.graph->work());
}
