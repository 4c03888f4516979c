// See combining_buffer.hpp.
#include "machine/combining_buffer.hpp"

#include <algorithm>
#include <cstring>

#include "machine/memory.hpp"
#include "simt/copies.hpp"

namespace ordito::machine {

namespace cost = simt::cost;
using Operation = simt::Combination::Operation;

namespace {

/// The word at `address` becomes what `combine` makes of it and `x`.
template <class Word, class Combine>
void changeMemory(uint64_t address, Word x, Combine combine) {
  auto* place = reinterpret_cast<Word*>(address);
  Word old = __atomic_load_n(place, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(place, &old, combine(old, x), true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

}  // namespace

template <class Word, class Combine>
void CombiningBuffer::emptyWords(Combine combine) {
  constexpr size_t kRow = cost::kCacheLine / sizeof(Word);
  const auto identity = static_cast<Word>(combination_.identity());
  for (uint64_t at = 0; at < bytes; at += cost::kCacheLine) {
    Word sums[kRow];
    std::fill(sums, sums + kRow, identity);
    for (unsigned copy = 0; copy < copies_; ++copy) {
      auto* row = reinterpret_cast<Word*>(words + copy * pitch_ + at);
      for (size_t k = 0; k < kRow; ++k) sums[k] = combine(sums[k], row[k]);
      std::fill(row, row + kRow, identity);
    }
    for (size_t k = 0; k < kRow; ++k)
      if (sums[k] != identity) changeMemory(first + at + k * sizeof(Word), sums[k], combine);
  }
}

template <class Word>
void CombiningBuffer::emptyWords() {
  using Signed = std::make_signed_t<Word>;
  switch (combination_.operation) {
    case Operation::Add: return emptyWords<Word>([](Word a, Word b) { return a + b; });
    case Operation::And: return emptyWords<Word>([](Word a, Word b) { return a & b; });
    case Operation::Or: return emptyWords<Word>([](Word a, Word b) { return a | b; });
    case Operation::Xor: return emptyWords<Word>([](Word a, Word b) { return a ^ b; });
    case Operation::UMin: return emptyWords<Word>([](Word a, Word b) { return std::min(a, b); });
    case Operation::UMax: return emptyWords<Word>([](Word a, Word b) { return std::max(a, b); });
    case Operation::Min:
      return emptyWords<Word>([](Word a, Word b) { return static_cast<Signed>(a) < static_cast<Signed>(b) ? a : b; });
    case Operation::Max:
      return emptyWords<Word>([](Word a, Word b) { return static_cast<Signed>(a) < static_cast<Signed>(b) ? b : a; });
  }
}

void CombiningBuffer::empty() {
  if (uses == 0) return;
  uses = 0;
  combination_.bytes == 8 ? emptyWords<uint64_t>() : emptyWords<uint32_t>();
}

void CombiningBuffer::emptyForAccess() {
  const bool isLittle = hasComeToLittle();
  empty();
  if (isLittle && little_ > cost::kMostTimesLittle) bytes = 0, standsAside = 1;
}

void CombiningBuffer::reset() {
  empty();
  bytes = 0;
  standsAside = 0;
  little_ = 0;
}

/// Is what has come together since it was emptied not worth having emptied it?
bool CombiningBuffer::hasComeToLittle() {
  const bool isLittle = uses < cost::kWorthCombining;
  little_ += isLittle;
  return isLittle;
}

bool CombiningBuffer::admit(uint64_t low, uint64_t high, simt::Combination combination) {
  // A grid that does few such operations is done before the buffer has paid for itself.
  if (hasComeToLittle() && little_ <= cost::kFewTimesLittle) return false;
  if (little_ > cost::kMostTimesLittle) {
    empty();
    bytes = 0, standsAside = 1;
    return false;
  }
  const auto allocation = allocations().find(low);
  // Others than the device's memory the host may watch while the grid runs.
  if (!allocation || allocation->kind != MemoryKind::Device || !allocation->contains(high)) return false;
  // Whole cache lines, which have room behind every allocation (DeviceMemory::allocate).
  uint64_t begin = allocation->address / cost::kCacheLine * cost::kCacheLine;
  const uint64_t end = simt::roundedUp(allocation->address + allocation->bytes, cost::kCacheLine);
  uint64_t size = end - begin;
  if (size > cost::kMostCombined) {
    begin += (low - begin) / cost::kPage * cost::kPage;
    size = std::min<uint64_t>(cost::kCombinedPiece, end - begin);
  }
  if (high - begin >= size) return false;
  standFor(begin, size, combination);
  return true;
}

void CombiningBuffer::standFor(uint64_t address, uint64_t size, simt::Combination combination) {
  empty();
  first = address, bytes = size, combination_ = combination;
  copies_ = simt::copiesOf(static_cast<uint32_t>(size), 1);
  pitch_ = simt::pitchOf(size, copies_);
  const size_t room = copies_ * pitch_ + size;
  memory_.resize(std::max(memory_.size(), room + cost::kPage));
  words = memory_.data() + (-reinterpret_cast<uintptr_t>(memory_.data()) & (cost::kPage - 1));
  for (unsigned lane = 0; lane < std::size(turns); ++lane) turns[lane] = static_cast<uint32_t>(lane % copies_ * pitch_);
  const uint64_t identity = combination.identity();
  for (unsigned copy = 0; copy < copies_; ++copy)
    for (uint64_t at = 0; at < size; at += combination.bytes)
      std::memcpy(words + copy * pitch_ + at, &identity, combination.bytes);
}

}  // namespace ordito::machine
