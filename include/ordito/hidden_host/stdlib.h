// See stdint.h. <stdlib.h> has functions rand, exit, div and so on; kernels, too, are called so.
#ifdef __ORDITO_PRELUDE__
#include <features.h>
#include <stddef.h>
extern "C" {
int abs(int) __THROW;
long labs(long) __THROW;
long long llabs(long long) __THROW;
void* malloc(size_t) __THROW;
void free(void*) __THROW;
}
#elif defined(_GLIBCXX_INCLUDE_NEXT_C_HEADERS)
#include_next <stdlib.h>
#else
#include <cstdlib>
using std::abs;
using std::div;
#endif
