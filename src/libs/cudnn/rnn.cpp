// The passes over a recurrent network. A layer's products with its input are one for all steps; those with the state
// are one for each step, over all sequences that are long enough. Numbers of 16 bits are widened, and rounded when they
// are stored.
#include "libs/cudnn/rnn.hpp"

#include <algorithm>

#include "libs/cudnn/dropout.hpp"
#include "libs/cudnn/product.hpp"
#include "libs/cudnn/rnn_cells.hpp"
#include "libs/cudnn/rnn_memory.hpp"

namespace ordito::libs::cudnn {
namespace {

/// C = A op(B) + beta C with A's rows in parts side by side.
template <class T>
void multiplyRows(bool isTransposedB, int m, int n, int k, const T* a, const T* b, T beta, T* c) {
  constexpr int kAtOnce = 64;
  if (n == 0 || m == 0) return;
  parallelFor(static_cast<unsigned>((m + kAtOnce - 1) / kAtOnce), [&](unsigned part) {
    const int64_t first = int64_t{part} * kAtOnce;
    const int rows = static_cast<int>(std::min<int64_t>(kAtOnce, m - first));
    multiply(false, isTransposedB, rows, n, k, a + first * k, b, beta, c + first * n);
  });
}

size_t product(int a, int b) { return static_cast<size_t>(a) * static_cast<size_t>(b); }

template <class E>
class Pass {
 public:
  using T = Compute<E>;
  explicit Pass(const RecurrentCall& call)
      : call_(call),
        net_(call.net),
        places_(net_),
        steps_(call.x),
        plan_(net_, steps_.rows(), call.reserve != nullptr),
        memory_(static_cast<T*>(call.reserve)) {
    if (!memory_) own_.resize(plan_.count()), memory_ = own_.data();
  }

  void forward(const void* x, void* y, StatesOut last) {
    readWeights();
    load(x, call_.x, at(plan_.layers[0].input));
    for (int layer = 0; layer < net_.layers; ++layer) {
      if (layer > 0) makeInput(layer);
      for (int d = 0; d < net_.directions(); ++d) layerForward(layer * net_.directions() + d, last);
    }
    std::vector<T> top(rows() * width());
    joinOutputs(net_.layers - 1, top.data());
    store(top.data(), call_.y, y);
  }

  void backwardData(const void* dy, StatesIn dLast, void* dx, StatesOut dInitial) {
    readWeights();
    std::vector<T> gradient(rows() * width());
    load(dy, call_.y, gradient.data());
    for (int layer = net_.layers; layer-- > 0;) {
      std::vector<T> dInput(rows() * static_cast<size_t>(net_.inputOf(layer)));
      for (int d = 0; d < net_.directions(); ++d)
        layerBackward(layer * net_.directions() + d, gradient, dLast, dInitial, dInput.data());
      if (layer > 0 && net_.dropsOut())
        for (size_t i = 0; i < dInput.size(); ++i) dInput[i] *= at(plan_.layers[static_cast<size_t>(layer)].mask)[i];
      gradient = std::move(dInput);
    }
    if (dx) store(gradient.data(), call_.x, dx);
  }

  void backwardWeights(E* dWeights, bool adds) {
    std::vector<T> sums(places_.count());
    for (int p = 0; p < net_.pseudoLayers(); ++p) addGradients(p, sums.data());
    forAll(static_cast<int64_t>(sums.size()), [&](int64_t i) {
      const T before = adds ? wide(dWeights[i]) : T(0);
      dWeights[i] = static_cast<E>(before + sums[static_cast<size_t>(i)]);
    });
  }

 private:
  size_t rows() const { return static_cast<size_t>(steps_.rows()); }
  size_t width() const { return product(net_.projection, net_.directions()); }  // of an output
  T* at(size_t place) { return memory_ + place; }
  const PseudoLayerPlaces& of(int p) const { return plan_.pseudoLayers[static_cast<size_t>(p)]; }
  bool isForward(int p) const { return p % net_.directions() == 0; }
  /// The i-th step in a direction.
  int step(int p, int i) const { return isForward(p) ? i : steps_.steps() - 1 - i; }
  int gateWidth() const { return net_.gates() * net_.hidden; }

  void readWeights() {
    const auto* from = static_cast<const E*>(call_.weights);
    if constexpr (std::is_same_v<E, T>) {
      weights_ = from;
    } else {
      wideWeights_.resize(places_.count());
      forAll(static_cast<int64_t>(wideWeights_.size()),
             [&](int64_t i) { wideWeights_[static_cast<size_t>(i)] = wide(from[i]); });
      weights_ = wideWeights_.data();
    }
  }
  const T* matrix(int p, int number) const { return weights_ + places_.matrix(p, number).at; }

  /// visit(row, where in memory in elements) for each step of each sequence.
  template <class Visit>
  void forPlaces(const Sequences& in, const Visit& visit) const {
    for (int t = 0; t < steps_.steps(); ++t)
      for (int k = 0; k < steps_.count(t); ++k) visit(int64_t{steps_.first(t)} + k, steps_.place(in, t, k) * in.vector);
  }
  void load(const void* from, const Sequences& in, T* to) const {
    forPlaces(in, [&](int64_t row, int64_t place) {
      for (int j = 0; j < in.vector; ++j) to[row * in.vector + j] = wide(static_cast<const E*>(from)[place + j]);
    });
  }
  void store(const T* from, const Sequences& in, void* to) const {
    auto* out = static_cast<E*>(to);
    if (in.hasFill && in.layout != CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED)
      std::fill_n(out, int64_t{in.longest} * in.batch * in.vector, static_cast<E>(static_cast<T>(in.fill)));
    forPlaces(in, [&](int64_t row, int64_t place) {
      for (int j = 0; j < in.vector; ++j) out[place + j] = static_cast<E>(from[row * in.vector + j]);
    });
  }
  /// States of a pseudo-layer, longest sequences first; zeros if there are none.
  std::vector<T> loadStates(const void* from, int p, int size) const {
    std::vector<T> out(static_cast<size_t>(steps_.batch()) * static_cast<size_t>(size));
    if (from) {
      for (int k = 0; k < steps_.batch(); ++k)
        for (int j = 0; j < size; ++j)
          out[product(k, size) + static_cast<size_t>(j)] =
              wide(static_cast<const E*>(from)[statePlace(p, k, size) + j]);
    }
    return out;
  }
  int64_t statePlace(int p, int k, int size) const { return (int64_t{p} * steps_.batch() + steps_.member(k)) * size; }
  void storeState(void* to, int p, int k, int size, const T* state) const {
    if (!to) return;
    for (int j = 0; j < size; ++j) static_cast<E*>(to)[statePlace(p, k, size) + j] = static_cast<E>(state[j]);
  }

  void joinOutputs(int layer, T* to) {
    const int out = net_.projection, directions = net_.directions();
    for (int d = 0; d < directions; ++d) {
      const T* from = at(of(layer * directions + d).outputs);
      for (size_t row = 0; row < rows(); ++row)
        std::copy_n(from + row * static_cast<size_t>(out), out, to + row * width() + product(d, out));
    }
  }

  /// The outputs of the layer below, some dropped if this is a training.
  void makeInput(int layer) {
    const LayerPlaces& place = plan_.layers[static_cast<size_t>(layer)];
    T* input = at(place.input);
    joinOutputs(layer - 1, input);
    if (!net_.dropsOut() || !call_.reserve) return;
    auto* states = static_cast<DropoutStates*>(net_.dropout.states);
    const auto rate = static_cast<double>(net_.dropout.rate);
    T* mask = at(place.mask);
    for (size_t i = 0; i < rows() * width(); ++i) {
      mask[i] = states->uniform(i) >= rate ? static_cast<T>(1 / (1 - rate)) : T(0);
      input[i] *= mask[i];
    }
    ++states->calls;
  }

  /// The vectors of the step before, those of `initial` where a sequence begins.
  void gatherBefore(int p, int t, const T* all, const std::vector<T>& initial, int size, T* to) const {
    const int before = isForward(p) ? t - 1 : t + 1, has = std::min(steps_.count(before), steps_.count(t));
    if (has > 0)
      std::copy_n(all + static_cast<size_t>(steps_.first(before)) * static_cast<size_t>(size), has * size, to);
    std::copy(initial.begin() + has * size, initial.begin() + steps_.count(t) * size, to + has * size);
  }

  /// What the input and the biases give to the gates, of all steps.
  void inputToGates(int p) {
    const int layer = p / net_.directions(), width = net_.inputOf(layer), gates = gateWidth();
    const T* input = at(plan_.layers[static_cast<size_t>(layer)].input);
    T* to = at(of(p).gates);
    const std::vector<T> bias = gateBias(p);
    for (size_t row = 0; row < rows(); ++row) {
      T* gate = to + row * static_cast<size_t>(gates);
      std::copy(bias.begin(), bias.end(), gate);
      if (!net_.skips(p)) continue;
      for (int j = 0; j < gates; ++j)
        gate[j] += input[row * static_cast<size_t>(width) + static_cast<size_t>(j % net_.hidden)];
    }
    if (!net_.skips(p)) multiplyRows(true, steps_.rows(), gates, width, input, matrix(p, 0), T(1), to);
  }
  /// Both biases, but that of a GRU's candidate, which its reset gate scales.
  std::vector<T> gateBias(int p) const {
    std::vector<T> out(static_cast<size_t>(gateWidth()));
    for (int number = 0; number < 2 * net_.gates(); ++number) {
      const WeightPlace place = places_.bias(p, number);
      if (place.rows == 0 || (net_.cell == CUDNN_GRU && number == 5)) continue;
      for (int j = 0; j < net_.hidden; ++j)
        out[product(number % net_.gates(), net_.hidden) + static_cast<size_t>(j)] +=
            weights_[place.at + static_cast<size_t>(j)];
    }
    return out;
  }
  const T* candidateBias(int p) const {
    const WeightPlace place = net_.cell == CUDNN_GRU ? places_.bias(p, 5) : WeightPlace{};
    return place.rows != 0 ? weights_ + place.at : nullptr;
  }

  void layerForward(int p, StatesOut last) {
    inputToGates(p);
    const int out = net_.projection, hidden = net_.hidden, batch = steps_.batch();
    const std::vector<T> state = loadStates(call_.initial.hidden, p, out);
    const std::vector<T> cells = loadStates(call_.initial.cells, p, hidden);
    std::vector<T> before(state.size()), cellsBefore(cells.size());
    std::vector<T> recurrent(product(batch, gateWidth()));
    for (int i = 0; i < steps_.steps(); ++i) {
      const int t = step(p, i);
      gatherBefore(p, t, at(of(p).outputs), state, out, before.data());
      if (net_.cell == CUDNN_LSTM) gatherBefore(p, t, at(of(p).cells), cells, hidden, cellsBefore.data());
      multiplyRows(true, steps_.count(t), gateWidth(), out, before.data(), matrix(p, net_.gates()), T(0),
                   recurrent.data());
      for (int k = 0; k < steps_.count(t); ++k)
        cellForward(net_.cell, cellStep(p, t, k, before, cellsBefore, recurrent));
      project(p, t);
    }
    storeLast(p, state, cells, last);
  }

  CellStep<T> cellStep(int p, int t, int k, const std::vector<T>& before, const std::vector<T>& cellsBefore,
                       const std::vector<T>& recurrent) {
    const auto row = static_cast<size_t>(steps_.first(t)) + static_cast<size_t>(k),
               hidden = static_cast<size_t>(net_.hidden);
    const auto gates = static_cast<size_t>(gateWidth()), number = static_cast<size_t>(k);
    return {net_.hidden,
            at(of(p).gates) + row * gates,
            recurrent.data() + number * gates,
            candidateBias(p),
            before.data() + number * static_cast<size_t>(net_.projection),
            cellsBefore.data() + number * hidden,
            at(of(p).cells) + row * hidden,
            at(of(p).candidates) + row * hidden,
            at(of(p).states) + row * hidden};
  }

  void project(int p, int t) {
    if (!net_.isProjected()) return;
    const auto first = static_cast<size_t>(steps_.first(t));
    multiplyRows(true, steps_.count(t), net_.projection, net_.hidden,
                 at(of(p).states) + first * static_cast<size_t>(net_.hidden), matrix(p, 2 * net_.gates()), T(0),
                 at(of(p).outputs) + first * static_cast<size_t>(net_.projection));
  }

  void storeLast(int p, const std::vector<T>& state, const std::vector<T>& cells, StatesOut last) {
    for (int k = 0; k < steps_.batch(); ++k) {
      int length = 0;
      while (steps_.count(length) > k) ++length;
      const auto row = static_cast<size_t>(length == 0 ? 0 : steps_.first(isForward(p) ? length - 1 : 0) + k);
      const auto lastOf = [&](const std::vector<T>& initial, size_t place, int size) {
        const auto wide = static_cast<size_t>(size);
        return length == 0 ? initial.data() + static_cast<size_t>(k) * wide : at(place) + row * wide;
      };
      storeState(last.hidden, p, k, net_.projection, lastOf(state, of(p).outputs, net_.projection));
      if (net_.cell == CUDNN_LSTM) storeState(last.cells, p, k, net_.hidden, lastOf(cells, of(p).cells, net_.hidden));
    }
  }

  /// `gradient` is that of all outputs of the layer; the input's is added to `dInput`.
  void layerBackward(int p, const std::vector<T>& gradient, StatesIn dLast, StatesOut dInitial, T* dInput) {
    const int out = net_.projection, hidden = net_.hidden;
    const std::vector<T> cells = loadStates(call_.initial.cells, p, hidden);
    const std::vector<T> state = loadStates(call_.initial.hidden, p, out);
    Carried carried{loadStates(dLast.hidden, p, out), loadStates(dLast.cells, p, hidden)};
    for (int i = steps_.steps(); i-- > 0;) {
      const int t = step(p, i);
      const std::vector<T> dOutput = outputGradient(p, t, gradient, carried.state);
      stepBackward(p, t, dOutput, state, cells, carried);
    }
    for (int k = 0; k < steps_.batch(); ++k) {
      storeState(dInitial.hidden, p, k, out, carried.state.data() + product(k, out));
      if (net_.cell == CUDNN_LSTM) storeState(dInitial.cells, p, k, hidden, carried.cells.data() + product(k, hidden));
    }
    addInputGradient(p, dInput);
  }
  struct Carried {
    std::vector<T> state, cells;  // gradients by the states that the next step in the direction took
  };

  std::vector<T> outputGradient(int p, int t, const std::vector<T>& gradient, const std::vector<T>& carried) const {
    const auto out = static_cast<size_t>(net_.projection);
    const size_t column = static_cast<size_t>(p % net_.directions()) * out;
    std::vector<T> sum(static_cast<size_t>(steps_.count(t)) * out);
    for (size_t k = 0; k < static_cast<size_t>(steps_.count(t)); ++k)
      for (size_t j = 0; j < out; ++j)
        sum[k * out + j] =
            gradient[(static_cast<size_t>(steps_.first(t)) + k) * width() + column + j] + carried[k * out + j];
    return sum;
  }

  void stepBackward(int p, int t, const std::vector<T>& dOutput, const std::vector<T>& state,
                    const std::vector<T>& cells, Carried& carried) {
    const int count = steps_.count(t), out = net_.projection, hidden = net_.hidden, gates = gateWidth();
    const auto first = static_cast<size_t>(steps_.first(t));
    std::vector<T> dState = dOutput, before(product(count, out)), cellsBefore(product(count, hidden));
    if (net_.isProjected()) {
      std::copy(dOutput.begin(), dOutput.end(), at(of(p).dOutputs) + first * static_cast<size_t>(out));
      dState.resize(product(count, hidden));
      multiplyRows(false, count, hidden, out, dOutput.data(), matrix(p, 2 * net_.gates()), T(0), dState.data());
    }
    gatherBefore(p, t, at(of(p).outputs), state, out, before.data());
    if (net_.cell == CUDNN_LSTM) gatherBefore(p, t, at(of(p).cells), cells, hidden, cellsBefore.data());
    for (int k = 0; k < count; ++k) {
      const auto row = first + static_cast<size_t>(k), h = static_cast<size_t>(hidden), number = static_cast<size_t>(k);
      const auto g = static_cast<size_t>(gates), o = static_cast<size_t>(out);
      cellBackward(net_.cell, CellGradient<T>{hidden, at(of(p).gates) + row * g, at(of(p).cells) + row * h,
                                              cellsBefore.data() + number * h, at(of(p).candidates) + row * h,
                                              before.data() + number * o, dState.data() + number * h,
                                              carried.cells.data() + number * h, at(of(p).deltas) + row * g,
                                              at(of(p).recurrentDeltas) + row * g, carried.state.data() + number * o});
    }
    multiplyRows(false, count, out, gates, at(of(p).recurrentDeltas) + first * static_cast<size_t>(gates),
                 matrix(p, net_.gates()), T(net_.cell == CUDNN_GRU ? 1 : 0), carried.state.data());
  }

  void addInputGradient(int p, T* dInput) {
    const int width = net_.inputOf(p / net_.directions()), gates = gateWidth();
    const T* deltas = at(of(p).deltas);
    if (!net_.skips(p)) return multiplyRows(false, steps_.rows(), width, gates, deltas, matrix(p, 0), T(1), dInput);
    for (size_t row = 0; row < rows(); ++row)
      for (int j = 0; j < gates; ++j)
        dInput[row * static_cast<size_t>(width) + static_cast<size_t>(j % net_.hidden)] +=
            deltas[row * static_cast<size_t>(gates) + static_cast<size_t>(j)];
  }

  void addGradients(int p, T* sums) {
    const int n = steps_.rows(), gates = gateWidth(), out = net_.projection, layer = p / net_.directions();
    if (n == 0) return;
    const T* deltas = at(of(p).deltas);
    const T* recurrent = at(of(p).recurrentDeltas);
    if (!net_.skips(p))
      multiply(true, false, gates, net_.inputOf(layer), n, deltas, at(plan_.layers[static_cast<size_t>(layer)].input),
               T(0), sums + places_.matrix(p, 0).at);
    const std::vector<T> before = statesBefore(p);
    multiply(true, false, gates, out, n, recurrent, before.data(), T(0), sums + places_.matrix(p, net_.gates()).at);
    if (net_.isProjected())
      multiply(true, false, out, net_.hidden, n, at(of(p).dOutputs), at(of(p).states), T(0),
               sums + places_.matrix(p, 2 * net_.gates()).at);
    for (int number = 0; number < 2 * net_.gates(); ++number) {
      const WeightPlace place = places_.bias(p, number);
      const T* from = number < net_.gates() ? deltas : recurrent;
      for (size_t row = 0; row < rows() && place.rows != 0; ++row)
        for (int j = 0; j < net_.hidden; ++j)
          sums[place.at + static_cast<size_t>(j)] +=
              from[row * static_cast<size_t>(gates) + static_cast<size_t>(number % net_.gates() * net_.hidden + j)];
    }
  }
  std::vector<T> statesBefore(int p) {
    const std::vector<T> state = loadStates(call_.initial.hidden, p, net_.projection);
    std::vector<T> all(rows() * static_cast<size_t>(net_.projection));
    for (int t = 0; t < steps_.steps(); ++t)
      gatherBefore(p, t, at(of(p).outputs), state, net_.projection,
                   all.data() + static_cast<size_t>(steps_.first(t)) * static_cast<size_t>(net_.projection));
    return all;
  }

  const RecurrentCall& call_;
  const RecurrentNet& net_;
  Weights places_;
  Steps steps_;
  MemoryPlan plan_;
  T* memory_;
  std::vector<T> own_, wideWeights_;
  const T* weights_ = nullptr;
};

}  // namespace

size_t RecurrentCall::reserveBytes() const {
  const size_t element = net.type == CUDNN_DATA_DOUBLE ? sizeof(double) : sizeof(float);
  return MemoryPlan(net, Steps(x).rows(), true).count() * element;
}

void recurrentForward(const RecurrentCall& call, const void* x, void* y, StatesOut last) {
  withElement(call.net.type, [&](auto zero) { Pass<decltype(zero)>(call).forward(x, y, last); });
}
void recurrentBackwardData(const RecurrentCall& call, const void* dy, StatesIn dLast, void* dx, StatesOut dInitial) {
  withElement(call.net.type, [&](auto zero) { Pass<decltype(zero)>(call).backwardData(dy, dLast, dx, dInitial); });
}
void recurrentBackwardWeights(const RecurrentCall& call, void* dWeights, bool adds) {
  withElement(call.net.type, [&](auto zero) {
    using E = decltype(zero);
    Pass<E>(call).backwardWeights(static_cast<E*>(dWeights), adds);
  });
}

}  // namespace ordito::libs::cudnn
