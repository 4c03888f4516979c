// Of which CUDA these headers are: 12.3 here. The folder of CUDA 13 (cuda13/include) has the same headers, and another
// file of this name.
#ifndef ORDITO_CUDA_VERSION_H
#define ORDITO_CUDA_VERSION_H

#define ORDITO_CUDA_MAJOR 12

#endif
