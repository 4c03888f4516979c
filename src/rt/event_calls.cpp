// See event_calls.hpp. What is told here is what the interpreter tells (interp/events.cpp); an access is asked for and
// told of in one call, just before it is made.
#include "rt/event_calls.hpp"

#include <algorithm>
#include <bit>

#include "machine/lanes.hpp"
#include "machine/listener.hpp"
#include "rt/bulk_copy.hpp"

namespace ordito::rt {

using machine::AccessEvent;
using machine::AccessKind;
using machine::AccessSpace;
using machine::forEachLane;
using machine::SyncEvent;
using machine::WarpSite;

namespace {

constexpr uint32_t kWarp = machine::kWarpSize;

WarpSite place(const BlockFrame* frame, const EventSite& at, uint32_t warp, uint32_t lanes) {
  return {*frame, frame->functions[at.function], at.line, warp, lanes};
}

AccessEvent eventOf(const BlockFrame* frame, const AccessSite* site, uint32_t warp, uint32_t lanes) {
  return {.at = place(frame, site->at, warp, lanes),
          .kind = static_cast<AccessKind>(site->kind),
          .space = static_cast<AccessSpace>(site->space),
          .order = static_cast<machine::MemoryOrder>(site->order),
          .scope = static_cast<machine::MemoryScope>(site->scope),
          .bytes = site->bytes};
}

/// An offset into the block's window. Addresses of shared memory have 32 bits, and offsets before its begin wrap.
uint64_t sharedOffset(const BlockFrame* frame, uint64_t address) {
  const uint64_t offset = address - reinterpret_cast<uint64_t>(frame->shared);
  return offset >> 32 == UINT32_MAX ? static_cast<uint32_t>(offset) : offset;
}

uint32_t askAndTell(AccessEvent& event) {
  event.at.lanes = machine::allowedLanes(event);
  if (event.at.lanes) machine::raise(event);
  return event.at.lanes;
}

/// Are the lanes' addresses base + lane × stride? Then the event says so.
bool findStride(AccessEvent& event, const uint64_t* addresses) {
  const auto first = static_cast<uint32_t>(std::countr_zero(event.at.lanes));
  const uint32_t rest = event.at.lanes & (event.at.lanes - 1);
  if (!rest) return event.base = addresses[first], event.stride = 0, event.addresses = nullptr, true;
  const auto second = static_cast<uint32_t>(std::countr_zero(rest));
  const int64_t distance = static_cast<int64_t>(addresses[second] - addresses[first]);
  if (distance % (second - first) != 0) return false;
  event.stride = distance / (second - first);
  event.base = addresses[first] - static_cast<uint64_t>(event.stride * first);
  event.addresses = nullptr;
  const auto last = static_cast<uint32_t>(std::bit_width(event.at.lanes)) - 1;
  bool same = event.addressOf(last) == addresses[last];  // it tells most that have no stride
  if (same) forEachLane(event.at.lanes, [&](uint32_t lane) { same &= event.addressOf(lane) == addresses[lane]; });
  return same;
}

/// Where a generic address of a lane leads; what is no shared and no local memory is global.
AccessSpace spaceAt(const BlockFrame* frame, uint64_t address) {
  if (address - reinterpret_cast<uint64_t>(frame->shared) < frame->totalSharedBytes) return AccessSpace::Shared;
  if (address - reinterpret_cast<uint64_t>(frame->local) < frame->localBytes) return AccessSpace::Local;
  return AccessSpace::Global;
}

/// Local memory is asked for lane by lane, since each has variables of its own.
uint32_t tellLocal(AccessEvent event, const LocalVariables* locals, uint32_t object, const uint64_t* addresses) {
  uint32_t allowed = 0;
  AccessEvent one = event;
  forEachLane(event.at.lanes, [&](uint32_t lane) {
    one.at.lanes = 1u << lane, one.base = addresses[lane];
    const auto found = localObject(event.at.frame, *locals, event.at.warp * kWarp + lane, object, addresses[lane]);
    one.objectBegin = found.begin(), one.objectBytes = found.bytes(), one.object = found.variable();
    allowed |= machine::allowedLanes(one);
  });
  event.at.lanes = allowed;
  event.addresses = addresses;
  if (allowed) machine::raise(event);
  return allowed;
}

/// The lanes that may access what `event` says at their addresses, lane by lane with sizes of their own.
uint32_t askEach(AccessEvent event, uint32_t lanes, const uint64_t* addresses, AccessKind kind, AccessSpace space,
                 auto bytesOf) {
  uint32_t allowed = 0;
  event.kind = kind, event.space = space;
  forEachLane(lanes, [&](uint32_t lane) {
    event.at.lanes = 1u << lane, event.base = addresses[lane], event.bytes = bytesOf(lane);
    allowed |= event.bytes ? machine::allowedLanes(event) : event.at.lanes;
  });
  return allowed;
}

}  // namespace

uint32_t tellAffine(const BlockFrame* frame, const AccessSite* site, uint32_t warp, uint32_t lanes, uint64_t base,
                    int64_t stride, const uint64_t* stored) {
  if (!lanes) return 0;
  AccessEvent event = eventOf(frame, site, warp, lanes);
  if (event.space == AccessSpace::Shared) {
    const auto first = static_cast<uint64_t>(std::countr_zero(lanes)) * static_cast<uint64_t>(stride);
    base = sharedOffset(frame, base + first) - first;
  }
  event.base = base, event.stride = stride, event.stored = stored;
  return askAndTell(event);
}

uint32_t tellLanes(const BlockFrame* frame, const AccessSite* site, const LocalVariables* locals, uint32_t warp,
                   uint32_t lanes, const uint64_t* addresses, const uint64_t* stored) {
  uint32_t allowed = 0;
  uint64_t offsets[kWarp];
  for (uint32_t left = lanes; left;) {
    AccessEvent event = eventOf(frame, site, warp, left);
    if (event.space == AccessSpace::Generic) {
      event.space = spaceAt(frame, addresses[std::countr_zero(left)]);
      forEachLane(left, [&](uint32_t lane) {
        if (spaceAt(frame, addresses[lane]) != event.space) event.at.lanes &= ~(1u << lane);
      });
    }
    left &= ~event.at.lanes;
    event.stored = stored;
    if (event.space == AccessSpace::Local) {
      allowed |= tellLocal(event, locals, site->object, addresses);
      continue;
    }
    const uint64_t* at = addresses;
    if (event.space == AccessSpace::Shared) {
      forEachLane(event.at.lanes, [&](uint32_t l) { offsets[l] = sharedOffset(frame, addresses[l]); });
      at = offsets;
    }
    if (!findStride(event, at)) event.addresses = at;
    allowed |= askAndTell(event);
  }
  return allowed;
}

uint32_t tellCopy(const BlockFrame* frame, const AccessSite* site, uint32_t warp, uint32_t lanes,
                  const uint64_t* addresses, const uint64_t* targets, const uint32_t* copied) {
  AccessEvent event = eventOf(frame, site, warp, lanes);
  uint64_t offsets[kWarp];
  forEachLane(lanes, [&](uint32_t lane) { offsets[lane] = sharedOffset(frame, targets[lane]); });
  lanes = askEach(event, lanes, addresses, AccessKind::Load, event.space, [&](uint32_t l) { return copied[l]; });
  lanes = askEach(event, lanes, offsets, AccessKind::Store, AccessSpace::Shared, [&](uint32_t) { return site->bytes; });
  if (!lanes) return 0;
  event.at.lanes = lanes, event.addresses = addresses;
  event.toSpace = AccessSpace::Shared, event.targets = offsets, event.copied = copied;
  machine::raise(event);
  return lanes;
}

/// Calls visit(texture, lanes, addresses) for the lanes' texels, those of one texture and one corner of the filter at a
/// time. What is no texture the fetch itself refuses.
template <class Visit>
void forEachTexel(uint32_t lanes, const uint64_t* handles, const machine::TexelPlaces* texels, Visit visit) {
  uint64_t addresses[kWarp];
  for (uint32_t left = lanes; left;) {
    const uint64_t handle = handles[std::countr_zero(left)];
    const machine::Texture* const texture = machine::textureAt(handle);
    uint32_t same = 0, most = 0;
    forEachLane(left, [&](uint32_t lane) {
      if (handles[lane] != handle) return;
      same |= 1u << lane;
      most = std::max(most, texels[lane].count);
    });
    left &= ~same;
    for (uint32_t k = 0; texture && k < most; ++k) {
      uint32_t there = 0;
      forEachLane(same, [&](uint32_t lane) {
        if (k < texels[lane].count)
          there |= 1u << lane, addresses[lane] = reinterpret_cast<uint64_t>(texels[lane].places[k]);
      });
      visit(*texture, there, addresses);
    }
  }
}

uint32_t tellTexels(const BlockFrame* frame, const AccessSite* site, uint32_t warp, uint32_t lanes, uint32_t code,
                    const uint64_t* handles, LaneNumbers<uint32_t> coordinates, LaneNumbers<int32_t> offsets,
                    LaneNumbers<float> level, LaneNumbers<float> gradientY) {
  const TextureOperands operands{handles, coordinates, offsets, level, gradientY};
  machine::TexelPlaces texels[kWarp];
  forEachLane(lanes, [&](uint32_t lane) {
    if (const machine::Texture* t = machine::textureAt(handles[lane]))
      texels[lane] = machine::texelPlaces(*t, machine::TextureOperation(code), operands.of(lane));
  });
  AccessEvent event = eventOf(frame, site, warp, lanes);
  const auto setTexels = [&](const machine::Texture& t, uint32_t there, const uint64_t* addresses) {
    event.at.lanes = there, event.bytes = t.texelBytes();
    event.addresses = nullptr;
    if (!findStride(event, addresses)) event.addresses = addresses;
  };
  uint32_t allowed = lanes;
  forEachTexel(lanes, handles, texels, [&](const machine::Texture& t, uint32_t there, const uint64_t* addresses) {
    setTexels(t, there, addresses);
    event.objectBegin = t.levels == 1 ? reinterpret_cast<uint64_t>(t.memory) : 0;
    allowed &= ~there | machine::allowedLanes(event);
  });
  event.objectBegin = 0;
  forEachTexel(allowed, handles, texels, [&](const machine::Texture& t, uint32_t there, const uint64_t* addresses) {
    setTexels(t, there, addresses);
    machine::raise(event);
  });
  return allowed;
}

bool isRefused(const BlockFrame* frame, const AccessSite* site, uint32_t warp, uint32_t lane, uint64_t surface,
               const machine::AccessProblem& problem) {
  AccessEvent event = eventOf(frame, site, warp, 1u << lane);
  event.base = surface, event.problem = &problem;
  return machine::allowedLanes(event) == 0;
}

uint32_t tellFormatted(const BlockFrame* frame, const AccessSite* site, uint32_t warp, uint32_t lanes,
                       const uint64_t* handles, const uint64_t* addresses) {
  uint32_t allowed = 0;
  for (uint32_t left = lanes; left;) {
    AccessEvent event = eventOf(frame, site, warp, 0);
    event.bytes = machine::surfaceAt(handles[std::countr_zero(left)])->texelBytes();
    forEachLane(left, [&](uint32_t lane) {
      if (machine::surfaceAt(handles[lane])->texelBytes() == event.bytes) event.at.lanes |= 1u << lane;
    });
    left &= ~event.at.lanes;
    if (!findStride(event, addresses)) event.addresses = addresses;
    allowed |= askAndTell(event);
  }
  return allowed;
}

uint32_t tellBulk(const BlockFrame* frame, const AccessSite* site, uint32_t warp, uint32_t lanes, uint32_t shared,
                  const uint64_t* targets, const uint64_t* addresses, const uint64_t* bytes, const uint64_t* barriers) {
  AccessEvent event = eventOf(frame, site, warp, lanes);
  event.order = machine::MemoryOrder::Weak, event.scope = machine::MemoryScope::System;
  uint64_t to[kWarp], from[kWarp], places[kWarp];
  uint32_t copied[kWarp], allowed = 0;
  const AccessSpace target = shared & kSharedTarget ? AccessSpace::Shared : AccessSpace::Global;
  const AccessSpace source = shared & kSharedSource ? AccessSpace::Shared : AccessSpace::Global;
  auto move = [&](AccessSpace space, uint64_t a) { return space == AccessSpace::Shared ? sharedOffset(frame, a) : a; };
  forEachLane(lanes, [&](uint32_t lane) {
    to[lane] = move(target, targets[lane]), from[lane] = move(source, addresses[lane]);
    places[lane] = barriers ? sharedOffset(frame, barriers[lane]) : 0;
    copied[lane] = static_cast<uint32_t>(bytes[lane]);
    const auto size = [&](uint32_t l) { return copied[l]; };
    const uint32_t one = 1u << lane;
    if (!askEach(event, one, to, AccessKind::Store, target, size)) return;
    if (!askEach(event, one, from, AccessKind::Load, source, size)) return;
    event.at.lanes = one, event.space = source, event.bytes = copied[lane], event.base = from[lane];
    event.toSpace = target, event.targets = to, event.copied = copied, event.isBulk = true;
    event.mbarrier = places[lane];
    machine::raise(event);
    if (barriers &&
        !askEach(event, one, places, AccessKind::Mbarrier, AccessSpace::Shared, [](uint32_t) { return 8u; }))
      return;
    allowed |= one;
    if (barriers)
      machine::raise(SyncEvent{.at = event.at, .kind = SyncEvent::Kind::MbarrierBulk, .address = places[lane]});
  });
  if (!barriers || !allowed) return allowed;
  AccessEvent mbarrier = eventOf(frame, site, warp, allowed);
  mbarrier.kind = AccessKind::Mbarrier, mbarrier.space = AccessSpace::Shared, mbarrier.bytes = 8;
  mbarrier.addresses = places;
  machine::raise(mbarrier);
  return allowed;
}

void tellOperands(const BlockFrame* frame, const EventSite* site, uint32_t warp, uint32_t lanes, const int64_t* a,
                  const int64_t* b) {
  if (lanes) machine::raise(machine::OperandsEvent{place(frame, *site, warp, lanes), a, b});
}

void tellHeapFree(const BlockFrame* frame, const EventSite* site, uint32_t warp, uint32_t lanes,
                  const uint64_t* addresses) {
  if (lanes) machine::raise(machine::HeapFreeEvent{place(frame, *site, warp, lanes), addresses});
}

void tellSync(const BlockFrame* frame, const SyncSite* site, uint32_t warp, uint32_t lanes, uint32_t number) {
  forEachLane(lanes, [&](uint32_t lane) {
    machine::raise(SyncEvent{.at = place(frame, site->at, warp, 1u << lane),
                             .kind = static_cast<SyncEvent::Kind>(site->kind),
                             .order = static_cast<machine::MemoryOrder>(site->order),
                             .scope = static_cast<machine::MemoryScope>(site->scope),
                             .number = number});
  });
}

uint32_t askMbarrier(const BlockFrame* frame, const AccessSite* site, uint32_t warp, uint32_t lanes,
                     const uint64_t* addresses) {
  uint64_t offsets[kWarp];
  forEachLane(lanes, [&](uint32_t lane) { offsets[lane] = sharedOffset(frame, addresses[lane]); });
  return askEach(eventOf(frame, site, warp, lanes), lanes, offsets, AccessKind::Mbarrier, AccessSpace::Shared,
                 [](uint32_t) { return 8u; });
}

void tellMbarrier(const BlockFrame* frame, const AccessSite* site, uint32_t warp, uint32_t lanes, uint32_t kind,
                  const uint64_t* addresses, const uint64_t* numbers, uint32_t told, uint32_t touches) {
  uint64_t offsets[kWarp];
  forEachLane(lanes, [&](uint32_t lane) {
    offsets[lane] = sharedOffset(frame, addresses[lane]);
    if (!(told >> lane & 1)) return;
    machine::raise(SyncEvent{.at = place(frame, site->at, warp, 1u << lane),
                             .kind = static_cast<SyncEvent::Kind>(kind),
                             .number = static_cast<uint32_t>(numbers[lane]),
                             .address = offsets[lane]});
  });
  if (!touches || !lanes) return;
  AccessEvent event = eventOf(frame, site, warp, lanes);
  event.addresses = offsets;
  machine::raise(event);
}

void tellMeeting(const BlockFrame* frame, const EventSite* site, uint32_t warp, uint32_t lanes, const uint32_t* members,
                 uint32_t ordersMemory) {
  auto tell = [&](uint32_t met, uint32_t mask, bool orders) {
    machine::raise(SyncEvent{
        .at = place(frame, *site, warp, met), .kind = SyncEvent::Kind::WarpSync, .mask = mask, .ordersMemory = orders});
  };
  forEachLane(lanes, [&](uint32_t lane) {
    if (!(members[lane] >> lane & 1)) tell(1u << lane, members[lane], false);
  });
  for (uint32_t left = lanes; left;) {
    const auto first = static_cast<uint32_t>(std::countr_zero(left));
    const uint32_t mask = members[first] | 1u << first;
    uint32_t met = 0;
    forEachLane(left, [&](uint32_t lane) { met |= uint32_t{(members[lane] | 1u << lane) == mask} << lane; });
    tell(met, mask, ordersMemory != 0);
    left &= ~met;
  }
}

void tellBarrier(const BlockFrame* frame, const SyncSite* site, uint32_t warp, uint32_t lanes, const uint32_t* numbers,
                 const uint32_t* threads, Arrivals* arrivals) {
  for (uint32_t left = lanes; left;) {
    const auto first = static_cast<uint32_t>(std::countr_zero(left));
    uint32_t same = 0;
    forEachLane(left, [&](uint32_t lane) {
      same |= uint32_t{numbers[lane] == numbers[first] && threads[lane] == threads[first]} << lane;
    });
    machine::raise(SyncEvent{.at = place(frame, site->at, warp, same),
                             .kind = static_cast<SyncEvent::Kind>(site->kind),
                             .number = numbers[first],
                             .threads = threads[first]});
    left &= ~same;
    if (!arrivals) continue;
    arrivals->last = site->at;
    arrivals->lastWarp = warp, arrivals->number = numbers[first], arrivals->threads = threads[first];
    arrivals->lanes()[warp] |= same;
    arrivals->any = 1;
  }
}

void tellBarrierDone(const BlockFrame* frame, Arrivals* arrivals, uint32_t warps) {
  if (!arrivals->any) return;
  uint32_t* lanes = arrivals->lanes();
  machine::raise(SyncEvent{.at = place(frame, arrivals->last, arrivals->lastWarp, lanes[arrivals->lastWarp]),
                           .kind = SyncEvent::Kind::BarrierDone,
                           .number = arrivals->number,
                           .threads = arrivals->threads,
                           .met = {lanes, warps}});
  std::fill_n(lanes, warps, 0u);
  arrivals->any = 0;
}

EventSite siteOf(const FunctionLines* functions, uint32_t line) {
  while (functions->last && !(functions->first <= line && line <= functions->last)) ++functions;
  return {line, functions->function};
}

}  // namespace ordito::rt
