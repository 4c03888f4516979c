// Programs of some years include this by name. All of it comes with cuda_runtime.h.
#include "cuda_runtime.h"
