// Programs of some years include this by name. All of it comes with cudaTypedefs.h.
#include "cudaTypedefs.h"
