// Recurrent networks: what their descriptors say, where a cell's matrices are among the weights, how the sequences of a
// batch lie in memory, and the three passes.
#pragma once

#include <vector>

#include "libs/cudnn/call.hpp"

namespace ordito::libs::cudnn {

struct RecurrentNet {
  cudnnRNNAlgo_t algorithm = CUDNN_RNN_ALGO_STANDARD;
  cudnnRNNMode_t cell = CUDNN_RNN_RELU;
  cudnnRNNBiasMode_t bias = CUDNN_RNN_DOUBLE_BIAS;
  cudnnDirectionMode_t direction = CUDNN_UNIDIRECTIONAL;
  cudnnRNNInputMode_t inputMode = CUDNN_LINEAR_INPUT;
  cudnnDataType_t type = CUDNN_DATA_FLOAT, precision = CUDNN_DATA_FLOAT;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
  int input = 0, hidden = 0, projection = 0;  // projection == hidden: there is none
  int layers = 0;                             // 0: not set
  cudnnDropoutDescriptor_t dropoutDescriptor = nullptr;
  cudnnDropoutStruct dropout;
  uint32_t flags = 0;

  int directions() const { return direction == CUDNN_BIDIRECTIONAL ? 2 : 1; }
  /// One for each layer and direction.
  int pseudoLayers() const { return layers * directions(); }
  int gates() const { return cell == CUDNN_LSTM ? 4 : cell == CUDNN_GRU ? 3 : 1; }
  bool isProjected() const { return projection != hidden; }
  /// Whether a pseudo-layer's input is added to its gates as it is.
  bool skips(int pseudoLayer) const { return pseudoLayer < directions() && inputMode == CUDNN_SKIP_INPUT; }
  int inputOf(int layer) const { return layer == 0 ? input : projection * directions(); }
  bool hasInputBias() const { return bias == CUDNN_RNN_DOUBLE_BIAS || bias == CUDNN_RNN_SINGLE_INP_BIAS; }
  bool hasRecurrentBias() const { return bias == CUDNN_RNN_DOUBLE_BIAS || bias == CUDNN_RNN_SINGLE_REC_BIAS; }
  bool dropsOut() const { return dropout.rate > 0 && layers > 1; }
};

/// The weights are all matrices, stored by rows, pseudo-layer after pseudo-layer: those for the input by gates, those
/// for the state, the projection; then all biases in the same order.
struct WeightPlace {
  size_t at = 0;  ///< In elements.
  int rows = 0, columns = 0;
  size_t count() const { return static_cast<size_t>(rows) * static_cast<size_t>(columns); }
};
class Weights {
 public:
  explicit Weights(const RecurrentNet& net) : net_(net) {}
  size_t count() const;
  /// By cuDNN's number: the gates for the input, those for the state, the projection. Empty if it is not there.
  WeightPlace matrix(int pseudoLayer, int number) const;
  WeightPlace bias(int pseudoLayer, int number) const;

 private:
  int columnsOf(int pseudoLayer, int number) const;
  bool hasBias(int number) const;
  size_t matricesBefore(int pseudoLayer) const;

  const RecurrentNet& net_;
};

/// Sequences of one batch, as a cudnnRNNDataDescriptor_t or an array of tensors says.
struct Sequences {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  cudnnRNNDataLayout_t layout = CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED;
  int longest = 0, batch = 0, vector = 0;
  std::vector<int> lengths;
  bool hasFill = false;
  double fill = 0;  // what goes behind the end of a sequence

  bool sameSizes(const Sequences& other) const {
    return longest == other.longest && batch == other.batch && lengths == other.lengths;
  }
};

/// The steps of a batch, longest sequences first: step t is rows first(t) to first(t) + count(t) of what is packed.
class Steps {
 public:
  explicit Steps(const Sequences& sequences);
  int steps() const { return static_cast<int>(counts_.size()); }
  int batch() const { return static_cast<int>(order_.size()); }
  int count(int t) const { return t < 0 || t >= steps() ? 0 : counts_[static_cast<size_t>(t)]; }
  int first(int t) const { return firsts_[static_cast<size_t>(t)]; }
  int rows() const { return rows_; }
  /// Which of the batch has the k-th longest sequence.
  int member(int k) const { return order_[static_cast<size_t>(k)]; }
  /// Where the vector of step t of the k-th longest sequence is in memory, in vectors.
  int64_t place(const Sequences& in, int t, int k) const;

 private:
  std::vector<int> order_, counts_, firsts_;
  int rows_ = 0;
};

/// Elements of the net's type; null where there is nothing, or nothing is wanted. Weights are the exception.
struct StatesIn {
  const void* hidden = nullptr;
  const void* cells = nullptr;
};
struct StatesOut {
  void* hidden = nullptr;
  void* cells = nullptr;
};

/// A call, which its task keeps.
struct RecurrentCall {
  RecurrentNet net;
  Sequences x, y;
  StatesIn initial;
  const void* weights = nullptr;
  void* reserve = nullptr;  // null: inference

  size_t reserveBytes() const;
};

void recurrentForward(const RecurrentCall& call, const void* x, void* y, StatesOut last);
void recurrentBackwardData(const RecurrentCall& call, const void* dy, StatesIn dLast, void* dx, StatesOut dInitial);
void recurrentBackwardWeights(const RecurrentCall& call, void* dWeights, bool adds);

}  // namespace ordito::libs::cudnn

struct cudnnRNNStruct : ordito::libs::cudnn::RecurrentNet {};
struct cudnnRNNDataStruct : ordito::libs::cudnn::Sequences {};
