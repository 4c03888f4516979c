// Normal numbers on 4 lanes: sse2.
#include "libs/curand/float_lanes.hpp"

CURAND_LANES(4, sse2)
