// cuDNN's graphs of operations: statuses of bad descriptors, and results of graphs whose numbers every precision holds
// (cases.hpp). Tensors have their channels last and sizes that are multiples of what fast kernels want.
#include <cudnn.h>

#include <memory>

#include "cases.hpp"

namespace {

using Sizes = std::vector<int64_t>;

struct Said {
  explicit Said(cudnnBackendDescriptorType_t type) { made = cudnnBackendCreateDescriptor(type, &descriptor); }
  ~Said() { cudnnBackendDestroyDescriptor(descriptor); }
  Said(const Said&) = delete;
  Said& operator=(const Said&) = delete;

  Said& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count, const void* values) {
    const cudnnStatus_t told = cudnnBackendSetAttribute(descriptor, name, type, count, values);
    if (status == CUDNN_STATUS_SUCCESS) status = told;
    return *this;
  }
  template <class T>
  Said& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, T value) {
    return set(name, type, 1, &value);
  }
  Said& set(cudnnBackendAttributeName_t name, const Sizes& values) {
    return set(name, CUDNN_TYPE_INT64, static_cast<int64_t>(values.size()), values.data());
  }
  Said& set(cudnnBackendAttributeName_t name, const Said& other) {
    return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &other.descriptor);
  }
  Said& finalize() {
    const cudnnStatus_t told = cudnnBackendFinalize(descriptor);
    if (status == CUDNN_STATUS_SUCCESS) status = told;
    return *this;
  }

  cudnnBackendDescriptor_t descriptor = nullptr;
  cudnnStatus_t made = CUDNN_STATUS_SUCCESS, status = CUDNN_STATUS_SUCCESS;
};

/// With channels last if it has more than three dimensions.
struct Tensor {
  explicit Tensor(const Sizes& size, bool isVirtual = false, size_t seed = 3)
      : size(size), said(CUDNN_BACKEND_TENSOR_DESCRIPTOR) {
    static int64_t next = 1;
    uid = next++;
    Sizes step(size.size(), 1);
    count = 1;
    if (size.size() > 3) {
      step[1] = 1, count = size[1];
      for (size_t i = size.size(); i-- > 2; count *= size[i]) step[i] = count;
      step[0] = count, count *= size[0];
    } else {
      for (size_t i = size.size(); i-- > 0; count *= size[i]) step[i] = count;
    }
    if (!isVirtual) {
      data = zeros<float>(static_cast<size_t>(count));
      std::vector<float> numbers(static_cast<size_t>(count));
      for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>((i * i + i * seed + seed) % 11) - 5;
      cudaMemcpy(data, numbers.data(), numbers.size() * sizeof(float), cudaMemcpyHostToDevice);
    }
    said.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT)
        .set(CUDNN_ATTR_TENSOR_DIMENSIONS, size)
        .set(CUDNN_ATTR_TENSOR_STRIDES, step)
        .set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, uid)
        .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, int64_t{16})
        .set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, isVirtual)
        .finalize();
  }
  operator const Said&() const { return said; }
  std::string shown() const { return ::shown(data, static_cast<size_t>(count < 48 ? count : 48)); }

  Sizes size;
  int64_t uid = 0, count = 1;
  float* data = nullptr;
  Said said;
};

std::unique_ptr<Said> pointwise(cudnnPointwiseMode_t mode, const Tensor& x, const Tensor* b, const Tensor& y) {
  Said how(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  how.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode)
      .set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT)
      .finalize();
  auto said = std::make_unique<Said>(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  const bool isBackward = mode == CUDNN_POINTWISE_RELU_BWD;
  said->set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how).set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
  if (b) said->set(isBackward ? CUDNN_ATTR_OPERATION_POINTWISE_DYDESC : CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *b);
  said->set(isBackward ? CUDNN_ATTR_OPERATION_POINTWISE_DXDESC : CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y).finalize();
  return said;
}

std::unique_ptr<Said> convolution(const Tensor& x, const Tensor& w, const Tensor& y, const Sizes& before,
                                  const Sizes& behind, const Sizes& stride) {
  Said how(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  how.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT)
      .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, CUDNN_CROSS_CORRELATION)
      .set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, int64_t{2})
      .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, before)
      .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, behind)
      .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, stride)
      .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, Sizes{1, 1})
      .finalize();
  auto said = std::make_unique<Said>(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
  said->set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, x)
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, w)
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, y)
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, how)
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1.0f)
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, 0.0f)
      .finalize();
  return said;
}

std::unique_ptr<Said> matmul(const Tensor& a, const Tensor& b, const Tensor& c) {
  Said how(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
  how.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT).finalize();
  auto said = std::make_unique<Said>(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  said->set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, a)
      .set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, b)
      .set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, c)
      .set(CUDNN_ATTR_OPERATION_MATMUL_DESC, how)
      .finalize();
  return said;
}

std::unique_ptr<Said> reduction(cudnnReduceTensorOp_t with, const Tensor& x, const Tensor& y) {
  Said how(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
  how.set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT)
      .set(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, with)
      .finalize();
  auto said = std::make_unique<Said>(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
  said->set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x)
      .set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, y)
      .set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, how)
      .finalize();
  return said;
}

/// The first plan that can be made, of the heuristics or the fallback.
cudnnStatus_t makePlan(cudnnHandle_t h, const Said& graph, Said& plan) {
  cudnnStatus_t last = CUDNN_STATUS_NOT_SUPPORTED;
  for (const auto mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    Said heuristic(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    heuristic.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph)
        .set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode)
        .finalize();
    std::vector<std::unique_ptr<Said>> configs;
    std::vector<cudnnBackendDescriptor_t> places;
    for (int i = 0; i < 16; ++i) {
      configs.push_back(std::make_unique<Said>(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
      places.push_back(configs.back()->descriptor);
    }
    int64_t found = 0;
    last = heuristic.status;
    if (last != CUDNN_STATUS_SUCCESS) continue;
    last = cudnnBackendGetAttribute(heuristic.descriptor, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                    16, &found, places.data());
    for (int64_t i = 0; i < found && i < 16; ++i) {
      cudnnBackendInitialize(plan.descriptor);
      plan.status = CUDNN_STATUS_SUCCESS;
      plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, h)
          .set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, *configs[static_cast<size_t>(i)])
          .finalize();
      last = plan.status;
      if (last == CUDNN_STATUS_SUCCESS) return last;
    }
  }
  return last == CUDNN_STATUS_SUCCESS ? CUDNN_STATUS_NOT_SUPPORTED : last;
}

cudnnStatus_t execute(cudnnHandle_t h, const Said& plan, const std::vector<const Tensor*>& tensors) {
  Said pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  Sizes uids;
  std::vector<void*> pointers;
  for (const Tensor* one : tensors) uids.push_back(one->uid), pointers.push_back(one->data);
  pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, uids)
      .set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, static_cast<int64_t>(pointers.size()),
           pointers.data())
      .set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, static_cast<void*>(zeros<char>(64 << 20)))
      .finalize();
  return pack.status != CUDNN_STATUS_SUCCESS ? pack.status : cudnnBackendExecute(h, plan.descriptor, pack.descriptor);
}

cudnnStatus_t makeGraph(cudnnHandle_t h, const std::vector<const Said*>& operations, Said& graph) {
  std::vector<cudnnBackendDescriptor_t> list;
  for (const Said* one : operations) {
    if (one->status != CUDNN_STATUS_SUCCESS) return one->status;
    list.push_back(one->descriptor);
  }
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, h)
      .set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<int64_t>(list.size()), list.data())
      .finalize();
  return graph.status;
}

cudnnStatus_t run(cudnnHandle_t h, const std::vector<const Said*>& operations,
                  const std::vector<const Tensor*>& tensors) {
  Said graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR), plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  cudnnStatus_t status = makeGraph(h, operations, graph);
  if (status == CUDNN_STATUS_SUCCESS) status = makePlan(h, graph, plan);
  if (status == CUDNN_STATUS_SUCCESS) status = execute(h, plan, tensors);
  cudaDeviceSynchronize();
  return status;
}

void statuses(Cases& cases, cudnnHandle_t h) {
  cudnnBackendDescriptor_t descriptor = nullptr;
  int64_t count = 7, number = 0;
  const Sizes size{1, 8, 4, 4}, fewer{1, 8, 4};
  CASE("create: no place", cudnnBackendCreateDescriptor(CUDNN_BACKEND_TENSOR_DESCRIPTOR, nullptr));
  CASE("create: type 999", cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t(999), &descriptor));
  CASE("destroy: none", cudnnBackendDestroyDescriptor(nullptr));
  CASE("finalize: none", cudnnBackendFinalize(nullptr));
  Said tensor(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  CASE("finalize: an empty tensor", cudnnBackendFinalize(tensor.descriptor));
  CASE("set: an attribute of others",
       cudnnBackendSetAttribute(tensor.descriptor, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &number));
  CASE("set: another type",
       cudnnBackendSetAttribute(tensor.descriptor, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_FLOAT, 4, size.data()));
  CASE("set: none",
       cudnnBackendSetAttribute(tensor.descriptor, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, nullptr));
  CASE("get: before it is final",
       cudnnBackendGetAttribute(tensor.descriptor, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &count, &number));
  Tensor x({1, 8, 4, 4}), y({1, 8, 4, 4}), row({1, 8, 1, 1}), narrow({1, 8, 2, 4});
  CASE("finalize: again", cudnnBackendFinalize(x.said.descriptor));
  CASE("set: when it is final",
       cudnnBackendSetAttribute(x.said.descriptor, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &number));
  CASE("get: sizes",
       cudnnBackendGetAttribute(x.said.descriptor, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 0, &count, nullptr),
       shown(count));
  CASE("get: another type",
       cudnnBackendGetAttribute(x.said.descriptor, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_FLOAT, 4, &count, &number));
  CASE("get: no count",
       cudnnBackendGetAttribute(x.said.descriptor, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, nullptr, &number));
  const auto wrongSteps = [&] {
    Said other(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    return other.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT)
        .set(CUDNN_ATTR_TENSOR_DIMENSIONS, size)
        .set(CUDNN_ATTR_TENSOR_STRIDES, fewer)
        .set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, int64_t{99})
        .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, int64_t{16})
        .finalize()
        .status;
  };
  CASE("tensor: fewer steps", wrongSteps());
  CASE("pointwise: no b", pointwise(CUDNN_POINTWISE_ADD, x, nullptr, y)->status);
  CASE("pointwise: other sizes", pointwise(CUDNN_POINTWISE_ADD, x, &narrow, y)->status);
  CASE("pointwise: y too small", pointwise(CUDNN_POINTWISE_ADD, x, &x, row)->status);
  CASE("convolution: y too small", convolution(x, Tensor({8, 8, 3, 3}), narrow, {1, 1}, {1, 1}, {1, 1})->status);
  CASE("matmul: other inner sizes", matmul(Tensor({1, 8, 16}), Tensor({1, 8, 8}), Tensor({1, 8, 8}))->status);
  const auto relu = pointwise(CUDNN_POINTWISE_RELU_FWD, x, nullptr, y);
  Said empty(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR), graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  CASE("graph: no operations", empty.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, h).finalize().status);
  CASE("graph", makeGraph(h, {relu.get()}, graph));
  Said engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  CASE("engine: number -1", engine.set(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph)
                                .set(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, int64_t{-1})
                                .finalize()
                                .status);
  Said plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR), none(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  CASE("plan: without a configuration",
       none.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, h).finalize().status);
  CASE("plan", makePlan(h, graph, plan));
  CASE("execute", execute(h, plan, {&x, &y}), y.shown());
  CASE("execute: without y", execute(h, plan, {&x}));
  CASE("execute: one more", execute(h, plan, {&x, &y, &row}));
  CASE("execute: no handle", execute(nullptr, plan, {&x, &y}));
  CASE("execute: no pack", cudnnBackendExecute(h, plan.descriptor, nullptr));
  CASE("execute: a graph as a plan", cudnnBackendExecute(h, graph.descriptor, graph.descriptor));
}

void results(Cases& cases, cudnnHandle_t h) {
  const Sizes image{2, 8, 6, 6};
  Tensor x(image), w({16, 8, 3, 3}, false, 4), y({2, 16, 6, 6}), bias({1, 16, 1, 1}), half({2, 16, 3, 3});
  Tensor made(y.size, true), biased(y.size, true);
  const auto forward = convolution(x, w, y, {1, 1}, {1, 1}, {1, 1}),
             inside = convolution(x, w, made, {1, 1}, {1, 1}, {1, 1});
  CASE("convolution", run(h, {forward.get()}, {&x, &w, &y}), y.shown());
  const auto strided = convolution(x, w, half, {1, 1}, {1, 1}, {2, 2});
  CASE("convolution: steps of 2", run(h, {strided.get()}, {&x, &w, &half}), half.shown());
  const auto add = pointwise(CUDNN_POINTWISE_ADD, made, &bias, biased);
  const auto relu = pointwise(CUDNN_POINTWISE_RELU_FWD, biased, nullptr, y);
  CASE("convolution, bias, ReLU", run(h, {inside.get(), add.get(), relu.get()}, {&x, &w, &bias, &y}), y.shown());
  CASE("convolution, bias, ReLU: turned around", run(h, {relu.get(), add.get(), inside.get()}, {&x, &w, &bias, &y}),
       y.shown());
  Tensor a({2, 16, 32}), b({2, 32, 16}, false, 7), c({2, 16, 16}), one({1, 32, 16}, false, 2), column({1, 1, 16}),
      product(c.size, true);
  const auto multiply = matmul(a, b, c), shared = matmul(a, one, c), hidden = matmul(a, b, product);
  CASE("matmul", run(h, {multiply.get()}, {&a, &b, &c}), c.shown());
  CASE("matmul: one b for all", run(h, {shared.get()}, {&a, &one, &c}), c.shown());
  const auto plus = pointwise(CUDNN_POINTWISE_ADD, product, &column, c);
  CASE("matmul and bias", run(h, {hidden.get(), plus.get()}, {&a, &b, &column, &c}), c.shown());
  Tensor sum({2, 1, 16}), all({1, 1, 1});
  const auto add2 = reduction(CUDNN_REDUCE_TENSOR_ADD, c, sum), most = reduction(CUDNN_REDUCE_TENSOR_MAX, c, sum);
  CASE("reduction: sum", run(h, {add2.get()}, {&c, &sum}), sum.shown());
  CASE("reduction: maximum", run(h, {most.get()}, {&c, &sum}), sum.shown());
  Tensor p(image), q(image, false, 5), r(image);
  const std::pair<cudnnPointwiseMode_t, const char*> modes[] = {
      {CUDNN_POINTWISE_ADD, "pointwise: add"},           {CUDNN_POINTWISE_MUL, "pointwise: mul"},
      {CUDNN_POINTWISE_SUB, "pointwise: sub"},           {CUDNN_POINTWISE_MIN, "pointwise: min"},
      {CUDNN_POINTWISE_MAX, "pointwise: max"},           {CUDNN_POINTWISE_ADD_SQUARE, "pointwise: add square"},
      {CUDNN_POINTWISE_MOD, "pointwise: mod"},           {CUDNN_POINTWISE_CMP_GE, "pointwise: ge"},
      {CUDNN_POINTWISE_RELU_BWD, "pointwise: relu back"}};
  for (const auto& [mode, name] : modes) {
    const auto operation = pointwise(mode, p, &q, r);
    CASE(name, run(h, {operation.get()}, {&p, &q, &r}), r.shown());
  }
}

/// Batch normalisation with what comes behind it, and spatial transformers, of the interface without graphs.
void layers(Cases& cases, cudnnHandle_t h) {
  const float one = 1, zero = 0;
  cudnnSpatialTransformerDescriptor_t d = nullptr;
  const int sizes[] = {1, 1, 3, 5}, flat[] = {1, 1, 1, 4};
  CASE("transformer: create", cudnnCreateSpatialTransformerDescriptor(&d));
  CASE("transformer: 5 dimensions",
       cudnnSetSpatialTransformerNdDescriptor(d, CUDNN_SAMPLER_BILINEAR, CUDNN_DATA_FLOAT, 5, sizes));
  CASE("transformer: sampler 9",
       cudnnSetSpatialTransformerNdDescriptor(d, cudnnSamplerType_t(9), CUDNN_DATA_FLOAT, 4, sizes));
  float *theta = on<float>({1, 0, 0, 0, 1, 0}), *grid = zeros<float>(30);
  cudnnSetSpatialTransformerNdDescriptor(d, CUDNN_SAMPLER_BILINEAR, CUDNN_DATA_FLOAT, 4, sizes);
  CASE("transformer: grid", cudnnSpatialTfGridGeneratorForward(h, d, theta, grid), shown(grid, 30));
  cudnnTensorDescriptor_t x = nullptr, y = nullptr;
  cudnnCreateTensorDescriptor(&x), cudnnCreateTensorDescriptor(&y);
  cudnnSetTensor4dDescriptor(x, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 3, 3);
  cudnnSetTensor4dDescriptor(y, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 3, 5);
  float *image = on<float>({1, 2, 3, 4, 5, 6, 7, 8, 9}), *result = zeros<float>(15);
  CASE("transformer: sample", cudnnSpatialTfSamplerForward(h, d, &one, x, image, grid, &zero, y, result),
       shown(result, 15));
  float* moved = on<float>({1, 0, 0.5f, 0, 1, 1});
  CASE("transformer: outside", cudnnSpatialTfGridGeneratorForward(h, d, moved, grid),
       std::to_string(cudnnSpatialTfSamplerForward(h, d, &one, x, image, grid, &zero, y, result)), shown(result, 15));
  float *gradient = on<float>({1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6}), *dx = zeros<float>(9),
        *dgrid = zeros<float>(30);
  CASE("transformer: back",
       cudnnSpatialTfSamplerBackward(h, d, &one, x, image, &zero, x, dx, &one, y, gradient, grid, &zero, dgrid),
       shown(dx, 9), shown(dgrid, 30));
  float* dtheta = zeros<float>(6);
  CASE("transformer: grid back", cudnnSpatialTfGridGeneratorBackward(h, d, dgrid, dtheta), shown(dtheta, 6));
  cudnnSetSpatialTransformerNdDescriptor(d, CUDNN_SAMPLER_BILINEAR, CUDNN_DATA_FLOAT, 4, flat);
  CASE("transformer: grid of one row", cudnnSpatialTfGridGeneratorForward(h, d, theta, grid), shown(grid, 8));
}

void normalisation(Cases& cases, cudnnHandle_t h) {
  const float one = 1, zero = 0;
  cudnnTensorDescriptor_t x = nullptr, parameters = nullptr;
  cudnnActivationDescriptor_t relu = nullptr, tanh = nullptr;
  cudnnCreateTensorDescriptor(&x), cudnnCreateTensorDescriptor(&parameters);
  cudnnCreateActivationDescriptor(&relu), cudnnCreateActivationDescriptor(&tanh);
  cudnnSetActivationDescriptor(relu, CUDNN_ACTIVATION_RELU, CUDNN_PROPAGATE_NAN, 0);
  cudnnSetActivationDescriptor(tanh, CUDNN_ACTIVATION_TANH, CUDNN_PROPAGATE_NAN, 0);
  cudnnSetTensor4dDescriptor(x, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 2, 1, 1, 2);
  cudnnDeriveBNTensorDescriptor(parameters, x, CUDNN_BATCHNORM_SPATIAL);
  float *from = on<float>({1, -1, 1, -1}), *to = zeros<float>(4), *scale = on<float>({2}), *bias = on<float>({1});
  float *mean = zeros<float>(1), *inverse = zeros<float>(1);
  const auto train = [&](cudnnBatchNormOps_t operation, cudnnActivationDescriptor_t activation) {
    return cudnnBatchNormalizationForwardTrainingEx(h, CUDNN_BATCHNORM_SPATIAL, operation, &one, &zero, x, from,
                                                    nullptr, nullptr, x, to, parameters, scale, bias, 1, nullptr,
                                                    nullptr, 0, mean, inverse, activation, nullptr, 0, nullptr, 0);
  };
  CASE("batch norm ex", train(CUDNN_BATCHNORM_OPS_BN, nullptr), shown(to, 4), shown(mean, 1), shown(inverse, 1));
  CASE("batch norm ex: operation 9", train(cudnnBatchNormOps_t(9), relu));
  CASE("batch norm ex: no activation", train(CUDNN_BATCHNORM_OPS_BN_ACTIVATION, nullptr));
  CASE("batch norm ex: tanh", train(CUDNN_BATCHNORM_OPS_BN_ACTIVATION, tanh));
  CASE("batch norm ex: no z", train(CUDNN_BATCHNORM_OPS_BN_ADD_ACTIVATION, relu));
}

}  // namespace

int main(int count, char** arguments) {
  Cases cases(count, arguments);
  cudnnHandle_t handle;
  if (cudnnCreate(&handle) != CUDNN_STATUS_SUCCESS) return 2;
  statuses(cases, handle);
  results(cases, handle);
  layers(cases, handle);
  normalisation(cases, handle);
}
