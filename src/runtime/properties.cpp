// Fills both layouts of cudaDeviceProp from the driver's device attributes. See properties.hpp.
#include "runtime/properties.hpp"

#include <iterator>
#include <type_traits>

#include "runtime/context.hpp"

namespace ordito::runtime {
namespace {

template <class Properties>
struct Field {
  CUdevice_attribute attribute;
  void (*store)(Properties&, int);
};

#define STORE(Type, field, attribute) \
  {CU_DEVICE_ATTRIBUTE_##attribute,   \
   [](Type& p, int value) { p.field = static_cast<std::remove_reference_t<decltype(p.field)>>(value); }},

constexpr Field<cudaDeviceProp> kFields12[] = {
#define FIELD(field, attribute) STORE(cudaDeviceProp, field, attribute)
#define FIELD_12(field, attribute) STORE(cudaDeviceProp, field, attribute)
#define FIELD_13(field, attribute)
#include "runtime/properties.def"
};

constexpr Field<DeviceProperties13> kFields13[] = {
#define FIELD(field, attribute) STORE(DeviceProperties13, field, attribute)
#define FIELD_12(field, attribute)
#define FIELD_13(field, attribute) STORE(DeviceProperties13, field, attribute)
#include "runtime/properties.def"
};
#undef STORE

template <class Properties, size_t N>
CUresult fill(Properties* properties, int device, const Field<Properties> (&fields)[N]) {
  if (device < 0 || device >= deviceCount()) return CUDA_ERROR_INVALID_DEVICE;
  *properties = {};
  CUresult got = cuDeviceGetName(properties->name, static_cast<int>(std::size(properties->name)), device);
  if (got == CUDA_SUCCESS) got = cuDeviceTotalMem(&properties->totalGlobalMem, device);
  if (got == CUDA_SUCCESS) got = cuDeviceGetUuid(reinterpret_cast<CUuuid*>(&properties->uuid), device);
  if (got != CUDA_SUCCESS) return got;
  for (const Field<Properties>& field : fields) {
    int value = 0;
    // An attribute that the device description does not know is zero, as on a GPU without the feature.
    if (cuDeviceGetAttribute(&value, field.attribute, device) == CUDA_SUCCESS) field.store(*properties, value);
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUresult readProperties(cudaDeviceProp* properties, int device) { return fill(properties, device, kFields12); }
CUresult readProperties(DeviceProperties13* properties, int device) { return fill(properties, device, kFields13); }

}  // namespace ordito::runtime
