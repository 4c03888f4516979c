// Decompression of a zlib stream (RFC 1950, RFC 1951), so that PNG images need no library: a lab program is one file to
// compile, here and on a machine with a GPU. Nothing is trusted: every read is checked, and the answer may not grow
// beyond what the caller expects.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace lab {

/// What is wrong with an image or a compressed stream, in words for the user.
class BadImage : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace zlib {

/// Reads bits from the least significant end of each byte.
class BitReader {
 public:
  BitReader(const unsigned char* data, std::size_t size) : data_(data), size_(size) {}

  unsigned bits(unsigned count) {
    while (available_ < count) {
      if (next_ == size_) throw BadImage("the compressed data ends too early");
      held_ |= static_cast<std::uint64_t>(data_[next_++]) << available_;
      available_ += 8;
    }
    const unsigned value = static_cast<unsigned>(held_ & ((std::uint64_t{1} << count) - 1));
    held_ >>= count;
    available_ -= count;
    return value;
  }

  void toByte() { bits(available_ % 8); }

 private:
  const unsigned char* data_;
  std::size_t size_;
  std::size_t next_ = 0;
  std::uint64_t held_ = 0;
  unsigned available_ = 0;
};

/// A canonical Huffman code, decoded bit by bit: `counts_[l]` codes have l bits, and their symbols follow each other.
class Huffman {
 public:
  explicit Huffman(const std::vector<unsigned char>& lengths) {
    for (const unsigned char length : lengths) ++counts_[length];
    counts_[0] = 0;
    std::array<unsigned, 16> offsets{};
    int left = 1;
    for (unsigned length = 1; length < 16; ++length) {
      left = 2 * left - static_cast<int>(counts_[length]);
      if (left < 0) throw BadImage("the compressed data has an impossible code");
      offsets[length] = length == 1 ? 0 : offsets[length - 1] + counts_[length - 1];
    }
    symbols_.resize(lengths.size());
    for (unsigned symbol = 0; symbol < lengths.size(); ++symbol) {
      if (lengths[symbol] != 0) symbols_[offsets[lengths[symbol]]++] = symbol;
    }
  }

  unsigned decode(BitReader& in) const {
    unsigned code = 0;
    unsigned first = 0;
    unsigned index = 0;
    for (unsigned length = 1; length < 16; ++length) {
      code |= in.bits(1);
      if (code - first < counts_[length]) return symbols_[index + code - first];
      index += counts_[length];
      first = (first + counts_[length]) * 2;
      code *= 2;
    }
    throw BadImage("the compressed data has a code that stands for nothing");
  }

 private:
  std::array<unsigned, 16> counts_{};
  std::vector<unsigned> symbols_;
};

struct Codes {
  Huffman literals;
  Huffman distances;
};

inline Codes fixedCodes() {
  std::vector<unsigned char> lengths(288, 8);
  for (unsigned i = 144; i < 256; ++i) lengths[i] = 9;
  for (unsigned i = 256; i < 280; ++i) lengths[i] = 7;
  return {Huffman(lengths), Huffman(std::vector<unsigned char>(30, 5))};
}

/// The code lengths of a block, themselves compressed: 16 repeats the last one, 17 and 18 stand for runs of zeros.
inline std::vector<unsigned char> codeLengths(BitReader& in, const Huffman& code, std::size_t wanted) {
  std::vector<unsigned char> lengths;
  while (lengths.size() < wanted) {
    const unsigned symbol = code.decode(in);
    if (symbol < 16) {
      lengths.push_back(static_cast<unsigned char>(symbol));
      continue;
    }
    if (symbol == 16 && lengths.empty()) throw BadImage("the compressed data repeats a code length before the first");
    const unsigned char value = symbol == 16 ? lengths.back() : 0;
    const unsigned count = symbol == 16 ? 3 + in.bits(2) : symbol == 17 ? 3 + in.bits(3) : 11 + in.bits(7);
    lengths.insert(lengths.end(), count, value);
  }
  if (lengths.size() != wanted) throw BadImage("the compressed data has too many code lengths");
  return lengths;
}

inline Codes dynamicCodes(BitReader& in) {
  static constexpr unsigned char kOrder[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
  const std::size_t literals = 257 + in.bits(5);
  const std::size_t distances = 1 + in.bits(5);
  const unsigned given = 4 + in.bits(4);
  std::vector<unsigned char> lengths(19, 0);
  for (unsigned i = 0; i < given; ++i) lengths[kOrder[i]] = static_cast<unsigned char>(in.bits(3));
  const std::vector<unsigned char> all = codeLengths(in, Huffman(lengths), literals + distances);
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(literals);
  return {Huffman({all.begin(), middle}), Huffman({middle, all.end()})};
}

class Inflater {
 public:
  Inflater(const unsigned char* data, std::size_t size, std::size_t limit) : in_(data, size), limit_(limit) {}

  std::vector<unsigned char> run() {
    readHeader();
    for (bool last = false; !last;) {
      last = in_.bits(1) != 0;
      switch (in_.bits(2)) {
        case 0: stored(); break;
        case 1: compressed(fixedCodes()); break;
        case 2: compressed(dynamicCodes(in_)); break;
        default: throw BadImage("the compressed data has a block of an unknown kind");
      }
    }
    in_.toByte();
    std::uint32_t sum = 0;
    for (int i = 0; i < 4; ++i) sum = sum << 8 | in_.bits(8);
    if (sum != checksum()) throw BadImage("the compressed data is damaged (its checksum is wrong)");
    return std::move(out_);
  }

 private:
  void readHeader() {
    const unsigned method = in_.bits(8);
    const unsigned flags = in_.bits(8);
    if ((method & 15) != 8 || (method * 256 + flags) % 31 != 0 || (flags & 32) != 0) {
      throw BadImage("the compressed data has no zlib header");
    }
  }

  void put(unsigned char byte) {
    if (out_.size() == limit_) throw BadImage("the compressed data holds more than the image needs");
    out_.push_back(byte);
  }

  void stored() {
    in_.toByte();
    const unsigned length = in_.bits(16);
    if ((in_.bits(16) ^ 0xffff) != length) throw BadImage("the compressed data has a block of an impossible length");
    for (unsigned i = 0; i < length; ++i) put(static_cast<unsigned char>(in_.bits(8)));
  }

  void compressed(const Codes& codes) {
    for (;;) {
      const unsigned symbol = codes.literals.decode(in_);
      if (symbol == 256) return;
      if (symbol < 256) {
        put(static_cast<unsigned char>(symbol));
      } else {
        repeat(symbol, codes.distances);
      }
    }
  }

  /// Lengths grow by 1, 2, 4 ... for each four symbols, distances for each two.
  void repeat(unsigned symbol, const Huffman& distances) {
    if (symbol > 285) throw BadImage("the compressed data has an unknown length");
    unsigned length = 258;
    if (symbol < 265) {
      length = symbol - 254;
    } else if (symbol < 285) {
      const unsigned extra = (symbol - 261) / 4;
      length = ((4 + (symbol - 265) % 4) << extra) + 3 + in_.bits(extra);
    }
    const unsigned code = distances.decode(in_);
    if (code > 29) throw BadImage("the compressed data has an unknown distance");
    const unsigned extra = code < 4 ? 0 : code / 2 - 1;
    const std::size_t distance = (code < 4 ? code : (2 + code % 2) << extra) + 1 + in_.bits(extra);
    if (distance > out_.size()) throw BadImage("the compressed data refers to bytes before its beginning");
    for (unsigned i = 0; i < length; ++i) put(out_[out_.size() - distance]);
  }

  std::uint32_t checksum() const {
    std::uint32_t a = 1;
    std::uint32_t b = 0;
    for (const unsigned char byte : out_) {
      a = (a + byte) % 65521;
      b = (b + a) % 65521;
    }
    return b << 16 | a;
  }

  BitReader in_;
  std::size_t limit_;
  std::vector<unsigned char> out_;
};

}  // namespace zlib

/// The bytes of a zlib stream, at most `limit` of them.
inline std::vector<unsigned char> inflate(const std::vector<unsigned char>& data, std::size_t limit) {
  return zlib::Inflater(data.data(), data.size(), limit).run();
}

}  // namespace lab
