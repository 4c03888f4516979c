// The bytes that one instruction touches in one block, as ranges; and marks of bytes in an object, by many blocks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ordito::check {

struct Range {
  uint64_t begin = 0, end = 0;
  bool operator==(const Range&) const = default;
};

class Footprint {
 public:
  /// False if there are too many to be worth it.
  bool add(uint64_t begin, uint64_t bytes);
  /// Sorts and merges. To be called before what follows.
  void finish();
  std::span<const Range> ranges() const { return ranges_; }
  uint64_t low() const { return ranges_.front().begin; }
  uint64_t high() const { return ranges_.back().end; }

 private:
  static constexpr size_t kMost = size_t{1} << 20;
  std::vector<Range> ranges_;
  size_t sorted_ = 0;  // so many were left when it was tidied last
};

/// A bit for each unit of bytes of an object.
class Marks {
 public:
  Marks() = default;
  /// Of `bytes` bytes in units of 2^shift.
  Marks(uint64_t bytes, unsigned shift) : shift_(shift), bits_((bytes >> shift) / 64 + 1) {}
  /// Offsets in the object.
  bool any(uint64_t begin, uint64_t end) const;
  void set(uint64_t begin, uint64_t end);

 private:
  unsigned shift_ = 0;
  std::vector<uint64_t> bits_;
};

}  // namespace ordito::check
