// NVTX, version 3: the same calls.
#include "../nvToolsExtCudaRt.h"
