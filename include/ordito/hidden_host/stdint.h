// A compiler at run time has no host's headers in scope: programs define uint64_t, namespace std and the like
// themselves (libs/nvrtc/program.cpp). Clang's headers and ours need some all the same. This folder comes before all
// others and, as long as __ORDITO_PRELUDE__ is defined, has what these need in the place of headers whose names
// programs define. A program's own #include finds the host's. Integers of a width are macros until
// ordito/program_begins.h.
#ifdef __ORDITO_PRELUDE__
#define int8_t __INT8_TYPE__
#define int16_t __INT16_TYPE__
#define int32_t __INT32_TYPE__
#define int64_t __INT64_TYPE__
#define uint8_t __UINT8_TYPE__
#define uint16_t __UINT16_TYPE__
#define uint32_t __UINT32_TYPE__
#define uint64_t __UINT64_TYPE__
#define intptr_t __INTPTR_TYPE__
#define uintptr_t __UINTPTR_TYPE__
#else
#include_next <stdint.h>
#endif
