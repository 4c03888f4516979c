// The sets of parameters of MTGP32 under the name that programs know.
#ifndef CURAND_MTGP32DC_P_11213_H
#define CURAND_MTGP32DC_P_11213_H

#include "curand_mtgp32.h"

#if defined(__cplusplus)
static mtgp32_params_fast_t* const mtgp32dc_params_fast_11213 =
    const_cast<mtgp32_params_fast_t*>(orditoMtgp32Parameters);
#endif

#endif
