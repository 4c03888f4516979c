// The last header that clang's CUDA wrapper includes (it expects a part of cuRAND here, for a reason of its own). So
// this is where the device functions that clang does not supply come in. The wrapper renames two types around this
// line.
#pragma push_macro("dim3")
#pragma push_macro("uint3")
#undef dim3
#undef uint3
#include "ordito/device_functions.h"
#pragma pop_macro("dim3")
#pragma pop_macro("uint3")
