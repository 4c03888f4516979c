// PNG images with 8 bits per sample: grey, grey with alpha, colour, colour with alpha (which is dropped) and palettes.
// What else PNG knows (16 bits, fewer than 8 bits, interlacing) is refused by name.
#pragma once

#include <cstdlib>

#include "inflate.hpp"

namespace lab {

struct Image {
  std::size_t width = 0;
  std::size_t height = 0;
  std::vector<unsigned char> rgb;

  std::size_t pixels() const { return width * height; }
};

namespace png {

constexpr unsigned char kSignature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
constexpr std::size_t kMostPixels = std::size_t{1} << 28;

inline bool isPng(const std::vector<unsigned char>& bytes) {
  return bytes.size() >= 8 && std::equal(kSignature, kSignature + 8, bytes.begin());
}

/// The checksum of a chunk's name and data (CRC-32).
inline std::uint32_t crc(const unsigned char* data, std::size_t size) {
  std::uint32_t value = 0xffffffffu;
  for (std::size_t i = 0; i < size; ++i) {
    value ^= data[i];
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ ((value & 1) != 0 ? 0xedb88320u : 0);
  }
  return ~value;
}

/// The neighbour that is nearest to left + up - corner.
inline int paeth(int left, int up, int corner) {
  const int guess = left + up - corner;
  const int toLeft = std::abs(guess - left);
  const int toUp = std::abs(guess - up);
  const int toCorner = std::abs(guess - corner);
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
}

class Decoder {
 public:
  explicit Decoder(const std::vector<unsigned char>& bytes) : bytes_(bytes) {}

  Image read() {
    bool ended = false;
    for (next_ = 8; !ended;) ended = readChunk();
    if (samples_ == 0) throw BadImage("the PNG has no header chunk (IHDR)");
    const std::size_t stride = 1 + samples_ * image_.width;
    std::vector<unsigned char> rows = inflate(compressed_, stride * image_.height);
    if (rows.size() != stride * image_.height) {
      throw BadImage("the pixels end after " + std::to_string(rows.size() / stride) + " of " +
                     std::to_string(image_.height) + " rows");
    }
    for (std::size_t y = 0; y < image_.height; ++y) {
      unfilter(&rows[y * stride], y == 0 ? nullptr : &rows[(y - 1) * stride], stride - 1);
    }
    for (std::size_t y = 0; y < image_.height; ++y) appendRow(&rows[y * stride + 1]);
    return std::move(image_);
  }

 private:
  std::uint32_t word(std::size_t at) const {
    if (bytes_.size() - at < 4) throw BadImage("the PNG ends in the middle of a chunk");
    return static_cast<std::uint32_t>(bytes_[at]) << 24 | static_cast<std::uint32_t>(bytes_[at + 1]) << 16 |
           static_cast<std::uint32_t>(bytes_[at + 2]) << 8 | bytes_[at + 3];
  }

  /// A chunk is length, name, data and checksum. True for the last one.
  bool readChunk() {
    if (bytes_.size() - next_ < 12) throw BadImage("the PNG ends before its end chunk (IEND)");
    const std::size_t length = word(next_);
    if (length > bytes_.size() - next_ - 12) throw BadImage("the PNG ends in the middle of a chunk");
    const unsigned char* name = &bytes_[next_ + 4];
    const std::string type(name, name + 4);
    const unsigned char* data = name + 4;
    if (word(next_ + 8 + length) != crc(name, length + 4)) {
      throw BadImage("the PNG is damaged (the checksum of its chunk " + printable(type) + " is wrong)");
    }
    next_ += 12 + length;
    if (type == "IHDR") readHeader(data, length);
    if (type == "PLTE") palette_.assign(data, data + length);
    if (type == "IDAT") compressed_.insert(compressed_.end(), data, data + length);
    return type == "IEND";
  }

  static std::string printable(std::string type) {
    for (char& c : type) c = c >= 32 && c < 127 ? c : '?';
    return type;
  }

  void readHeader(const unsigned char* data, std::size_t length) {
    if (length != 13) throw BadImage("the PNG's header chunk has the wrong length");
    const std::size_t at = static_cast<std::size_t>(data - bytes_.data());
    image_.width = word(at);
    image_.height = word(at + 4);
    colour_ = data[9];
    if (image_.width == 0 || image_.height == 0) throw BadImage("the image is empty");
    if (image_.height > kMostPixels / image_.width) throw BadImage("the image has more than 2^28 pixels");
    if (data[8] != 8) {
      throw BadImage("the PNG has " + std::to_string(data[8]) + " bits for each sample; only 8 are taken");
    }
    if (data[12] != 0) throw BadImage("the PNG is interlaced; save it without");
    switch (colour_) {
      case 0:
      case 3: samples_ = 1; break;
      case 2: samples_ = 3; break;
      case 4: samples_ = 2; break;
      case 6: samples_ = 4; break;
      default: throw BadImage("the PNG has an unknown kind of colour (" + std::to_string(colour_) + ")");
    }
  }

  /// Turns differences to neighbours into values, in place. row[0] names the filter.
  void unfilter(unsigned char* row, const unsigned char* above, std::size_t size) const {
    const unsigned filter = row[0];
    if (filter > 4) throw BadImage("the PNG has a row with an unknown filter (" + std::to_string(filter) + ")");
    for (std::size_t i = 1; i <= size; ++i) {
      const int left = i > samples_ ? row[i - samples_] : 0;
      const int up = above != nullptr ? above[i] : 0;
      const int corner = i > samples_ && above != nullptr ? above[i - samples_] : 0;
      const int guesses[5] = {0, left, up, (left + up) / 2, paeth(left, up, corner)};
      row[i] = static_cast<unsigned char>(row[i] + guesses[filter]);
    }
  }

  void appendRow(const unsigned char* row) {
    for (std::size_t x = 0; x < image_.width; ++x) {
      const unsigned char* pixel = row + x * samples_;
      if (colour_ == 3) {
        const std::size_t entry = 3 * std::size_t{pixel[0]};
        if (entry + 3 > palette_.size()) throw BadImage("a pixel is not in the PNG's palette");
        image_.rgb.insert(image_.rgb.end(), palette_.begin() + static_cast<std::ptrdiff_t>(entry),
                          palette_.begin() + static_cast<std::ptrdiff_t>(entry) + 3);
      } else if (samples_ < 3) {
        image_.rgb.insert(image_.rgb.end(), 3, pixel[0]);
      } else {
        image_.rgb.insert(image_.rgb.end(), pixel, pixel + 3);
      }
    }
  }

  const std::vector<unsigned char>& bytes_;
  std::size_t next_ = 0;
  unsigned colour_ = 0;
  unsigned samples_ = 0;
  Image image_;
  std::vector<unsigned char> palette_;
  std::vector<unsigned char> compressed_;
};

}  // namespace png
}  // namespace lab
