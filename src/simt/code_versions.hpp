// How pieces of code are specialised: `full`, no lane of the batch has ended; `assumed`, divergent branches on which
// all lanes agreed.
#pragma once

#include <compare>
#include <map>
#include <vector>

#include "simt/masks.hpp"

namespace ordito::simt {

struct CodeVersion {
  bool full = true;
  std::vector<BlockId> assumed;  // in ascending order
  auto operator<=>(const CodeVersion&) const = default;
  bool assumes(BlockId b) const;
};

/// Numbers versions, and knows which blocks of the current region run under masks in each.
class CodeVersions {
 public:
  CodeVersions(const ir::Shapes& shapes, const Versions& versions, const Regions& regions)
      : shapes_(shapes), plan_(versions), regions_(regions) {}
  void beginRegion(const Region& region);

  uint32_t number(const CodeVersion& version);
  const CodeVersion& operator[](uint32_t number) const { return versions_[number]; }
  /// The version in which `block` is written when control comes from `version`: outside the influence of a branch, what
  /// was assumed of it says nothing.
  uint32_t at(uint32_t version, BlockId block);
  /// As `version`, and all lanes agreed on the branch that ends `block`.
  uint32_t agreeing(uint32_t version, BlockId block);
  /// As `version`, but they may not have agreed there.
  uint32_t parting(uint32_t version, BlockId block);
  /// As `version`, and lanes may have ended.
  uint32_t partial(uint32_t version);

  const Masks& masks(uint32_t version);

 private:
  const ir::Shapes& shapes_;
  const Versions& plan_;
  const Regions& regions_;
  const Region* region_ = nullptr;
  std::vector<CodeVersion> versions_;
  std::map<CodeVersion, uint32_t> numbers_;
  std::map<uint32_t, Masks> masks_;  // of the region, by version
};

}  // namespace ordito::simt
