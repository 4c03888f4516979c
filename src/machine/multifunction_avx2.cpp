// The special function unit on 8 lanes: avx2.
#include "machine/multifunction_lanes.hpp"

MULTIFUNCTIONS(8, avx2)
