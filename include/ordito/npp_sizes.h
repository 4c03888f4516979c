// NPP: sizes of work areas came as int and, since CUDA 12.4, as size_t. C++ programs may use either.
#ifndef ORDITO_NPP_SIZES_H
#define ORDITO_NPP_SIZES_H
#pragma GCC system_header
#ifdef __cplusplus

#define ORDITO_EITHER_SIZE(name, other, parameters, arguments, own) \
  inline NppStatus name parameters {                                \
    own size = 0;                                                   \
    const NppStatus status = name arguments;                        \
    if (bytes && status == NPP_SUCCESS) *bytes = (other)size;       \
    return status;                                                  \
  }
#define ORDITO_HISTOGRAM_SIZE(type)                                                                            \
  ORDITO_EITHER_SIZE(nppiHistogramEvenGetBufferSize_##type##_C1R, int, (NppiSize roi, int levels, int* bytes), \
                     (roi, levels, bytes ? &size : (size_t*)0), size_t)                                        \
  ORDITO_EITHER_SIZE(nppiHistogramEvenGetBufferSize_##type##_C1R_Ctx, int,                                     \
                     (NppiSize roi, int levels, int* bytes, NppStreamContext context),                         \
                     (roi, levels, bytes ? &size : (size_t*)0, context), size_t)
ORDITO_HISTOGRAM_SIZE(8u)
ORDITO_HISTOGRAM_SIZE(16u)
ORDITO_HISTOGRAM_SIZE(16s)

#define ORDITO_SIGNAL_SIZE(name)                                                                        \
  ORDITO_EITHER_SIZE(name, size_t, (int length, size_t* bytes), (length, bytes ? &size : (int*)0), int) \
  ORDITO_EITHER_SIZE(name##_Ctx, size_t, (int length, size_t* bytes, NppStreamContext context),         \
                     (length, bytes ? &size : (int*)0, context), int)
#define ORDITO_SIGNAL_SIZES(type)                         \
  ORDITO_SIGNAL_SIZE(nppsSumGetBufferSize_##type)         \
  ORDITO_SIGNAL_SIZE(nppsMeanGetBufferSize_##type)        \
  ORDITO_SIGNAL_SIZE(nppsMinGetBufferSize_##type)         \
  ORDITO_SIGNAL_SIZE(nppsMaxGetBufferSize_##type)         \
  ORDITO_SIGNAL_SIZE(nppsNormDiffInfGetBufferSize_##type) \
  ORDITO_SIGNAL_SIZE(nppsNormDiffL1GetBufferSize_##type)  \
  ORDITO_SIGNAL_SIZE(nppsNormDiffL2GetBufferSize_##type)
ORDITO_SIGNAL_SIZES(32f)
ORDITO_SIGNAL_SIZES(64f)

#endif
#endif
