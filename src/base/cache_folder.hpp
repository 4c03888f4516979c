// Where what was compiled is kept between two starts of a program.
#pragma once

#include <filesystem>

namespace ordito {

/// ordito/ in $XDG_CACHE_HOME or ~/.cache; empty if there is neither.
std::filesystem::path defaultCacheFolder();

/// The folder that ORDITO_CACHE names, or the default; empty if it says "off".
std::filesystem::path cacheFolder();

}  // namespace ordito
