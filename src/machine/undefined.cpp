// See undefined.hpp.
#include "machine/undefined.hpp"

#include <algorithm>

#include "machine/listener.hpp"

namespace ordito::machine {

namespace {

using Lock = std::lock_guard<std::mutex>;

/// The lowest `bits` bits.
uint64_t lowest(uint64_t bits) { return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

/// Calls body(address, done, count) for the pieces of these bytes whose bits lie in one word each; `done` bytes are in
/// front of the piece.
template <class Body>
void forEachWord(uint64_t address, uint32_t bytes, const Body& body) {
  for (uint32_t done = 0; done < bytes;) {
    const uint64_t at = address + done;
    const auto count = static_cast<uint32_t>(std::min<uint64_t>(bytes - done, 64 - at % 64));
    body(at, done, count);
    done += count;
  }
}

}  // namespace

/// Null if the page is defined and none is to be made.
UndefinedMemory::Page* UndefinedMemory::pageToChange(uint64_t number, bool makesOne) {
  const auto it = pages_.find(number);
  if (it == pages_.end()) return makesOne ? (pages_[number] = std::make_unique<Page>()).get() : nullptr;
  if (!it->second) {
    it->second = std::make_unique<Page>();
    std::fill(std::begin(it->second->any), std::end(it->second->any), ~uint64_t{0});
  }
  return it->second.get();
}

UndefinedBytes UndefinedMemory::atUnlocked(uint64_t address, uint32_t bytes) const {
  UndefinedBytes all;
  forEachWord(address, bytes, [&](uint64_t at, uint32_t done, uint32_t count) {
    const auto it = pages_.find(at / kPage);
    if (it == pages_.end()) return;
    const uint64_t word = at % kPage / 64, inWord = at % 64;
    const uint64_t any = it->second ? it->second->any[word] : ~uint64_t{0};
    const uint64_t computed = it->second ? it->second->computed[word] : 0;
    all.any |= (any >> inWord & lowest(count)) << done;
    all.computed |= (computed >> inWord & lowest(count)) << done;
  });
  return all;
}

void UndefinedMemory::writeUnlocked(uint64_t address, uint32_t bytes, UndefinedBytes undefined, uint32_t width) {
  forEachWord(address, bytes, [&](uint64_t at, uint32_t done, uint32_t count) {
    const uint64_t word = at % kPage / 64, inWord = at % 64;
    const uint64_t which = lowest(count) << inWord, any = undefined.any >> done << inWord & which;
    Page* page = pageToChange(at / kPage, any != 0);
    if (!page) return;
    page->any[word] = (page->any[word] & ~which) | any;
    page->computed[word] = (page->computed[word] & ~which) | (undefined.computed >> done << inWord & any);
    page->widest = std::max(page->widest, width);
  });
}

/// Calls change(number) for whole pages among these bytes, and writes `undefined` to what is left of others.
template <class Change>
void UndefinedMemory::changeUnlocked(uint64_t address, uint64_t bytes, const Change& change, UndefinedBytes undefined,
                                     uint32_t width) {
  for (uint64_t at = address, end = address + bytes; at < end;) {
    const bool isWhole = at % kPage == 0 && end - at >= kPage;
    const uint64_t count = isWhole ? kPage : std::min(end - at, 64 - at % 64);
    if (isWhole)
      change(at / kPage);
    else
      writeUnlocked(at, static_cast<uint32_t>(count), undefined, width);
    at += count;
  }
}

void UndefinedMemory::define(uint64_t address, uint64_t bytes, uint32_t width) {
  Lock lock(mutex_);
  if (pages_.empty()) return;
  changeUnlocked(address, bytes, [&](uint64_t page) { pages_.erase(page); }, {}, width);
}

void UndefinedMemory::undefine(uint64_t address, uint64_t bytes) {
  Lock lock(mutex_);
  changeUnlocked(address, bytes, [&](uint64_t page) { pages_[page] = nullptr; }, {~uint64_t{0}, 0}, 0);
}

/// The two may overlap, as those of a memmove.
void UndefinedMemory::copy(uint64_t to, uint64_t from, uint64_t bytes) {
  Lock lock(mutex_);
  if (pages_.empty()) return;
  const bool isBackwards = to > from;
  for (uint64_t done = 0; done < bytes;) {
    const auto count = static_cast<uint32_t>(std::min<uint64_t>(bytes - done, 64));
    const uint64_t at = isBackwards ? bytes - done - count : done;
    writeUnlocked(to + at, count, atUnlocked(from + at, count), widestUnlocked(from + at, count));
    done += count;
  }
}

UndefinedBytes UndefinedMemory::at(uint64_t address, uint32_t bytes) const {
  Lock lock(mutex_);
  return pages_.empty() ? UndefinedBytes{} : atUnlocked(address, bytes);
}

void UndefinedMemory::write(uint64_t address, uint32_t bytes, UndefinedBytes undefined) {
  Lock lock(mutex_);
  if (pages_.empty() && !undefined.any) return;
  writeUnlocked(address, bytes, undefined, bytes);
}

void UndefinedMemory::restore(uint64_t address, uint32_t bytes, UndefinedBytes undefined) {
  constexpr uint32_t kNoWidth = 0;
  Lock lock(mutex_);
  if (!pages_.empty() || undefined.any) writeUnlocked(address, bytes, undefined, kNoWidth);
}

std::vector<UndefinedMemory::Run> UndefinedMemory::runs(uint64_t address, uint64_t bytes) const {
  Lock lock(mutex_);
  std::vector<Run> all;
  if (pages_.empty()) return all;
  for (uint64_t done = 0; done < bytes;) {
    const auto count = static_cast<uint32_t>(std::min<uint64_t>(bytes - done, 64));
    const UndefinedBytes here = atUnlocked(address + done, count);
    for (uint32_t k = 0; k < count; ++k) {
      if (!((here.any & ~here.computed) >> k & 1)) continue;
      const uint64_t offset = done + k;
      if (!all.empty() && all.back().offset + all.back().bytes == offset)
        ++all.back().bytes;
      else
        all.push_back({offset, 1});
    }
    done += count;
  }
  return all;
}

bool UndefinedMemory::isDefined(uint64_t address, uint64_t bytes) const {
  Lock lock(mutex_);
  if (pages_.empty()) return true;
  for (const uint64_t end = address + bytes; address < end;) {
    const uint64_t next = std::min(end, (address / kPage + 1) * kPage);
    const auto it = pages_.find(address / kPage);
    if (it != pages_.end() && !it->second) return false;
    for (; it != pages_.end() && address < next; address = std::min(next, (address / 64 + 1) * 64))
      if (it->second->any[address % kPage / 64] >> address % 64 & lowest(next - address)) return false;
    address = next;
  }
  return true;
}

uint32_t UndefinedMemory::widestWrite(uint64_t address, uint64_t bytes) const {
  Lock lock(mutex_);
  return widestUnlocked(address, bytes);
}

uint32_t UndefinedMemory::widestUnlocked(uint64_t address, uint64_t bytes) const {
  uint32_t widest = 0;
  for (uint64_t page = address / kPage; page * kPage < address + bytes; ++page)
    if (const auto it = pages_.find(page); it != pages_.end() && it->second)
      widest = std::max(widest, it->second->widest);
  return widest;
}

void UndefinedMemory::clear() {
  Lock lock(mutex_);
  pages_.clear();
}

UndefinedMemory* undefinedMemory() {
  static UndefinedMemory* const all = areAccessesWanted() ? new UndefinedMemory : nullptr;  // never destroyed
  return all;
}

void noteWritten(uint64_t address, uint64_t bytes) {
  if (UndefinedMemory* memory = undefinedMemory()) memory->define(address, bytes);
}

void noteWrittenAnywhere() {
  if (UndefinedMemory* memory = undefinedMemory()) memory->clear();
}

}  // namespace ordito::machine
