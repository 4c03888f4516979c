// Thrust, CUB and libcu++, which are not ours: where a user's copy of NVIDIA's CCCL is, and what to say where there is
// none. Debian's libthrust-dev and libcub-dev are in the system's folder of headers and need nothing from here.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace ordito::frontend {

/// The folders of headers of the first copy that there is: `chosen` (--cccl), CCCL_ROOT, include/cccl of our toolkit.
/// An error if one of the first two is given and holds none.
Expected<std::vector<std::filesystem::path>> ccclFolders(const std::filesystem::path& toolkit,
                                                         const std::string& chosen);

/// What to install if clang's messages say that a header of Thrust, CUB or libcu++ was not found; else empty.
std::string adviceOnMissingCccl(std::string_view messages);

}  // namespace ordito::frontend
