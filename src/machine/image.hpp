// Textures and surfaces: the descriptors that programs hold handles of, and the unit that reads and writes through them
// for both engines (a GPU has one such unit too; its rules are in the CUDA programming guide, "Texture Fetching").
//
// A handle is the address of a descriptor. That of a texture object lies in the driver's heap; a texture reference of
// PTX (`.global .texref t`) is a module variable as large as a descriptor, which binding fills in.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "machine/events.hpp"
#include "machine/kernel.hpp"

namespace ordito::machine {

enum class ChannelKind : uint8_t { Unsigned, Signed, Float };

/// What becomes of coordinates outside of the image; the numbers are those of CUDA's enumerations.
enum class AddressMode : uint8_t { Wrap, Clamp, Mirror, Border };

/// Texels in plain rows.
struct Image {
  enum class Role : uint32_t { None, Texture = 0x54455854, Surface = 0x53555246 };
  Role role = Role::None;
  uint8_t channels = 1, bits = 32;  // of each channel
  ChannelKind kind = ChannelKind::Unsigned;
  bool isLinear = false;  // plain memory: one row, and outside of it zeros
  std::byte* memory = nullptr;
  uint64_t pitch = 0, slicePitch = 0;         // bytes from row to row, from slice or layer to the next
  uint32_t width = 0, height = 0, depth = 0;  // 0: the image lacks the dimension
  uint32_t layers = 0;                        // of layered images, six for each cube
  uint32_t texelBytes() const { return uint32_t{channels} * bits / 8; }
  uint64_t rowBytes() const { return uint64_t{width} * texelBytes(); }
  /// Calls visit(memory) for each row, of rowBytes() bytes, until it answers false; says whether it never has.
  template <class Visit>
  bool forEachRow(Visit visit) const {
    for (uint32_t z = 0; z < std::max({depth, layers, 1u}); ++z)
      for (uint32_t y = 0; y < std::max(height, 1u); ++y)
        if (!visit(memory + z * slicePitch + y * pitch)) return false;
    return true;
  }
};

struct Texture : Image {
  AddressMode address[3] = {AddressMode::Clamp, AddressMode::Clamp, AddressMode::Clamp};
  uint8_t levels = 1;          // with the smaller copies of a mipmapped image
  bool filtersLevels = false;  // blends the two nearest levels
  bool filtersLinearly = false;
  bool isNormalised = false;  // coordinates from 0 to 1
  bool readsFloats = false;   // integers become numbers from 0 (-1) to 1
  bool isSrgb = false;
  float border[4] = {};
  float levelBias = 0, leastLevel = 0, mostLevel = 0;
  const Image* smaller = nullptr;  // levels from 1 on
  const Image& level(unsigned k) const { return k == 0 ? *this : smaller[k - 1]; }
  const Image& levelOrLast(uint32_t k) const { return level(k < levels ? k : levels - 1u); }
};

struct Surface : Image {};

/// A variable of type .texref has room for one.
inline constexpr size_t kDescriptorBytes = 128;
static_assert(sizeof(Texture) <= kDescriptorBytes);

enum class Geometry : uint8_t { D1, D2, D3, Layered1, Layered2, Cube, LayeredCube };

/// What a texture instruction asks for besides its coordinates.
struct TextureOperation {
  Geometry geometry = Geometry::D2;
  bool hasIntegers = false;  // coordinates are texel numbers
  uint8_t gathers = 0;       // tld4: 1 + the component
  enum class Result : uint8_t { Word, Half, HalfPair } result = Result::Word;
  enum class Choice : uint8_t { Base, Level, Gradients } choice = Choice::Base;  // of a mipmapped image's level

  explicit TextureOperation(const ptx::Instruction& i);
  explicit TextureOperation(uint32_t code)
      : geometry(Geometry(code & 7)),
        hasIntegers(code >> 3 & 1),
        gathers(code >> 4 & 7),
        result(Result(code >> 8 & 3)),
        choice(Choice(code >> 10 & 3)) {}
  /// For compiled code.
  uint32_t code() const {
    return uint32_t(geometry) | uint32_t{hasIntegers} << 3 | uint32_t{gathers} << 4 | uint32_t(result) << 8 |
           uint32_t(choice) << 10;
  }
};

/// The operands of one lane's fetch, as the instruction has them.
struct TextureArguments {
  uint32_t coordinates[4] = {};  // f32 or s32 bits; the layer first
  int32_t offset[4] = {};        // in texels
  float level[4] = {};           // tex.level; or the gradient along x
  float gradientY[4] = {};
};

/// Null, or why the texture unit cannot do this with such a texture.
const char* textureProblem(const Texture& texture, TextureOperation operation);

/// One lane's fetch. `texels` gets four words, or two pairs of f16.
void fetchTexels(const Texture& texture, TextureOperation operation, const TextureArguments& arguments,
                 uint32_t* texels);

/// Where the texels lie that a fetch reads: the filter's, of one level or of two. What lies beyond a border is nowhere.
struct TexelPlaces {
  std::array<const std::byte*, 16> places;
  uint32_t count = 0;
};
TexelPlaces texelPlaces(const Texture& texture, TextureOperation operation, const TextureArguments& arguments);

/// A fetch by the lanes of a warp from one texture without offsets, where it is of the common kind: false if it is not,
/// and nothing was done.
bool fetchWarp(const Texture& texture, TextureOperation operation, uint32_t lanes, const uint32_t (*coordinates)[32],
               uint32_t (*texels)[32]);

/// What a surface instruction does about its coordinates.
struct SurfaceOperation {
  Geometry geometry = Geometry::D2;
  enum class Outside : uint8_t { Trap, Clamp, Zero } outside = Outside::Trap;
  bool isFormatted = false;  // .p: x counts texels, and values are converted; .b: x counts bytes
  uint8_t bytes = 4;         // moved

  SurfaceOperation(const ptx::Instruction& i, unsigned bytes);
  explicit SurfaceOperation(uint32_t code)
      : geometry(Geometry(code & 7)),
        outside(Outside(code >> 3 & 3)),
        isFormatted(code >> 5 & 1),
        bytes(code >> 8 & 255) {}
  uint32_t code() const {
    return uint32_t(geometry) | uint32_t(outside) << 3 | uint32_t{isFormatted} << 5 | uint32_t{bytes} << 8;
  }
};

/// Where a lane's access of a surface goes: null for one that is dropped (.zero), or that has a problem.
std::byte* surfacePlace(const Surface& surface, SurfaceOperation operation, const int32_t* coordinates,
                        std::optional<AccessProblem>& problem);

/// sust.p: `count` words as texels of the surface's format.
void storeFormatted(const Surface& surface, std::byte* place, const uint32_t* words, unsigned count);

/// txq and suq: the answer to a query of modifiers.def, by its number there.
uint32_t imageQuery(const Image& image, uint8_t query);

/// The descriptor that `handle` is the address of, or null if there is none of that role.
const Texture* textureAt(uint64_t handle);
/// The same of a number that may be no address at all.
const Texture* findTexture(uint64_t number);
const Surface* surfaceAt(uint64_t handle);

}  // namespace ordito::machine
