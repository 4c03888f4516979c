// The calls of cuda_pipeline_primitives.h under the name that programs include.
#include "cuda_pipeline_primitives.h"
