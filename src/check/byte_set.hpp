// A set of bytes of the address space, to the byte: bit maps of pages, without a map for pages that are in it wholly.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

namespace ordito::check {

class ByteSet {
 public:
  static constexpr uint64_t kPage = 4096;

  void add(uint64_t begin, uint64_t bytes);
  /// Takes these bytes out.
  void remove(uint64_t begin, uint64_t bytes);
  std::optional<uint64_t> firstCommon(const ByteSet& other) const;
  /// No more bytes will be added for now: drops what is not needed.
  void compress();
  bool empty() const { return pages_.empty(); }
  /// Of memory that it takes, about.
  uint64_t footprint() const;

 private:
  using Bits = std::array<uint64_t, kPage / 64>;
  using Pages = std::map<uint64_t, std::unique_ptr<Bits>>;  // null: the whole page

  template <class Visit>
  static void forEachPage(uint64_t begin, uint64_t bytes, Visit visit);
  static void set(Bits& bits, uint64_t begin, uint64_t end, bool value);
  static std::optional<uint64_t> common(const Bits* one, const Bits* other);

  Pages pages_;
  uint64_t lastPage_ = ~uint64_t{0};
  Bits* last_ = nullptr;  // the map of lastPage_
};

}  // namespace ordito::check
