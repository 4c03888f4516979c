// CUPTI, NVIDIA's profiling interface. Tools that use it compile and link; every call answers
// CUPTI_ERROR_NOT_SUPPORTED and names itself once (`ordito profile` has the counters).
#ifndef _CUPTI_H_
#define _CUPTI_H_

#include "cuda.h"
#include "cuda_runtime_api.h"
#include "cupti_result.h"
#include "cupti_version.h"
#include "cupti_callbacks.h"
#include "cupti_events.h"
#include "cupti_metrics.h"
#include "cupti_activity.h"
#include "cupti_activity_deprecated.h"
#include "cupti_driver_cbid.h"
#include "cupti_runtime_cbid.h"
#include "cupti_nvtx_cbid.h"
#include "generated_cuda_meta.h"
#include "generated_cuda_runtime_api_meta.h"

#endif
