// NVTX: what a program tells of its own locks. See nvToolsExt.h.
#ifndef NVTOOLSEXT_SYNC_H_
#define NVTOOLSEXT_SYNC_H_
#pragma GCC system_header

#include "nvToolsExt.h"

#define NVTX_SYNCUSER_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxSyncUserAttributes_t))
typedef struct nvtxSyncUser* nvtxSyncUser_t;
typedef struct nvtxSyncUserAttributes_v0 {
  uint16_t version;
  uint16_t size;
  int32_t messageType;
  nvtxMessageValue_t message;
} nvtxSyncUserAttributes_t;

NVTX_ORDITO_CALL(nvtxSyncUser_t, (nvtxSyncUser_t)0, nvtxDomainSyncUserCreate, 6, 1,
                 (nvtxDomainHandle_t domain, const nvtxSyncUserAttributes_t* attributes), (domain, attributes))
NVTX_ORDITO_TELL(nvtxDomainSyncUserDestroy, 6, 2, (nvtxSyncUser_t handle), (handle))
NVTX_ORDITO_TELL(nvtxDomainSyncUserAcquireStart, 6, 3, (nvtxSyncUser_t handle), (handle))
NVTX_ORDITO_TELL(nvtxDomainSyncUserAcquireFailed, 6, 4, (nvtxSyncUser_t handle), (handle))
NVTX_ORDITO_TELL(nvtxDomainSyncUserAcquireSuccess, 6, 5, (nvtxSyncUser_t handle), (handle))
NVTX_ORDITO_TELL(nvtxDomainSyncUserReleasing, 6, 6, (nvtxSyncUser_t handle), (handle))

#endif
