// What makes an operation of a descriptor, one function for each kind.
#pragma once

#include <algorithm>
#include <climits>
#include <initializer_list>

#include "libs/cudnn/graph/descriptor.hpp"

namespace ordito::libs::cudnn::graph {

/// A descriptor that is not final where one has to be.
inline cudnnStatus_t notFinal() { return status(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, 3); }
inline cudnnStatus_t noPointer() { return status(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, 3); }

bool isKnown(cudnnBackendDescriptorType_t type);

/// Whether these are no negative numbers, and such that sums and products of two are no trouble.
inline bool areSmall(const std::vector<int64_t>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](int64_t n) { return n >= 0 && n <= INT_MAX; });
}

/// Reads a finalised tensor's attributes.
Tensor tensorOf(const Descriptor& tensor);

/// Where an attribute's tensor goes: one that has to be there, or one that may be missing.
struct Slot {
  Slot(cudnnBackendAttributeName_t name, Tensor& needed) : name(name), needed(&needed) {}
  Slot(cudnnBackendAttributeName_t name, std::optional<Tensor>& optional) : name(name), optional(&optional) {}

  cudnnBackendAttributeName_t name;
  Tensor* needed = nullptr;
  std::optional<Tensor>* optional = nullptr;
};

/// What an operation reads and writes, taken from its descriptor.
class Maker {
 public:
  using Slots = std::initializer_list<Slot>;

  Maker(const Descriptor& said, Operation& operation) : said_(said), operation_(operation) {}
  /// Whether all that have to be there are.
  bool read(Slots slots) const { return take(slots, operation_.reads); }
  bool write(Slots slots) const { return take(slots, operation_.writes); }
  std::optional<Tensor> read(cudnnBackendAttributeName_t name) const { return take(name, operation_.reads); }
  std::optional<Tensor> write(cudnnBackendAttributeName_t name) const { return take(name, operation_.writes); }

 private:
  std::optional<Tensor> take(cudnnBackendAttributeName_t name, std::vector<Tensor>& list) const;
  bool take(Slots slots, std::vector<Tensor>& list) const;

  const Descriptor& said_;
  Operation& operation_;
};

using Made = std::shared_ptr<const Operation>;

cudnnStatus_t makePointwise(const Descriptor& said, Made& made);
cudnnStatus_t makeMatmul(const Descriptor& said, Made& made);
cudnnStatus_t makeReduction(const Descriptor& said, Made& made);
cudnnStatus_t makeConvolution(const Descriptor& said, Made& made);
cudnnStatus_t makeConvolutionBackwardData(const Descriptor& said, Made& made);
cudnnStatus_t makeConvolutionBackwardFilter(const Descriptor& said, Made& made);
cudnnStatus_t makeNormForward(const Descriptor& said, Made& made);
cudnnStatus_t makeNormBackward(const Descriptor& said, Made& made);
cudnnStatus_t makeGenStats(const Descriptor& said, Made& made);
cudnnStatus_t makeBnFinalize(const Descriptor& said, Made& made);
cudnnStatus_t makeBnBackwardWeights(const Descriptor& said, Made& made);
cudnnStatus_t makeResample(const Descriptor& said, Made& made);
cudnnStatus_t makeResampleBackward(const Descriptor& said, Made& made);
cudnnStatus_t makeReshape(const Descriptor& said, Made& made);
cudnnStatus_t makeConcat(const Descriptor& said, Made& made);
cudnnStatus_t makeRandom(const Descriptor& said, Made& made);
cudnnStatus_t makeAttention(const Descriptor& said, Made& made);
cudnnStatus_t makeAttentionBackward(const Descriptor& said, Made& made);

}  // namespace ordito::libs::cudnn::graph
