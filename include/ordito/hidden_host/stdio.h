// See stdint.h. <stdio.h> has functions remove, rename and so on; kernels, too, are called so.
#ifdef __ORDITO_PRELUDE__
extern "C" int printf(const char*, ...);
#else
#include_next <stdio.h>
#endif
