// See footprint.hpp.
#include "check/footprint.hpp"

#include <algorithm>

namespace ordito::check {
namespace {

/// Calls visit(word, mask) for the words of bits [first, end) until it answers true.
template <class Visit>
bool forEachWord(uint64_t first, uint64_t end, Visit visit) {
  while (first < end) {
    const uint64_t offset = first % 64, count = std::min(end - first, 64 - offset);
    const uint64_t mask = (count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1) << offset;
    if (visit(first / 64, mask)) return true;
    first += count;
  }
  return false;
}

}  // namespace

bool Footprint::add(uint64_t begin, uint64_t bytes) {
  const uint64_t end = begin + bytes;
  if (!ranges_.empty() && begin <= ranges_.back().end && begin >= ranges_.back().begin) {
    ranges_.back().end = std::max(ranges_.back().end, end);
    return true;
  }
  ranges_.push_back({begin, end});
  if (ranges_.size() < 2 * sorted_ + 4096) return true;
  finish();
  return ranges_.size() < kMost;
}

void Footprint::finish() {
  std::ranges::sort(ranges_, {}, &Range::begin);
  size_t kept = 0;
  for (const Range& r : ranges_) {
    if (kept && r.begin <= ranges_[kept - 1].end)
      ranges_[kept - 1].end = std::max(ranges_[kept - 1].end, r.end);
    else
      ranges_[kept++] = r;
  }
  ranges_.resize(kept);
  sorted_ = kept;
}

bool Marks::any(uint64_t begin, uint64_t end) const {
  return forEachWord(begin >> shift_, end >> shift_, [&](uint64_t word, uint64_t mask) { return bits_[word] & mask; });
}

void Marks::set(uint64_t begin, uint64_t end) {
  forEachWord(begin >> shift_, end >> shift_, [&](uint64_t word, uint64_t mask) {
    bits_[word] |= mask;
    return false;
  });
}

}  // namespace ordito::check
