// Programs of some years include this by name. All of it comes with cuda_bf16.h.
#include "cuda_bf16.h"
