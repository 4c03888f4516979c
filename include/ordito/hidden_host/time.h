// See stdint.h. <time.h> has a function time.
#ifdef __ORDITO_PRELUDE__
#include <bits/types/clock_t.h>
#else
#include_next <time.h>
#endif
