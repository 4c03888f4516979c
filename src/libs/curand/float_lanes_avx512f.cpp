// Normal numbers on 16 lanes: avx512f.
#include "libs/curand/float_lanes.hpp"

CURAND_LANES(16, avx512f)
