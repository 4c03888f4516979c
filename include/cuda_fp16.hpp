// Programs of some years include this by name. All of it comes with cuda_fp16.h.
#include "cuda_fp16.h"
