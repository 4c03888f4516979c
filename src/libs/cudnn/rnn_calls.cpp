// cuDNN: the calls of recurrent networks, of version 8 (with descriptors of batches) and of the versions before it
// (with a tensor for each step, or the names that end in Ex).
#include <algorithm>

#include "libs/cublas/openblas.hpp"
#include "libs/cudnn/rnn.hpp"

using namespace ordito::libs;
using namespace ordito::libs::cudnn;

namespace {

/// Tensors of states and their memory; each is null where there is none.
struct States {
  const cudnnTensorStruct* hiddenTensor;
  const cudnnTensorStruct* cellTensor;
};

bool fits(const cudnnTensorStruct* tensor, bool isThere, const RecurrentCall& call, int size) {
  if (!isThere) return true;
  return tensor && tensor->rank >= 3 && tensor->size[0] == call.net.pseudoLayers() && tensor->size[1] == call.x.batch &&
         tensor->size[2] == size && tensor->type == call.net.type;
}

cudnnStatus_t check(cudnnHandle_t handle, const RecurrentCall& call) {
  const RecurrentNet& net = call.net;
  CUDNN_CHECK(handle && net.layers > 0 && net.input > 0 && call.weights);
  CUDNN_CHECK(net.inputMode != CUDNN_SKIP_INPUT || net.input == net.hidden);
  CUDNN_CHECK(call.x.sameSizes(call.y) && call.x.batch > 0 && call.x.type == net.type && call.y.type == net.type);
  CUDNN_CHECK(call.x.vector == net.input && call.y.vector == net.projection * net.directions());
  CUDNN_CHECK(!call.reserve || !net.dropsOut() || net.dropout.states);
  return ordito::cublas::loadOpenBlas() ? CUDNN_STATUS_SUCCESS : notInitialized();
}

cudnnStatus_t checkStates(const RecurrentCall& call, const States& states, bool hasHidden, bool hasCells) {
  CUDNN_CHECK(fits(states.hiddenTensor, hasHidden, call, call.net.projection));
  CUDNN_CHECK(call.net.cell != CUDNN_LSTM || fits(states.cellTensor, hasCells, call, call.net.hidden));
  return CUDNN_STATUS_SUCCESS;
}

/// Multiplications and additions of a forward pass, and the bytes of the weights.
Work workOf(const RecurrentCall& call) {
  const double rows = Steps(call.x).rows();
  const auto weights = static_cast<double>(Weights(call.net).count());
  return {2 * rows * weights, weights * static_cast<double>(sizeOf(call.net.type))};
}

cudnnStatus_t submitForward(cudnnHandle_t handle, const char* name, const RecurrentCall& call, const void* x, void* y,
                            StatesOut last) {
  CUDNN_CHECK(x && y);
  return submit(handle, name, [=] { recurrentForward(call, x, y, last); }, workOf(call));
}

cudnnStatus_t submitBackwardData(cudnnHandle_t handle, const char* name, const RecurrentCall& call, const void* dy,
                                 StatesIn dLast, void* dx, StatesOut dInitial) {
  CUDNN_CHECK(dy && call.reserve);
  return submit(handle, name, [=] { recurrentBackwardData(call, dy, dLast, dx, dInitial); }, workOf(call));
}

cudnnStatus_t submitBackwardWeights(cudnnHandle_t handle, const char* name, const RecurrentCall& call, void* dWeights,
                                    bool adds) {
  CUDNN_CHECK(dWeights && call.reserve);
  return submit(handle, name, [=] { recurrentBackwardWeights(call, dWeights, adds); }, workOf(call));
}

/// Before version 8 the tensors say what the input is.
RecurrentNet netFor(const RecurrentNet& said, cudnnDataType_t type, int input) {
  RecurrentNet net = said;
  net.type = type;
  net.input = input;
  return net;
}

/// A tensor for each step: the sequences that are long enough, and the size of their vectors.
Sequences sequencesOf(int steps, const cudnnTensorDescriptor_t* tensors) {
  Sequences out;
  if (steps <= 0 || !tensors) return out;
  for (int t = 0; t < steps; ++t) {
    const cudnnTensorStruct* tensor = tensors[t];
    if (!tensor || tensor->rank < 2 || (t > 0 && tensor->size[0] > tensors[t - 1]->size[0])) return {};
    if (t == 0) out = {tensor->type, out.layout, steps, tensor->size[0], tensor->size[1], {}, false, 0};
    if (tensor->size[1] != out.vector || tensor->type != out.type) return {};
    out.lengths.resize(static_cast<size_t>(out.batch));
    for (int k = 0; k < tensor->size[0]; ++k) ++out.lengths[static_cast<size_t>(k)];
  }
  return out;
}

/// The descriptor of a matrix or a bias, and where it is.
template <class Element>
void* locate(const WeightPlace& place, Element type, const void* weights) {
  if (place.count() == 0) return nullptr;
  return const_cast<char*>(static_cast<const char*>(weights)) + place.at * sizeOf(type);
}

void describe(Shape& to, cudnnDataType_t type, const WeightPlace& place) {
  to = Shape{type, 3, {}, {}};
  if (place.count() == 0) return;
  to.size[0] = 1, to.size[1] = place.rows, to.size[2] = place.columns;
  to.pack(false);
}

bool isNumber(const RecurrentNet& net, int pseudoLayer, int number) {
  const int numbers = 2 * net.gates() + (net.cell == CUDNN_LSTM ? 1 : 0);
  return net.layers > 0 && pseudoLayer >= 0 && pseudoLayer < net.pseudoLayers() && number >= 0 && number < numbers;
}

cudnnStatus_t linearLayer(const RecurrentNet& net, const void* weights, int pseudoLayer, int number, bool isBias,
                          cudnnFilterDescriptor_t filter, void** address) {
  CUDNN_CHECK(weights && filter && address && isNumber(net, pseudoLayer, number));
  const Weights all(net);
  const WeightPlace place = isBias ? all.bias(pseudoLayer, number) : all.matrix(pseudoLayer, number);
  describe(*filter, net.type, place);
  *address = locate(place, net.type, weights);
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

// --- sizes and places

cudnnStatus_t cudnnGetRNNTempSpaceSizes(cudnnHandle_t handle, cudnnRNNDescriptor_t d, cudnnForwardMode_t mode,
                                        cudnnRNNDataDescriptor_t x, size_t* work, size_t* reserve) {
  CUDNN_CHECK(handle && d && d->layers > 0 && x && x->batch > 0 && x->vector == d->input);
  if (work) *work = 1;
  if (reserve)
    *reserve = mode == CUDNN_FWD_MODE_TRAINING ? std::max<size_t>(1, RecurrentCall{*d, *x, *x, {}}.reserveBytes()) : 0;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetRNNWeightSpaceSize(cudnnHandle_t handle, cudnnRNNDescriptor_t d, size_t* bytes) {
  CUDNN_CHECK(handle && d && d->layers > 0 && bytes);
  *bytes = Weights(*d).count() * sizeOf(d->type);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetRNNWeightParams(cudnnHandle_t handle, cudnnRNNDescriptor_t d, int32_t pseudoLayer, size_t bytes,
                                      const void* weights, int32_t number, cudnnTensorDescriptor_t matrix,
                                      void** matrixAddress, cudnnTensorDescriptor_t bias, void** biasAddress) {
  CUDNN_CHECK(handle && d && weights && matrix && matrixAddress && bias && biasAddress);
  CUDNN_CHECK(isNumber(*d, pseudoLayer, number) && bytes >= Weights(*d).count() * sizeOf(d->type));
  const Weights all(*d);
  describe(*matrix, d->type, all.matrix(pseudoLayer, number));
  describe(*bias, d->type, all.bias(pseudoLayer, number));
  *matrixAddress = locate(all.matrix(pseudoLayer, number), d->type, weights);
  *biasAddress = locate(all.bias(pseudoLayer, number), d->type, weights);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetRNNWorkspaceSize(cudnnHandle_t handle, const cudnnRNNDescriptor_t d, const int steps,
                                       const cudnnTensorDescriptor_t* x, size_t* bytes) {
  CUDNN_CHECK(handle && d && bytes && sequencesOf(steps, x).batch > 0);
  *bytes = 1;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetRNNTrainingReserveSize(cudnnHandle_t handle, const cudnnRNNDescriptor_t d, const int steps,
                                             const cudnnTensorDescriptor_t* x, size_t* bytes) {
  CUDNN_CHECK(handle && d && d->layers > 0 && bytes);
  const Sequences in = sequencesOf(steps, x);
  CUDNN_CHECK(in.batch > 0);
  *bytes = RecurrentCall{netFor(*d, in.type, in.vector), in, in, {}}.reserveBytes();
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetRNNParamsSize(cudnnHandle_t handle, const cudnnRNNDescriptor_t d, const cudnnTensorDescriptor_t x,
                                    size_t* bytes, cudnnDataType_t type) {
  CUDNN_CHECK(handle && d && d->layers > 0 && x && x->rank >= 2 && bytes && type == x->type);
  *bytes = Weights(netFor(*d, type, x->size[1])).count() * sizeOf(type);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetRNNLinLayerMatrixParams(cudnnHandle_t handle, const cudnnRNNDescriptor_t d, const int pseudoLayer,
                                              const cudnnTensorDescriptor_t x, const cudnnFilterDescriptor_t,
                                              const void* weights, const int number, cudnnFilterDescriptor_t filter,
                                              void** address) {
  CUDNN_CHECK(handle && d && x && x->rank >= 2);
  return linearLayer(netFor(*d, x->type, x->size[1]), weights, pseudoLayer, number, false, filter, address);
}

cudnnStatus_t cudnnGetRNNLinLayerBiasParams(cudnnHandle_t handle, const cudnnRNNDescriptor_t d, const int pseudoLayer,
                                            const cudnnTensorDescriptor_t x, const cudnnFilterDescriptor_t,
                                            const void* weights, const int number, cudnnFilterDescriptor_t filter,
                                            void** address) {
  CUDNN_CHECK(handle && d && x && x->rank >= 2);
  return linearLayer(netFor(*d, x->type, x->size[1]), weights, pseudoLayer, number, true, filter, address);
}

// --- version 8; the lengths on the device are those of the descriptor

cudnnStatus_t cudnnRNNForward(cudnnHandle_t handle, cudnnRNNDescriptor_t d, cudnnForwardMode_t mode, const int32_t*,
                              cudnnRNNDataDescriptor_t x, const void* xs, cudnnRNNDataDescriptor_t y, void* ys,
                              cudnnTensorDescriptor_t h, const void* hx, void* hy, cudnnTensorDescriptor_t c,
                              const void* cx, void* cy, size_t weightBytes, const void* weights, size_t, void*,
                              size_t reserveBytes, void* reserve) {
  CUDNN_CHECK(d && x && y && (mode == CUDNN_FWD_MODE_INFERENCE || mode == CUDNN_FWD_MODE_TRAINING));
  const bool isTraining = mode == CUDNN_FWD_MODE_TRAINING;
  const RecurrentCall call{*d, *x, *y, {hx, cx}, weights, isTraining ? reserve : nullptr};
  CUDNN_TRY(check(handle, call));
  CUDNN_TRY(checkStates(call, {h, c}, hx || hy, cx || cy));
  CUDNN_CHECK(weightBytes >= Weights(*d).count() * sizeOf(d->type));
  CUDNN_CHECK(!isTraining || (reserve && reserveBytes >= call.reserveBytes()));
  return submitForward(handle, "cudnnRNNForward", call, xs, ys, {hy, cy});
}

cudnnStatus_t cudnnRNNBackwardData_v8(cudnnHandle_t handle, cudnnRNNDescriptor_t d, const int32_t*,
                                      cudnnRNNDataDescriptor_t y, const void*, const void* dy,
                                      cudnnRNNDataDescriptor_t x, void* dx, cudnnTensorDescriptor_t h, const void* hx,
                                      const void* dhy, void* dhx, cudnnTensorDescriptor_t c, const void* cx,
                                      const void* dcy, void* dcx, size_t weightBytes, const void* weights, size_t,
                                      void*, size_t reserveBytes, void* reserve) {
  CUDNN_CHECK(d && x && y);
  const RecurrentCall call{*d, *x, *y, {hx, cx}, weights, reserve};
  CUDNN_TRY(check(handle, call));
  CUDNN_TRY(checkStates(call, {h, c}, hx || dhy || dhx, cx || dcy || dcx));
  CUDNN_CHECK(weightBytes >= Weights(*d).count() * sizeOf(d->type) && reserveBytes >= call.reserveBytes());
  return submitBackwardData(handle, "cudnnRNNBackwardData_v8", call, dy, {dhy, dcy}, dx, {dhx, dcx});
}

cudnnStatus_t cudnnRNNBackwardWeights_v8(cudnnHandle_t handle, cudnnRNNDescriptor_t d, cudnnWgradMode_t mode,
                                         const int32_t*, cudnnRNNDataDescriptor_t x, const void*,
                                         cudnnTensorDescriptor_t h, const void* hx, cudnnRNNDataDescriptor_t y,
                                         const void*, size_t weightBytes, void* dWeights, size_t, void*,
                                         size_t reserveBytes, void* reserve) {
  CUDNN_CHECK(d && x && y && (mode == CUDNN_WGRAD_MODE_ADD || mode == CUDNN_WGRAD_MODE_SET));
  const RecurrentCall call{*d, *x, *y, {hx, nullptr}, dWeights, reserve};
  CUDNN_TRY(check(handle, call));
  CUDNN_TRY(checkStates(call, {h, nullptr}, hx != nullptr, false));
  CUDNN_CHECK(weightBytes >= Weights(*d).count() * sizeOf(d->type) && reserveBytes >= call.reserveBytes());
  return submitBackwardWeights(handle, "cudnnRNNBackwardWeights_v8", call, dWeights, mode == CUDNN_WGRAD_MODE_ADD);
}

// --- before version 8: gradients of weights are added to what is there

namespace {

RecurrentCall callOf(const cudnnRNNDescriptor_t d, const Sequences& x, const Sequences& y, StatesIn initial,
                     const void* weights, void* reserve) {
  return {netFor(*d, x.type, x.vector), x, y, initial, weights, reserve};
}

}  // namespace

#define FORWARD_PARAMETERS(Data)                                                                                  \
  const Data x, const void *xs, const cudnnTensorDescriptor_t hxTensor, const void *hx,                           \
      const cudnnTensorDescriptor_t cxTensor, const void *cx, const cudnnFilterDescriptor_t, const void *weights, \
      const Data y, void *ys, const cudnnTensorDescriptor_t hyTensor, void *hy,                                   \
      const cudnnTensorDescriptor_t cyTensor, void *cy

namespace {

cudnnStatus_t forwardBefore8(cudnnHandle_t handle, const char* name, const RecurrentCall& call, const void* xs,
                             void* ys, const States& before, const States& after, StatesOut last) {
  CUDNN_TRY(check(handle, call));
  CUDNN_TRY(checkStates(call, before, call.initial.hidden != nullptr, call.initial.cells != nullptr));
  CUDNN_TRY(checkStates(call, after, last.hidden != nullptr, last.cells != nullptr));
  return submitForward(handle, name, call, xs, ys, last);
}

}  // namespace

cudnnStatus_t cudnnRNNForwardInference(cudnnHandle_t handle, const cudnnRNNDescriptor_t d, const int steps,
                                       FORWARD_PARAMETERS(cudnnTensorDescriptor_t*), void*, size_t) {
  CUDNN_CHECK(d);
  const RecurrentCall call = callOf(d, sequencesOf(steps, x), sequencesOf(steps, y), {hx, cx}, weights, nullptr);
  return forwardBefore8(handle, "cudnnRNNForwardInference", call, xs, ys, {hxTensor, cxTensor}, {hyTensor, cyTensor},
                        {hy, cy});
}

cudnnStatus_t cudnnRNNForwardTraining(cudnnHandle_t handle, const cudnnRNNDescriptor_t d, const int steps,
                                      FORWARD_PARAMETERS(cudnnTensorDescriptor_t*), void*, size_t, void* reserve,
                                      size_t reserveBytes) {
  CUDNN_CHECK(d && reserve);
  const RecurrentCall call = callOf(d, sequencesOf(steps, x), sequencesOf(steps, y), {hx, cx}, weights, reserve);
  CUDNN_CHECK(reserveBytes >= call.reserveBytes());
  return forwardBefore8(handle, "cudnnRNNForwardTraining", call, xs, ys, {hxTensor, cxTensor}, {hyTensor, cyTensor},
                        {hy, cy});
}

cudnnStatus_t cudnnRNNForwardInferenceEx(cudnnHandle_t handle, const cudnnRNNDescriptor_t d,
                                         FORWARD_PARAMETERS(cudnnRNNDataDescriptor_t), const cudnnRNNDataDescriptor_t,
                                         const void* keys, const cudnnRNNDataDescriptor_t, void*,
                                         const cudnnRNNDataDescriptor_t, void*, const cudnnRNNDataDescriptor_t, void*,
                                         void*, size_t) {
  CUDNN_CHECK(d && x && y && !keys);
  const RecurrentCall call = callOf(d, *x, *y, {hx, cx}, weights, nullptr);
  return forwardBefore8(handle, "cudnnRNNForwardInferenceEx", call, xs, ys, {hxTensor, cxTensor}, {hyTensor, cyTensor},
                        {hy, cy});
}

cudnnStatus_t cudnnRNNForwardTrainingEx(cudnnHandle_t handle, const cudnnRNNDescriptor_t d,
                                        FORWARD_PARAMETERS(cudnnRNNDataDescriptor_t), const cudnnRNNDataDescriptor_t,
                                        const void* keys, const cudnnRNNDataDescriptor_t, void*,
                                        const cudnnRNNDataDescriptor_t, void*, const cudnnRNNDataDescriptor_t, void*,
                                        void*, size_t, void* reserve, size_t reserveBytes) {
  CUDNN_CHECK(d && x && y && !keys && reserve);
  const RecurrentCall call = callOf(d, *x, *y, {hx, cx}, weights, reserve);
  CUDNN_CHECK(reserveBytes >= call.reserveBytes());
  return forwardBefore8(handle, "cudnnRNNForwardTrainingEx", call, xs, ys, {hxTensor, cxTensor}, {hyTensor, cyTensor},
                        {hy, cy});
}

cudnnStatus_t cudnnRNNBackwardData(
    cudnnHandle_t handle, const cudnnRNNDescriptor_t d, const int steps, const cudnnTensorDescriptor_t* y, const void*,
    const cudnnTensorDescriptor_t*, const void* dys, const cudnnTensorDescriptor_t dhyTensor, const void* dhy,
    const cudnnTensorDescriptor_t dcyTensor, const void* dcy, const cudnnFilterDescriptor_t, const void* weights,
    const cudnnTensorDescriptor_t hxTensor, const void* hx, const cudnnTensorDescriptor_t cxTensor, const void* cx,
    const cudnnTensorDescriptor_t* dx, void* dxs, const cudnnTensorDescriptor_t, void* dhx,
    const cudnnTensorDescriptor_t, void* dcx, void*, size_t, void* reserve, size_t reserveBytes) {
  CUDNN_CHECK(d);
  const RecurrentCall call = callOf(d, sequencesOf(steps, dx), sequencesOf(steps, y), {hx, cx}, weights, reserve);
  CUDNN_TRY(check(handle, call));
  CUDNN_TRY(checkStates(call, {hxTensor, cxTensor}, hx != nullptr, cx != nullptr));
  CUDNN_TRY(checkStates(call, {dhyTensor, dcyTensor}, dhy != nullptr, dcy != nullptr));
  CUDNN_CHECK(reserveBytes >= call.reserveBytes());
  return submitBackwardData(handle, "cudnnRNNBackwardData", call, dys, {dhy, dcy}, dxs, {dhx, dcx});
}

cudnnStatus_t cudnnRNNBackwardDataEx(
    cudnnHandle_t handle, const cudnnRNNDescriptor_t d, const cudnnRNNDataDescriptor_t y, const void*,
    const cudnnRNNDataDescriptor_t, const void* dys, const cudnnRNNDataDescriptor_t, const void*,
    const cudnnTensorDescriptor_t dhyTensor, const void* dhy, const cudnnTensorDescriptor_t dcyTensor, const void* dcy,
    const cudnnFilterDescriptor_t, const void* weights, const cudnnTensorDescriptor_t hxTensor, const void* hx,
    const cudnnTensorDescriptor_t cxTensor, const void* cx, const cudnnRNNDataDescriptor_t dx, void* dxs,
    const cudnnTensorDescriptor_t, void* dhx, const cudnnTensorDescriptor_t, void* dcx, const cudnnRNNDataDescriptor_t,
    void*, void*, size_t, void* reserve, size_t reserveBytes) {
  CUDNN_CHECK(d && dx && y);
  const RecurrentCall call = callOf(d, *dx, *y, {hx, cx}, weights, reserve);
  CUDNN_TRY(check(handle, call));
  CUDNN_TRY(checkStates(call, {hxTensor, cxTensor}, hx != nullptr, cx != nullptr));
  CUDNN_TRY(checkStates(call, {dhyTensor, dcyTensor}, dhy != nullptr, dcy != nullptr));
  CUDNN_CHECK(reserveBytes >= call.reserveBytes());
  return submitBackwardData(handle, "cudnnRNNBackwardDataEx", call, dys, {dhy, dcy}, dxs, {dhx, dcx});
}

cudnnStatus_t cudnnRNNBackwardWeights(cudnnHandle_t handle, const cudnnRNNDescriptor_t d, const int steps,
                                      const cudnnTensorDescriptor_t* x, const void*,
                                      const cudnnTensorDescriptor_t hxTensor, const void* hx,
                                      const cudnnTensorDescriptor_t* y, const void*, const void*, size_t,
                                      const cudnnFilterDescriptor_t, void* dWeights, const void* reserve,
                                      size_t reserveBytes) {
  CUDNN_CHECK(d);
  const RecurrentCall call =
      callOf(d, sequencesOf(steps, x), sequencesOf(steps, y), {hx, nullptr}, dWeights, const_cast<void*>(reserve));
  CUDNN_TRY(check(handle, call));
  CUDNN_TRY(checkStates(call, {hxTensor, nullptr}, hx != nullptr, false));
  CUDNN_CHECK(reserveBytes >= call.reserveBytes());
  return submitBackwardWeights(handle, "cudnnRNNBackwardWeights", call, dWeights, true);
}

cudnnStatus_t cudnnRNNBackwardWeightsEx(cudnnHandle_t handle, const cudnnRNNDescriptor_t d,
                                        const cudnnRNNDataDescriptor_t x, const void*,
                                        const cudnnTensorDescriptor_t hxTensor, const void* hx,
                                        const cudnnRNNDataDescriptor_t y, const void*, void*, size_t,
                                        const cudnnFilterDescriptor_t, void* dWeights, void* reserve,
                                        size_t reserveBytes) {
  CUDNN_CHECK(d && x && y);
  const RecurrentCall call = callOf(d, *x, *y, {hx, nullptr}, dWeights, reserve);
  CUDNN_TRY(check(handle, call));
  CUDNN_TRY(checkStates(call, {hxTensor, nullptr}, hx != nullptr, false));
  CUDNN_CHECK(reserveBytes >= call.reserveBytes());
  return submitBackwardWeights(handle, "cudnnRNNBackwardWeightsEx", call, dWeights, true);
}
