// The types of pointers to driver functions, for programs that get these from cuGetProcAddress or
// cudaGetDriverEntryPoint: PFN_ and the function's name, with and without the release that its form dates from.
#ifndef CUDATYPEDEFS_H
#define CUDATYPEDEFS_H

#include "cuda.h"
#include "ordito_tables/typedefs.h"

#endif
