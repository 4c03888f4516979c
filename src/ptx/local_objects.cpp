// See local_objects.hpp.
#include "ptx/local_objects.hpp"

#include <algorithm>

#include "ptx/roots.hpp"

namespace ordito::ptx {
namespace {

/// Of an array as much as it is long, since an index that is wrong is seldom wrong by more than that.
constexpr uint64_t kLeastZone = 32, kMostZone = 512, kZoneUnit = 16;

bool isLocal(const Variable& variable) { return variable.space == Space::Local; }

uint64_t alignUp(uint64_t offset, uint64_t alignment) { return (offset + alignment - 1) / alignment * alignment; }

}  // namespace

std::vector<uint32_t> localObjects(const Function& function) {
  if (std::ranges::none_of(function.variables, isLocal)) return {};
  const FunctionRoots roots(function);
  std::vector<uint32_t> objects;
  for (const Instruction& i : function.instructions) {
    const Roots of = roots.of(i);
    const bool isOne = of.size() == 1 && of.begin()->kind == Root::Kind::FunctionVariable &&
                       isLocal(function.variables[of.begin()->index]);
    objects.push_back(isOne ? of.begin()->index : kNoVariable);
  }
  return objects;
}

uint32_t redZone(const Variable& variable) {
  if (!isLocal(variable)) return 0;
  return static_cast<uint32_t>(alignUp(std::clamp(variable.size, kLeastZone, kMostZone), kZoneUnit));
}

uint64_t LocalPlaces::place(const Variable& variable) {
  const uint64_t own = hasZones ? redZone(variable) : 0;
  const uint64_t begin = alignUp(end + std::max(zone, own), std::max(variable.alignment, 1u));
  end = begin + variable.size, zone = own;
  return begin;
}

}  // namespace ordito::ptx
