// Starting and stopping the profiler from the driver API. All of it comes with cuda.h.
#include "cuda.h"
