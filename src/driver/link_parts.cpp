// See link_parts.hpp.
#include "driver/link_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/link_code.hpp"
#include "driver/fatbin.hpp"
#include "driver/grid_groups.hpp"
#include "driver/image.hpp"
#include "ptx/parser.hpp"
#include "ptx/printer.hpp"

namespace ordito::driver {
namespace {

/// Images of one architecture are parts of one program, and others are alternatives; none is for this one.
constexpr uint32_t kOneProgram = 10;

bool isOneProgram(const std::vector<FatbinEntry>& entries) {
  return std::all_of(entries.begin(), entries.end(), [](const FatbinEntry& e) { return e.arch == kOneProgram; });
}

/// The entry for `capability`: the highest that is not above it, else the lowest there is.
const FatbinEntry& bestOf(const std::vector<FatbinEntry>& entries, uint32_t capability) {
  return *std::max_element(entries.begin(), entries.end(), [&](const FatbinEntry& a, const FatbinEntry& b) {
    const bool aFits = a.arch <= capability, bFits = b.arch <= capability;
    if (aFits != bFits) return bFits;
    return aFits ? a.arch < b.arch : a.arch > b.arch;
  });
}

Expected<std::vector<std::string>> partsInFatbin(std::span<const std::byte> image, uint32_t capability,
                                                 bool mayBeYounger) {
  auto entries = readFatbin(image);
  if (!entries) return failWith(kNoImage, "{}", entries.error().message);
  std::erase_if(*entries, [](const FatbinEntry& entry) { return entry.kind != FatbinEntry::Kind::Ptx; });
  if (entries->empty()) return failWith(kNoPtx, "holds no PTX");
  std::vector<std::string> parts;
  if (isOneProgram(*entries)) {
    for (FatbinEntry& entry : *entries) parts.push_back(std::move(entry.ptx));
    return parts;
  }
  const FatbinEntry& best = bestOf(*entries, capability);
  if (best.arch > capability && !mayBeYounger)
    return failWith(kYoungerPtx, "is for GPUs younger than sm_{}", capability);
  parts.push_back(best.ptx);
  return parts;
}

/// Do the parts call what the device runtime has (grid_groups.hpp)?
bool needsGridGroups(const std::vector<std::string>& parts) {
  return std::any_of(parts.begin(), parts.end(), [](const std::string& part) {
    return part.find("cudaCGSynchronize") != std::string::npos ||
           part.find("cudaCGGetIntrinsicHandle") != std::string::npos;
  });
}

/// Launch bounds, or a number of registers, in the text count for more than an option.
bool hasBounds(const ptx::Function& kernel) { return kernel.maxntid[0] || kernel.reqntid[0] || kernel.maxnreg; }

std::string_view textOf(std::span<const std::byte> image) {
  return {reinterpret_cast<const char*>(image.data()), image.size()};
}

}  // namespace

bool isEmptyArchive(std::span<const std::byte> image) { return textOf(image) == "!<arch>\n"; }

Expected<std::vector<std::string>> partsIn(std::span<const std::byte> image, uint32_t capability, bool mayBeYounger) {
  if (isFatbin(image)) return partsInFatbin(image, capability, mayBeYounger);
  if (isEmptyArchive(image)) return std::vector<std::string>{};
  const std::string_view text = withoutLinkCodeMark(textOf(image));
  return std::vector<std::string>{std::string(text.substr(0, text.find('\0')))};
}

std::string limitRegisters(ptx::Module part, uint32_t most) {
  for (ptx::Function& function : part.functions)
    if (function.isEntry && !hasBounds(function)) function.maxnreg = most;
  return ptx::print(part);
}

std::vector<std::byte> linkedImage(std::vector<std::string> parts) {
  if (needsGridGroups(parts)) parts.emplace_back(kGridGroups);
  std::vector<FatbinImage> images;
  for (std::string& part : parts)
    images.push_back({FatbinEntry::Kind::Ptx, kOneProgram, fmt::format("part {}", images.size() + 1), std::move(part),
                      FatbinPacking::Plain});
  return writeFatbin(images);
}

Expected<std::string> linkedPtx(std::vector<std::string> parts) {
  if (needsGridGroups(parts)) parts.emplace_back(kGridGroups);
  std::vector<ptx::Module> modules;
  for (const std::string& part : parts) {
    auto module = ptx::parse(part, "a part");
    if (!module) return failWith(kInvalidPart, "{}", module.error().message);
    modules.push_back(std::move(*module));
  }
  auto linked = linkModules(std::move(modules));
  if (!linked) return tl::unexpected(linked.error());
  return ptx::print(*linked);
}

}  // namespace ordito::driver
