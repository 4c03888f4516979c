// The runtime API as kernels may call it. The same declarations serve both sides here, so this header only brings them;
// what a kernel launches another with is the compiler's business (ordito/device_launch.h).
#ifndef __CUDA_DEVICE_RUNTIME_API_H__
#define __CUDA_DEVICE_RUNTIME_API_H__

#include "cuda_runtime_api.h"

#endif
