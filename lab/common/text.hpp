// The text that the histogram and the table look-up work on: a file, or one made up with the character frequencies of
// ordinary logs and prose (blanks and digits dominate).
#pragma once

#include <cstdint>

#include "lab.hpp"

namespace lab {

inline std::vector<unsigned char> readBytes(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) usageError("cannot read '" + path + "'");
  std::vector<unsigned char> bytes;
  std::vector<unsigned char> buffer(1 << 20);
  for (std::size_t got; (got = std::fread(buffer.data(), 1, buffer.size(), file)) > 0;) {
    bytes.insert(bytes.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(got));
  }
  const bool broken = std::ferror(file) != 0;  // a folder opens, and cannot be read
  std::fclose(file);
  if (broken) usageError("cannot read '" + path + "'");
  return bytes;
}

/// Draws characters from a string in which common ones occur more often.
inline std::vector<unsigned char> makeText(std::size_t size) {
  static const char kCommon[] =
      "         eeeeaaarrrrrr-----ooooiiinnnttssl1111000223dcupmhgbfvyw,.:/_\n4567899kxjqz()EATRC";
  constexpr std::size_t kKinds = sizeof kCommon - 1;
  std::vector<unsigned char> text(size);
  std::uint64_t state = 7;
  for (unsigned char& character : text) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    character = static_cast<unsigned char>(kCommon[(state >> 33) % kKinds]);
  }
  return text;
}

/// The file that the options name, whose length becomes the size, or a made-up text of the asked size.
inline std::vector<unsigned char> textFor(Options& options, std::size_t largest) {
  std::vector<unsigned char> text;
  if (!options.file.empty()) {
    text = readBytes(options.file);
    options.size = text.size();
  }
  if (options.size > largest) usageError("--size: at most " + std::to_string(largest) + " characters");
  if (options.file.empty()) text = makeText(options.size);
  return text;
}

}  // namespace lab
