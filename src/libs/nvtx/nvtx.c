// libnvToolsExt.so.1: what nvToolsExt.h defines, for programs that link NVTX by name or call it without that header.
#include <stddef.h>
#include <stdint.h>

// The header's functions are static and inline; here each has a name that a linker sees.
#define static
#define inline
#include "nvToolsExt.h"
