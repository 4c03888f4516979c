// NVTX, version 3: the same calls.
#include "../nvToolsExtSync.h"
