// One cell of a recurrent network at one step: the formulas of cuDNN's manual, and their derivatives. All arrays are of
// the cell's hidden size; gates follow each other.
#pragma once

#include <cmath>

#include "cudnn.h"

namespace ordito::libs::cudnn {

/// What the forward step of a cell reads and writes.
template <class T>
struct CellStep {
  int size;  // of the state
  T* gates;  // what the input gives and all biases, but a GRU's for the candidate's state; then the gates' values
  const T* recurrent;  // what the state before gives
  const T* stateBias;  // a GRU's, for the candidate's state; null: none
  const T* before;     // the state
  const T* cellBefore;
  T* cell;       // LSTM
  T* candidate;  // GRU: what the state gives to the candidate, which the reset gate scales
  T* state;
};

template <class T>
T sigmoid(T x) {
  return 1 / (1 + std::exp(-x));
}

template <class T>
void lstmForward(const CellStep<T>& s) {
  T *input = s.gates, *forget = input + s.size, *fresh = forget + s.size, *output = fresh + s.size;
  for (int j = 0; j < s.size; ++j) {
    input[j] = sigmoid(input[j] + s.recurrent[j]);
    forget[j] = sigmoid(forget[j] + s.recurrent[s.size + j]);
    fresh[j] = std::tanh(fresh[j] + s.recurrent[2 * s.size + j]);
    output[j] = sigmoid(output[j] + s.recurrent[3 * s.size + j]);
    s.cell[j] = forget[j] * s.cellBefore[j] + input[j] * fresh[j];
    s.state[j] = output[j] * std::tanh(s.cell[j]);
  }
}

template <class T>
void gruForward(const CellStep<T>& s) {
  T *reset = s.gates, *update = reset + s.size, *fresh = update + s.size;
  for (int j = 0; j < s.size; ++j) {
    reset[j] = sigmoid(reset[j] + s.recurrent[j]);
    update[j] = sigmoid(update[j] + s.recurrent[s.size + j]);
    s.candidate[j] = s.recurrent[2 * s.size + j] + (s.stateBias ? s.stateBias[j] : T(0));
    fresh[j] = std::tanh(fresh[j] + reset[j] * s.candidate[j]);
    s.state[j] = (1 - update[j]) * fresh[j] + update[j] * s.before[j];
  }
}

template <class T>
void cellForward(cudnnRNNMode_t cell, const CellStep<T>& s) {
  if (cell == CUDNN_LSTM) return lstmForward(s);
  if (cell == CUDNN_GRU) return gruForward(s);
  for (int j = 0; j < s.size; ++j) {
    const T sum = s.gates[j] + s.recurrent[j];
    s.state[j] = s.gates[j] = cell == CUDNN_RNN_TANH ? std::tanh(sum) : sum > 0 ? sum : T(0);
  }
}

/// What the backward step reads and writes: deltas are the gradients by what goes into the gates.
template <class T>
struct CellGradient {
  int size;
  const T *gates, *cell, *cellBefore, *candidate, *before;
  const T* dState;
  T* dCell;            // of this step; becomes that of the step before
  T* deltas;           // by what the input gives
  T* recurrentDeltas;  // by what the state gives; only a GRU's are others
  T* dBefore;          // a GRU's state before counts in the new one as it is
};

template <class T>
void lstmBackward(const CellGradient<T>& g) {
  const T *input = g.gates, *forget = input + g.size, *fresh = forget + g.size, *output = fresh + g.size;
  for (int j = 0; j < g.size; ++j) {
    const T squashed = std::tanh(g.cell[j]);
    const T dCell = g.dState[j] * output[j] * (1 - squashed * squashed) + g.dCell[j];
    g.deltas[j] = dCell * fresh[j] * input[j] * (1 - input[j]);
    g.deltas[g.size + j] = dCell * g.cellBefore[j] * forget[j] * (1 - forget[j]);
    g.deltas[2 * g.size + j] = dCell * input[j] * (1 - fresh[j] * fresh[j]);
    g.deltas[3 * g.size + j] = g.dState[j] * squashed * output[j] * (1 - output[j]);
    g.dCell[j] = dCell * forget[j];
  }
}

template <class T>
void gruBackward(const CellGradient<T>& g) {
  const T *reset = g.gates, *update = reset + g.size, *fresh = update + g.size;
  for (int j = 0; j < g.size; ++j) {
    const T dFresh = g.dState[j] * (1 - update[j]) * (1 - fresh[j] * fresh[j]);
    g.deltas[j] = g.recurrentDeltas[j] = dFresh * g.candidate[j] * reset[j] * (1 - reset[j]);
    g.deltas[g.size + j] = g.recurrentDeltas[g.size + j] =
        g.dState[j] * (g.before[j] - fresh[j]) * update[j] * (1 - update[j]);
    g.deltas[2 * g.size + j] = dFresh;
    g.recurrentDeltas[2 * g.size + j] = dFresh * reset[j];
    g.dBefore[j] = g.dState[j] * update[j];
  }
}

template <class T>
void cellBackward(cudnnRNNMode_t cell, const CellGradient<T>& g) {
  if (cell == CUDNN_LSTM) return lstmBackward(g);
  if (cell == CUDNN_GRU) return gruBackward(g);
  for (int j = 0; j < g.size; ++j) {
    const T value = g.gates[j];
    g.deltas[j] = g.dState[j] * (cell == CUDNN_RNN_TANH ? 1 - value * value : value > 0 ? T(1) : T(0));
  }
}

}  // namespace ordito::libs::cudnn
