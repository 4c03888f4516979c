// What compiled code calls for textures and surfaces: the machine's texture unit, for the lanes that are on.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "machine/fault.hpp"
#include "machine/image.hpp"
#include "machine/lanes.hpp"
#include "rt/event_calls.hpp"
#include "rt/helpers.hpp"
#include "rt/texture_operands.hpp"

namespace ordito::rt {
namespace {

using machine::BlockFrame;
using machine::FaultKind;
using machine::forEachLane;

constexpr unsigned kLanes = 32;

const machine::Texture& textureOf(const BlockFrame* frame, uint32_t line, uint64_t handle) {
  machine::faultHint() = {line, false, {}};
  if (const machine::Texture* t = machine::textureAt(handle)) return *t;
  const std::string text = fmt::format("{:#x} is no texture: none was created or bound", handle);
  machine::raiseFault(*frame, FaultKind::IllegalAddress, line, handle, text.c_str());
}

const machine::Surface& surfaceOf(const BlockFrame* frame, uint32_t line, uint64_t handle) {
  machine::faultHint() = {line, false, {}};
  if (const machine::Surface* s = machine::surfaceAt(handle)) return *s;
  const std::string text = fmt::format("{:#x} is no surface: none was created or bound", handle);
  machine::raiseFault(*frame, FaultKind::IllegalAddress, line, handle, text.c_str());
}

bool areOne(uint32_t lanes, const uint64_t* handles) {
  const uint64_t first = handles[std::countr_zero(lanes)];
  bool same = true;
  forEachLane(lanes, [&](unsigned l) { same &= handles[l] == first; });
  return same;
}

void texture(const BlockFrame* frame, uint32_t line, uint32_t code, uint32_t lanes, const uint64_t* handles,
             LaneNumbers<uint32_t> coordinates, LaneNumbers<int32_t> offsets, LaneNumbers<float> level,
             LaneNumbers<float> gradientY, uint32_t (*texels)[kLanes]) {
  if (lanes == 0) return;
  const machine::TextureOperation operation(code);
  if (!offsets && areOne(lanes, handles)) {
    const machine::Texture& t = textureOf(frame, line, handles[std::countr_zero(lanes)]);
    if (machine::fetchWarp(t, operation, lanes, coordinates, texels)) return;
  }
  const TextureOperands operands{handles, coordinates, offsets, level, gradientY};
  forEachLane(lanes, [&](unsigned l) {
    const machine::Texture& t = textureOf(frame, line, handles[l]);
    if (const char* problem = machine::textureProblem(t, operation))
      machine::raiseFault(*frame, FaultKind::Unsupported, line, handles[l], problem);
    uint32_t found[4] = {};
    machine::fetchTexels(t, operation, operands.of(l), found);
    for (unsigned k = 0; k < 4; ++k) texels[k][l] = found[k];
  });
}

void imageQuery(const BlockFrame* frame, uint32_t line, uint32_t query, uint32_t isSurface, uint32_t lanes,
                const uint64_t* handles, const uint32_t* levels, uint32_t* answers) {
  const auto imageOf = [&](unsigned l) -> const machine::Image& {
    if (isSurface) return surfaceOf(frame, line, handles[l]);
    const machine::Texture& t = textureOf(frame, line, handles[l]);
    return levels ? t.levelOrLast(levels[l]) : t;
  };
  forEachLane(lanes, [&](unsigned l) { answers[l] = machine::imageQuery(imageOf(l), static_cast<uint8_t>(query)); });
}

/// `site`: of whom listeners are asked before an access is a fault; null where nobody listens.
void surfaceAddresses(const BlockFrame* frame, uint32_t line, uint32_t code, uint32_t lanes, const uint64_t* handles,
                      const int32_t (*coordinates)[kLanes], const AccessSite* site, uint32_t warp, uint64_t* places) {
  const machine::SurfaceOperation operation(code);
  std::fill(places, places + kLanes, 0);
  forEachLane(lanes, [&](unsigned l) {
    const machine::Surface& s = surfaceOf(frame, line, handles[l]);
    const int32_t at[4] = {coordinates[0][l], coordinates[1][l], coordinates[2][l], coordinates[3][l]};
    std::optional<machine::AccessProblem> problem;
    places[l] = reinterpret_cast<uint64_t>(machine::surfacePlace(s, operation, at, problem));
    const auto memory = reinterpret_cast<uint64_t>(s.memory);
    if (!problem || (site && isRefused(frame, site, warp, l, memory, *problem))) return;
    machine::raiseFault(*frame, problem->kind, line, memory, problem->says.c_str());
  });
}

/// sust.p, for the lanes that have a place.
void surfaceStore(uint32_t count, const uint64_t* handles, const uint64_t* places, const uint32_t (*words)[kLanes]) {
  for (unsigned l = 0; l < kLanes; ++l) {
    if (!places[l]) continue;
    const uint32_t mine[4] = {words[0][l], words[1][l], words[2][l], words[3][l]};
    machine::storeFormatted(*machine::surfaceAt(handles[l]), reinterpret_cast<std::byte*>(places[l]), mine, count);
  }
}

uint32_t isImage(uint64_t handle, uint32_t wantsSurface) {
  return wantsSurface ? machine::surfaceAt(handle) != nullptr : machine::textureAt(handle) != nullptr;
}

}  // namespace

std::vector<std::pair<std::string_view, void*>> imageHelperTable() {
  return {{"ordito_texture", reinterpret_cast<void*>(texture)},
          {"ordito_image_query", reinterpret_cast<void*>(imageQuery)},
          {"ordito_surface_addresses", reinterpret_cast<void*>(surfaceAddresses)},
          {"ordito_surface_store", reinterpret_cast<void*>(surfaceStore)},
          {"ordito_is_image", reinterpret_cast<void*>(isImage)}};
}

}  // namespace ordito::rt
