// Recurrent networks of random form: the forward pass against the formulas, one sequence after another; the backward
// passes against differences of the forward one; the interface before version 8 and narrow numbers against that of
// version 8 in double.
#include <algorithm>
#include <cmath>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "libs/cudnn/test_tensors.hpp"

namespace ordito::libs::cudnn {
namespace {

using Numbers = std::vector<double>;

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

Numbers randoms(size_t count) {
  Numbers out(count);
  for (double& value : out) value = randomValue();
  return out;
}

struct Form {
  cudnnRNNMode_t cell;
  cudnnRNNBiasMode_t bias = static_cast<cudnnRNNBiasMode_t>(random(0, 3));
  int directions = random(1, 2), layers = random(1, 3), hidden = random(1, 6);
  int projection = 0, input = 0;
  cudnnRNNInputMode_t inputMode = random(0, 3) == 0 ? CUDNN_SKIP_INPUT : CUDNN_LINEAR_INPUT;
  cudnnRNNDataLayout_t layout = static_cast<cudnnRNNDataLayout_t>(random(0, 2));
  int batch = random(1, 4), longest = random(1, 5);
  std::vector<int> lengths;
  bool hasStates = random(0, 3) != 0;

  explicit Form(cudnnRNNMode_t of) : cell(of) {
    projection = cell == CUDNN_LSTM && random(0, 1) == 1 ? random(1, hidden) : hidden;
    input = inputMode == CUDNN_SKIP_INPUT ? hidden : random(1, 5);
    for (int b = 0; b < batch; ++b) lengths.push_back(random(1, longest));
    lengths[static_cast<size_t>(random(0, batch - 1))] = longest;
    if (layout == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED) std::sort(lengths.rbegin(), lengths.rend());
  }
  int gates() const { return cell == CUDNN_LSTM ? 4 : cell == CUDNN_GRU ? 3 : 1; }
  int pseudoLayers() const { return layers * directions; }
  int width() const { return projection * directions; }
  /// Where a vector is in memory, in vectors.
  size_t place(int b, int t) const {
    size_t packed = static_cast<size_t>(b);
    for (int before = 0; before < t; ++before)
      packed += static_cast<size_t>(std::count_if(lengths.begin(), lengths.end(), [&](int n) { return n > before; }));
    if (layout == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED) return packed;
    return static_cast<size_t>(layout == CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED ? b * longest + t : t * batch + b);
  }
  size_t vectors() const {
    size_t all = 0;
    for (const int n : lengths) all += static_cast<size_t>(n);
    return layout == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED ? all : static_cast<size_t>(batch * longest);
  }
};

constexpr double kFill = -7;

/// A network in numbers of T, its descriptors and all arrays.
template <class T>
struct Network {
  static constexpr cudnnDataType_t kType = std::is_same_v<T, double>   ? CUDNN_DATA_DOUBLE
                                           : std::is_same_v<T, float>  ? CUDNN_DATA_FLOAT
                                           : std::is_same_v<T, __half> ? CUDNN_DATA_HALF
                                                                       : CUDNN_DATA_BFLOAT16;
  using Data = std::vector<T>;

  explicit Network(const Form& of, float rate = 0) : form(of) {
    EXPECT_EQ(cudnnCreateRNNDescriptor(&net), kGood);
    EXPECT_EQ(cudnnCreateDropoutDescriptor(&dropout), kGood);
    resetDropout(rate);
    EXPECT_EQ(cudnnSetRNNDescriptor_v8(net, CUDNN_RNN_ALGO_STANDARD, form.cell, form.bias,
                                       form.directions == 2 ? CUDNN_BIDIRECTIONAL : CUDNN_UNIDIRECTIONAL,
                                       form.inputMode, kType, kType, CUDNN_DEFAULT_MATH, form.input, form.hidden,
                                       form.projection, form.layers, dropout, CUDNN_RNN_PADDED_IO_ENABLED),
              kGood);
    xData = dataDescriptor(form.input), yData = dataDescriptor(form.width());
    hidden = stateTensor(form.projection), cells = stateTensor(form.hidden);
    size_t bytes = 0, work = 0;
    EXPECT_EQ(cudnnGetRNNWeightSpaceSize(handle(), net, &bytes), kGood);
    weights.resize(bytes / sizeof(T));
    EXPECT_EQ(cudnnGetRNNTempSpaceSizes(handle(), net, CUDNN_FWD_MODE_TRAINING, xData, &work, &bytes), kGood);
    reserve.resize(bytes);
    x.resize(form.vectors() * static_cast<size_t>(form.input));
    y.resize(form.vectors() * static_cast<size_t>(form.width()));
    const auto states = static_cast<size_t>(form.pseudoLayers()) * static_cast<size_t>(form.batch);
    hx.resize(states * static_cast<size_t>(form.projection)), hy = hx;
    cx.resize(states * static_cast<size_t>(form.hidden)), cy = cx;
  }
  ~Network() {
    cudnnDestroyRNNDescriptor(net);
    cudnnDestroyDropoutDescriptor(dropout);
    cudnnDestroyRNNDataDescriptor(xData);
    cudnnDestroyRNNDataDescriptor(yData);
    cudnnDestroyTensorDescriptor(hidden);
    cudnnDestroyTensorDescriptor(cells);
  }
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  void resetDropout(float rate) {
    EXPECT_EQ(cudnnSetDropoutDescriptor(dropout, handle(), rate, states.data(), sizeof states, 11), kGood);
    finish();
  }
  cudnnRNNDataDescriptor_t dataDescriptor(int vector) const {
    cudnnRNNDataDescriptor_t made = nullptr;
    T fill = static_cast<T>(static_cast<float>(kFill));
    EXPECT_EQ(cudnnCreateRNNDataDescriptor(&made), kGood);
    EXPECT_EQ(cudnnSetRNNDataDescriptor(made, kType, form.layout, form.longest, form.batch, vector, form.lengths.data(),
                                        &fill),
              kGood);
    return made;
  }
  cudnnTensorDescriptor_t stateTensor(int size) const {
    cudnnTensorDescriptor_t made = nullptr;
    const int sizes[] = {form.pseudoLayers(), form.batch, size}, steps[] = {form.batch * size, size, 1};
    EXPECT_EQ(cudnnCreateTensorDescriptor(&made), kGood);
    EXPECT_EQ(cudnnSetTensorNdDescriptor(made, kType, 3, sizes, steps), kGood);
    return made;
  }
  const T* initial(const Data& from) const { return form.hasStates ? from.data() : nullptr; }
  size_t weightBytes() const { return weights.size() * sizeof(T); }

  void forward(cudnnForwardMode_t mode) {
    ASSERT_EQ(cudnnRNNForward(handle(), net, mode, nullptr, xData, x.data(), yData, y.data(), hidden, initial(hx),
                              hy.data(), cells, initial(cx), cy.data(), weightBytes(), weights.data(), 0, nullptr,
                              reserve.size(), reserve.data()),
              kGood);
    finish();
  }
  void backward(const Data& dy, const Data& dhy, const Data& dcy) {
    dx = x, dhx = hx, dcx = cx, dWeights.assign(weights.size(), static_cast<T>(1.0F));
    ASSERT_EQ(cudnnRNNBackwardData_v8(handle(), net, nullptr, yData, y.data(), dy.data(), xData, dx.data(), hidden,
                                      initial(hx), dhy.data(), dhx.data(), cells, initial(cx), dcy.data(), dcx.data(),
                                      weightBytes(), weights.data(), 0, nullptr, reserve.size(), reserve.data()),
              kGood);
    ASSERT_EQ(cudnnRNNBackwardWeights_v8(handle(), net, CUDNN_WGRAD_MODE_ADD, nullptr, xData, x.data(), hidden,
                                         initial(hx), yData, y.data(), weightBytes(), dWeights.data(), 0, nullptr,
                                         reserve.size(), reserve.data()),
              kGood);
    finish();
  }

  Form form;
  cudnnRNNDescriptor_t net = nullptr;
  cudnnDropoutDescriptor_t dropout = nullptr;
  cudnnRNNDataDescriptor_t xData = nullptr, yData = nullptr;
  cudnnTensorDescriptor_t hidden = nullptr, cells = nullptr;
  std::array<uint64_t, 2> states{};
  Data x, y, hx, hy, cx, cy, weights, dx, dhx, dcx, dWeights;
  std::vector<char> reserve;
};

void randomise(Network<double>& n) {
  n.x = randoms(n.x.size()), n.hx = randoms(n.hx.size()), n.cx = randoms(n.cx.size());
  n.weights = randoms(n.weights.size());
}

/// The formulas, one sequence and one step after another.
class Reference {
 public:
  explicit Reference(const Network<double>& n) : n_(n), f_(n.form) {}

  void check() {
    for (int b = 0; b < f_.batch; ++b) checkSequence(b);
    if (f_.layout == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED) return;
    for (int b = 0; b < f_.batch; ++b)
      for (int t = f_.lengths[static_cast<size_t>(b)]; t < f_.longest; ++t)
        ASSERT_EQ(n_.y[f_.place(b, t) * static_cast<size_t>(f_.width())], kFill);
  }

 private:
  using Rows = std::vector<Numbers>;

  void checkSequence(int b) {
    Rows rows;
    for (int t = 0; t < f_.lengths[static_cast<size_t>(b)]; ++t) {
      const auto first = n_.x.begin() + static_cast<ptrdiff_t>(f_.place(b, t)) * f_.input;
      rows.emplace_back(first, first + f_.input);
    }
    for (int layer = 0; layer < f_.layers; ++layer) {
      Rows out(rows.size());
      for (int d = 0; d < f_.directions; ++d) run(layer * f_.directions + d, d == 1, b, rows, out);
      rows = out;
    }
    for (size_t t = 0; t < rows.size(); ++t)
      for (size_t j = 0; j < rows[t].size(); ++j)
        ASSERT_NEAR(n_.y[f_.place(b, static_cast<int>(t)) * rows[t].size() + j], rows[t][j], 1e-12);
  }

  Numbers state(const Numbers& all, int p, int b, int size) const {
    const auto first = all.begin() + ptrdiff_t{p * f_.batch + b} * size;
    return f_.hasStates ? Numbers(first, first + size) : Numbers(static_cast<size_t>(size));
  }

  void run(int p, bool isBackward, int b, const Rows& in, Rows& out) {
    Numbers h = state(n_.hx, p, b, f_.projection), c = state(n_.cx, p, b, f_.hidden);
    for (size_t i = 0; i < in.size(); ++i) {
      const size_t t = isBackward ? in.size() - 1 - i : i;
      step(p, in[t], h, c);
      out[t].insert(out[t].end(), h.begin(), h.end());
    }
    for (size_t j = 0; j < h.size(); ++j)
      ASSERT_NEAR(n_.hy[static_cast<size_t>((p * f_.batch + b) * f_.projection) + j], h[j], 1e-12);
    for (size_t j = 0; j < c.size() && f_.cell == CUDNN_LSTM; ++j)
      ASSERT_NEAR(n_.cy[static_cast<size_t>((p * f_.batch + b) * f_.hidden) + j], c[j], 1e-12);
  }

  /// A matrix of the weights times a vector, plus its bias. Where there is no matrix the vector goes in as it is.
  Numbers linear(int p, int number, const Numbers& v) const {
    cudnnTensorDescriptor_t matrix = nullptr, bias = nullptr;
    cudnnCreateTensorDescriptor(&matrix), cudnnCreateTensorDescriptor(&bias);
    void *at = nullptr, *biasAt = nullptr;
    EXPECT_EQ(cudnnGetRNNWeightParams(handle(), n_.net, p, n_.weightBytes(), n_.weights.data(), number, matrix, &at,
                                      bias, &biasAt),
              kGood);
    cudnnDataType_t type{};
    int rank = 0, sizes[3] = {}, steps[3] = {};
    EXPECT_EQ(cudnnGetTensorNdDescriptor(matrix, 3, &type, &rank, sizes, steps), kGood);
    cudnnDestroyTensorDescriptor(matrix), cudnnDestroyTensorDescriptor(bias);
    Numbers out = at ? Numbers(static_cast<size_t>(sizes[1])) : v;
    if (at) EXPECT_EQ(static_cast<size_t>(sizes[2]), v.size());
    for (size_t i = 0; i < out.size(); ++i) {
      for (size_t j = 0; at && j < v.size(); ++j) out[i] += static_cast<const double*>(at)[i * v.size() + j] * v[j];
      if (biasAt) out[i] += static_cast<const double*>(biasAt)[i];
    }
    return out;
  }
  double gate(int g, size_t j) const {
    return input_[static_cast<size_t>(g)][j] + recurrent_[static_cast<size_t>(g)][j];
  }

  void step(int p, const Numbers& x, Numbers& h, Numbers& c) {
    input_.clear(), recurrent_.clear();
    for (int g = 0; g < f_.gates(); ++g) {
      input_.push_back(linear(p, g, x));
      recurrent_.push_back(linear(p, f_.gates() + g, h));
    }
    Numbers next(static_cast<size_t>(f_.hidden));
    for (size_t j = 0; j < next.size(); ++j) next[j] = cell(j, h, c);
    h = f_.projection == f_.hidden ? next : linear(p, 8, next);
  }
  double cell(size_t j, const Numbers& h, Numbers& c) const {
    switch (f_.cell) {
      case CUDNN_RNN_RELU: return std::max(0.0, gate(0, j));
      case CUDNN_RNN_TANH: return std::tanh(gate(0, j));
      case CUDNN_LSTM:
        c[j] = logistic(gate(1, j)) * c[j] + logistic(gate(0, j)) * std::tanh(gate(2, j));
        return logistic(gate(3, j)) * std::tanh(c[j]);
      default: {
        const double update = logistic(gate(1, j));
        return (1 - update) * std::tanh(input_[2][j] + logistic(gate(0, j)) * recurrent_[2][j]) + update * h[j];
      }
    }
  }

  const Network<double>& n_;
  const Form& f_;
  Rows input_, recurrent_;
};

constexpr cudnnRNNMode_t kCells[] = {CUDNN_RNN_RELU, CUDNN_RNN_TANH, CUDNN_LSTM, CUDNN_GRU};

TEST(CudnnRnn, ForwardIsTheFormulas) {
  for (int round = 0; round < 100; ++round) {
    Network<double> n{Form(kCells[round % 4])};
    randomise(n);
    n.forward(CUDNN_FWD_MODE_INFERENCE);
    Reference(n).check();
    const Numbers inferred = n.y;
    n.forward(CUDNN_FWD_MODE_TRAINING);
    ASSERT_EQ(n.y, inferred);
    if (HasFailure()) FAIL() << "round " << round;
  }
}

double weighted(const Numbers& values, const Numbers& by) {
  double sum = 0;
  for (size_t i = 0; i < values.size(); ++i) sum += values[i] * by[i];
  return sum;
}

TEST(CudnnRnn, GradientsAreDifferences) {
  for (int round = 0; round < 40; ++round) {
    const float rate = round % 3 == 0 ? 0.4F : 0.0F;
    Network<double> n{Form(kCells[round % 4]), rate};
    randomise(n);
    Numbers dy = randoms(n.y.size());
    const Numbers dhy = randoms(n.hy.size());
    const Numbers dcy = n.form.cell == CUDNN_LSTM ? randoms(n.cy.size()) : Numbers(n.cy.size());
    const auto forward = [&] {
      if (rate > 0) n.resetDropout(rate);  // the same elements are dropped each time
      std::fill(n.y.begin(), n.y.end(), 0.0);
      n.forward(CUDNN_FWD_MODE_TRAINING);
    };
    const auto loss = [&] {
      forward();
      return weighted(n.y, dy) + weighted(n.hy, dhy) + (n.form.cell == CUDNN_LSTM ? weighted(n.cy, dcy) : 0);
    };
    forward();
    n.backward(dy, dhy, dcy);
    const auto expectGradient = [&](Numbers& by, const Numbers& gradient, double before, const char* what) {
      constexpr double kStep = 1e-6;
      for (size_t i = 0; i < by.size(); ++i) {
        const double was = by[i];
        by[i] = was + kStep;
        const double above = loss();
        by[i] = was - kStep;
        const double below = loss();
        by[i] = was;
        if (above == below && gradient[i] == kFill) continue;  // behind a sequence's end
        ASSERT_NEAR(gradient[i] - before, (above - below) / (2 * kStep), 2e-6) << what << ' ' << i << ' ' << round;
      }
    };
    const Numbers dWeights = n.dWeights;
    expectGradient(n.x, n.dx, 0, "x");
    expectGradient(n.weights, dWeights, 1, "weights");
    if (!n.form.hasStates) continue;
    expectGradient(n.hx, n.dhx, 0, "hx");
    if (n.form.cell == CUDNN_LSTM) expectGradient(n.cx, n.dcx, 0, "cx");
  }
}

template <class T>
std::vector<T> narrowed(const Numbers& from) {
  std::vector<T> out(from.size());
  std::transform(from.begin(), from.end(), out.begin(), [](double v) { return static_cast<T>(static_cast<float>(v)); });
  return out;
}

template <class T>
void expectNear(const std::vector<T>& narrow, const Numbers& wide, double epsilon, const char* what) {
  for (size_t i = 0; i < wide.size(); ++i)
    ASSERT_NEAR(static_cast<double>(static_cast<float>(narrow[i])), wide[i], epsilon * std::max(1.0, std::abs(wide[i])))
        << what << ' ' << i;
}

/// The same network, whose numbers T has exactly, in T and in double.
template <class T>
void expectSameIn(double epsilon) {
  for (int round = 0; round < 12; ++round) {
    Network<double> wide{Form(kCells[1 + round % 3])};
    Network<T> narrow{wide.form};
    randomise(wide);
    const auto both = [](Numbers& numbers) {
      const auto out = narrowed<T>(numbers);
      std::transform(out.begin(), out.end(), numbers.begin(),
                     [](T v) { return static_cast<double>(static_cast<float>(v)); });
      return out;
    };
    narrow.x = both(wide.x), narrow.hx = both(wide.hx), narrow.cx = both(wide.cx), narrow.weights = both(wide.weights);
    Numbers dy = randoms(wide.y.size()), dhy = randoms(wide.hy.size()), dcy = randoms(wide.cy.size());
    const auto dyNarrow = both(dy), dhyNarrow = both(dhy), dcyNarrow = both(dcy);
    wide.forward(CUDNN_FWD_MODE_TRAINING), narrow.forward(CUDNN_FWD_MODE_TRAINING);
    wide.backward(dy, dhy, dcy), narrow.backward(dyNarrow, dhyNarrow, dcyNarrow);
    expectNear(narrow.y, wide.y, epsilon, "y");
    expectNear(narrow.dx, wide.dx, epsilon, "dx");
    expectNear(narrow.dWeights, wide.dWeights, epsilon, "weights");
  }
}

TEST(CudnnRnn, InSingle) { expectSameIn<float>(2e-5); }
TEST(CudnnRnn, InHalf) { expectSameIn<__half>(1e-3); }
TEST(CudnnRnn, InBfloat16) { expectSameIn<__nv_bfloat16>(8e-3); }

/// A tensor for each step, as before version 8.
struct StepTensors {
  StepTensors(const Form& form, int vector) {
    for (int t = 0; t < form.longest; ++t) {
      const auto count = std::count_if(form.lengths.begin(), form.lengths.end(), [&](int n) { return n > t; });
      const int sizes[] = {static_cast<int>(count), vector, 1}, steps[] = {vector, 1, 1};
      all.emplace_back();
      EXPECT_EQ(cudnnCreateTensorDescriptor(&all.back()), kGood);
      EXPECT_EQ(cudnnSetTensorNdDescriptor(all.back(), CUDNN_DATA_DOUBLE, 3, sizes, steps), kGood);
    }
  }
  ~StepTensors() {
    for (auto* tensor : all) cudnnDestroyTensorDescriptor(tensor);
  }
  StepTensors(const StepTensors&) = delete;
  StepTensors& operator=(const StepTensors&) = delete;
  std::vector<cudnnTensorDescriptor_t> all;
};

/// The calls before version 8, on the arrays of a network.
struct Before8 {
  explicit Before8(Network<double>& of) : n(of), xs(of.form, of.form.input), ys(of.form, of.form.width()) {
    EXPECT_EQ(cudnnCreateRNNDescriptor(&net), kGood);
    EXPECT_EQ(cudnnSetRNNDescriptor_v6(handle(), net, n.form.hidden, n.form.layers, n.dropout, n.form.inputMode,
                                       n.form.directions == 2 ? CUDNN_BIDIRECTIONAL : CUDNN_UNIDIRECTIONAL, n.form.cell,
                                       CUDNN_RNN_ALGO_STANDARD, CUDNN_DATA_DOUBLE),
              kGood);
    EXPECT_EQ(cudnnSetRNNBiasMode(net, n.form.bias), kGood);
    EXPECT_EQ(cudnnSetRNNProjectionLayers(handle(), net, n.form.projection, 0), kGood);
  }
  ~Before8() { cudnnDestroyRNNDescriptor(net); }
  Before8(const Before8&) = delete;
  Before8& operator=(const Before8&) = delete;

  void train(const Numbers& dy, const Numbers& dhy, const Numbers& dcy) {
    const int steps = n.form.longest;
    ASSERT_EQ(
        cudnnRNNForwardTraining(handle(), net, steps, xs.all.data(), n.x.data(), n.hidden, n.initial(n.hx), n.cells,
                                n.initial(n.cx), nullptr, n.weights.data(), ys.all.data(), n.y.data(), n.hidden,
                                n.hy.data(), n.cells, n.cy.data(), nullptr, 0, n.reserve.data(), n.reserve.size()),
        kGood);
    n.dx = n.x, n.dhx = n.hx, n.dcx = n.cx, n.dWeights.assign(n.weights.size(), 1.0);
    ASSERT_EQ(cudnnRNNBackwardData(handle(), net, steps, ys.all.data(), n.y.data(), ys.all.data(), dy.data(), n.hidden,
                                   dhy.data(), n.cells, dcy.data(), nullptr, n.weights.data(), n.hidden,
                                   n.initial(n.hx), n.cells, n.initial(n.cx), xs.all.data(), n.dx.data(), n.hidden,
                                   n.dhx.data(), n.cells, n.dcx.data(), nullptr, 0, n.reserve.data(), n.reserve.size()),
              kGood);
    ASSERT_EQ(cudnnRNNBackwardWeights(handle(), net, steps, xs.all.data(), n.x.data(), n.hidden, n.initial(n.hx),
                                      ys.all.data(), n.y.data(), nullptr, 0, nullptr, n.dWeights.data(),
                                      n.reserve.data(), n.reserve.size()),
              kGood);
    finish();
  }

  Network<double>& n;
  StepTensors xs, ys;
  cudnnRNNDescriptor_t net = nullptr;
};

TEST(CudnnRnn, TheInterfaceBefore8IsTheSame) {
  for (int round = 0; round < 20; ++round) {
    Form form(kCells[round % 4]);
    form.layout = CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED;
    std::sort(form.lengths.rbegin(), form.lengths.rend());
    Network<double> n(form), same(form);
    randomise(n);
    same.x = n.x, same.hx = n.hx, same.cx = n.cx, same.weights = n.weights;
    const Numbers dy = randoms(n.y.size()), dhy = randoms(n.hy.size()), dcy = randoms(n.cy.size());
    n.forward(CUDNN_FWD_MODE_TRAINING);
    n.backward(dy, dhy, dcy);
    Before8 old(same);
    size_t bytes = 0;
    ASSERT_EQ(cudnnGetRNNParamsSize(handle(), old.net, old.xs.all[0], &bytes, CUDNN_DATA_DOUBLE), kGood);
    ASSERT_EQ(bytes, n.weightBytes());
    ASSERT_EQ(cudnnGetRNNTrainingReserveSize(handle(), old.net, form.longest, old.xs.all.data(), &bytes), kGood);
    ASSERT_EQ(bytes, n.reserve.size());
    old.train(dy, dhy, dcy);
    ASSERT_TRUE(same.y == n.y && same.hy == n.hy && same.dx == n.dx && same.dWeights == n.dWeights);
    cudnnFilterDescriptor_t filter = nullptr;
    ASSERT_EQ(cudnnCreateFilterDescriptor(&filter), kGood);
    void* at = nullptr;
    int rank = 0, sizes[3] = {};
    cudnnDataType_t type{};
    cudnnTensorFormat_t format{};
    ASSERT_EQ(cudnnGetRNNLinLayerMatrixParams(handle(), old.net, 0, old.xs.all[0], nullptr, same.weights.data(),
                                              form.gates(), filter, &at),
              kGood);
    ASSERT_EQ(cudnnGetFilterNdDescriptor(filter, 3, &type, &format, &rank, sizes), kGood);
    ASSERT_TRUE(rank == 3 && sizes[1] == form.hidden && sizes[2] == form.projection);
    cudnnDestroyFilterDescriptor(filter);
  }
}

TEST(CudnnRnn, BadArguments) {
  Form form(CUDNN_GRU);
  form.hasStates = true;
  Network<double> n(form);
  const auto set = [&](cudnnRNNMode_t cell, int input, int hidden, int projection, cudnnRNNInputMode_t mode) {
    return cudnnSetRNNDescriptor_v8(n.net, CUDNN_RNN_ALGO_STANDARD, cell, CUDNN_RNN_DOUBLE_BIAS, CUDNN_UNIDIRECTIONAL,
                                    mode, CUDNN_DATA_DOUBLE, CUDNN_DATA_DOUBLE, CUDNN_DEFAULT_MATH, input, hidden,
                                    projection, 1, nullptr, 0);
  };
  EXPECT_EQ(set(CUDNN_GRU, 3, 4, 2, CUDNN_LINEAR_INPUT), CUDNN_STATUS_NOT_SUPPORTED);  // only an LSTM's is projected
  EXPECT_EQ(set(CUDNN_LSTM, 3, 4, 5, CUDNN_LINEAR_INPUT), CUDNN_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(set(CUDNN_LSTM, 3, 4, 4, CUDNN_SKIP_INPUT), kGood);  // a pass tells it
  EXPECT_EQ(set(CUDNN_LSTM, 3, 0, 0, CUDNN_LINEAR_INPUT), CUDNN_STATUS_BAD_PARAM);
  const int unsorted[] = {1, 2}, tooLong[] = {3, 1};
  EXPECT_EQ(cudnnSetRNNDataDescriptor(n.xData, CUDNN_DATA_DOUBLE, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED, 2, 2, 3,
                                      unsorted, nullptr),
            CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(cudnnSetRNNDataDescriptor(n.xData, CUDNN_DATA_DOUBLE, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED, 2, 2, 3,
                                      tooLong, nullptr),
            CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(cudnnRNNForward(handle(), n.net, CUDNN_FWD_MODE_INFERENCE, nullptr, n.xData, n.x.data(), n.xData,
                            n.y.data(), n.hidden, nullptr, nullptr, n.cells, nullptr, nullptr, n.weightBytes() - 1,
                            n.weights.data(), 0, nullptr, 0, nullptr),
            CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(cudnnRNNSetClip_v8(n.net, CUDNN_RNN_CLIP_NONE, CUDNN_NOT_PROPAGATE_NAN, 0, 0), kGood);
  EXPECT_EQ(cudnnRNNSetClip_v8(n.net, CUDNN_RNN_CLIP_MINMAX, CUDNN_NOT_PROPAGATE_NAN, -1, 1),
            CUDNN_STATUS_NOT_SUPPORTED);
}

}  // namespace
}  // namespace ordito::libs::cudnn
