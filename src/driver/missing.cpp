// The calls of the driver API that include/tables/driver.table refuses. They are declared without parameters here,
// whatever they take: under the calling convention the caller's arguments are simply left alone. So this file must not
// include cuda.h.
#include "driver/missing.hpp"

#include <string>

namespace ordito::driver {

namespace {

constexpr const char* kMissing[] = {
#define REFUSED(name) #name,
#include "refused/driver.def"
};

}  // namespace

bool isMissing(std::string_view name) {
  for (const char* missing : kMissing)
    if (name == missing) return true;
  return false;
}

}  // namespace ordito::driver

#define REFUSED(name) \
  extern "C" int name() { return ordito::driver::reportMissing(#name); }
#include "refused/driver.def"
