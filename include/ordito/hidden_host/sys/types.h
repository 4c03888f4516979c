// See stdint.h. <stdlib.h> includes this for names of the system, and has a structure with int32_t.
#ifdef __ORDITO_PRELUDE__
#include <stdint.h>
#else
#include_next <sys/types.h>
#endif
