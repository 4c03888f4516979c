// libnvToolsExt.so.1: what the headers of NVTX define, for programs that link NVTX by name or call it without them.
// There each function is static and inline; here each has a name that a linker sees.
#define NVTX_ORDITO_LINKAGE
#include "nvToolsExt.h"
#include "nvToolsExtCuda.h"
#include "nvToolsExtCudaRt.h"
#include "nvToolsExtSync.h"
