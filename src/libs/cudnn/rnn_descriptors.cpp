// cuDNN: descriptors of recurrent networks and of batches of sequences.
#include <algorithm>

#include "libs/cudnn/rnn.hpp"

using namespace ordito::libs::cudnn;

struct cudnnPersistentRNNPlan {};

CUDNN_DESCRIPTOR(RNN)
CUDNN_DESCRIPTOR(RNNData)

namespace {

bool isRight(const RecurrentNet& net) {
  return net.cell >= CUDNN_RNN_RELU && net.cell <= CUDNN_GRU && net.bias >= CUDNN_RNN_NO_BIAS &&
         net.bias <= CUDNN_RNN_SINGLE_REC_BIAS && net.direction >= CUDNN_UNIDIRECTIONAL &&
         net.direction <= CUDNN_BIDIRECTIONAL && net.inputMode >= CUDNN_LINEAR_INPUT &&
         net.inputMode <= CUDNN_SKIP_INPUT && net.hidden > 0 && net.layers > 0;
}

cudnnStatus_t set(cudnnRNNDescriptor_t d, const RecurrentNet& net) {
  CUDNN_CHECK(isRight(net) && net.projection > 0);
  if (net.projection > net.hidden || (net.isProjected() && net.cell != CUDNN_LSTM)) return notSupported();
  CUDNN_TRY(checkType(Shape{net.type, 1, {}, {}}));
  static_cast<RecurrentNet&>(*d) = net;
  return CUDNN_STATUS_SUCCESS;
}

cudnnDropoutStruct valueOf(cudnnDropoutDescriptor_t dropout) { return dropout ? *dropout : cudnnDropoutStruct{}; }

/// How a GPU's gradient goes through a clipped cell is not written down.
cudnnStatus_t setClip(cudnnRNNDescriptor_t d, cudnnRNNClipMode_t mode) {
  CUDNN_CHECK(d && (mode == CUDNN_RNN_CLIP_NONE || mode == CUDNN_RNN_CLIP_MINMAX));
  return mode == CUDNN_RNN_CLIP_NONE ? CUDNN_STATUS_SUCCESS : refuse("clipping of a recurrent network's cells");
}

}  // namespace

// --- networks

cudnnStatus_t cudnnSetRNNDescriptor_v8(cudnnRNNDescriptor_t d, cudnnRNNAlgo_t algorithm, cudnnRNNMode_t cell,
                                       cudnnRNNBiasMode_t bias, cudnnDirectionMode_t direction,
                                       cudnnRNNInputMode_t inputMode, cudnnDataType_t type, cudnnDataType_t precision,
                                       cudnnMathType_t math, int32_t input, int32_t hidden, int32_t projection,
                                       int32_t layers, cudnnDropoutDescriptor_t dropout, uint32_t flags) {
  CUDNN_CHECK(d && input > 0);
  return set(d, {algorithm, cell, bias, direction, inputMode, type, precision, math, input, hidden, projection, layers,
                 dropout, valueOf(dropout), flags});
}

cudnnStatus_t cudnnGetRNNDescriptor_v8(cudnnRNNDescriptor_t d, cudnnRNNAlgo_t* algorithm, cudnnRNNMode_t* cell,
                                       cudnnRNNBiasMode_t* bias, cudnnDirectionMode_t* direction,
                                       cudnnRNNInputMode_t* inputMode, cudnnDataType_t* type,
                                       cudnnDataType_t* precision, cudnnMathType_t* math, int32_t* input,
                                       int32_t* hidden, int32_t* projection, int32_t* layers,
                                       cudnnDropoutDescriptor_t* dropout, uint32_t* flags) {
  CUDNN_CHECK(d && d->layers > 0);
  const auto give = [](auto* to, auto value) {
    if (to) *to = value;
  };
  give(algorithm, d->algorithm), give(cell, d->cell), give(bias, d->bias), give(direction, d->direction);
  give(inputMode, d->inputMode), give(type, d->type), give(precision, d->precision), give(math, d->math);
  give(input, d->input), give(hidden, d->hidden), give(projection, d->projection), give(layers, d->layers);
  give(dropout, d->dropoutDescriptor), give(flags, d->flags);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetRNNDescriptor_v6(cudnnHandle_t handle, cudnnRNNDescriptor_t d, const int hidden, const int layers,
                                       cudnnDropoutDescriptor_t dropout, cudnnRNNInputMode_t inputMode,
                                       cudnnDirectionMode_t direction, cudnnRNNMode_t cell, cudnnRNNAlgo_t algorithm,
                                       cudnnDataType_t precision) {
  CUDNN_CHECK(handle && d && dropout);
  return set(d, {algorithm, cell, CUDNN_RNN_DOUBLE_BIAS, direction, inputMode, precision, precision, CUDNN_DEFAULT_MATH,
                 0, hidden, hidden, layers, dropout, valueOf(dropout), 0});
}

cudnnStatus_t cudnnSetRNNDescriptor(cudnnHandle_t handle, cudnnRNNDescriptor_t d, const int hidden, const int layers,
                                    cudnnDropoutDescriptor_t dropout, cudnnRNNInputMode_t inputMode,
                                    cudnnDirectionMode_t direction, cudnnRNNMode_t cell, cudnnRNNAlgo_t algorithm,
                                    cudnnDataType_t precision) {
  return cudnnSetRNNDescriptor_v6(handle, d, hidden, layers, dropout, inputMode, direction, cell, algorithm, precision);
}

#define SETTING(setter, getter, type, member, isGood)         \
  cudnnStatus_t setter(cudnnRNNDescriptor_t d, type value) {  \
    CUDNN_CHECK(d && (isGood));                               \
    d->member = value;                                        \
    return CUDNN_STATUS_SUCCESS;                              \
  }                                                           \
  cudnnStatus_t getter(cudnnRNNDescriptor_t d, type* value) { \
    CUDNN_CHECK(d&& value);                                   \
    *value = d->member;                                       \
    return CUDNN_STATUS_SUCCESS;                              \
  }
SETTING(cudnnSetRNNMatrixMathType, cudnnGetRNNMatrixMathType, cudnnMathType_t, math, value <= CUDNN_FMA_MATH)
SETTING(cudnnSetRNNBiasMode, cudnnGetRNNBiasMode, cudnnRNNBiasMode_t, bias, value <= CUDNN_RNN_SINGLE_REC_BIAS)
SETTING(cudnnSetRNNPaddingMode, cudnnGetRNNPaddingMode, cudnnRNNPaddingMode_t, flags, value <= 1)

cudnnStatus_t cudnnSetRNNProjectionLayers(cudnnHandle_t handle, cudnnRNNDescriptor_t d, const int recurrent,
                                          const int output) {
  CUDNN_CHECK(handle && d && recurrent >= 0 && recurrent <= d->hidden && output == 0);
  CUDNN_CHECK(d->cell == CUDNN_LSTM || recurrent == 0 || recurrent == d->hidden);
  d->projection = recurrent == 0 ? d->hidden : recurrent;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetRNNProjectionLayers(cudnnHandle_t handle, const cudnnRNNDescriptor_t d, int* recurrent,
                                          int* output) {
  CUDNN_CHECK(handle && d && recurrent && output);
  *recurrent = d->projection, *output = 0;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnRNNSetClip(cudnnHandle_t handle, cudnnRNNDescriptor_t d, cudnnRNNClipMode_t mode,
                              cudnnNanPropagation_t, double, double) {
  CUDNN_CHECK(handle);
  return setClip(d, mode);
}
cudnnStatus_t cudnnRNNSetClip_v8(cudnnRNNDescriptor_t d, cudnnRNNClipMode_t mode, cudnnNanPropagation_t, double,
                                 double) {
  return setClip(d, mode);
}
cudnnStatus_t cudnnRNNSetClip_v9(cudnnRNNDescriptor_t d, cudnnRNNClipMode_t mode, double, double) {
  return setClip(d, mode);
}
cudnnStatus_t cudnnRNNGetClip_v9(cudnnRNNDescriptor_t d, cudnnRNNClipMode_t* mode, double* least, double* most) {
  CUDNN_CHECK(d && mode);
  *mode = CUDNN_RNN_CLIP_NONE;
  if (least) *least = 0;
  if (most) *most = 0;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnRNNGetClip_v8(cudnnRNNDescriptor_t d, cudnnRNNClipMode_t* mode, cudnnNanPropagation_t* nan,
                                 double* least, double* most) {
  if (nan) *nan = CUDNN_NOT_PROPAGATE_NAN;
  return cudnnRNNGetClip_v9(d, mode, least, most);
}

// Nothing is compiled ahead for a size of batch.
cudnnStatus_t cudnnBuildRNNDynamic(cudnnHandle_t handle, cudnnRNNDescriptor_t d, int batch) {
  CUDNN_CHECK(handle && d && d->layers > 0 && batch > 0);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnCreatePersistentRNNPlan(cudnnRNNDescriptor_t d, const int batch, const cudnnDataType_t,
                                           cudnnPersistentRNNPlan_t* plan) {
  CUDNN_CHECK(d && batch > 0 && plan);
  *plan = new cudnnPersistentRNNPlan;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroyPersistentRNNPlan(cudnnPersistentRNNPlan_t plan) {
  delete plan;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetPersistentRNNPlan(cudnnRNNDescriptor_t d, cudnnPersistentRNNPlan_t plan) {
  CUDNN_CHECK(d && plan);
  return CUDNN_STATUS_SUCCESS;
}

// --- batches of sequences

cudnnStatus_t cudnnSetRNNDataDescriptor(cudnnRNNDataDescriptor_t d, cudnnDataType_t type, cudnnRNNDataLayout_t layout,
                                        int longest, int batch, int vector, const int* lengths, void* fill) {
  CUDNN_CHECK(d && lengths && longest > 0 && batch > 0 && vector > 0);
  CUDNN_CHECK(layout >= CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED &&
              layout <= CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED);
  CUDNN_TRY(checkType(Shape{type, 1, {}, {}}));
  const std::vector<int> all(lengths, lengths + batch);
  CUDNN_CHECK(std::all_of(all.begin(), all.end(), [&](int length) { return length >= 0 && length <= longest; }));
  CUDNN_CHECK(layout != CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED || std::is_sorted(all.rbegin(), all.rend()));
  double value = 0;
  if (fill) withElement(type, [&](auto zero) { value = get<decltype(zero)>(fill, 0); });
  static_cast<Sequences&>(*d) = {type, layout, longest, batch, vector, all, fill != nullptr, value};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetRNNDataDescriptor(cudnnRNNDataDescriptor_t d, cudnnDataType_t* type, cudnnRNNDataLayout_t* layout,
                                        int* longest, int* batch, int* vector, int wanted, int* lengths, void* fill) {
  CUDNN_CHECK(d && type && layout && longest && batch && vector && wanted >= 0 && (lengths || wanted == 0));
  *type = d->type, *layout = d->layout, *longest = d->longest, *batch = d->batch, *vector = d->vector;
  std::copy_n(d->lengths.begin(), std::min<size_t>(static_cast<size_t>(wanted), d->lengths.size()), lengths);
  if (fill && d->hasFill)
    withElement(d->type,
                [&](auto zero) { *static_cast<decltype(zero)*>(fill) = static_cast<decltype(zero)>(d->fill); });
  return CUDNN_STATUS_SUCCESS;
}
