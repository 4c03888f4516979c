// See code_versions.hpp.
#include "simt/code_versions.hpp"

#include <algorithm>

namespace ordito::simt {

bool CodeVersion::assumes(BlockId b) const { return std::ranges::find(assumed, b) != assumed.end(); }

void CodeVersions::beginRegion(const Region& region) {
  region_ = &region;
  masks_.clear();
}

uint32_t CodeVersions::number(const CodeVersion& version) {
  auto [it, isNew] = numbers_.try_emplace(version, static_cast<uint32_t>(versions_.size()));
  if (isNew) versions_.push_back(version);
  return it->second;
}

uint32_t CodeVersions::at(uint32_t version, BlockId block) {
  CodeVersion v = versions_[version];
  std::erase_if(v.assumed, [&](BlockId b) { return !plan_.influence[b][block]; });
  return number(v);
}

uint32_t CodeVersions::agreeing(uint32_t version, BlockId block) {
  CodeVersion v = versions_[version];
  if (!v.assumes(block)) v.assumed.push_back(block);
  std::ranges::sort(v.assumed);
  return number(v);
}

uint32_t CodeVersions::parting(uint32_t version, BlockId block) {
  CodeVersion v = versions_[version];
  std::erase(v.assumed, block);
  return number(v);
}

uint32_t CodeVersions::partial(uint32_t version) {
  CodeVersion v = versions_[version];
  v.full = false;
  return number(v);
}

const Masks& CodeVersions::masks(uint32_t version) {
  auto [it, isNew] = masks_.try_emplace(version);
  if (isNew) it->second = findMasks(shapes_, plan_, regions_, *region_, versions_[version].assumed);
  return it->second;
}

}  // namespace ordito::simt
