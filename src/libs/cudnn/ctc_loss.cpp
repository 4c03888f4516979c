// cuDNN: the loss of connectionist temporal classification (Graves, Fernández, Gomez and Schmidhuber, 2006): how likely
// it is that the letters said at each step, blanks and repetitions left out, are a label.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "libs/cudnn/call.hpp"

using namespace ordito::libs;
using namespace ordito::libs::cudnn;

struct cudnnCTCLossStruct {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  cudnnLossNormalizationMode_t normalization = CUDNN_LOSS_NORMALIZATION_NONE;
  int mode = 0;  // cudnnNanPropagation_t or cudnnCTCGradMode_t: the calls of versions 8 and 9 set the same
  int longestLabel = 0;
};

CUDNN_DESCRIPTOR(CTCLoss)

namespace {

constexpr int kBlank = 0, kLongestLabel = 255;
constexpr double kNever = -std::numeric_limits<double>::infinity();

/// The logarithm of the sum of two numbers whose logarithms these are.
double sumOfLogs(double a, double b) {
  const double larger = std::max(a, b);
  return larger == kNever ? kNever : larger + std::log1p(std::exp(std::min(a, b) - larger));
}

/// The probability of each letter at each step of a sequence.
class Letters {
 public:
  Letters(const Shape& shape, const float* from, int n, int steps, bool isSoftmax)
      : count_(shape.size[2]), value_(static_cast<size_t>(steps) * static_cast<size_t>(count_)) {
    for (int t = 0; t < steps; ++t) {
      double* row = &at(t, 0);
      for (int a = 0; a < count_; ++a)
        row[a] = from[int64_t{t} * shape.step[0] + int64_t{n} * shape.step[1] + int64_t{a} * shape.step[2]];
      if (isSoftmax) normalize(row);
    }
  }
  int count() const { return count_; }
  double& at(int t, int a) { return value_[static_cast<size_t>(int64_t{t} * count_ + a)]; }

 private:
  void normalize(double* row) const {
    const double largest = *std::max_element(row, row + count_);
    double sum = 0;
    for (int a = 0; a < count_; ++a) sum += row[a] = std::exp(row[a] - largest);
    for (int a = 0; a < count_; ++a) row[a] /= sum;
  }

  int count_;
  std::vector<double> value_;
};

/// All ways of saying a label, as paths from step to step through its letters with blanks around each.
class Paths {
 public:
  Paths(Letters& letters, int steps, const int* label, int length)
      : letters_(letters), steps_(steps), states_(2 * length + 1), letter_(static_cast<size_t>(states_), kBlank) {
    for (int i = 0; i < length; ++i) letter_[2 * static_cast<size_t>(i) + 1] = label[i];
    forth_ = walk(false);
    back_ = walk(true);
  }
  /// The logarithm of the probability of all paths. As on a GPU it is 0 of an empty label, which so costs nothing.
  double likelihood() const {
    if (states_ == 1) return 0;
    return sumOfLogs(forth_[index(steps_ - 1, states_ - 1)], forth_[index(steps_ - 1, states_ - 2)]);
  }
  /// The part of the paths that say each letter at a step.
  std::vector<double> occupancy(int t) const {
    std::vector<double> part(static_cast<size_t>(letters_.count()));
    for (int s = 0; s < states_; ++s) {  // the letter at this step is in both walks
      const double both = forth_[index(t, s)] + back_[index(t, s)] - logOf(t, s) - likelihood();
      if (logOf(t, s) != kNever) part[static_cast<size_t>(letter_[static_cast<size_t>(s)])] += std::exp(both);
    }
    return part;
  }

 private:
  size_t index(int t, int s) const { return static_cast<size_t>(int64_t{t} * states_ + s); }
  /// A letter that there is not is never said.
  double logOf(int t, int s) const {
    const int letter = letter_[static_cast<size_t>(s)];
    return letter < 0 || letter >= letters_.count() ? kNever : std::log(letters_.at(t, letter));
  }
  /// Whether a path may go between state `s` and the one two before it: not from blank to blank, nor between equal
  /// letters, which would be one.
  bool leaps(int s) const {
    return s >= 2 && letter_[static_cast<size_t>(s)] != kBlank &&
           letter_[static_cast<size_t>(s)] != letter_[static_cast<size_t>(s - 2)];
  }
  /// The logarithm of the probability of all paths from the beginning, or back from the end, to each state.
  std::vector<double> walk(bool isBack) const {
    std::vector<double> sum(static_cast<size_t>(steps_ * states_), kNever);
    const int last = states_ - 1, step = isBack ? -1 : 1;
    for (int i = 0; i < steps_; ++i) {
      const int t = isBack ? steps_ - 1 - i : i;
      for (int k = 0; k < states_; ++k) {
        const int s = isBack ? last - k : k;
        double before = i == 0 && k < 2 ? 0 : kNever;
        if (i > 0) before = sum[index(t - step, s)];
        if (i > 0 && k > 0) before = sumOfLogs(before, sum[index(t - step, s - step)]);
        if (i > 0 && k > 1 && leaps(isBack ? s + 2 : s)) before = sumOfLogs(before, sum[index(t - step, s - 2 * step)]);
        sum[index(t, s)] = before + logOf(t, s);
      }
    }
    return sum;
  }

  Letters& letters_;
  int steps_, states_;
  std::vector<int> letter_;
  std::vector<double> forth_, back_;
};

/// What a call is given, and what it writes.
struct Loss {
  cudnnCTCLossStruct d;
  Shape probabilities, gradients;
  const float* from = nullptr;
  float* costs = nullptr;
  float* to = nullptr;
  bool clears = false;  // the gradients of a sequence that cannot be its label

  void write(int n, int t, int a, double value) const {
    to[int64_t{t} * gradients.step[0] + int64_t{n} * gradients.step[1] + int64_t{a} * gradients.step[2]] =
        static_cast<float>(value);
  }
  /// As on a GPU a sequence that is too short for its label costs nothing; and probabilities that are not normalised
  /// here have another gradient (by themselves, but where no path says the letter).
  void one(int n, const int* label, int length, int steps) const {
    costs[n] = 0;
    if (steps <= 0) return clear(n);
    const bool isSoftmax = d.normalization == CUDNN_LOSS_NORMALIZATION_SOFTMAX;
    Letters letters(probabilities, from, n, steps, isSoftmax);
    const Paths paths(letters, steps, label, length);
    if (paths.likelihood() == kNever) return clear(n);
    costs[n] = static_cast<float>(-paths.likelihood());
    for (int t = 0; to && t < steps; ++t) {
      const std::vector<double> part = paths.occupancy(t);
      for (int a = 0; a < letters.count(); ++a) {
        const double said = part[static_cast<size_t>(a)], probability = letters.at(t, a);
        write(n, t, a, isSoftmax || said == 0 ? probability - said : -said / probability);
      }
    }
  }
  void clear(int n) const {
    for (int t = 0; to && clears && t < gradients.size[0]; ++t)
      for (int a = 0; a < gradients.size[2]; ++a) write(n, t, a, 0);
  }
  void all(const int* labels, const int* lengths, const int* steps) const {
    const auto count = static_cast<size_t>(probabilities.size[1]);
    std::vector<int> begin(count);
    for (size_t n = 1; n < count; ++n) begin[n] = begin[n - 1] + lengths[n - 1];
    parallelFor(static_cast<unsigned>(count), [&](unsigned n) {
      one(static_cast<int>(n), labels + begin[n], lengths[n], std::min(steps[n], probabilities.size[0]));
    });
  }
};

/// Steps, sequences and letters in single precision; gradients may be missing.
cudnnStatus_t checkTensors(const cudnnTensorStruct* probabilities, const cudnnTensorStruct* gradients) {
  CUDNN_CHECK(probabilities && probabilities->rank == 3 && (!gradients || gradients->sameSizes(*probabilities)));
  const bool isSingle = probabilities->type == CUDNN_DATA_FLOAT && (!gradients || gradients->type == CUDNN_DATA_FLOAT);
  return isSingle ? CUDNN_STATUS_SUCCESS : notSupported();
}

cudnnStatus_t checkAlgorithm(cudnnCTCLossAlgo_t algorithm) {
  const bool isKnown =
      algorithm >= CUDNN_CTC_LOSS_ALGO_DETERMINISTIC && algorithm <= CUDNN_CTC_LOSS_ALGO_NON_DETERMINISTIC;
  return isKnown ? CUDNN_STATUS_SUCCESS : notSupported();
}

/// Labels of the host, one behind another.
cudnnStatus_t checkLabels(const Shape& probabilities, const int* labels, const int* lengths, const int* steps) {
  CUDNN_CHECK(lengths && steps);
  for (int n = 0; n < probabilities.size[1]; ++n) {
    CUDNN_CHECK(lengths[n] >= 0 && lengths[n] <= kLongestLabel && steps[n] <= probabilities.size[0]);
    for (int i = 0; i < lengths[n]; ++i, ++labels)
      CUDNN_CHECK(labels && *labels >= 0 && *labels < probabilities.size[2]);
  }
  return CUDNN_STATUS_SUCCESS;
}

/// The task brings its own memory; a program gets a byte to hand over, as for convolutions.
constexpr size_t kRoom = 1;

cudnnStatus_t set(cudnnCTCLossDescriptor_t d, cudnnDataType_t type, cudnnLossNormalizationMode_t normalization,
                  int mode, int longestLabel) {
  CUDNN_CHECK(d && longestLabel >= 0 && longestLabel <= kLongestLabel + 1);
  CUDNN_CHECK(normalization == CUDNN_LOSS_NORMALIZATION_NONE || normalization == CUDNN_LOSS_NORMALIZATION_SOFTMAX);
  if (type != CUDNN_DATA_FLOAT) return notSupported();
  *d = {type, normalization, mode, longestLabel};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t checkNan(cudnnNanPropagation_t nan) {
  CUDNN_CHECK(nan == CUDNN_NOT_PROPAGATE_NAN || nan == CUDNN_PROPAGATE_NAN);
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

// --- what a descriptor says

cudnnStatus_t cudnnSetCTCLossDescriptor(cudnnCTCLossDescriptor_t d, cudnnDataType_t type) {
  return set(d, type, CUDNN_LOSS_NORMALIZATION_NONE, CUDNN_NOT_PROPAGATE_NAN, 0);
}
cudnnStatus_t cudnnSetCTCLossDescriptorEx(cudnnCTCLossDescriptor_t d, cudnnDataType_t type,
                                          cudnnLossNormalizationMode_t normalization, cudnnNanPropagation_t nan) {
  return cudnnSetCTCLossDescriptor_v8(d, type, normalization, nan, 0);
}
cudnnStatus_t cudnnSetCTCLossDescriptor_v8(cudnnCTCLossDescriptor_t d, cudnnDataType_t type,
                                           cudnnLossNormalizationMode_t normalization, cudnnNanPropagation_t nan,
                                           int longestLabel) {
  CUDNN_TRY(checkNan(nan));
  return set(d, type, normalization, nan, longestLabel);
}
cudnnStatus_t cudnnSetCTCLossDescriptor_v9(cudnnCTCLossDescriptor_t d, cudnnDataType_t type,
                                           cudnnLossNormalizationMode_t normalization, cudnnCTCGradMode_t gradients,
                                           int longestLabel) {
  CUDNN_CHECK(gradients == CUDNN_CTC_ZERO_OOB_GRADIENTS || gradients == CUDNN_CTC_SKIP_OOB_GRADIENTS);
  return set(d, type, normalization, gradients, longestLabel);
}

cudnnStatus_t cudnnGetCTCLossDescriptor(cudnnCTCLossDescriptor_t d, cudnnDataType_t* type) {
  CUDNN_CHECK(d && type);
  *type = d->type;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetCTCLossDescriptorEx(cudnnCTCLossDescriptor_t d, cudnnDataType_t* type,
                                          cudnnLossNormalizationMode_t* normalization, cudnnNanPropagation_t* nan) {
  CUDNN_CHECK(normalization && nan);
  CUDNN_TRY(cudnnGetCTCLossDescriptor(d, type));
  *normalization = d->normalization;
  *nan = static_cast<cudnnNanPropagation_t>(d->mode);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetCTCLossDescriptor_v8(cudnnCTCLossDescriptor_t d, cudnnDataType_t* type,
                                           cudnnLossNormalizationMode_t* normalization, cudnnNanPropagation_t* nan,
                                           int* longestLabel) {
  CUDNN_CHECK(longestLabel);
  CUDNN_TRY(cudnnGetCTCLossDescriptorEx(d, type, normalization, nan));
  *longestLabel = d->longestLabel;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetCTCLossDescriptor_v9(cudnnCTCLossDescriptor_t d, cudnnDataType_t* type,
                                           cudnnLossNormalizationMode_t* normalization, cudnnCTCGradMode_t* gradients,
                                           int* longestLabel) {
  cudnnNanPropagation_t mode{};
  CUDNN_CHECK(gradients);
  CUDNN_TRY(cudnnGetCTCLossDescriptor_v8(d, type, normalization, &mode, longestLabel));
  *gradients = static_cast<cudnnCTCGradMode_t>(mode);
  return CUDNN_STATUS_SUCCESS;
}

// --- the loss

cudnnStatus_t cudnnGetCTCLossWorkspaceSize(cudnnHandle_t handle, const cudnnTensorDescriptor_t probabilities,
                                           const cudnnTensorDescriptor_t gradients, const int*, const int* lengths,
                                           const int* steps, cudnnCTCLossAlgo_t algorithm, cudnnCTCLossDescriptor_t d,
                                           size_t* size) {
  CUDNN_CHECK(lengths && steps);
  return cudnnGetCTCLossWorkspaceSize_v8(handle, algorithm, d, probabilities, gradients, size);
}
cudnnStatus_t cudnnGetCTCLossWorkspaceSize_v8(cudnnHandle_t handle, cudnnCTCLossAlgo_t algorithm,
                                              cudnnCTCLossDescriptor_t d, const cudnnTensorDescriptor_t probabilities,
                                              const cudnnTensorDescriptor_t gradients, size_t* size) {
  CUDNN_CHECK(handle && d && size);
  CUDNN_TRY(checkTensors(probabilities, gradients));
  CUDNN_TRY(checkAlgorithm(algorithm));
  *size = kRoom;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCTCLoss(cudnnHandle_t handle, const cudnnTensorDescriptor_t probabilities, const void* from,
                           const int* labels, const int* lengths, const int* steps, void* costs,
                           const cudnnTensorDescriptor_t gradients, void* to, cudnnCTCLossAlgo_t algorithm,
                           cudnnCTCLossDescriptor_t d, void* room, size_t size) {
  CUDNN_CHECK(handle && d && from && costs && room && size >= kRoom && (gradients || !to));
  CUDNN_CHECK(probabilities && probabilities->type == d->type);
  CUDNN_TRY(checkTensors(probabilities, gradients));
  CUDNN_TRY(checkAlgorithm(algorithm));
  CUDNN_TRY(checkLabels(*probabilities, labels, lengths, steps));
  const Loss loss{*d,
                  *probabilities,
                  gradients ? Shape(*gradients) : Shape(),
                  static_cast<const float*>(from),
                  static_cast<float*>(costs),
                  static_cast<float*>(to)};
  const int count = probabilities->size[1], letters = std::accumulate(lengths, lengths + count, 0);
  return submit(handle, "cudnnCTCLoss",
                [loss, labels = std::vector(labels, labels + letters), lengths = std::vector(lengths, lengths + count),
                 steps = std::vector(steps, steps + count)] { loss.all(labels.data(), lengths.data(), steps.data()); });
}

cudnnStatus_t cudnnCTCLoss_v8(cudnnHandle_t handle, cudnnCTCLossAlgo_t algorithm, cudnnCTCLossDescriptor_t d,
                              const cudnnTensorDescriptor_t probabilities, const void* from, const int* labels,
                              const int* lengths, const int* steps, void* costs,
                              const cudnnTensorDescriptor_t gradients, void* to, size_t size, void* room) {
  CUDNN_CHECK(handle && d && from && labels && lengths && steps && costs && room && size >= kRoom);
  CUDNN_CHECK(d->longestLabel > 0 && (gradients || !to));
  CUDNN_CHECK(probabilities && probabilities->type == d->type);
  CUDNN_TRY(checkTensors(probabilities, gradients));
  CUDNN_TRY(checkAlgorithm(algorithm));
  const Loss loss{*d,
                  *probabilities,
                  gradients ? Shape(*gradients) : Shape(),
                  static_cast<const float*>(from),
                  static_cast<float*>(costs),
                  static_cast<float*>(to),
                  d->mode == CUDNN_CTC_ZERO_OOB_GRADIENTS};
  return submit(handle, "cudnnCTCLoss_v8", [=] { loss.all(labels, lengths, steps); });
}
