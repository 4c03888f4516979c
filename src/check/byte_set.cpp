// See byte_set.hpp.
#include "check/byte_set.hpp"

#include <algorithm>
#include <bit>

namespace ordito::check {

/// Calls visit(number of the page, first byte in it, byte behind the last).
template <class Visit>
void ByteSet::forEachPart(uint64_t begin, uint64_t bytes, Visit visit) {
  for (uint64_t done = 0; done < bytes;) {
    const uint64_t at = begin + done, offset = at % kPage, length = std::min(bytes - done, kPage - offset);
    visit(at / kPage, offset, offset + length);
    done += length;
  }
}

void ByteSet::set(Bits& bits, uint64_t begin, uint64_t end, bool value) {
  while (begin < end) {
    const uint64_t word = begin / 64, first = begin % 64, count = std::min(end - begin, 64 - first);
    const uint64_t mask = (count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1) << first;
    bits[word] = value ? bits[word] | mask : bits[word] & ~mask;
    begin += count;
  }
}

void ByteSet::add(uint64_t begin, uint64_t bytes) {
  forEachPart(begin, bytes, [&](uint64_t page, uint64_t first, uint64_t end) {
    if (page == lastPage_) return set(*last_, first, end, true);
    const bool isWhole = end - first == kPage;
    auto [it, isNew] = pages_.try_emplace(page);
    if (isWhole) it->second.reset();
    if (isWhole || (!isNew && !it->second)) return;
    if (isNew) it->second = std::make_unique<Bits>(Bits{});
    lastPage_ = page;
    last_ = it->second.get();
    set(*last_, first, end, true);
  });
}

void ByteSet::addPage(uint64_t page, const Bits* bits) {
  if (!bits) return add(page * kPage, kPage);
  auto [it, isNew] = pages_.try_emplace(page);
  if (isNew) it->second = std::make_unique<Bits>(Bits{});
  for (size_t word = 0; it->second && word < bits->size(); ++word) (*it->second)[word] |= (*bits)[word];
}

bool ByteSet::hasStartOf(uint64_t page, uint64_t bytes) const {
  const auto it = pages_.find(page / kPage);
  if (it == pages_.end()) return false;
  for (uint64_t byte = 0; it->second && byte < bytes; ++byte)
    if (!((*it->second)[byte / 64] >> byte % 64 & 1)) return false;
  return true;
}

void ByteSet::remove(uint64_t begin, uint64_t bytes) {
  lastPage_ = ~uint64_t{0};
  auto it = pages_.lower_bound(begin / kPage);
  while (it != pages_.end() && it->first * kPage < begin + bytes) {
    const uint64_t start = it->first * kPage, first = std::max(begin, start) - start,
                   end = std::min(begin + bytes, start + kPage) - start;
    if (!it->second && end - first < kPage) {
      it->second = std::make_unique<Bits>();
      it->second->fill(~uint64_t{0});
    }
    if (it->second) set(*it->second, first, end, false);
    const bool isGone = !it->second || std::ranges::all_of(*it->second, [](uint64_t word) { return word == 0; });
    it = isGone ? pages_.erase(it) : std::next(it);
  }
}

std::optional<uint64_t> ByteSet::common(const Bits* one, const Bits* other) {
  for (uint64_t word = 0; word < kPage / 64; ++word) {
    const uint64_t both = (one ? (*one)[word] : ~uint64_t{0}) & (other ? (*other)[word] : ~uint64_t{0});
    if (both) return word * 64 + static_cast<uint64_t>(std::countr_zero(both));
  }
  return std::nullopt;
}

std::optional<uint64_t> ByteSet::firstCommon(const ByteSet& other) const {
  if (other.pages_.size() < pages_.size()) return other.firstCommon(*this);
  if (empty()) return std::nullopt;
  auto theirs = other.pages_.lower_bound(pages_.begin()->first);
  for (const auto& [page, bits] : pages_) {
    while (theirs != other.pages_.end() && theirs->first < page) theirs = other.pages_.lower_bound(page);
    if (theirs == other.pages_.end()) return std::nullopt;
    if (theirs->first != page) continue;
    if (const auto offset = common(bits.get(), theirs->second.get())) return page * kPage + *offset;
  }
  return std::nullopt;
}

void ByteSet::compress() {
  lastPage_ = ~uint64_t{0};
  for (auto& [page, bits] : pages_)
    if (bits && std::ranges::all_of(*bits, [](uint64_t word) { return word == ~uint64_t{0}; })) bits.reset();
}

uint64_t ByteSet::footprint() const {
  uint64_t bytes = 0;
  for (const auto& [page, bits] : pages_) bytes += 64 + (bits ? sizeof(Bits) : 0);
  return bytes;
}

}  // namespace ordito::check
