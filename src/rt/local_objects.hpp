// Which object of a thread's local memory an access belongs to. Compiled code has the objects as a table of constants;
// those of functions that call themselves lie in frames on a stack (ir/shared_functions.hpp), which is walked.
#pragma once

#include <cstdint>

#include "machine/events.hpp"
#include "machine/nearest_object.hpp"

namespace ordito::rt {

struct LocalObject {
  static constexpr uint64_t kNameless = ~uint64_t{0};
  uint64_t offset, bytes;  // from the begin of the thread's memory, or of the frame
  uint64_t origin;         // of its name: function of the module << 32 | variable
};

/// Three things follow: `count` objects; those of the frames; and for each frame its bytes, its first object (numbered
/// on), how many it has, how many sites of calls make it, and these.
struct LocalVariables {
  uint64_t bytesOfThread, count, inFrames;
  uint64_t stack, stackBytes, frames;  // where the stack lies; kinds of frames, 0: there is no stack
  const LocalObject* objects() const { return reinterpret_cast<const LocalObject*>(this + 1); }
};

/// No object is known.
inline constexpr uint32_t kAnyObject = ~0u;

/// Of a thread's own memory: the object with that number, nearest to the address if there are several on the stack; or
/// of all of them the one that the address lies in or next to.
machine::NearestObject localObject(const machine::BlockFrame& frame, const LocalVariables& locals, uint32_t thread,
                                   uint32_t number, uint64_t address);

}  // namespace ordito::rt
