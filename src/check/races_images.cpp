// Reads through textures and surfaces. Their caches are not kept coherent with writes of the same launch, whoever made
// them: such a read gives anything, and neither a barrier nor a fence helps (CUDA C++ Programming Guide, "Read/Write
// Coherency" of textures and surfaces). What earlier launches and copies have written is seen.
#include <algorithm>

#include "check/launch.hpp"
#include "check/races.hpp"
#include "machine/lanes.hpp"

namespace ordito::check {

using machine::AccessEvent;

/// A write of this launch to bytes of the touch, that nothing but the cache stands in the way of; null if there is
/// none. Rows that hold writes are kept word by word from then on, as that is where single touches are.
const Touch* Races::staleWrite(const Block& block, const Touch& touch) {
  for (uint64_t address = touch.address, end = address + touch.size; address < end;) {
    const uint64_t row = address / kRowBytes, word = address / kWordBytes,
                   next = std::min(end, (word + 1) * kWordBytes);
    const auto first = static_cast<uint32_t>(address % kRowBytes), bytes = static_cast<uint32_t>(next - address);
    const uint8_t mask = ByteMask::few(first, bytes).ofWord(word % (kRowBytes / kWordBytes));
    address = next;
    Shadow::Row& kept = shared_->global.row(row);
    if (!kept.spread && kept.hasOnlyReads) continue;
    for (const Touch& t : shared_->global.spread(row, kept).words[word % (kRowBytes / kWordBytes)].touches)
      if (t.writes && t.member == self_ && (t.bytes & mask) && areOrdered(block, t, touch)) return &t;
  }
  return nullptr;
}

/// What nothing orders is a race as of any access, and reported as one.
void Races::fetched(const AccessEvent& access, Findings& findings) {
  const Block& block = blockOf(access.at.frame);
  machine::forEachLane(access.at.lanes, [&](uint32_t lane) {
    const Touch touch = touchOf(access, block, lane);
    if (const Touch* written = staleWrite(block, touch)) reportStale(*written, touch, findings);
  });
  accessed(access, findings);
}

void Races::reportStale(const Touch& written, const Touch& read, Findings& findings) {
  findings.add(launch_.key(Rule::RaceTexture, {written.function, written.line}, {read.function, read.line}), [&] {
    Finding f = launch_.finding(Rule::RaceTexture);
    f.message = "a texture or surface is read where the same launch has written: its cache need not know of that";
    for (const Touch* t : {&written, &read})
      f.sides.push_back(
          launch_.side(*t->function, t->line, t->block, t->actor % launch_.threads(), wordOf(t->kind), t->size));
    f.object = launch_.describe(std::max(written.address, read.address));
    return f;
  });
}

}  // namespace ordito::check
