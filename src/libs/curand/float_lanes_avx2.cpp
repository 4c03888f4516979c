// Normal numbers on 8 lanes: avx2.
#include "libs/curand/float_lanes.hpp"

CURAND_LANES(8, avx2)
