// See image.hpp. Surfaces and queries, which need no filter.
#include "machine/image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "machine/readable.hpp"

namespace ordito::machine {

namespace {

using isa::ModifierKind;

Geometry geometryOf(const ptx::Instruction& i) {
  return Geometry(i.mods[ModifierKind::Geometry] - 1);  // in the order of modifiers.def
}

AccessProblem outsideOf(const Surface& s, SurfaceOperation o, const int32_t* c) {
  return {FaultKind::IllegalAddress,
          fmt::format("surface access at ({}, {}, {}){} outside of the {} x {} x {} surface", c[0], c[1], c[2],
                      o.isFormatted ? "" : ", x in bytes,", s.width, s.height, std::max(s.depth, s.layers))};
}

}  // namespace

TextureOperation::TextureOperation(const ptx::Instruction& i)
    : geometry(geometryOf(i)), hasIntegers(i.type[3] == isa::Type::s32), gathers(i.mods[ModifierKind::Component]) {
  if (i.type[0] == isa::Type::f16) result = Result::Half;
  if (i.type[0] == isa::Type::f16x2) result = Result::HalfPair;
  const auto which = i.mods.name(ModifierKind::TextureLevel);
  if (which == "level") choice = Choice::Level;
  if (which == "grad") choice = Choice::Gradients;
}

SurfaceOperation::SurfaceOperation(const ptx::Instruction& i, unsigned bytes)
    : geometry(geometryOf(i)),
      outside(Outside(i.mods[ModifierKind::Clamp] - 1)),
      isFormatted(i.mods.name(ModifierKind::SurfaceAccess) == "p"),
      bytes(uint8_t(bytes)) {}

const Texture* textureAt(uint64_t handle) {
  const auto* texture = reinterpret_cast<const Texture*>(handle);
  return handle % alignof(Texture) == 0 && texture && texture->role == Image::Role::Texture ? texture : nullptr;
}

const Texture* findTexture(uint64_t number) {
  std::byte copy[sizeof(Texture)];
  return copyReadable(copy, number, sizeof copy) == sizeof copy ? textureAt(number) : nullptr;
}

const Surface* surfaceAt(uint64_t handle) {
  const auto* surface = reinterpret_cast<const Surface*>(handle);
  return handle % alignof(Surface) == 0 && surface && surface->role == Image::Role::Surface ? surface : nullptr;
}

std::byte* surfacePlace(const Surface& s, SurfaceOperation o, const int32_t* coordinates,
                        std::optional<AccessProblem>& problem) {
  problem.reset();
  const bool isLayered = o.geometry == Geometry::Layered1 || o.geometry == Geometry::Layered2;
  const bool hasRows = o.geometry == Geometry::D2 || o.geometry == Geometry::D3 || o.geometry == Geometry::Layered2;
  const int32_t layer = isLayered ? coordinates[0] : 0;
  const int32_t* const c = coordinates + isLayered;
  int64_t x = c[0], y = hasRows ? c[1] : 0, z = o.geometry == Geometry::D3 ? c[2] : layer;
  if (!o.isFormatted && o.bytes && x % o.bytes != 0) {
    problem = {FaultKind::MisalignedAddress,
               fmt::format("surface access of {} bytes at the misaligned byte {} of a row", o.bytes, x)};
    return nullptr;
  }
  if (o.isFormatted) x *= s.texelBytes();
  const int64_t last[3] = {int64_t(s.rowBytes()) - (o.isFormatted ? s.texelBytes() : o.bytes),
                           std::max(s.height, 1u) - 1, std::max(isLayered ? s.layers : s.depth, 1u) - 1};
  int64_t* at[3] = {&x, &y, &z};
  for (int d = 0; d < 3; ++d) {
    if (*at[d] >= 0 && *at[d] <= last[d]) continue;
    if (o.outside == SurfaceOperation::Outside::Zero) return nullptr;
    if (o.outside == SurfaceOperation::Outside::Trap) return problem = outsideOf(s, o, coordinates), nullptr;
    *at[d] = std::clamp<int64_t>(*at[d], 0, last[d]);
  }
  return s.memory + z * int64_t(s.slicePitch) + y * int64_t(s.pitch) + x;
}

void storeFormatted(const Surface& s, std::byte* place, const uint32_t* words, unsigned count) {
  for (unsigned c = 0; c < std::min<unsigned>(count, s.channels); ++c) {
    // Integers are cut to the channel by clamping, floats are converted.
    uint32_t value = words[c];
    if (s.kind == ChannelKind::Float && s.bits == 16)
      value = std::bit_cast<uint16_t>(static_cast<_Float16>(std::bit_cast<float>(value)));
    else if (s.kind == ChannelKind::Unsigned && s.bits < 32)
      value = std::min(value, (uint32_t{1} << s.bits) - 1);
    else if (s.kind == ChannelKind::Signed && s.bits < 32)
      value = uint32_t(std::clamp(int32_t(value), -(1 << (s.bits - 1)), (1 << (s.bits - 1)) - 1));
    std::memcpy(place + c * s.bits / 8, &value, s.bits / 8);
  }
}

namespace {

// The numbers that OpenCL gives formats, which are those of the PTX manual.
uint32_t channelType(const Image& image) {
  const bool asFloat = image.role == Image::Role::Texture && static_cast<const Texture&>(image).readsFloats;
  const uint32_t size = image.bits == 8 ? 0 : image.bits == 16 ? 1 : 2;
  if (image.kind == ChannelKind::Float) return image.bits == 16 ? 0x10DD : 0x10DE;
  if (asFloat) return (image.kind == ChannelKind::Signed ? 0x10D0 : 0x10D2) + size;
  return (image.kind == ChannelKind::Signed ? 0x10D7 : 0x10DA) + size;
}

uint32_t textureQuery(const Texture& t, uint8_t query) {
  auto is = [&](const char* name) { return query == isa::modifierValue(ModifierKind::ImageQuery, name); };
  if (is("normalized_coords")) return t.isNormalised;
  if (is("filter_mode")) return t.filtersLinearly;
  if (is("addr_mode_0")) return uint32_t(t.address[0]);
  if (is("addr_mode_1")) return uint32_t(t.address[1]);
  if (is("addr_mode_2")) return uint32_t(t.address[2]);
  return 0;
}

}  // namespace

uint32_t imageQuery(const Image& image, uint8_t query) {
  auto is = [&](const char* name) { return query == isa::modifierValue(ModifierKind::ImageQuery, name); };
  if (is("width")) return image.width;
  if (is("height")) return image.height;
  if (is("depth")) return image.depth;
  if (is("array_size")) return image.layers;
  if (is("channel_data_type")) return channelType(image);
  if (is("channel_order")) return image.channels == 1 ? 0x10B0 : image.channels == 2 ? 0x10B2 : 0x10B5;
  if (is("num_samples")) return 1;
  if (is("num_mipmap_levels"))
    return image.role == Image::Role::Texture ? static_cast<const Texture&>(image).levels : 1;
  if (is("memory_layout")) return image.isLinear ? 1 : 0;
  return image.role == Image::Role::Texture ? textureQuery(static_cast<const Texture&>(image), query) : 0;
}

}  // namespace ordito::machine
