// Moved into vector_functions.h.
#include "vector_functions.h"
