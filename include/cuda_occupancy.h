// A header of NVIDIA's toolkit that libraries include by habit. What it offers there, a calculator of its own, is part
// of the runtime: cudaOccupancyMaxActiveBlocksPerMultiprocessor() and its relatives.
#ifndef CUDA_OCCUPANCY_H
#define CUDA_OCCUPANCY_H
#include "cuda_runtime_api.h"
#endif
