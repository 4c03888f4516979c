// PTX ISA, "Texture Instructions" and "Surface Instructions": operands for the machine's texture unit.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include "interp/executor.hpp"
#include "machine/image.hpp"
#include "machine/undefined.hpp"

namespace ordito::interp {

using isa::mod;
using isa::ModifierKind;
using isa::Type;
using machine::AccessKind;
using machine::AccessSpace;
using machine::FaultKind;
using ptx::Operand;
using ptx::Space;

/// The descriptor's address: a register's value, or a variable's place.
uint64_t Executor::imageHandle(const Operand& o) const {
  if (o.is(Operand::Kind::Address) && o.symbol.kind == ptx::Symbol::Kind::None)
    return thread_->top().registers[o.reg].lo + uint64_t(o.offset);
  return o.is(Operand::Kind::Register) ? readRegister(o).lo : symbolAddress(o);
}

const machine::Texture& Executor::texture(const Operand& o) {
  machine::faultHint() = {instruction_->line, true, {thread_->tid[0], thread_->tid[1], thread_->tid[2]}};
  const uint64_t handle = imageHandle(o);
  if (const machine::Texture* found = machine::textureAt(handle)) return *found;
  fault(FaultKind::IllegalAddress, handle, fmt::format("{:#x} is no texture: none was created or bound", handle));
}

const machine::Surface& Executor::surface(const Operand& o) {
  machine::faultHint() = {instruction_->line, true, {thread_->tid[0], thread_->tid[1], thread_->tid[2]}};
  const uint64_t handle = imageHandle(o);
  if (const machine::Surface* found = machine::surfaceAt(handle)) return *found;
  fault(FaultKind::IllegalAddress, handle, fmt::format("{:#x} is no surface: none was created or bound", handle));
}

std::array<uint32_t, 4> Executor::imageCoordinates(size_t k) const {
  const Operand& list = operand(k).elements.back();
  std::array<uint32_t, 4> at{};
  for (size_t d = 0; d < 4; ++d) {
    if (!list.is(Operand::Kind::Vector) && d > 0) break;
    if (list.is(Operand::Kind::Vector) && d >= list.elements.size()) break;
    at[d] = uint32_t(read(list.is(Operand::Kind::Vector) ? list.elements[d] : list, Type::b32).lo);
  }
  return at;
}

namespace {

const Operand& elementOf(const Operand& o, size_t k) { return o.is(Operand::Kind::Vector) ? o.elements[k] : o; }
size_t countOf(const Operand& o) { return o.is(Operand::Kind::Vector) ? o.elements.size() : 1; }

}  // namespace

/// The numbers of operand `k`, a vector or one alone; none if it is not there.
template <class Number>
void Executor::imageNumbers(size_t k, Number (&numbers)[4]) const {
  if (!present(k)) return;
  for (size_t d = 0; d < std::min<size_t>(4, countOf(operand(k))); ++d)
    numbers[d] = std::bit_cast<Number>(uint32_t(read(elementOf(operand(k), d), Type::b32).lo));
}

/// Listeners hear of each texel. Gives the address of the first that has bytes which nobody has written, 0 if none has.
uint64_t Executor::touchTexels(const machine::Texture& t, const machine::TexelPlaces& texels) const {
  const std::span places(texels.places.data(), texels.count);
  const uint32_t bytes = t.texelBytes();
  for (const std::byte* place : places)
    askListeners(AccessSpace::Texture, reinterpret_cast<uint64_t>(place), bytes, AccessKind::Load,
                 t.levels == 1 ? t.memory : nullptr);
  uint64_t unwritten = 0;
  for (const std::byte* place : places) {
    const auto address = reinterpret_cast<uint64_t>(place);
    raiseTexel(address, bytes);
    if (!unwritten && machine::undefinedMemory()->at(address, bytes).any) unwritten = address;
  }
  return unwritten;
}

/// A lane's access to a surface; none if it is dropped.
void Executor::touchSurface(AccessKind kind, const std::byte* place, unsigned bytes) {
  if (!place) bytes = 0;
  askListeners(AccessSpace::Surface, reinterpret_cast<uint64_t>(place), bytes, kind);
  accesses_.add(kind, AccessSpace::Surface, thread_->lane, reinterpret_cast<uint64_t>(place), bytes);
}

/// `offset` is the operand of texel offsets; level or gradients come before it.
void Executor::fetchTexture(size_t offset) {
  const machine::Texture& t = texture(operand(2).elements[0]);
  const machine::TextureOperation operation(*instruction_);
  if (const char* problem = machine::textureProblem(t, operation))
    fault(FaultKind::Unsupported, imageHandle(operand(2).elements[0]), problem);
  machine::TextureArguments arguments;
  std::ranges::copy(imageCoordinates(2), arguments.coordinates);
  if (offset > 3) imageNumbers(3, arguments.level);
  if (offset > 4) imageNumbers(4, arguments.gradientY);
  imageNumbers(offset, arguments.offset);
  if (present(1)) writePredicate(1, true);  // no texture here has texels without memory
  const uint64_t unwritten = block_.isHeard ? touchTexels(t, machine::texelPlaces(t, operation, arguments)) : 0;
  accesses_.add(AccessKind::Load, AccessSpace::Texture, thread_->lane, unwritten, t.texelBytes());
  uint32_t texels[4] = {};
  machine::fetchTexels(t, operation, arguments, texels);
  const auto& elements = operand(0).elements;
  for (size_t k = 0; k < elements.size(); ++k) write(elements[k], type(), {texels[k], 0});
}

void Executor::Tex() { fetchTexture(3); }
void Executor::TexHalf() { fetchTexture(3); }
void Executor::TexBase() { fetchTexture(3); }
void Executor::TexBaseHalf() { fetchTexture(3); }
void Executor::TexLevel() { fetchTexture(4); }
void Executor::TexLevelHalf() { fetchTexture(4); }
void Executor::TexGrad() { fetchTexture(5); }
void Executor::TexGradHalf() { fetchTexture(5); }
void Executor::Tld4() { fetchTexture(3); }

void Executor::Txq() {
  write(0, Type::b32, machine::imageQuery(texture(operand(1)), instruction_->mods[ModifierKind::ImageQuery]));
}
void Executor::TxqLevel() {
  const machine::Image& level = texture(operand(1)).levelOrLast(uint32_t(read(2, Type::b32)));
  write(0, Type::b32, machine::imageQuery(level, instruction_->mods[ModifierKind::ImageQuery]));
}
void Executor::Suq() {
  write(0, Type::b32, machine::imageQuery(surface(operand(1)), instruction_->mods[ModifierKind::ImageQuery]));
}

void Executor::Istypep() {
  const uint64_t handle = read(1, Type::b64);
  const bool isSurface = is(mod<ModifierKind::Opaque>("surfref"));
  const bool isSampler = is(mod<ModifierKind::Opaque>("samplerref"));
  writePredicate(
      0, isSurface ? machine::surfaceAt(handle) != nullptr : !isSampler && machine::textureAt(handle) != nullptr);
}

/// Where the access that is operand `k` goes; null if it is dropped. One that cannot be made is abandoned if listeners
/// refuse it.
std::byte* Executor::surfaceAccess(AccessKind kind, size_t k, unsigned bytes) {
  const machine::Surface& s = surface(operand(k).elements[0]);
  const auto at = imageCoordinates(k);
  std::optional<machine::AccessProblem> problem;
  std::byte* place = machine::surfacePlace(s, machine::SurfaceOperation(*instruction_, bytes),
                                           reinterpret_cast<const int32_t*>(at.data()), problem);
  if (!problem) return place;
  const auto memory = reinterpret_cast<uint64_t>(s.memory);
  askListeners({.at = site(1u << thread_->lane),
                .kind = kind,
                .space = AccessSpace::Surface,
                .bytes = bytes,
                .base = memory,
                .problem = &*problem});
  fault(problem->kind, memory, problem->says);
}

void Executor::Suld() {
  const unsigned each = isa::bytes(type()), count = unsigned(countOf(operand(0)));
  const std::byte* place = surfaceAccess(AccessKind::Load, 1, each * count);
  touchSurface(AccessKind::Load, place, each * count);
  for (unsigned k = 0; k < count; ++k) {
    uint64_t value = 0;
    if (place) std::memcpy(&value, place + k * each, each);
    write(elementOf(operand(0), k), type(), {value, 0});
  }
}

void Executor::Sust() {
  block_.hasActed = true;
  const unsigned each = isa::bytes(type()), count = unsigned(countOf(operand(1)));
  std::byte* place = surfaceAccess(AccessKind::Store, 0, each * count);
  touchSurface(AccessKind::Store, place, each * count);
  for (unsigned k = 0; k < count && place; ++k) {
    const uint64_t value = read(elementOf(operand(1), k), type()).lo;
    if (!block_.program.isReplay) std::memcpy(place + k * each, &value, each);
  }
}

void Executor::SustFormatted() {
  block_.hasActed = true;
  const unsigned count = unsigned(countOf(operand(1)));
  uint32_t words[4] = {};
  for (unsigned k = 0; k < count; ++k) words[k] = uint32_t(read(elementOf(operand(1), k), Type::b32).lo);
  std::byte* place = surfaceAccess(AccessKind::Store, 0, 4);
  const machine::Surface& s = surface(operand(0).elements[0]);
  touchSurface(AccessKind::Store, place, s.texelBytes());
  if (place && !block_.program.isReplay) machine::storeFormatted(s, place, words, count);
}

/// An atomic operation on one element; .b64 and .b32 compare as unsigned.
void Executor::Sured() {
  block_.hasActed = true;
  const unsigned bytes = isa::bytes(type());
  std::byte* place = surfaceAccess(AccessKind::Reduction, 0, bytes);
  touchSurface(AccessKind::Reduction, place, bytes);
  if (place) atomicUpdate({Space::Global, reinterpret_cast<uint64_t>(place), place}, bytes, read(1, type()), 0);
}
void Executor::SuredFormatted() { Sured(); }

}  // namespace ordito::interp
