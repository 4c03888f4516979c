// The special function unit on 4 lanes: sse2.
#include "machine/multifunction_lanes.hpp"

MULTIFUNCTIONS(4, sse2)
