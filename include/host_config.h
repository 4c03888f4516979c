// The version of the CUDA language that this front end speaks.
#ifndef __HOST_CONFIG_H__
#define __HOST_CONFIG_H__

#ifndef __CUDACC_VER_MAJOR__
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 3
#define __CUDACC_VER_BUILD__ 0
#endif

#endif
