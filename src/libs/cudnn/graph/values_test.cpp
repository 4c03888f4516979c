// What tensors of graphs hold: numbers of other types, bits, numbers of the host, random ones, parts of matrices.
#include <cmath>

#include "cuda_fp16.h"
#include "libs/cudnn/graph/test_graph.hpp"

namespace ordito::libs::cudnn::graph_test {
namespace {

struct Typed {
  Typed(cudnnDataType_t type, const Sizes& size, bool isByValue = false) : said(CUDNN_BACKEND_TENSOR_DESCRIPTOR) {
    static int64_t next = 1000000;
    uid = next++;
    Sizes step(size.size(), 1);
    for (size_t i = size.size(); i-- > 1;) step[i - 1] = step[i] * size[i];
    said.set(CUDNN_ATTR_TENSOR_DATA_TYPE, type)
        .set(CUDNN_ATTR_TENSOR_DIMENSIONS, size)
        .set(CUDNN_ATTR_TENSOR_STRIDES, step)
        .set(CUDNN_ATTR_TENSOR_UNIQUE_ID, uid)
        .set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, isByValue)
        .finalize();
  }
  int64_t uid = 0;
  Said said;
};

void compute(Said& operation, cudnnPointwiseMode_t mode, const Said& x, const Said& b, const Said& y) {
  Said how(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  how.set(CUDNN_ATTR_POINTWISE_MODE, mode).finalize();
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how)
      .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x)
      .set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b)
      .set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y)
      .finalize();
}

/// Device memory of this process.
template <class T>
T* memory(size_t count) {
  CUdeviceptr pointer = 0;
  EXPECT_TRUE(hasContext() && cuMemAlloc(&pointer, count * sizeof(T)) == CUDA_SUCCESS);
  return reinterpret_cast<T*>(pointer);
}

/// A half times a number of the host's, which changes after the call, into rounded and saturated bytes.
TEST(Graph, ANumberOfTheHostIsCopiedAtTheCallAndBytesSaturate) {
  const Typed x(CUDNN_DATA_HALF, {1, 6}), factor(CUDNN_DATA_FLOAT, {1, 1}, true), y(CUDNN_DATA_INT8, {1, 6});
  Said operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR), planned(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  compute(operation, CUDNN_POINTWISE_MUL, x.said, factor.said, y.said);
  plan({&operation}, planned);
  auto* from = memory<__half>(6);
  auto* to = memory<int8_t>(6);
  const float values[] = {1.25f, -1.25f, 0.375f, 100, -100, 0};
  for (int i = 0; i < 6; ++i) from[i] = __float2half(values[i]);
  float number = 2;
  execute(planned, {{x.uid, from}, {factor.uid, &number}, {y.uid, to}});
  number = 50;
  finish();
  EXPECT_EQ(std::vector<int>(to, to + 6), (std::vector<int>{2, -2, 1, 127, -128, 0}));
}

TEST(Graph, BooleansAreEightInAByte) {
  const Typed x(CUDNN_DATA_FLOAT, {2, 5}), b(CUDNN_DATA_FLOAT, {1, 1}), y(CUDNN_DATA_BOOLEAN, {2, 5});
  Said operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR), planned(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  compute(operation, CUDNN_POINTWISE_CMP_GT, x.said, b.said, y.said);
  plan({&operation}, planned);
  auto *from = memory<float>(10), *limit = memory<float>(1);
  auto* to = memory<unsigned char>(2);
  const float values[] = {1, 0, 3, 0, 0, 7, 0, 0, 9, 0};
  std::copy_n(values, 10, from);
  *limit = 0.5f;
  execute(planned, {{x.uid, from}, {b.uid, limit}, {y.uid, to}});
  finish();
  EXPECT_EQ(to[0], 0b00100101);
  EXPECT_EQ(to[1] & 3, 1);
}

/// Products of matrices of which only so many rows, columns and terms count as the batch says.
TEST(Graph, PartsOfMatrices) {
  const GraphTensor a({2, 2, 4, 5}), b({2, 2, 5, 3}), c({2, 2, 4, 3});
  const Typed rows(CUDNN_DATA_INT32, {2, 1, 1, 1}), columns(CUDNN_DATA_INT32, {2, 1, 1, 1});
  const Typed terms(CUDNN_DATA_INT32, {2, 1, 1, 1});
  Said how(CUDNN_BACKEND_MATMUL_DESCRIPTOR), operation(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  how.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_DATA_DOUBLE).set(CUDNN_ATTR_MATMUL_PADDING_VALUE, -7.0).finalize();
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, a)
      .set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, b)
      .set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, c)
      .set(CUDNN_ATTR_OPERATION_MATMUL_DESC, how)
      .set(CUDNN_ATTR_OPERATION_MATMUL_GEMM_M_OVERRIDE_DESC, rows.said)
      .set(CUDNN_ATTR_OPERATION_MATMUL_GEMM_N_OVERRIDE_DESC, columns.said)
      .set(CUDNN_ATTR_OPERATION_MATMUL_GEMM_K_OVERRIDE_DESC, terms.said)
      .finalize();
  Said planned(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  plan({&operation}, planned);
  auto* counts = memory<int>(6);  // rows, columns and terms of both
  const int wanted[] = {3, 4, 2, 3, 5, 1};
  std::copy_n(wanted, 6, counts);
  execute(planned, {{a.uid, a.data},
                    {b.uid, b.data},
                    {c.uid, c.data},
                    {rows.uid, counts},
                    {columns.uid, counts + 2},
                    {terms.uid, counts + 4}});
  finish();
  c.expect([&](const Sizes& at) {
    if (at[2] >= wanted[at[0]] || at[3] >= wanted[2 + at[0]]) return -7.0;
    double sum = 0;
    for (int64_t i = 0; i < wanted[4 + at[0]]; ++i)
      sum += a.at({at[0], at[1], at[2], i}) * b.at({at[0], at[1], i, at[3]});
    return sum;
  });
}

/// As many as the probability says, the same ones for the same seed.
TEST(Graph, RandomNumbers) {
  const GraphTensor y({1, 1, 100, 100});
  Said how(CUDNN_BACKEND_RNG_DESCRIPTOR);
  const auto bernoulli = CUDNN_RNG_DISTRIBUTION_BERNOULLI;
  how.set(CUDNN_ATTR_RNG_DISTRIBUTION, CUDNN_TYPE_RNG_DISTRIBUTION, 1, &bernoulli)
      .set(CUDNN_ATTR_RNG_BERNOULLI_DIST_PROBABILITY, 0.25)
      .finalize();
  std::vector<double> before;
  for (const int64_t seed : {5, 5, 6}) {
    Said operation(CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_RNG_YDESC, y)
        .set(CUDNN_ATTR_OPERATION_RNG_DESC, how)
        .set(CUDNN_ATTR_OPERATION_RNG_SEED, seed)
        .finalize();
    run({&operation}, {&y});
    const std::vector<double> now(y.data, y.data + y.count());
    const auto ones = std::count(now.begin(), now.end(), 1.0);
    EXPECT_EQ(ones + std::count(now.begin(), now.end(), 0.0), y.count());
    EXPECT_NEAR(static_cast<double>(ones), 2500, 200);
    if (!before.empty()) EXPECT_EQ(now == before, seed == 5);
    before = now;
  }
}

/// A graph of CUDA's that captured an execution runs it at each launch.
TEST(Graph, ACapturedExecutionRunsAtEveryLaunch) {
  const GraphTensor x({2, 3}), b({2, 3}), y({2, 3});
  CUstream stream = nullptr;
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  {
    Said operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR), planned(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    compute(operation, CUDNN_POINTWISE_SUB, x, b, y);
    plan({&operation}, planned);
    cudnnSetStream(handle(), reinterpret_cast<cudaStream_t>(stream));
    ASSERT_EQ(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    execute(planned, {{x.uid, x.data}, {b.uid, b.data}, {y.uid, y.data}});
    ASSERT_EQ(cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
    cudnnSetStream(handle(), nullptr);
  }
  ASSERT_EQ(cuGraphInstantiate(&executable, graph, 0), CUDA_SUCCESS);
  for (const double value : {3.0, 4.0}) {
    x.data[0] = value;
    ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    EXPECT_EQ(y.data[0], value - b.data[0]);
  }
  cuGraphExecDestroy(executable);
  cuGraphDestroy(graph);
  cuStreamDestroy(stream);
}

}  // namespace
}  // namespace ordito::libs::cudnn::graph_test
