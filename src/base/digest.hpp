// A 128-bit digest of some bytes: names things in caches. Not for security; two different texts meet by accident once
// in 2^64 pairs.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace ordito {

class Digest {
 public:
  /// Appends bytes, and their number, so that ("ab", "c") and ("a", "bc") differ.
  Digest& add(std::string_view bytes) {
    mix(bytes.size());
    while (bytes.size() >= sizeof(uint64_t)) {
      uint64_t word;
      std::memcpy(&word, bytes.data(), sizeof word);
      mix(word);
      bytes.remove_prefix(sizeof word);
    }
    uint64_t rest = 0;
    if (!bytes.empty()) std::memcpy(&rest, bytes.data(), bytes.size());
    mix(rest);
    return *this;
  }

  Digest& add(uint64_t number) {
    mix(number);
    return *this;
  }

  Digest& add(const Digest& other) { return add(other.low_).add(other.high_); }

  /// 32 hexadecimal digits.
  std::string hex() const {
    std::string text;
    for (uint64_t half : {high_, low_})
      for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[half >> shift & 15];
    return text;
  }

  bool isEmpty() const { return low_ == kLow && high_ == kHigh; }
  bool operator==(const Digest&) const = default;

 private:
  static constexpr uint64_t kLow = 0x9E3779B97F4A7C15, kHigh = 0xD1B54A32D192ED03;

  /// Multiplication spreads a change upwards, the folded upper half of the product back down.
  void mix(uint64_t word) {
    auto fold = [](uint64_t a, uint64_t b) {
      const auto product = static_cast<unsigned __int128>(a) * b;
      return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
    };
    low_ = fold(low_ ^ word, 0xA0761D6478BD642F) + high_;
    high_ = fold(high_ ^ word ^ 0xE7037ED1A0B428DB, 0x8EBC6AF09C88C6E3) + word;
  }

  uint64_t low_ = kLow, high_ = kHigh;
};

}  // namespace ordito
