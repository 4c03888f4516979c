// cuDNN's statuses. The header has version 9's numbers; a program of version 8 gets those of its own. The library of
// each version says which it is (version.cpp); everything else is compiled once.
#pragma once

#include "cudnn.h"

namespace ordito::libs::cudnn {

/// 8 or 9.
extern const int kVersion;

inline cudnnStatus_t status(int version9, int version8) {
  return static_cast<cudnnStatus_t>(kVersion == 8 ? version8 : version9);
}

inline cudnnStatus_t badParameter() { return status(CUDNN_STATUS_BAD_PARAM, 3); }
inline cudnnStatus_t notSupported() { return status(CUDNN_STATUS_NOT_SUPPORTED, 9); }
inline cudnnStatus_t notInitialized() { return status(CUDNN_STATUS_NOT_INITIALIZED, 1); }
inline cudnnStatus_t executionFailed() { return status(CUDNN_STATUS_EXECUTION_FAILED, 8); }

/// "Not supported", after stderr has been told once what.
cudnnStatus_t refuse(const char* what);

}  // namespace ordito::libs::cudnn

#define CUDNN_CHECK(condition) \
  if (!(condition)) return ::ordito::libs::cudnn::badParameter()
#define CUDNN_TRY(call) \
  if (const cudnnStatus_t bad_ = (call); bad_ != CUDNN_STATUS_SUCCESS) return bad_
/// The two calls that make and end a descriptor.
#define CUDNN_DESCRIPTOR(kind)                                                         \
  cudnnStatus_t cudnnCreate##kind##Descriptor(cudnn##kind##Descriptor_t* descriptor) { \
    CUDNN_CHECK(descriptor);                                                           \
    *descriptor = new cudnn##kind##Struct;                                             \
    return CUDNN_STATUS_SUCCESS;                                                       \
  }                                                                                    \
  cudnnStatus_t cudnnDestroy##kind##Descriptor(cudnn##kind##Descriptor_t descriptor) { \
    delete descriptor;                                                                 \
    return CUDNN_STATUS_SUCCESS;                                                       \
  }
