// Where the weights of a recurrent network are, and its sequences.
#include <algorithm>
#include <numeric>

#include "libs/cudnn/rnn.hpp"

namespace ordito::libs::cudnn {

int Weights::columnsOf(int pseudoLayer, int number) const {
  const int gates = net_.gates();
  if (number < gates) return net_.skips(pseudoLayer) ? 0 : net_.inputOf(pseudoLayer / net_.directions());
  return number < 2 * gates ? net_.projection : net_.hidden;
}

bool Weights::hasBias(int number) const {
  if (number >= 2 * net_.gates()) return false;
  return number < net_.gates() ? net_.hasInputBias() : net_.hasRecurrentBias();
}

WeightPlace Weights::matrix(int pseudoLayer, int number) const {
  const int numbers = 2 * net_.gates() + (net_.isProjected() ? 1 : 0);
  if (number >= numbers) return {};
  WeightPlace place{matricesBefore(pseudoLayer), 0, 0};
  for (int i = 0; i <= number; ++i) {
    place.at += place.count();
    place.rows = i < 2 * net_.gates() ? net_.hidden : net_.projection;
    place.columns = columnsOf(pseudoLayer, i);
  }
  return place;
}

size_t Weights::matricesBefore(int pseudoLayer) const {
  size_t all = 0;
  for (int p = 0; p < pseudoLayer; ++p) {
    for (int i = 0; i < 2 * net_.gates(); ++i)
      all += static_cast<size_t>(net_.hidden) * static_cast<size_t>(columnsOf(p, i));
    if (net_.isProjected()) all += static_cast<size_t>(net_.projection) * static_cast<size_t>(net_.hidden);
  }
  return all;
}

WeightPlace Weights::bias(int pseudoLayer, int number) const {
  if (!hasBias(number)) return {};
  const int of = (net_.hasInputBias() ? net_.gates() : 0) + (net_.hasRecurrentBias() ? net_.gates() : 0);
  const int index = number < net_.gates() || !net_.hasInputBias() ? number % net_.gates() : number;
  const size_t before = static_cast<size_t>(pseudoLayer) * static_cast<size_t>(of) + static_cast<size_t>(index);
  return {matricesBefore(net_.pseudoLayers()) + before * static_cast<size_t>(net_.hidden), net_.hidden, 1};
}

size_t Weights::count() const {
  const int biases = (net_.hasInputBias() ? net_.gates() : 0) + (net_.hasRecurrentBias() ? net_.gates() : 0);
  return matricesBefore(net_.pseudoLayers()) +
         static_cast<size_t>(net_.pseudoLayers()) * static_cast<size_t>(biases) * static_cast<size_t>(net_.hidden);
}

Steps::Steps(const Sequences& sequences) : order_(sequences.lengths.size()) {
  const std::vector<int>& lengths = sequences.lengths;
  std::iota(order_.begin(), order_.end(), 0);
  std::sort(order_.begin(), order_.end(), [&](int a, int b) {
    const int lengthOfA = lengths[static_cast<size_t>(a)], lengthOfB = lengths[static_cast<size_t>(b)];
    return lengthOfA != lengthOfB ? lengthOfA > lengthOfB : a < b;
  });
  const int longest = lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
  for (int t = 0; t < longest; ++t) {
    firsts_.push_back(rows_);
    counts_.push_back(
        static_cast<int>(std::count_if(lengths.begin(), lengths.end(), [&](int length) { return length > t; })));
    rows_ += counts_.back();
  }
}

int64_t Steps::place(const Sequences& in, int t, int k) const {
  switch (in.layout) {
    case CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED: return int64_t{t} * in.batch + member(k);
    case CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED: return int64_t{member(k)} * in.longest + t;
    default: return int64_t{first(t)} + k;
  }
}

}  // namespace ordito::libs::cudnn
