// See stdint.h. <string.h> has functions strlen, strdup and so on; programs write their own.
#ifdef __ORDITO_PRELUDE__
#include <features.h>
#include <stddef.h>
extern "C" {
void* memcpy(void*, const void*, size_t) __THROW;
void* memmove(void*, const void*, size_t) __THROW;
void* memset(void*, int, size_t) __THROW;
int memcmp(const void*, const void*, size_t) __THROW;
}
#else
#include_next <string.h>
#endif
