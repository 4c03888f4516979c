// Entry points of the runtime API that Ordito does not have, so that every program loads. Each answers
// cudaErrorNotSupported and names itself once. Defining a call and leaving it refused in include/tables/runtime.table
// is an error of the linker, so the list cannot go stale.
#include "runtime/call.hpp"

// Declared without parameters: callers pass theirs, nobody reads them. The header's declarations are not in the way
// because each definition goes by an internal name.
#define REFUSED(name)                                                \
  extern "C" cudaError_t ordito_unsupported_##name() __asm__(#name); \
  extern "C" cudaError_t ordito_unsupported_##name() { return ordito::runtime::unsupported(#name); }
#include "refused/runtime.def"
