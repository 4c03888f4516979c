// What the tests of graphs share: descriptors that are told attributes in a line, tensors with random numbers, and
// graphs that run at once.
#pragma once

#include <map>
#include <type_traits>

#include "libs/cudnn/test_tensors.hpp"

namespace ordito::libs::cudnn::graph_test {

using Sizes = std::vector<int64_t>;

/// A descriptor; `set` is told what the attribute is by the type of the value.
class Said {
 public:
  explicit Said(cudnnBackendDescriptorType_t type) {
    EXPECT_EQ(cudnnBackendCreateDescriptor(type, &descriptor), kGood);
  }
  ~Said() { EXPECT_EQ(cudnnBackendDestroyDescriptor(descriptor), kGood); }
  Said(const Said&) = delete;
  Said& operator=(const Said&) = delete;

  Said& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count, const void* values) {
    EXPECT_EQ(cudnnBackendSetAttribute(descriptor, name, type, count, values), kGood) << name;
    return *this;
  }
  Said& set(cudnnBackendAttributeName_t name, const Sizes& values) {
    return set(name, CUDNN_TYPE_INT64, static_cast<int64_t>(values.size()), values.data());
  }
  template <class T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  Said& set(cudnnBackendAttributeName_t name, T value) {
    return set(name, typeOf(value), 1, &value);
  }
  Said& set(cudnnBackendAttributeName_t name, const Said& other) {
    return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &other.descriptor);
  }
  Said& finalize(cudnnStatus_t wanted = kGood) {
    EXPECT_EQ(cudnnBackendFinalize(descriptor), wanted);
    return *this;
  }

  cudnnBackendDescriptor_t descriptor = nullptr;

 private:
  using Type = cudnnBackendAttributeType_t;
  static Type typeOf(int64_t) { return CUDNN_TYPE_INT64; }
  static Type typeOf(double) { return CUDNN_TYPE_DOUBLE; }
  static Type typeOf(bool) { return CUDNN_TYPE_BOOLEAN; }
  static Type typeOf(cudnnDataType_t) { return CUDNN_TYPE_DATA_TYPE; }
  static Type typeOf(cudnnPointwiseMode_t) { return CUDNN_TYPE_POINTWISE_MODE; }
  static Type typeOf(cudnnConvolutionMode_t) { return CUDNN_TYPE_CONVOLUTION_MODE; }
  static Type typeOf(cudnnReduceTensorOp_t) { return CUDNN_TYPE_REDUCTION_OPERATOR_TYPE; }
  static Type typeOf(cudnnBackendNormMode_t) { return CUDNN_TYPE_NORM_MODE; }
  static Type typeOf(cudnnBackendNormFwdPhase_t) { return CUDNN_TYPE_NORM_FWD_PHASE; }
  static Type typeOf(cudnnResampleMode_t) { return CUDNN_TYPE_RESAMPLE_MODE; }
  static Type typeOf(cudnnPaddingMode_t) { return CUDNN_TYPE_PADDING_MODE; }
};

/// A tensor of doubles in device memory, which is this process's, packed or with other steps.
class GraphTensor {
 public:
  explicit GraphTensor(const Sizes& sizes, bool isVirtual = false, Sizes steps = {})
      : size(sizes), step(std::move(steps)), isVirtual(isVirtual), said_(CUDNN_BACKEND_TENSOR_DESCRIPTOR) {
    static int64_t next = 1;
    uid = next++;
    if (step.empty()) {
      step.resize(size.size());
      int64_t one = 1;
      for (size_t i = size.size(); i-- > 0; one *= size[i]) step[i] = one;
    }
    int64_t last = 0;
    for (size_t i = 0; i < size.size(); ++i) last += (size[i] - 1) * step[i];
    if (!isVirtual) {
      CUdeviceptr pointer = 0;
      EXPECT_TRUE(hasContext() && cuMemAlloc(&pointer, static_cast<size_t>(last + 1) * sizeof(double)) == CUDA_SUCCESS);
      data = reinterpret_cast<double*>(pointer);
      for (int64_t i = 0; i <= last; ++i) data[i] = randomValue();
    }
    said_.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_DOUBLE)
        .set(CUDNN_ATTR_TENSOR_DIMENSIONS, size)
        .set(CUDNN_ATTR_TENSOR_STRIDES, step)
        .set(CUDNN_ATTR_TENSOR_UNIQUE_ID, uid)
        .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, int64_t{8})
        .set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, isVirtual)
        .finalize();
  }
  ~GraphTensor() { cuMemFree(reinterpret_cast<CUdeviceptr>(data)); }
  GraphTensor(const GraphTensor&) = delete;
  GraphTensor& operator=(const GraphTensor&) = delete;

  operator const Said&() const { return said_; }
  int64_t count() const {
    int64_t all = 1;
    for (const int64_t n : size) all *= n;
    return all;
  }
  /// Indices of the element with this number, the last dimension fastest.
  Sizes indices(int64_t number) const {
    Sizes at(size.size());
    for (size_t i = size.size(); i-- > 0; number /= size[i]) at[i] = number % size[i];
    return at;
  }
  /// Where a size is 1 any index means the one element.
  double& at(const Sizes& indices) const {
    int64_t place = 0;
    for (size_t i = 0; i < size.size(); ++i) place += (size[i] == 1 ? 0 : indices[i]) * step[i];
    return data[place];
  }
  void expect(const std::function<double(const Sizes&)>& value) const {
    for (int64_t i = 0; i < count(); ++i) {
      const Sizes where = indices(i);
      ASSERT_NEAR(at(where), value(where), 1e-10) << "element " << i;
    }
  }

  int64_t uid;
  Sizes size, step;
  bool isVirtual;
  double* data = nullptr;

 private:
  Said said_;
};

/// The plan for these operations.
inline void plan(const std::vector<const Said*>& operations, Said& result) {
  Said graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR), heuristic(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  Said config(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  std::vector<cudnnBackendDescriptor_t> list;
  for (const Said* one : operations) list.push_back(one->descriptor);
  const cudnnHandle_t own = handle();
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &own)
      .set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<int64_t>(list.size()), list.data())
      .finalize();
  const auto mode = CUDNN_HEUR_MODE_A;
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph)
      .set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode)
      .finalize();
  int64_t count = 0;
  ASSERT_EQ(cudnnBackendGetAttribute(heuristic.descriptor, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                     1, &count, &config.descriptor),
            kGood);
  ASSERT_EQ(count, 1);
  result.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &own)
      .set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config)
      .finalize();
}

inline void execute(const Said& planned, const std::vector<std::pair<int64_t, void*>>& memory) {
  Said pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  Sizes uids;
  std::vector<void*> pointers;
  for (const auto& [uid, pointer] : memory) uids.push_back(uid), pointers.push_back(pointer);
  void* none = nullptr;
  pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, uids)
      .set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, static_cast<int64_t>(pointers.size()),
           pointers.data())
      .set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &none)
      .finalize();
  ASSERT_EQ(cudnnBackendExecute(handle(), planned.descriptor, pack.descriptor), kGood);
}

/// Plans, executes and waits; a tensor that is virtual needs no memory.
inline void run(const std::vector<const Said*>& operations, const std::vector<const GraphTensor*>& tensors) {
  Said planned(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  plan(operations, planned);
  std::vector<std::pair<int64_t, void*>> memory;
  for (const GraphTensor* tensor : tensors)
    if (!tensor->isVirtual) memory.emplace_back(tensor->uid, tensor->data);
  execute(planned, memory);
  finish();
}

}  // namespace ordito::libs::cudnn::graph_test
