// Attributes as they are said and asked for, and what each kind of descriptor makes of them.
#include "libs/cudnn/graph/descriptor.hpp"

#include <algorithm>

#include "libs/cudnn/graph/kinds.hpp"
#include "libs/cudnn/graph/plans.hpp"

namespace ordito::libs::cudnn::graph {

size_t sizeOf(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_CHAR: return 1;
    case CUDNN_TYPE_BOOLEAN: return sizeof(bool);
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_DOUBLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR: return 8;
    case CUDNN_TYPE_FRACTION: return sizeof(cudnnFraction_t);
    default: return type >= CUDNN_TYPE_HANDLE && type <= CUDNN_TYPE_RNG_DISTRIBUTION ? 4 : 0;
  }
}

namespace {

using Type = cudnnBackendDescriptorType_t;

/// What a descriptor may be told, by the numbers of the attributes, and what makes an operation of it.
struct Kind {
  Type type;
  int first, last;
  cudnnStatus_t (*make)(const Descriptor&, Made&);
};
constexpr Kind kKinds[] = {
    {CUDNN_BACKEND_POINTWISE_DESCRIPTOR, 0, 99, nullptr},
    {CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, 100, 199, nullptr},
    {CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, 200, 299, nullptr},
    {CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, 300, 399, nullptr},
    {CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, 400, 499, nullptr},
    {CUDNN_BACKEND_INTERMEDIATE_INFO_DESCRIPTOR, 500, 599, nullptr},
    {CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, 600, 699, nullptr},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, 700, 705, makeConvolution},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR, 706, 711, makeConvolutionBackwardData},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR, 712, 717, makeConvolutionBackwardFilter},
    {CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, 750, 769, makePointwise},
    {CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR, 770, 779, makeGenStats},
    {CUDNN_BACKEND_OPERATION_BN_FINALIZE_STATISTICS_DESCRIPTOR, 780, 799, makeBnFinalize},
    {CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, 800, 899, nullptr},
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR, 900, 999, nullptr},
    {CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, 1000, 1099, nullptr},
    {CUDNN_BACKEND_LAYOUT_INFO_DESCRIPTOR, 1100, 1199, nullptr},
    {CUDNN_BACKEND_KNOB_INFO_DESCRIPTOR, 1200, 1299, nullptr},
    {CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1300, 1399, nullptr},
    {CUDNN_BACKEND_MATMUL_DESCRIPTOR, 1500, 1519, nullptr},
    {CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR, 1520, 1599, makeMatmul},
    {CUDNN_BACKEND_REDUCTION_DESCRIPTOR, 1600, 1609, nullptr},
    {CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR, 1610, 1619, makeReduction},
    {CUDNN_BACKEND_OPERATION_BN_BWD_WEIGHTS_DESCRIPTOR, 1620, 1699, makeBnBackwardWeights},
    {CUDNN_BACKEND_RESAMPLE_DESCRIPTOR, 1700, 1709, nullptr},
    {CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR, 1710, 1719, makeResample},
    {CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR, 1720, 1729, makeResampleBackward},
    {CUDNN_BACKEND_OPERATION_CONCAT_DESCRIPTOR, 1800, 1899, makeConcat},
    {CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR, 2000, 2099, makeNormForward},
    {CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR, 2100, 2199, makeNormBackward},
    {CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR, 2200, 2249, makeReshape},
    {CUDNN_BACKEND_RNG_DESCRIPTOR, 2300, 2309, nullptr},
    {CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR, 2310, 2399, makeRandom},
    {CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR, 2800, 2849, makeAttention},
    {CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR, 2850, 2899, makeAttentionBackward},
};

const Kind* kindOf(Type type) {
  const auto* found =
      std::find_if(std::begin(kKinds), std::end(kKinds), [&](const Kind& kind) { return kind.type == type; });
  return found == std::end(kKinds) ? nullptr : found;
}

cudnnStatus_t wrongType() { return status(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE, 3); }

/// Of a tensor's attributes.
bool isTypeOf(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type) {
  switch (name) {
    case CUDNN_ATTR_TENSOR_DATA_TYPE: return type == CUDNN_TYPE_DATA_TYPE;
    case CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT:
    case CUDNN_ATTR_TENSOR_DIMENSIONS:
    case CUDNN_ATTR_TENSOR_STRIDES:
    case CUDNN_ATTR_TENSOR_UNIQUE_ID: return type == CUDNN_TYPE_INT64;
    case CUDNN_ATTR_TENSOR_IS_VIRTUAL:
    case CUDNN_ATTR_TENSOR_IS_BY_VALUE: return type == CUDNN_TYPE_BOOLEAN;
    default: return true;
  }
}

/// No memory has more elements, and sums of some such numbers are numbers still.
constexpr int64_t kMostElements = int64_t{1} << 48;

cudnnStatus_t finalizeTensor(const Descriptor& said) {
  const auto size = said.all<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS),
             step = said.all<int64_t>(CUDNN_ATTR_TENSOR_STRIDES);
  CUDNN_CHECK(said.has(CUDNN_ATTR_TENSOR_DATA_TYPE) && said.has(CUDNN_ATTR_TENSOR_UNIQUE_ID));
  CUDNN_CHECK(!size.empty() && size.size() == step.size() && size.size() <= CUDNN_DIM_MAX);
  int64_t count = 1, extent = 1;
  for (size_t i = 0; i < size.size(); ++i) {
    CUDNN_CHECK(size[i] > 0 && size[i] <= kMostElements / count && step[i] >= 0);
    count *= size[i];
    CUDNN_CHECK(size[i] == 1 || step[i] <= (kMostElements - extent) / (size[i] - 1));
    extent += (size[i] - 1) * step[i];
  }
  if (said.one<int64_t>(CUDNN_ATTR_TENSOR_VECTOR_COUNT, 1) != 1) return refuse("a tensor of vectors");
  if (said.descriptor(CUDNN_ATTR_TENSOR_RAGGED_OFFSET_DESC)) return refuse("a ragged tensor");
  switch (said.one(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_FLOAT)) {
    case CUDNN_DATA_INT8x4:
    case CUDNN_DATA_UINT8x4:
    case CUDNN_DATA_INT8x32: return refuse("a tensor of vectors");
    default: return CUDNN_STATUS_SUCCESS;
  }
}

cudnnStatus_t finalizeGraph(Descriptor& said) {
  std::vector<Made> operations;
  for (const Said& one : said.descriptors(CUDNN_ATTR_OPERATIONGRAPH_OPS)) {
    CUDNN_CHECK(one->operation);
    operations.push_back(one->operation);
  }
  CUDNN_CHECK(!operations.empty());
  said.graph = Graph::make(std::move(operations));
  CUDNN_CHECK(said.graph);
  said.tell(CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT, int64_t{1});
  return CUDNN_STATUS_SUCCESS;
}

/// The one engine that there is: number 0, without knobs and notes.
cudnnStatus_t finalizeEngine(Descriptor& said) {
  const Said of = said.descriptor(CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
  CUDNN_CHECK(of && of->graph);
  if (said.one<int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, 0) != 0) return notSupported();
  said.graph = of->graph;
  said.tellNone(CUDNN_ATTR_ENGINE_KNOB_INFO, CUDNN_TYPE_BACKEND_DESCRIPTOR);
  said.tellNone(CUDNN_ATTR_ENGINE_LAYOUT_INFO, CUDNN_TYPE_BACKEND_DESCRIPTOR);
  said.tellNone(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE);
  said.tellNone(CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t finalizeEngineConfig(Descriptor& said) {
  const Said engine = said.descriptor(CUDNN_ATTR_ENGINECFG_ENGINE);
  CUDNN_CHECK(engine && engine->graph);
  said.graph = engine->graph;
  said.tellNone(CUDNN_ATTR_ENGINECFG_INTERMEDIATE_INFO, CUDNN_TYPE_BACKEND_DESCRIPTOR);
  said.tell(CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE, int64_t{0});
  return CUDNN_STATUS_SUCCESS;
}

/// The configuration of the one engine for a graph.
cudnnStatus_t configure(const Said& graph, Said& made) {
  const auto engine = std::make_shared<Descriptor>(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  engine->tell(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph);
  engine->tell(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, int64_t{0});
  CUDNN_TRY(engine->finalize());
  const auto config = std::make_shared<Descriptor>(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  config->tell(CUDNN_ATTR_ENGINECFG_ENGINE, engine);
  CUDNN_TRY(config->finalize());
  made = config;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t finalizeHeuristic(Descriptor& said) {
  const Said of = said.descriptor(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
  CUDNN_CHECK(of && of->graph && said.has(CUDNN_ATTR_ENGINEHEUR_MODE));
  Said config;
  CUDNN_TRY(configure(of, config));
  said.tell(CUDNN_ATTR_ENGINEHEUR_RESULTS, config);
  return CUDNN_STATUS_SUCCESS;
}

/// A plan is made of a configuration or of the text that another plan told.
cudnnStatus_t finalizePlan(Descriptor& said) {
  Said config = said.descriptor(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
  if (!config && said.has(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION)) {
    const auto text = said.all<char>(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION);
    const Said graph = fromJson({text.begin(), text.end()});
    if (!graph) return refuse("a plan that another library wrote");
    CUDNN_TRY(configure(graph, config));
    said.tell(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
  }
  if (!config) return notFinal();
  CUDNN_CHECK(config->graph);
  said.graph = config->graph;
  const Said engine = config->descriptor(CUDNN_ATTR_ENGINECFG_ENGINE);
  said.tell(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION,
            toJson(engine->descriptor(CUDNN_ATTR_ENGINE_OPERATION_GRAPH)));
  said.tell(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, int64_t{0});
  said.tellNone(CUDNN_ATTR_EXECUTION_PLAN_COMPUTED_INTERMEDIATE_UIDS, CUDNN_TYPE_INT64);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t finalizePack(const Descriptor& said) {
  const auto uids = said.all<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  CUDNN_CHECK(uids.size() == said.all<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS).size());
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

bool isKnown(Type type) { return kindOf(type) != nullptr; }

cudnnStatus_t Descriptor::finalize() {
  const Kind* kind = kindOf(type_);
  if (!kind) return notSupported();
  if (isFinal_) return badParameter();
  if (kind->make) CUDNN_TRY(kind->make(*this, operation));
  switch (type_) {
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR: CUDNN_TRY(finalizeTensor(*this)); break;
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR: CUDNN_TRY(finalizeGraph(*this)); break;
    case CUDNN_BACKEND_ENGINE_DESCRIPTOR: CUDNN_TRY(finalizeEngine(*this)); break;
    case CUDNN_BACKEND_ENGINECFG_DESCRIPTOR: CUDNN_TRY(finalizeEngineConfig(*this)); break;
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR: CUDNN_TRY(finalizeHeuristic(*this)); break;
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR: CUDNN_TRY(finalizePlan(*this)); break;
    case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR: CUDNN_TRY(finalizePack(*this)); break;
    default: break;
  }
  isFinal_ = true;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t Descriptor::set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count,
                              const void* values) {
  const Kind* kind = kindOf(type_);
  CUDNN_CHECK(kind && name >= kind->first && name <= kind->last && sizeOf(type) > 0 && count >= 0 && !isFinal_);
  CUDNN_CHECK(values || count == 0);
  if (!isTypeOf(name, type)) return wrongType();
  Values said{type, count, {}, {}};
  if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    for (int64_t i = 0; i < count; ++i) {
      const auto* place = static_cast<const Place* const*>(values)[i];
      if (!place || !place->descriptor->isFinal()) return notFinal();
      said.descriptors.push_back(place->descriptor);
    }
  } else {
    const auto* bytes = static_cast<const std::byte*>(values);
    said.bytes.assign(bytes, bytes + static_cast<size_t>(count) * sizeOf(type));
    if (type == CUDNN_TYPE_BOOLEAN)
      for (std::byte& byte : said.bytes) byte = std::byte{byte != std::byte{0}};
  }
  values_[name] = std::move(said);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t Descriptor::get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t wanted,
                              int64_t* count, void* values) const {
  const Kind* kind = kindOf(type_);
  CUDNN_CHECK(kind && name >= kind->first && name <= kind->last && wanted >= 0);
  if (!isFinal_) return notInitialized();
  const auto found = values_.find(name);
  if (found == values_.end()) {  // nobody said it
    if (count) *count = 0;
    return CUDNN_STATUS_SUCCESS;
  }
  const Values& said = found->second;
  if (said.type != type) return wrongType();
  if (count) *count = said.count;
  if (!values) return CUDNN_STATUS_SUCCESS;
  const auto known = static_cast<size_t>(std::min(wanted, said.count));
  if (type != CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    if (known > 0) std::memcpy(values, said.bytes.data(), known * sizeOf(type));
    return CUDNN_STATUS_SUCCESS;
  }
  for (size_t i = 0; i < known; ++i) {
    auto* place = static_cast<Place**>(values)[i];
    CUDNN_CHECK(place && place->descriptor->type() == said.descriptors[i]->type());
    *place->descriptor = *said.descriptors[i];
  }
  return CUDNN_STATUS_SUCCESS;
}

double Descriptor::number(cudnnBackendAttributeName_t name, double otherwise) const {
  const auto found = values_.find(name);
  if (found == values_.end() || found->second.count == 0) return otherwise;
  return found->second.type == CUDNN_TYPE_FLOAT ? static_cast<double>(one<float>(name, 0))
                                                : one<double>(name, otherwise);
}

std::vector<Said> Descriptor::descriptors(cudnnBackendAttributeName_t name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::vector<Said>() : found->second.descriptors;
}
Said Descriptor::descriptor(cudnnBackendAttributeName_t name) const {
  const std::vector<Said> all = descriptors(name);
  return all.size() == 1 ? all[0] : nullptr;
}

void Descriptor::tell(cudnnBackendAttributeName_t name, int64_t value) {
  Values told{CUDNN_TYPE_INT64, 1, std::vector<std::byte>(sizeof value), {}};
  std::memcpy(told.bytes.data(), &value, sizeof value);
  values_[name] = std::move(told);
}
void Descriptor::tellNone(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type) {
  values_.try_emplace(name, Values{type, 0, {}, {}});
}
void Descriptor::tell(cudnnBackendAttributeName_t name, const std::string& text) {
  Values told{CUDNN_TYPE_CHAR, static_cast<int64_t>(text.size()), std::vector<std::byte>(text.size()), {}};
  std::memcpy(told.bytes.data(), text.data(), text.size());
  values_[name] = std::move(told);
}
void Descriptor::tell(cudnnBackendAttributeName_t name, Said descriptor) {
  values_[name] = {CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, {}, {std::move(descriptor)}};
}

Tensor tensorOf(const Descriptor& said) {
  Tensor tensor;
  tensor.uid = said.one<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID, 0);
  tensor.type = said.one(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_FLOAT);
  tensor.size = said.all<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
  tensor.step = said.all<int64_t>(CUDNN_ATTR_TENSOR_STRIDES);
  tensor.isVirtual = said.one(CUDNN_ATTR_TENSOR_IS_VIRTUAL, false);
  tensor.isByValue = said.one(CUDNN_ATTR_TENSOR_IS_BY_VALUE, false);
  return tensor;
}

std::optional<Tensor> Maker::take(cudnnBackendAttributeName_t name, std::vector<Tensor>& list) const {
  const Said tensor = said_.descriptor(name);
  if (!tensor || tensor->type() != CUDNN_BACKEND_TENSOR_DESCRIPTOR) return std::nullopt;
  list.push_back(tensorOf(*tensor));
  return list.back();
}

bool Maker::take(Slots slots, std::vector<Tensor>& list) const {
  for (const Slot& slot : slots) {
    std::optional<Tensor> tensor = take(slot.name, list);
    if (slot.optional) {
      *slot.optional = std::move(tensor);
    } else if (tensor) {
      *slot.needed = std::move(*tensor);
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace ordito::libs::cudnn::graph
