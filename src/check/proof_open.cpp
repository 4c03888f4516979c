// Accesses whose addresses loaded data decides, in a proof (proof.hpp): what may be said of them without knowing where
// they go.
#include <algorithm>

#include "check/proof.hpp"
#include "check/touch.hpp"
#include "machine/memory.hpp"
#include "machine/undefined.hpp"
#include "ptx/operands.hpp"

namespace ordito::check {

using machine::AccessEvent;
using machine::AccessKind;
using machine::AccessSpace;

/// An object is known by the parameter or the variable that the address is made of, before anybody goes there.
void Proof::findOpenObjects(const machine::BlockFrame& frame) {
  knowsOpenObjects_ = true;
  for (const auto& [line, isAtomic] : plan_.open) {
    const auto& all = plan_.function->instructions;
    const ptx::Space named = ptx::spaceOf(*std::ranges::find(all, line, &ptx::Instruction::line));
    const bool isShared = named == ptx::Space::Shared;
    const AccessEvent access{.at = {frame, *plan_.function, line, 0, 1},
                             .kind = machine::AccessKind::Load,
                             .space = isShared                     ? AccessSpace::Shared
                                      : named == ptx::Space::Const ? AccessSpace::Constant
                                                                   : AccessSpace::Global};
    auto object = launch_->objectOf(access);
    if (!object && isShared) object = Object{.begin = 0, .bytes = frame.totalSharedBytes};
    if (!object) return giveUp();
    if (plan_.told.contains(line)) openLines_.push_back({plan_.function, line, *object, isShared});
    if (isShared) continue;
    OpenObject& open = openObjects_.try_emplace(object->begin, OpenObject{*object}).first->second;
    (isAtomic ? open.isChanged : open.isRead) = true;
  }
  for (const auto& [line, handle] : plan_.textures)
    if (!findOpenTexture(line, handle)) return giveUp();
}

/// The object is the allocation that the image lies in, since pointers may lead there, too. False: there is no such
/// texture, or some of its texels do not exist.
bool Proof::findOpenTexture(uint32_t line, uint64_t handle) {
  const machine::Texture* const texture = machine::findTexture(handle);
  if (!texture) return false;
  const auto first = machine::allocations().find(reinterpret_cast<uint64_t>(texture->memory));
  if (!first) return false;
  const Object object{.begin = first->address, .bytes = first->bytes};
  OpenObject& open = openObjects_.try_emplace(object.begin, OpenObject{object}).first->second;
  for (unsigned k = 0; k < texture->levels; ++k) {
    const machine::Image& image = texture->level(k);
    if (!image.forEachRow(
            [&](const std::byte* row) { return object.contains(reinterpret_cast<uint64_t>(row), image.rowBytes()); }))
      return false;
    open.images.push_back(image);
  }
  openLines_.push_back({plan_.function, line, object, false});
  return true;
}

bool Proof::OpenObject::isWritten() const {
  const auto* const undefined = machine::undefinedMemory();
  if (isRead || isChanged) return undefined->isDefined(object.begin, object.bytes);
  return std::ranges::all_of(images, [&](const machine::Image& image) {
    return image.forEachRow(
        [&](const std::byte* row) { return undefined->isDefined(reinterpret_cast<uint64_t>(row), image.rowBytes()); });
  });
}

void Proof::touchOpen(const AccessEvent& access) {
  const bool isGlobal = access.space == AccessSpace::Global || access.space == AccessSpace::Constant;
  const bool isNarrow = isAtomic(access.kind) && isGlobal && !isWide(access.scope);
  if (isNarrow || (!isGlobal && access.space != AccessSpace::Shared)) giveUp();
}

/// Of open accesses the whole array, and what is not open as it is. A read of what nobody has written counts wherever
/// it could have been.
void Proof::touchAll(const AccessEvent& access) {
  constexpr uint64_t kMost = 1 << 14;
  if (!plan_.open.contains(access.at.line)) return may_->races.accessed(access, may_->findings);
  uint32_t& known = may_->lanes[{access.at.line, access.at.warp}];
  if ((known | access.at.lanes) == known) return;
  known |= access.at.lanes;
  auto object = launch_->objectOf(access);
  if (!object) object = Object{.begin = 0, .bytes = access.at.frame.totalSharedBytes};
  if (access.bytes == 0 || object->bytes / access.bytes > kMost) return giveUp();
  const auto window = reinterpret_cast<uint64_t>(access.at.frame.shared);
  const bool reads = !doesWrite(access.kind) || isAtomic(access.kind);
  if (checksValues_ && reads && !machine::undefinedMemory()->isDefined(window + object->begin, object->bytes))
    return giveUp();
  mayTouch(access, *object);
}

/// Two lanes touch each element: whoever else touches it races with one of them at least, if with any. A whole warp
/// does that for an element of each lane at once.
void Proof::mayTouch(const AccessEvent& access, const Object& object) {
  AccessEvent some = access;
  some.stored = nullptr;
  const uint64_t step = uint64_t{machine::kWarpSize} * access.bytes;
  uint64_t offset = 0, next[machine::kWarpSize];
  for (; access.at.lanes == ~0u && offset + step <= object.bytes; offset += step) {
    some.addresses = nullptr, some.base = object.begin + offset, some.stride = access.bytes;
    may_->races.accessed(some, may_->findings);
    for (uint32_t lane = 0; lane < machine::kWarpSize; ++lane)
      next[lane] = some.base + uint64_t{(lane + 1) % machine::kWarpSize} * access.bytes;
    some.addresses = next;
    may_->races.accessed(some, may_->findings);
  }
  some.addresses = nullptr, some.stride = 0;
  const uint32_t first = access.at.lanes & -access.at.lanes, rest = access.at.lanes & ~first;
  for (; offset + access.bytes <= object.bytes; offset += access.bytes)
    for (const uint32_t lane : {first, rest & -rest}) {
      some.at.lanes = lane, some.base = object.begin + offset;
      if (lane) may_->races.accessed(some, may_->findings);
    }
}

/// Some block's data may have it store here, too.
void Proof::mayStore(const AccessEvent& access) {
  AccessEvent store = access;
  store.kind = AccessKind::Store;
  store.stored = nullptr;
  may_->races.accessed(store, may_->findings);
}

void Proof::synchronised(const machine::SyncEvent& sync) {
  if (!isOpen_ || !may_) return;
  may_->lanes.clear();
  may_->races.synchronised(sync);
}

void Proof::blockChanged(const machine::BlockEvent& block) {
  if (!isOpen_ || !may_) return;
  may_->lanes.clear();
  may_->races.blockChanged(block);
}

/// Those that are read may be written by nobody, those that are changed by atomic operations only.
bool Proof::areOpenObjectsFine() const {
  if (may_ && may_->findings.total()) return false;
  return std::ranges::all_of(openObjects_, [&](const auto& entry) {
    const OpenObject& open = entry.second;
    const bool reads = open.isRead || !open.images.empty();
    if (reads && open.isChanged) return false;
    if (checksValues_ && !open.isWritten()) return false;
    return forEachSite(open.object, [&](const Class&, const Site& site) {
      return open.isChanged ? site.writes && site.isStrong : !site.writes;
    });
  });
}

}  // namespace ordito::check
