// Which lane of a warp touches which sector of global memory, or which bank of shared memory: a picture for each
// variant, drawn from the addresses that its kernel used.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace ordito::cli {

/// One access of a variant's first warp.
struct LabAccess {
  std::string name, title;  // of the variant
  std::string kind, space, source;
  std::vector<std::pair<int, std::uint64_t>> addresses;  // lane, address

  /// Rows of the picture: sectors that are touched, in ascending order; of shared memory all 32 banks.
  std::vector<std::uint64_t> rows() const;
  std::uint64_t rowOf(std::uint64_t address) const;
  /// Different words in the bank that has most, which is how often shared memory must be asked.
  int passes() const;
};

/// For each variant the access that it is about: the spec's row says whether that is a load, a store, or one of shared
/// memory. A variant without such an access has none.
Expected<std::vector<LabAccess>> labAccesses(const nlohmann::json& document, const nlohmann::json& recording);

/// The first launch of a recording, access by access: where in the source, what, and which lanes of the warp took part.
std::string warpText(const nlohmann::json& recording);

std::string accessPicture(const std::string& title, const std::vector<LabAccess>& accesses);

}  // namespace ordito::cli
