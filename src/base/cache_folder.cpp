// See cache_folder.hpp.
#include "base/cache_folder.hpp"

#include <cstdlib>

#include "base/environment.hpp"

namespace ordito {

std::filesystem::path defaultCacheFolder() {
  if (const char* base = std::getenv("XDG_CACHE_HOME"); base && *base) return std::filesystem::path(base) / "ordito";
  if (const char* home = std::getenv("HOME"); home && *home) return std::filesystem::path(home) / ".cache" / "ordito";
  return {};
}

std::filesystem::path cacheFolder() {
  const std::string chosen = readEnvironment().cache;
  return chosen == "off"  ? std::filesystem::path()
         : chosen.empty() ? defaultCacheFolder()
                          : std::filesystem::path(chosen);
}

}  // namespace ordito
