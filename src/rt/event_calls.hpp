// What compiled code calls to tell listeners of each access to memory and each synchronisation (machine/events.hpp),
// where it was compiled for that. Sites are constants of the code; lanes, addresses and values come with each call.
#pragma once

#include <cstdint>
#include <span>

#include "machine/events.hpp"
#include "rt/local_objects.hpp"
#include "rt/texture_operands.hpp"

namespace ordito::rt {

using machine::BlockFrame;

/// A place of the program: a line, and the function of the module that it belongs to.
struct EventSite {
  uint32_t line, function;
};

/// An instruction that accesses memory. Compiled code has it as a constant, word by word.
struct AccessSite {
  EventSite at;
  uint32_t kind, space, order, scope, bytes;  // the first four are those of machine::AccessEvent
  uint32_t number;                            // within the kernel
  uint32_t object = kAnyObject;               // in local memory, that it belongs to (local_objects.hpp)
};

/// An instruction that synchronises; its members are those of machine::SyncEvent.
struct SyncSite {
  EventSite at;
  uint32_t kind, order, scope;
};

/// The lanes that wait at the barrier at which the region of all threads ends; plain memory in the block's scratch.
struct Arrivals {
  EventSite last;
  uint32_t lastWarp, number, threads, any;
  static size_t bytes(uint32_t warps) { return sizeof(Arrivals) + warps * sizeof(uint32_t); }
  uint32_t* lanes() { return reinterpret_cast<uint32_t*>(this + 1); }
};

/// Functions by their lines, for the lane scheduler, which knows lines alone.
struct FunctionLines {
  uint32_t first, last, function;
};

/// Which of `lanes` may access memory; the others are told of. Addresses are the host's, also of shared memory.
/// `stored`: what each lane stores, null if that is not told.
uint32_t tellAffine(const BlockFrame* frame, const AccessSite* site, uint32_t warp, uint32_t lanes, uint64_t base,
                    int64_t stride, const uint64_t* stored);
uint32_t tellLanes(const BlockFrame* frame, const AccessSite* site, const LocalVariables* locals, uint32_t warp,
                   uint32_t lanes, const uint64_t* addresses, const uint64_t* stored);
/// A copy from `addresses` to `targets` in shared memory, of which each lane reads the first `copied` bytes.
uint32_t tellCopy(const BlockFrame* frame, const AccessSite* site, uint32_t warp, uint32_t lanes,
                  const uint64_t* addresses, const uint64_t* targets, const uint32_t* copied);
/// cp.async.bulk of `bytes` each; `shared` as in bulk_copy.hpp; the mbarriers are told of too, where it completes one.
uint32_t tellBulk(const BlockFrame* frame, const AccessSite* site, uint32_t warp, uint32_t lanes, uint32_t shared,
                  const uint64_t* targets, const uint64_t* addresses, const uint64_t* bytes, const uint64_t* barriers);

/// The operands of a guard (machine/events.hpp), as wide as their type says.
void tellOperands(const BlockFrame* frame, const EventSite* site, uint32_t warp, uint32_t lanes, const int64_t* a,
                  const int64_t* b);

/// The texels of each lane's fetch: `code` is that of the TextureOperation, the rest the members of TextureOperands. A
/// lane that may not read one of them fetches none.
uint32_t tellTexels(const BlockFrame* frame, const AccessSite* site, uint32_t warp, uint32_t lanes, uint32_t code,
                    const uint64_t* handles, LaneNumbers<uint32_t> coordinates, LaneNumbers<int32_t> offsets,
                    LaneNumbers<float> level, LaneNumbers<float> gradientY);

/// Does nobody want the access of a lane, which cannot be made, to be a fault?
bool isRefused(const BlockFrame* frame, const AccessSite* site, uint32_t warp, uint32_t lane, uint64_t surface,
               const machine::AccessProblem& problem);
/// Texels of the surfaces at `handles` are stored at `addresses`.
uint32_t tellFormatted(const BlockFrame* frame, const AccessSite* site, uint32_t warp, uint32_t lanes,
                       const uint64_t* handles, const uint64_t* addresses);

/// Memory that malloc() gave, by lane.
void tellHeapFree(const BlockFrame* frame, const EventSite* site, uint32_t warp, uint32_t lanes,
                  const uint64_t* addresses);

/// Lane by lane.
void tellSync(const BlockFrame* frame, const SyncSite* site, uint32_t warp, uint32_t lanes, uint32_t number);
/// Mbarriers: which lanes may touch them; and what they did, with the number that each names and whether it is told.
uint32_t askMbarrier(const BlockFrame* frame, const AccessSite* site, uint32_t warp, uint32_t lanes,
                     const uint64_t* addresses);
void tellMbarrier(const BlockFrame* frame, const AccessSite* site, uint32_t warp, uint32_t lanes, uint32_t kind,
                  const uint64_t* addresses, const uint64_t* numbers, uint32_t told, uint32_t touches);
/// Lanes meet at a warp operation, by the lanes that each names.
void tellMeeting(const BlockFrame* frame, const EventSite* site, uint32_t warp, uint32_t lanes, const uint32_t* members,
                 uint32_t ordersMemory);
/// Lanes come to barriers. `arrivals`: where the region of all threads ends here, else null.
void tellBarrier(const BlockFrame* frame, const SyncSite* site, uint32_t warp, uint32_t lanes, const uint32_t* numbers,
                 const uint32_t* threads, Arrivals* arrivals);
/// All threads have come to the end of the region.
void tellBarrierDone(const BlockFrame* frame, Arrivals* arrivals, uint32_t warps);

/// The site of a line. The table ends with a row of zeros.
EventSite siteOf(const FunctionLines* functions, uint32_t line);

}  // namespace ordito::rt
