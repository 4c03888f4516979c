// See stdint.h. <string.h> includes this, which has a function index.
#ifndef __ORDITO_PRELUDE__
#include_next <strings.h>
#endif
