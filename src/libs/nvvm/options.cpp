// See options.hpp. libNVVM API, "nvvmCompileProgram", lists them.
#include "libs/nvvm/options.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace ordito::nvvm {
namespace {

/// `-ftz=1`: a flag with its value.
struct Flag {
  std::string_view name;
  bool Options::* value;
};
constexpr Flag kFlags[] = {{"-ftz", &Options::flushesDenormals},
                           {"-prec-sqrt", &Options::preciseSquareRoot},
                           {"-prec-div", &Options::preciseDivision},
                           {"-fma", &Options::contracts}};

bool readArch(std::string_view text, Options& options) {
  if (!text.starts_with("compute_")) return false;
  text.remove_prefix(std::string_view("compute_").size());
  const size_t digits = std::min(text.find_first_of("af"), text.size());
  options.suffix = text.substr(digits);
  text.remove_suffix(text.size() - digits);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), options.capability);
  return error == std::errc{} && end == text.data() + text.size() && options.suffix.size() <= 1 &&
         options.capability >= 30 && options.capability < 200;
}

bool readFlag(std::string_view name, std::string_view value, Options& options) {
  for (const Flag& flag : kFlags)
    if (name == flag.name && (value == "0" || value == "1")) return options.*flag.value = value == "1", true;
  return false;
}

bool read(std::string_view word, Options& options) {
  const size_t equals = std::min(word.find('='), word.size());
  const std::string_view name = word.substr(0, equals), value = word.substr(std::min(equals + 1, word.size()));
  if (word == "-g") return options.isDebug = true;
  if (word == "-gen-lto") return options.isForLto = true;
  if (word == "-generate-line-info") return options.hasLines = true;
  if (name == "-opt" && (value == "0" || value == "3")) return options.optimises = value == "3", true;
  if (name == "-arch") return readArch(value, options);
  if (name == "-split-compile") return true;  // how many threads may compile: one does
  return readFlag(name, value, options);
}

}  // namespace

Expected<Options> readOptions(std::span<const char* const> words) {
  Options options;
  for (const char* word : words) {
    const std::string_view text = word ? word : "";
    if (!read(text, options)) return fail("libnvvm : error: {} is an unsupported option", text);
  }
  return options;
}

}  // namespace ordito::nvvm
