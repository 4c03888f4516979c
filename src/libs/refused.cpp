// The calls that a library's table refuses: each names itself once on stderr and answers the library's own "not
// supported". Compiled once for each list (ORDITO_REFUSED_LIST) with that answer (ORDITO_NOT_SUPPORTED).
//
// Declared without parameters: callers pass theirs, nobody reads them. So this file must not include the library's
// header.
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>

namespace {

int refuse(const char* name) {
  static std::mutex mutex;
  static auto* told = new std::set<std::string>;
  const std::scoped_lock lock(mutex);
  const bool quiet = std::getenv("ORDITO_QUIET") != nullptr;
  if (told->insert(name).second && !quiet) std::fprintf(stderr, "ordito: %s is not supported\n", name);
  return ORDITO_NOT_SUPPORTED;
}

}  // namespace

#define REFUSED(name) \
  extern "C" int name() { return refuse(#name); }
#include ORDITO_REFUSED_LIST
