// See stdint.h. <cmath> of C++17 has functions such as std::beta, for the host only, and brings <type_traits> along.
#ifndef __ORDITO_PRELUDE__
#include_next <bits/specfun.h>
#endif
