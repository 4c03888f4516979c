// The calls that a library's table refuses: each names itself once on stderr and answers the library's own "not
// supported". Compiled once for each list (ORDITO_REFUSED_LIST) with that answer (ORDITO_NOT_SUPPORTED).
//
// Declared without parameters: callers pass theirs, nobody reads them. So this file must not include the library's
// header.
#include <cstddef>

extern "C" void orditoTellOnce(const char* subject, const char* text);

// The answer is wide: some calls answer with a size or a structure of two numbers where others have a number.
#define REFUSED_WITH(type, name, answer)              \
  extern "C" type name() {                            \
    orditoTellOnce(#name, #name " is not supported"); \
    return answer;                                    \
  }
#define REFUSED(name) REFUSED_WITH(long long, name, ORDITO_NOT_SUPPORTED)
#define REFUSED_POINTER(name) REFUSED_WITH(void*, name, nullptr)
#define REFUSED_TEXT(name) REFUSED_WITH(const char*, name, "not supported by Ordito")
/// Asked by programs that only tell what there is.
#define NO_VERSION(name) \
  extern "C" std::size_t name() { return 0; }
/// What programs read directly; wide enough for a number or a pointer.
#define EMPTY_VARIABLE(name) extern "C" const long long name = 0;
#include ORDITO_REFUSED_LIST
