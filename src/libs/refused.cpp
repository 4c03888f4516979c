// The calls that a library's table refuses: each names itself once on stderr and answers the library's own "not
// supported". Compiled once for each list (ORDITO_REFUSED_LIST) with that answer (ORDITO_NOT_SUPPORTED).
//
// Declared without parameters: callers pass theirs, nobody reads them. So this file must not include the library's
// header.
extern "C" void orditoTellOnce(const char* subject, const char* text);

#define REFUSED(name)                                 \
  extern "C" int name() {                             \
    orditoTellOnce(#name, #name " is not supported"); \
    return ORDITO_NOT_SUPPORTED;                      \
  }
#include ORDITO_REFUSED_LIST
