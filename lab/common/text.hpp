// The text that the histogram and the table look-up work on: a file, or one made up with the character frequencies of
// ordinary logs and prose (blanks and digits dominate).
#pragma once

#include <cstdint>
#include <filesystem>

#include "lab.hpp"

namespace lab {

/// The whole file, or the end of the program with one line. Devices and pipes, which may have no end, are refused.
inline std::vector<unsigned char> readBytes(const std::string& path, std::size_t most) {
  std::error_code error;
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error)) {
    usageError("cannot read '" + path + "': it is no ordinary file");
  }
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) usageError("cannot read '" + path + "'");
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (!error && size > most) usageError("'" + path + "' has more than " + std::to_string(most) + " bytes");
  std::vector<unsigned char> bytes(error ? 0 : static_cast<std::size_t>(size));
  const bool whole = !error && std::fread(bytes.data(), 1, bytes.size(), file) == bytes.size();
  std::fclose(file);
  if (!whole) usageError("cannot read '" + path + "'");
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
  if (!options.file.empty()) {
    std::vector<unsigned char> text = readBytes(options.file, largest);
    options.size = text.size();
    return text;
  }
  if (options.size > largest) usageError("--size: at most " + std::to_string(largest) + " characters");
  mustFit(options.size, 2, 1);  // the text and what becomes of it
  return makeText(options.size);
}

}  // namespace lab
