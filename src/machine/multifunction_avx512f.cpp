// The special function unit on 16 lanes: avx512f.
#include "machine/multifunction_lanes.hpp"

MULTIFUNCTIONS(16, avx512f)
