// See local_objects.hpp.
#include "rt/local_objects.hpp"

#include <cstring>

#include "machine/kernel.hpp"

namespace ordito::rt {
namespace {

using machine::BlockFrame;
using machine::NearestObject;

class Search {
 public:
  Search(const BlockFrame& frame, const LocalVariables& locals, uint32_t thread, uint32_t number, uint64_t address)
      : frame_(frame),
        locals_(locals),
        begin_(reinterpret_cast<uint64_t>(frame.local) + thread * locals.bytesOfThread),
        number_(number),
        address_(address),
        nearest_(address) {}

  NearestObject run() {
    if (number_ < locals_.count) return offer(begin_, number_), nearest_;
    const bool isOfThread = address_ - begin_ < locals_.bytesOfThread;
    if (number_ == kAnyObject && !isOfThread) return nearest_;
    for (uint64_t k = 0; number_ == kAnyObject && k < locals_.count; ++k) offer(begin_, k);
    if (locals_.frames) walkStack();
    return nearest_;
  }

 private:
  void offer(uint64_t base, uint64_t number) {
    const LocalObject& object = locals_.objects()[number];
    const ptx::Variable* named = nullptr;
    if (object.origin != LocalObject::kNameless)
      named = &frame_.functions[object.origin >> 32].variables[static_cast<uint32_t>(object.origin)];
    nearest_.offer(base + object.offset, object.bytes, named);
  }

  void walkStack() {
    const uint64_t end = begin_ + locals_.stack + locals_.stackBytes;
    for (uint64_t at = begin_ + locals_.stack; at + sizeof(uint32_t) <= end;) {
      uint32_t site = 0;
      std::memcpy(&site, reinterpret_cast<const void*>(at), sizeof site);
      const uint64_t* const kind = site ? frameOf(site) : nullptr;
      if (!kind) return;
      for (uint64_t k = 0; k < kind[2]; ++k)
        if (number_ == kAnyObject || number_ == kind[1] + k) offer(at, kind[1] + k);
      at += kind[0];
    }
  }

  /// The frames of the calls at that site; null if there are none.
  const uint64_t* frameOf(uint32_t site) const {
    const auto* kind = reinterpret_cast<const uint64_t*>(locals_.objects() + locals_.count + locals_.inFrames);
    for (uint64_t k = 0; k < locals_.frames; ++k, kind += 4 + kind[3])
      for (uint64_t s = 0; s < kind[3]; ++s)
        if (kind[4 + s] == site) return kind;
    return nullptr;
  }

  const BlockFrame& frame_;
  const LocalVariables& locals_;
  const uint64_t begin_;
  const uint32_t number_;
  const uint64_t address_;
  NearestObject nearest_;
};

}  // namespace

NearestObject localObject(const BlockFrame& frame, const LocalVariables& locals, uint32_t thread, uint32_t number,
                          uint64_t address) {
  return Search(frame, locals, thread, number, address).run();
}

}  // namespace ordito::rt
