// What a pass over a recurrent network computes and the passes after it need: arrays of float or double, one behind the
// other in the reserve space, a row for each step of each sequence.
#pragma once

#include "libs/cudnn/rnn.hpp"

namespace ordito::libs::cudnn {

struct LayerPlaces {
  size_t input = 0, mask = 0;
};
struct PseudoLayerPlaces {
  size_t gates = 0, cells = 0, candidates = 0;
  size_t states = 0, outputs = 0;  // the same without a projection
  size_t deltas = 0, recurrentDeltas = 0;
  size_t dOutputs = 0;  // with a projection
};

class MemoryPlan {
 public:
  MemoryPlan(const RecurrentNet& net, int rows, bool isTraining) : rows_(static_cast<size_t>(rows)) {
    const auto hidden = static_cast<size_t>(net.hidden), out = static_cast<size_t>(net.projection);
    const size_t gates = hidden * static_cast<size_t>(net.gates());
    for (int layer = 0; layer < net.layers; ++layer) {
      const auto width = static_cast<size_t>(net.inputOf(layer));
      layers.push_back({take(width), layer > 0 && net.dropsOut() ? take(width) : 0});
    }
    for (int p = 0; p < net.pseudoLayers(); ++p) {
      PseudoLayerPlaces at;
      at.gates = take(gates);
      if (net.cell == CUDNN_LSTM) at.cells = take(hidden);
      if (net.cell == CUDNN_GRU) at.candidates = take(hidden);
      at.states = at.outputs = take(hidden);
      if (net.isProjected()) at.outputs = take(out);
      if (isTraining) takeGradients(net, at, gates, out);
      pseudoLayers.push_back(at);
    }
  }
  size_t count() const { return count_; }

  std::vector<LayerPlaces> layers;
  std::vector<PseudoLayerPlaces> pseudoLayers;

 private:
  size_t take(size_t width) {
    const size_t at = count_;
    count_ += rows_ * width;
    return at;
  }
  void takeGradients(const RecurrentNet& net, PseudoLayerPlaces& at, size_t gates, size_t out) {
    at.deltas = at.recurrentDeltas = take(gates);
    if (net.cell == CUDNN_GRU) at.recurrentDeltas = take(gates);
    if (net.isProjected()) at.dOutputs = take(out);
  }

  size_t rows_, count_ = 0;
};

}  // namespace ordito::libs::cudnn
