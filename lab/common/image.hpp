// Colour images for the lab: a picture made up in memory, PPM files (P6 and P3) and PNG files (see png.hpp). Bytes are
// red, green, blue, row by row. A file that is not what it should be is refused with one line that says where.
#pragma once

#include <cctype>
#include <cmath>

#include "lab.hpp"
#include "png.hpp"
#include "text.hpp"

namespace lab {

constexpr std::size_t kMostPixels = std::size_t{1} << 28;
constexpr std::size_t kMostFileBytes = std::size_t{1} << 32;

/// Reads the parts of a PPM file: words, between which there is white space and comments, and raw bytes.
class PpmReader {
 public:
  explicit PpmReader(const std::vector<unsigned char>& bytes) : bytes_(bytes) {}

  Image read() {
    const bool raw = bytes_.at(1) == '6';
    next_ = 2;
    Image image;
    image.width = number("the width", kMostPixels);
    image.height = number("the height", kMostPixels);
    const std::size_t most = number("the largest value", 65535);
    if (image.width == 0 || image.height == 0) throw BadImage("the image is empty");
    if (image.height > kMostPixels / image.width) throw BadImage("the image has more than 2^28 pixels");
    if (most == 0) throw BadImage("the largest value is 0");
    if (most > 255) throw BadImage("the largest value is " + std::to_string(most) + "; only 255 and less are taken");
    const std::size_t samples = 3 * image.pixels();
    if (raw) {
      if (next_ < bytes_.size()) ++next_;  // exactly one white space before the bytes
      readRaw(image, samples, most);
    } else {
      for (std::size_t i = 0; i < samples; ++i) image.rgb.push_back(scaled(number("a sample", most), most));
    }
    return image;
  }

 private:
  void readRaw(Image& image, std::size_t samples, std::size_t most) {
    const std::size_t left = bytes_.size() - next_;
    if (left < samples) {
      throw BadImage("the pixels end after " + std::to_string(left) + " of " + std::to_string(samples) + " bytes");
    }
    for (std::size_t i = 0; i < samples; ++i) {
      const std::size_t value = bytes_[next_ + i];
      if (value > most) throw BadImage("byte " + std::to_string(i) + " of the pixels is above the largest value");
      image.rgb.push_back(scaled(value, most));
    }
  }

  static unsigned char scaled(std::size_t value, std::size_t most) {
    return static_cast<unsigned char>((value * 255 + most / 2) / most);
  }

  void skipSpace() {
    for (; next_ < bytes_.size(); ++next_) {
      if (bytes_[next_] == '#') {
        while (next_ < bytes_.size() && bytes_[next_] != '\n') ++next_;
        if (next_ == bytes_.size()) return;
      }
      if (bytes_[next_] == '\n') ++line_;
      if (std::isspace(bytes_[next_]) == 0) return;
    }
  }

  std::size_t number(const char* what, std::size_t most) {
    skipSpace();
    const std::string where = "line " + std::to_string(line_) + ": " + what;
    if (next_ == bytes_.size()) throw BadImage(where + " is missing, the file ends");
    if (std::isdigit(bytes_[next_]) == 0) throw BadImage(where + " is not a number");
    std::size_t value = 0;
    for (; next_ < bytes_.size() && std::isdigit(bytes_[next_]) != 0; ++next_) {
      value = 10 * value + (bytes_[next_] - '0');
      if (value > most) throw BadImage(where + " is larger than " + std::to_string(most));
    }
    return value;
  }

  const std::vector<unsigned char>& bytes_;
  std::size_t next_ = 0;
  std::size_t line_ = 1;
};

inline Image decodeImage(const std::vector<unsigned char>& bytes) {
  if (png::isPng(bytes)) return png::Decoder(bytes).read();
  if (bytes.size() > 2 && bytes[0] == 'P' && (bytes[1] == '6' || bytes[1] == '3')) return PpmReader(bytes).read();
  throw BadImage("it is neither a PPM (P6, P3) nor a PNG image");
}

/// Reads the file, or ends the program with status 2 and one line.
inline Image readImage(const std::string& path) {
  try {
    return decodeImage(readBytes(path, kMostFileBytes));
  } catch (const BadImage& error) {
    usageError("'" + path + "': " + error.what());
  }
}

inline void writePpm(const Image& image, const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) usageError("cannot write '" + path + "'");
  std::fprintf(file, "P6\n%zu %zu\n255\n", image.width, image.height);
  const bool whole = std::fwrite(image.rgb.data(), 1, image.rgb.size(), file) == image.rgb.size();
  if (std::fclose(file) != 0 || !whole) usageError("cannot write '" + path + "'");
}

/// A woven cloth: warp and weft cross over and under, each thread round and of its own shade, with some coarseness.
inline Image weave(std::size_t width, std::size_t height) {
  constexpr double kThread = 12;  // pixels
  Image image{width, height, {}};
  image.rgb.reserve(3 * image.pixels());
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      const std::size_t column = static_cast<std::size_t>(static_cast<double>(x) / kThread);
      const std::size_t row = static_cast<std::size_t>(static_cast<double>(y) / kThread);
      const bool warpOnTop = (column + row) % 4 < 2;  // a 2/2 twill
      const double across = std::fmod(static_cast<double>(warpOnTop ? x : y), kThread) / kThread * 2 - 1;
      const double light = std::sqrt(1 - across * across * 0.95);
      const unsigned grain = static_cast<unsigned>((x * 2654435761U ^ y * 40503U * 65537U) >> 7) % 17;
      const double shade = warpOnTop ? 0.75 + 0.25 * std::sin(static_cast<double>(column) * 0.7)
                                     : 0.75 + 0.25 * std::cos(static_cast<double>(row) * 0.9);
      const double colour[3] = {warpOnTop ? 220.0 : 60.0, warpOnTop ? 150.0 : 90.0, warpOnTop ? 70.0 : 160.0};
      for (const double c : colour) {
        image.rgb.push_back(static_cast<unsigned char>(c * shade * light * 0.95 + grain));
      }
    }
  }
  return image;
}

/// `pixels` pixels as nearly square as their divisors allow.
inline Image weaveOfSize(std::size_t pixels) {
  if (pixels == 0) return {};
  std::size_t height = static_cast<std::size_t>(std::sqrt(static_cast<double>(pixels)));
  while (pixels % height != 0) --height;
  return weave(pixels / height, height);
}

/// The file that the options name, whose pixels become the size, or the cloth with the asked number of pixels.
inline Image imageFor(Options& options) {
  if (options.file.empty()) {
    if (options.size > kMostPixels) usageError("--size: at most 2^28 pixels");
    mustFit(options.size, 3, 3);
    return weaveOfSize(options.size);
  }
  Image image = readImage(options.file);
  options.size = image.pixels();
  return image;
}

}  // namespace lab
