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
  /// All bytes of the pages of `other` that isWanted(address of the page).
  template <class Test>
  void addPages(const ByteSet& other, Test isWanted) {
    for (const auto& [page, bits] : other.pages_)
      if (isWanted(page * kPage)) addPage(page, bits.get());
  }
  /// Are all of the first bytes of a page in it?
  bool hasStartOf(uint64_t page, uint64_t bytes) const;
  template <class Visit>
  void forEachPage(Visit visit) const {
    for (const auto& entry : pages_) visit(entry.first * kPage);
  }
  /// No more bytes will be added for now: drops what is not needed.
  void compress();
  bool empty() const { return pages_.empty(); }
  /// Of memory that it takes, about.
  uint64_t footprint() const;

 private:
  using Bits = std::array<uint64_t, kPage / 64>;
  using Pages = std::map<uint64_t, std::unique_ptr<Bits>>;  // null: the whole page

  template <class Visit>
  static void forEachPart(uint64_t begin, uint64_t bytes, Visit visit);
  void addPage(uint64_t page, const Bits* bits);
  static void set(Bits& bits, uint64_t begin, uint64_t end, bool value);
  static std::optional<uint64_t> common(const Bits* one, const Bits* other);

  Pages pages_;
  uint64_t lastPage_ = ~uint64_t{0};
  Bits* last_ = nullptr;  // the map of lastPage_
};

}  // namespace ordito::check
