// cuDNN's recurrent networks in double: where their weights are, what they compute and its gradients, rounded to five
// digits behind the point, and statuses of bad arguments (cases.hpp).
#include <cudnn.h>

#include <cmath>

#include "cases.hpp"

namespace {

/// Numbers between -1 and 1, the same in each run.
double next() {
  static uint32_t state = 7;
  state = state * 1664525 + 1013904223;
  return static_cast<double>(state >> 8) / (1 << 23) - 1;
}

template <class T>
T* filled(size_t count) {
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(next());
  void* memory = nullptr;
  cudaMalloc(&memory, count * sizeof(T) + 1);
  cudaMemcpy(memory, values.data(), count * sizeof(T), cudaMemcpyHostToDevice);
  return static_cast<T*>(memory);
}

std::string rounded(const double* numbers, size_t count) {
  std::vector<double> copy(count);
  cudaDeviceSynchronize();
  if (cudaMemcpy(copy.data(), numbers, count * sizeof(double), cudaMemcpyDefault) != cudaSuccess) return "unreadable";
  std::string text;
  for (const double number : copy) text = joined(text, std::to_string(std::llround(number * 1e5)));
  return text;
}

const int kSteps = 3, kBatch = 2;

struct Net {
  const char* name;
  cudnnRNNMode_t cell;
  cudnnRNNBiasMode_t bias;
  int directions, layers, input, hidden, projection;
  cudnnRNNInputMode_t inputMode;
  cudnnRNNDataLayout_t layout;
};

cudnnStatus_t set(cudnnRNNDescriptor_t rnn, const Net& n, cudnnDropoutDescriptor_t dropout,
                  cudnnDataType_t type = CUDNN_DATA_DOUBLE) {
  return cudnnSetRNNDescriptor_v8(rnn, CUDNN_RNN_ALGO_STANDARD, n.cell, n.bias,
                                  n.directions == 2 ? CUDNN_BIDIRECTIONAL : CUDNN_UNIDIRECTIONAL, n.inputMode, type,
                                  type, CUDNN_DEFAULT_MATH, n.input, n.hidden, n.projection, n.layers, dropout,
                                  CUDNN_RNN_PADDED_IO_ENABLED);
}

cudnnDropoutDescriptor_t noDropout(cudnnHandle_t h) {
  cudnnDropoutDescriptor_t made = nullptr;
  cudnnCreateDropoutDescriptor(&made);
  cudnnSetDropoutDescriptor(made, h, 0, nullptr, 0, 0);
  return made;
}

cudnnRNNDataDescriptor_t data(const Net& n, int vector, const int* lengths) {
  cudnnRNNDataDescriptor_t made = nullptr;
  double fill = -7;
  cudnnCreateRNNDataDescriptor(&made);
  cudnnSetRNNDataDescriptor(made, CUDNN_DATA_DOUBLE, n.layout, kSteps, kBatch, vector, lengths, &fill);
  return made;
}

cudnnTensorDescriptor_t states(int layers, int size) {
  cudnnTensorDescriptor_t made = nullptr;
  const int sizes[] = {layers, kBatch, size}, steps[] = {kBatch * size, size, 1};
  cudnnCreateTensorDescriptor(&made);
  cudnnSetTensorNdDescriptor(made, CUDNN_DATA_DOUBLE, 3, sizes, steps);
  return made;
}

/// Fills all matrices and biases by their numbers, and says where they are.
std::string fillWeights(cudnnHandle_t h, cudnnRNNDescriptor_t rnn, const Net& n, size_t bytes, char* weights) {
  std::string places;
  for (int p = 0; p < n.directions * n.layers; ++p) {
    for (int number = 0; number < (n.cell == CUDNN_LSTM ? 9 : n.cell == CUDNN_GRU ? 6 : 2); ++number) {
      cudnnTensorDescriptor_t tensors[2];
      void* at[2] = {};
      for (auto& tensor : tensors) cudnnCreateTensorDescriptor(&tensor);
      const auto status =
          cudnnGetRNNWeightParams(h, rnn, p, bytes, weights, number, tensors[0], &at[0], tensors[1], &at[1]);
      places = joined(places, status == 0 ? "|" : std::to_string(status));
      for (int i = 0; i < 2 && status == 0; ++i) {
        cudnnDataType_t type;
        int rank = 0, sizes[3] = {}, steps[3] = {};
        cudnnGetTensorNdDescriptor(tensors[i], 3, &type, &rank, sizes, steps);
        const size_t count = static_cast<size_t>(sizes[0]) * sizes[1] * sizes[2];
        places = joined(places, at[i] ? std::to_string(static_cast<char*>(at[i]) - weights) : "-");
        for (int d = 0; d < 3 && at[i]; ++d) places += (d == 0 ? ":" : "x") + std::to_string(sizes[d]);
        if (at[i]) cudaMemcpy(at[i], filled<double>(count), count * sizeof(double), cudaMemcpyDefault);
      }
    }
  }
  return places;
}

void computes(Cases& cases, cudnnHandle_t h, const Net& n) {
  const std::string name = n.name;
  const int lengths[] = {3, 2}, pseudo = n.directions * n.layers, width = n.directions * n.projection;
  int* onDevice = on<int>({3, 2});
  cudnnRNNDescriptor_t rnn;
  cudnnCreateRNNDescriptor(&rnn);
  CASE((name + ": set").c_str(), set(rnn, n, noDropout(h)));
  const auto x = data(n, n.input, lengths), y = data(n, width, lengths);
  const auto hidden = states(pseudo, n.projection), cells = states(pseudo, n.hidden);
  size_t bytes = 0, work = 0, reserve = 0;
  CASE((name + ": weights").c_str(), cudnnGetRNNWeightSpaceSize(h, rnn, &bytes), std::to_string(bytes));
  cudnnGetRNNWeightSpaceSize(h, rnn, &bytes);
  char* weights = zeros<char>(bytes);
  const std::string places = fillWeights(h, rnn, n, bytes, weights);
  CASE((name + ": places").c_str(), 0, places);
  cudnnGetRNNTempSpaceSizes(h, rnn, CUDNN_FWD_MODE_TRAINING, x, &work, &reserve);
  const size_t vectors = n.layout == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED ? 5 : kSteps * kBatch;
  const size_t xs = vectors * n.input, ys = vectors * width;
  const size_t hs = static_cast<size_t>(pseudo) * kBatch * n.projection,
               cs = static_cast<size_t>(pseudo) * kBatch * n.hidden;
  double *in = filled<double>(xs), *out = zeros<double>(ys), *hx = filled<double>(hs), *cx = filled<double>(cs);
  double *hy = zeros<double>(hs), *cy = zeros<double>(cs), *dy = filled<double>(ys), *dhy = filled<double>(hs);
  double *dcy = filled<double>(cs), *dx = zeros<double>(xs), *dhx = zeros<double>(hs), *dcx = zeros<double>(cs);
  double* dw = zeros<double>(bytes / sizeof(double));
  char *workspace = zeros<char>(work + 1), *kept = zeros<char>(reserve + 1);
  CASE((name + ": y").c_str(),
       cudnnRNNForward(h, rnn, CUDNN_FWD_MODE_TRAINING, onDevice, x, in, y, out, hidden, hx, hy, cells, cx, cy, bytes,
                       weights, work, workspace, reserve, kept),
       rounded(out, ys));
  CASE((name + ": hy").c_str(), 0, rounded(hy, hs));
  CASE((name + ": cy").c_str(), 0, n.cell == CUDNN_LSTM ? rounded(cy, cs) : "");
  CASE((name + ": dx").c_str(),
       cudnnRNNBackwardData_v8(h, rnn, onDevice, y, out, dy, x, dx, hidden, hx, dhy, dhx, cells, cx, dcy, dcx, bytes,
                               weights, work, workspace, reserve, kept),
       rounded(dx, xs));
  CASE((name + ": dhx").c_str(), 0, rounded(dhx, hs));
  CASE((name + ": dcx").c_str(), 0, n.cell == CUDNN_LSTM ? rounded(dcx, cs) : "");
  CASE((name + ": dw").c_str(),
       cudnnRNNBackwardWeights_v8(h, rnn, CUDNN_WGRAD_MODE_ADD, onDevice, x, in, hidden, hx, y, out, bytes, dw, work,
                                  workspace, reserve, kept),
       rounded(dw, bytes / sizeof(double)));
}

void refuses(Cases& cases, cudnnHandle_t h) {
  const Net good = {"",
                    CUDNN_LSTM,
                    CUDNN_RNN_DOUBLE_BIAS,
                    1,
                    1,
                    3,
                    2,
                    2,
                    CUDNN_LINEAR_INPUT,
                    CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED};
  cudnnRNNDescriptor_t rnn;
  cudnnCreateRNNDescriptor(&rnn);
  const auto with = [&](const char* name, void (*change)(Net&)) {
    Net net = good;
    change(net);
    CASE(name, set(rnn, net, noDropout(h)));
  };
  with("set: input 0", [](Net& n) { n.input = 0; });
  with("set: hidden 0", [](Net& n) { n.hidden = 0; });
  with("set: projection 0", [](Net& n) { n.projection = 0; });
  with("set: projection 3 of 2", [](Net& n) { n.projection = 3; });
  with("set: a projected GRU", [](Net& n) { n.cell = CUDNN_GRU, n.projection = 1; });
  with("set: layers 0", [](Net& n) { n.layers = 0; });
  with("set: skipped input of another size", [](Net& n) { n.inputMode = CUDNN_SKIP_INPUT; });
  with("set: cell 9", [](Net& n) { n.cell = cudnnRNNMode_t(9); });
  with("set: bias 9", [](Net& n) { n.bias = cudnnRNNBiasMode_t(9); });
  CASE("set: no dropout", set(rnn, good, nullptr));
  CASE("set: none", set(nullptr, good, noDropout(h)));
  CASE("set: int8", set(rnn, good, noDropout(h), CUDNN_DATA_INT8));
  cudnnRNNDataDescriptor_t d;
  cudnnCreateRNNDataDescriptor(&d);
  const auto lengths = [&](cudnnRNNDataLayout_t layout, int first, int second, int vector) {
    const int both[] = {first, second};
    double fill = 0;
    return cudnnSetRNNDataDescriptor(d, CUDNN_DATA_DOUBLE, layout, 3, 2, vector, both, &fill);
  };
  const auto packed = CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED, padded = CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED;
  CASE("data: packed, unsorted", lengths(packed, 2, 3, 1));
  CASE("data: padded, unsorted", lengths(padded, 2, 3, 1));
  CASE("data: length 0", lengths(padded, 3, 0, 1));
  CASE("data: length -1", lengths(padded, 3, -1, 1));
  CASE("data: length 4 of 3", lengths(padded, 4, 1, 1));
  CASE("data: none of the longest", lengths(padded, 2, 2, 1));
  CASE("data: vector 0", lengths(padded, 3, 1, 0));
  CASE("data: layout 9", lengths(cudnnRNNDataLayout_t(9), 3, 1, 1));
}

}  // namespace

int main(int count, char** arguments) {
  Cases cases(count, arguments);
  cudnnHandle_t handle;
  if (cudnnCreate(&handle) != CUDNN_STATUS_SUCCESS) return 2;
  const auto padded = CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED, packed = CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED;
  const auto batch = CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED;
  const auto linear = CUDNN_LINEAR_INPUT, skip = CUDNN_SKIP_INPUT;
  const Net nets[] = {
      {"relu", CUDNN_RNN_RELU, CUDNN_RNN_DOUBLE_BIAS, 1, 1, 3, 2, 2, linear, padded},
      {"tanh, 2 layers, both ways", CUDNN_RNN_TANH, CUDNN_RNN_SINGLE_INP_BIAS, 2, 2, 3, 2, 2, linear, packed},
      {"lstm", CUDNN_LSTM, CUDNN_RNN_DOUBLE_BIAS, 1, 1, 3, 2, 2, linear, padded},
      {"lstm, 2 layers, both ways", CUDNN_LSTM, CUDNN_RNN_DOUBLE_BIAS, 2, 2, 3, 2, 2, linear, batch},
      {"lstm, projected", CUDNN_LSTM, CUDNN_RNN_NO_BIAS, 1, 2, 3, 4, 2, linear, padded},
      {"lstm, skipped input", CUDNN_LSTM, CUDNN_RNN_SINGLE_REC_BIAS, 1, 1, 2, 2, 2, skip, packed},
      {"gru", CUDNN_GRU, CUDNN_RNN_DOUBLE_BIAS, 1, 1, 3, 2, 2, linear, packed},
      {"gru, 2 layers, both ways", CUDNN_GRU, CUDNN_RNN_SINGLE_REC_BIAS, 2, 2, 3, 2, 2, linear, padded},
      {"gru, one bias", CUDNN_GRU, CUDNN_RNN_SINGLE_INP_BIAS, 1, 2, 3, 2, 2, linear, batch},
      {"gru, skipped input, both ways", CUDNN_GRU, CUDNN_RNN_DOUBLE_BIAS, 2, 2, 2, 2, 2, skip, padded},
  };
  for (const Net& net : nets) computes(cases, handle, net);
  refuses(cases, handle);
}
