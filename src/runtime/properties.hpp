// cudaDeviceProp in the layouts that programs bring along.
//
// include/driver_types.h has the structure of CUDA 12; CUDA 13 dropped nine fields and appended others under the same
// name. A program sees the layout of the toolkit that built it, so the library answers to both:
// cudaGetDeviceProperties_v2 is 12's, the plain name in libcudart.so.13 is 13's.
#pragma once

#include <cstddef>

#include "runtime/call.hpp"

namespace ordito::runtime {

/// cudaDeviceProp of CUDA 13.
struct DeviceProperties13 {
#include "ordito/device_properties_13.h"
};

// Both sizes as the compilers of CUDA 12 and 13 see them.
static_assert(sizeof(cudaDeviceProp) == 1032);
static_assert(sizeof(DeviceProperties13) == 1008);
/// CUDA 11's structure is the beginning of CUDA 12's.
inline constexpr size_t kProperties11Bytes = offsetof(cudaDeviceProp, hostRegisterSupported);

CUresult readProperties(cudaDeviceProp* properties, int device);
CUresult readProperties(DeviceProperties13* properties, int device);

}  // namespace ordito::runtime
