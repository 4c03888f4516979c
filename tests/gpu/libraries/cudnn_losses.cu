// cuDNN: CTC loss, normalisation with its options, divisive normalisation, columns of a convolution: statuses, and
// values to four digits (cases.hpp).
#include <cudnn.h>

#include "cases.hpp"

namespace {

const auto FLOAT = CUDNN_DATA_FLOAT;

cudnnTensorDescriptor_t tensor(std::initializer_list<int> sizes, cudnnDataType_t type = FLOAT) {
  cudnnTensorDescriptor_t made = nullptr;
  cudnnCreateTensorDescriptor(&made);
  std::vector<int> size(sizes), step(size.size(), 1);
  for (size_t i = size.size() - 1; i-- > 0;) step[i] = step[i + 1] * size[i + 1];
  cudnnSetTensorNdDescriptor(made, type, static_cast<int>(size.size()), size.data(), step.data());
  return made;
}

/// Numbers of the device, to four digits.
std::string digits(const float* numbers, size_t count) {
  std::vector<float> copy(count);
  if (cudaMemcpy(copy.data(), numbers, count * sizeof(float), cudaMemcpyDefault) != cudaSuccess) return "unreadable";
  std::string text;
  for (const float number : copy) {
    char buffer[40];
    std::snprintf(buffer, sizeof buffer, "%.4g", std::abs(number) < 5e-7F ? 0.0F : number);
    text = joined(text, buffer);
  }
  return text;
}

float* filled(size_t count, float value) {
  std::vector<float> all(count, value);
  float* memory = zeros<float>(count);
  cudaMemcpy(memory, all.data(), count * sizeof(float), cudaMemcpyHostToDevice);
  return memory;
}

float* waves(size_t count, float step) {
  std::vector<float> all(count);
  for (size_t i = 0; i < count; ++i) all[i] = std::sin(step * static_cast<float>(i + 1));
  float* memory = zeros<float>(count);
  cudaMemcpy(memory, all.data(), count * sizeof(float), cudaMemcpyHostToDevice);
  return memory;
}

/// Five steps of two sequences with four letters.
struct Loss {
  static constexpr int T = 5, N = 2, A = 4;
  cudnnHandle_t h;
  cudnnCTCLossDescriptor_t d = nullptr;
  cudnnTensorDescriptor_t probabilities = tensor({T, N, A}), gradients = tensor({T, N, A});
  float *x = waves(T * N * A, 1.3F), *costs = filled(N, -7), *dx = filled(T * N * A, -7);
  std::vector<int> labels{1, 2, 3, 3}, labelLengths{2, 2}, inputLengths{5, 5};
  cudnnCTCLossAlgo_t algorithm = CUDNN_CTC_LOSS_ALGO_DETERMINISTIC;
  size_t room = 1 << 20;

  explicit Loss(cudnnHandle_t handle, cudnnLossNormalizationMode_t mode = CUDNN_LOSS_NORMALIZATION_SOFTMAX)
      : h(handle) {
    cudnnCreateCTCLossDescriptor(&d);
    cudnnSetCTCLossDescriptorEx(d, FLOAT, mode, CUDNN_PROPAGATE_NAN);
  }
  int call() {
    return cudnnCTCLoss(h, probabilities, x, labels.data(), labelLengths.data(), inputLengths.data(), costs, gradients,
                        dx, algorithm, d, zeros<char>(1 << 20), room);
  }
  int size() {
    size_t bytes = 0;
    return cudnnGetCTCLossWorkspaceSize(h, probabilities, gradients, labels.data(), labelLengths.data(),
                                        inputLengths.data(), algorithm, d, &bytes);
  }
  /// The call of version 8, whose labels and lengths are the device's.
  int call8() {
    const auto device = [](const std::vector<int>& all) {
      int* memory = zeros<int>(all.size() + 1);
      cudaMemcpy(memory, all.data(), all.size() * sizeof(int), cudaMemcpyHostToDevice);
      return memory;
    };
    return cudnnCTCLoss_v8(h, algorithm, d, probabilities, x, device(labels), device(labelLengths),
                           device(inputLengths), costs, gradients, dx, room, zeros<char>(1 << 20));
  }
  std::string results() const { return joined(digits(costs, N), digits(dx, T * N * A)); }
};

void settings(Cases& cases) {
  cudnnCTCLossDescriptor_t d = nullptr;
  const auto softmax = CUDNN_LOSS_NORMALIZATION_SOFTMAX;
  const auto nan = CUDNN_PROPAGATE_NAN;
  cudnnDataType_t type = FLOAT;
  cudnnLossNormalizationMode_t mode = softmax;
  cudnnNanPropagation_t gradient = nan;
  CASE("ctc: create, null", cudnnCreateCTCLossDescriptor(nullptr));
  CASE("ctc: create", cudnnCreateCTCLossDescriptor(&d));
  CASE("ctc: destroy none", cudnnDestroyCTCLossDescriptor(nullptr));
  CASE("ctc: set none", cudnnSetCTCLossDescriptor(nullptr, FLOAT));
  CASE("ctc: of halves", cudnnSetCTCLossDescriptor(d, CUDNN_DATA_HALF));
  CASE("ctc: of integers", cudnnSetCTCLossDescriptor(d, CUDNN_DATA_INT32));
  CASE("ctc: set", cudnnSetCTCLossDescriptor(d, FLOAT));
  CASE("ctc: what is set", cudnnGetCTCLossDescriptorEx(d, &type, &mode, &gradient), shown(type), shown(mode),
       shown(gradient));
  CASE("ctc: normalisation 9", cudnnSetCTCLossDescriptorEx(d, FLOAT, cudnnLossNormalizationMode_t(9), nan));
  CASE("ctc: NaN 9", cudnnSetCTCLossDescriptorEx(d, FLOAT, softmax, cudnnNanPropagation_t(9)));
  CASE("ctc: longest label -1", cudnnSetCTCLossDescriptor_v8(d, FLOAT, softmax, nan, -1));
  CASE("ctc: longest label 0", cudnnSetCTCLossDescriptor_v8(d, FLOAT, softmax, nan, 0));
  CASE("ctc: longest label 256", cudnnSetCTCLossDescriptor_v8(d, FLOAT, softmax, nan, 256));
  CASE("ctc: longest label 257", cudnnSetCTCLossDescriptor_v8(d, FLOAT, softmax, nan, 257));
  CASE("ctc: gradient 9", cudnnSetCTCLossDescriptor_v9(d, FLOAT, softmax, cudnnCTCGradMode_t(9), 10));
  CASE("ctc: gradient 100", cudnnSetCTCLossDescriptor_v9(d, FLOAT, softmax, CUDNN_CTC_SKIP_OOB_GRADIENTS, 10));
}

void losses(Cases& cases, cudnnHandle_t h) {
  for (const int algorithm : {0, 1})
    for (const int mode : {0, 1}) {
      Loss loss(h, cudnnLossNormalizationMode_t(mode));
      loss.algorithm = cudnnCTCLossAlgo_t(algorithm);
      if (mode == 0) loss.x = filled(Loss::T * Loss::N * Loss::A, 0.25F);
      const std::string name =
          "ctc: algorithm " + std::to_string(algorithm) + ", normalisation " + std::to_string(mode);
      CASE((name + ", size").c_str(), loss.size());
      CASE(name.c_str(), loss.call(), loss.results());
    }
  const auto with = [&](const char* name, auto change) {
    Loss loss(h);
    change(loss);
    const std::string text = std::string("ctc: ") + name;
    CASE((text + ", size").c_str(), loss.size());
    CASE(text.c_str(), loss.call(), loss.results());
    loss.algorithm = CUDNN_CTC_LOSS_ALGO_NON_DETERMINISTIC;
    CASE((text + ", algorithm 1").c_str(), loss.call(), loss.results());
  };
  with("inputs of lengths 3 and 4", [](Loss& l) { l.inputLengths = {3, 4}; });
  with("an empty label", [](Loss& l) { l.labels = {1, 2}, l.labelLengths = {0, 2}; });
  with("too short for the label", [](Loss& l) { l.inputLengths = {5, 2}; });
  with("an input of length 0", [](Loss& l) { l.inputLengths = {5, 0}; });
  with("an input longer than there are", [](Loss& l) { l.inputLengths = {5, 6}; });
  with("a length of -1", [](Loss& l) { l.inputLengths = {5, -1}; });
  with("a label of length -1", [](Loss& l) { l.labelLengths = {2, -1}; });
  with("a blank in the label", [](Loss& l) { l.labels = {1, 0, 3, 3}; });
  with("a letter that there is not", [](Loss& l) { l.labels = {1, 2, 3, 4}; });
  with("no gradients", [](Loss& l) { l.dx = nullptr; });
  with("no gradients' tensor", [](Loss& l) { l.gradients = nullptr, l.dx = nullptr; });
  with("gradients of other sizes", [](Loss& l) { l.gradients = tensor({5, 2, 3}); });
  with("of doubles", [](Loss& l) { l.probabilities = l.gradients = tensor({5, 2, 4}, CUDNN_DATA_DOUBLE); });
  with("4 dimensions", [](Loss& l) { l.probabilities = l.gradients = tensor({5, 2, 4, 1}); });
  with("no room", [](Loss& l) { l.room = 0; });
  with("no costs", [](Loss& l) { l.costs = nullptr; });
  with("no handle", [](Loss& l) { l.h = nullptr; });
  const auto with8 = [&](const char* name, int longest, cudnnCTCGradMode_t gradient, auto change) {
    Loss loss(h);
    cudnnSetCTCLossDescriptor_v9(loss.d, FLOAT, CUDNN_LOSS_NORMALIZATION_SOFTMAX, gradient, longest);
    change(loss);
    const std::string text = std::string("ctc, version 8: ") + name;
    size_t bytes = 0;
    CASE((text + ", size").c_str(),
         cudnnGetCTCLossWorkspaceSize_v8(h, loss.algorithm, loss.d, loss.probabilities, loss.gradients, &bytes));
    CASE(text.c_str(), loss.call8(), loss.results());
  };
  const auto skip = CUDNN_CTC_SKIP_OOB_GRADIENTS, zero = CUDNN_CTC_ZERO_OOB_GRADIENTS;
  with8("all steps", 10, zero, [](Loss&) {});
  with8("inputs of lengths 3 and 4, the rest 0", 10, zero, [](Loss& l) { l.inputLengths = {3, 4}; });
  with8("inputs of lengths 3 and 4, the rest left", 10, skip, [](Loss& l) { l.inputLengths = {3, 4}; });
  with8("no longest label", 0, zero, [](Loss&) {});
  with8("too short for the label", 10, zero, [](Loss& l) { l.inputLengths = {5, 2}; });
  with8("algorithm 1", 10, zero, [](Loss& l) { l.algorithm = CUDNN_CTC_LOSS_ALGO_NON_DETERMINISTIC; });
  with8("longest label shorter than a label", 1, zero, [](Loss&) {});
}

void normalizations(Cases& cases, cudnnHandle_t h) {
  const float one = 1, zero = 0;
  const auto x = tensor({2, 3, 2, 2}), parameters = tensor({1, 3, 1, 1}), means = tensor({1, 3, 1, 1});
  const auto derived = tensor({1, 1, 1, 1}), others = tensor({1, 1, 1, 1});
  float *data = waves(24, 0.7F), *scale = filled(3, 2), *bias = filled(3, 0.5F), *y = filled(24, -7);
  cudnnActivationDescriptor_t relu = nullptr;
  cudnnCreateActivationDescriptor(&relu);
  cudnnSetActivationDescriptor(relu, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0);
  const auto channel = CUDNN_NORM_PER_CHANNEL;
  const auto derive = [&](cudnnNormMode_t mode, int groups) {
    return cudnnDeriveNormTensorDescriptor(derived, others, x, mode, groups);
  };
  CASE("norm: derive", derive(channel, 1));
  CASE("norm: derive, 2 groups", derive(channel, 2));
  CASE("norm: derive, 0 groups", derive(channel, 0));
  CASE("norm: derive, mode 9", derive(cudnnNormMode_t(9), 1));
  CASE("norm: derive without means", cudnnDeriveNormTensorDescriptor(derived, nullptr, x, channel, 1));
  const auto infer = [&](cudnnNormOps_t operation, cudnnNormAlgo_t algorithm, int groups) {
    return cudnnNormalizationForwardInference(h, channel, operation, algorithm, &one, &zero, x, data, parameters, scale,
                                              bias, means, filled(3, 0.1F), filled(3, 0.3F), x, data, relu, x, y, 1e-3,
                                              groups);
  };
  const auto plain = CUDNN_NORM_OPS_NORM, active = CUDNN_NORM_OPS_NORM_ACTIVATION,
             added = CUDNN_NORM_OPS_NORM_ADD_ACTIVATION;
  const auto standard = CUDNN_NORM_ALGO_STANDARD, persist = CUDNN_NORM_ALGO_PERSIST;
  CASE("norm: inference", infer(plain, standard, 1), digits(y, 6));
  CASE("norm: inference, persistent", infer(plain, persist, 1), digits(y, 6));
  CASE("norm: inference, activation", infer(active, standard, 1), digits(y, 6));
  CASE("norm: inference, addition", infer(added, standard, 1), digits(y, 6));
  CASE("norm: inference, addition, persistent", infer(added, persist, 1), digits(y, 6));
  CASE("norm: inference, 2 groups", infer(plain, standard, 2));
  CASE("norm: inference, 0 groups", infer(plain, standard, 0));
  CASE("norm: inference, operation 9", infer(cudnnNormOps_t(9), standard, 1));
  CASE("norm: inference, algorithm 9", infer(plain, cudnnNormAlgo_t(9), 1));
  const auto train = [&](cudnnNormOps_t operation, cudnnNormAlgo_t algorithm, int groups) {
    return cudnnNormalizationForwardTraining(h, channel, operation, algorithm, &one, &zero, x, data, parameters, scale,
                                             bias, 1, means, zeros<float>(3), zeros<float>(3), 1e-3, zeros<float>(3),
                                             zeros<float>(3), relu, x, data, x, y, zeros<char>(1 << 16), 1 << 16,
                                             zeros<char>(1 << 16), 1 << 16, groups);
  };
  CASE("norm: training", train(plain, standard, 1), digits(y, 6));
  CASE("norm: training, activation", train(active, standard, 1));
  CASE("norm: training, activation, persistent", train(active, persist, 1));
  CASE("norm: training, 2 groups", train(plain, standard, 2));
  size_t bytes = 0;
  CASE("norm: size of the reserve",
       cudnnGetNormalizationTrainingReserveSpaceSize(h, channel, plain, standard, relu, x, &bytes, 1));
  CASE("norm: size of the reserve, 2 groups",
       cudnnGetNormalizationTrainingReserveSpaceSize(h, channel, plain, standard, relu, x, &bytes, 2));
}

void divisions(Cases& cases, cudnnHandle_t h) {
  const float one = 1, zero = 0;
  const auto t = tensor({1, 2, 4, 5});
  float *x = waves(40, 0.9F), *means = waves(40, 0.35F), *y = filled(40, -7), *dx = filled(40, -7),
        *dm = filled(40, -7);
  cudnnLRNDescriptor_t d = nullptr;
  cudnnCreateLRNDescriptor(&d);
  const auto forward = [&](unsigned n, double alpha, double beta, double k, const float* m) {
    cudnnSetLRNDescriptor(d, n, alpha, beta, k);
    return cudnnDivisiveNormalizationForward(h, d, CUDNN_DIVNORM_PRECOMPUTED_MEANS, &one, t, x, m, zeros<float>(40),
                                             zeros<float>(40), &zero, t, y);
  };
  const auto backward = [&](unsigned n, double alpha, double beta, double k, const float* m) {
    cudnnSetLRNDescriptor(d, n, alpha, beta, k);
    return cudnnDivisiveNormalizationBackward(h, d, CUDNN_DIVNORM_PRECOMPUTED_MEANS, &one, t, x, m, waves(40, 2.1F),
                                              zeros<float>(40), zeros<float>(40), &zero, t, dx, dm);
  };
  CASE("divisive: 1", forward(1, 1, 1, 1, nullptr), digits(y, 40));
  CASE("divisive: 3", forward(3, 1, 1, 1, nullptr), digits(y, 40));
  CASE("divisive: 3, alpha 9, beta 0.5", forward(3, 9, 0.5, 0.25, nullptr), digits(y, 40));
  CASE("divisive: 4", forward(4, 2, 0.75, 0.5, nullptr), digits(y, 40));
  CASE("divisive: 3, means", forward(3, 1, 1, 1, means), digits(y, 40));
  CASE("divisive: 3, back", backward(3, 1, 1, 1, nullptr), digits(dx, 40), digits(dm, 40));
  CASE("divisive: 3, means, back", backward(3, 2, 0.75, 0.5, means), digits(dx, 40), digits(dm, 40));
  CASE("divisive: mode 9", cudnnDivisiveNormalizationForward(h, d, cudnnDivNormMode_t(9), &one, t, x, nullptr,
                                                             zeros<float>(40), zeros<float>(40), &zero, t, y));
  CASE("divisive: nothing to work in", cudnnDivisiveNormalizationForward(h, d, CUDNN_DIVNORM_PRECOMPUTED_MEANS, &one, t,
                                                                         x, nullptr, nullptr, nullptr, &zero, t, y));
}

void columns(Cases& cases, cudnnHandle_t h) {
  const auto t = tensor({2, 2, 3, 3});
  cudnnFilterDescriptor_t f = nullptr;
  cudnnConvolutionDescriptor_t c = nullptr;
  cudnnCreateFilterDescriptor(&f);
  cudnnCreateConvolutionDescriptor(&c);
  cudnnSetFilter4dDescriptor(f, FLOAT, CUDNN_TENSOR_NCHW, 1, 2, 2, 2);
  std::vector<float> numbers(36);
  for (size_t i = 0; i < 36; ++i) numbers[i] = static_cast<float>(i + 1);
  float *x = zeros<float>(36), *out = filled(256, -7);
  cudaMemcpy(x, numbers.data(), 36 * sizeof(float), cudaMemcpyHostToDevice);
  for (const int mode : {0, 1}) {
    cudnnSetConvolution2dDescriptor(c, 1, 0, 2, 1, 1, 1, cudnnConvolutionMode_t(mode), FLOAT);
    CASE(("columns: mode " + std::to_string(mode)).c_str(), cudnnIm2Col(h, t, x, f, c, out), digits(out, 80));
  }
  CASE("columns: no place", cudnnIm2Col(h, t, x, f, c, nullptr));
}

}  // namespace

int main(int count, char** arguments) {
  Cases cases(count, arguments);
  cudnnHandle_t handle;
  if (cudnnCreate(&handle) != CUDNN_STATUS_SUCCESS) return 2;
  settings(cases);
  losses(cases, handle);
  normalizations(cases, handle);
  divisions(cases, handle);
  columns(cases, handle);
}
