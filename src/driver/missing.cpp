// The entries of missing.def. They are declared without parameters here, whatever they take: under the calling
// convention the caller's arguments are simply left alone. So this file must not include cuda.h.
#include "driver/missing.hpp"

#include <string>

namespace ordito::driver {

namespace {

constexpr const char* kMissing[] = {
#define MISSING(name) #name,
#include "driver/missing.def"
};

}  // namespace

bool isMissing(std::string_view name) {
  for (const char* missing : kMissing)
    if (name == missing) return true;
  return false;
}

}  // namespace ordito::driver

#define MISSING(name) \
  extern "C" int name() { return ordito::driver::reportMissing(#name); }
#include "driver/missing.def"
