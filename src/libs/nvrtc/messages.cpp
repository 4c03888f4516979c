// See messages.hpp.
#include "libs/nvrtc/messages.hpp"

#include <fmt/format.h>

#include <regex>

namespace ordito::nvrtc {
namespace {

/// A line of source that clang shows: `    3 | x[0] = y;`.
bool isSource(std::string_view line) {
  const size_t number = std::min(line.find_first_not_of(' '), line.size());
  const size_t end = std::min(line.find_first_not_of("0123456789", number), line.size());
  return line.substr(end).starts_with(" |");
}

std::string reworded(std::string text) {
  struct Wording {
    std::regex clangs;
    const char* nvrtcs;
  };
  static const Wording wordings[] = {
      {std::regex("(?:use of undeclared identifier|unknown type name) '([^']*)'"), "identifier \"$1\" is undefined"},
      {std::regex("unused variable '([^']*)'"), "variable \"$1\" was declared but never referenced"},
      {std::regex("'([^']*)' file not found"), "cannot open source file \"$1\""}};
  for (const Wording& wording : wordings) text = std::regex_replace(text, wording.clangs, wording.nvrtcs);
  return text;
}

/// The last line: `1 warning and 2 errors generated when compiling for sm_86.` NVRTC counts errors only.
std::string closing(const std::string& line, std::string_view program, bool isFatal) {
  static const std::regex form("(\\d+) errors? generated");
  std::smatch found;
  if (!std::regex_search(line, found, form)) return {};
  const std::string count = found[1];
  return fmt::format("\n{} {}error{} detected in the compilation of \"{}\".\n{}", count, isFatal ? "catastrophic " : "",
                     count == "1" ? "" : "s", program, isFatal ? "Compilation terminated.\n" : "");
}

}  // namespace

std::string asNvrtcs(std::string_view clangs, std::string_view program) {
  static const std::regex place("^(.+?):(\\d+):\\d+: (fatal error|error|warning|note|remark): (.*)$");
  static const std::regex last("^\\d+ (warnings?|errors?)( and \\d+ errors?)? generated( when compiling for .*)?\\.$");
  std::string all;
  bool isFatal = false;
  for (size_t at = 0; at < clangs.size();) {
    const size_t end = std::min(clangs.find('\n', at), clangs.size());
    const std::string line(clangs.substr(at, end - at));
    at = end + 1;
    std::smatch found;
    if (!isSource(line) && std::regex_match(line, found, place)) {
      const bool isOfFatal = found[3] == "fatal error";
      isFatal |= isOfFatal;
      all += fmt::format("{}({}): {}: {}\n", found[1].str(), found[2].str(),
                         isOfFatal ? "catastrophic error" : found[3].str(), reworded(found[4]));
    } else if (std::regex_match(line, last)) {
      all += closing(line, program, isFatal);
    } else {
      all += line + "\n";
    }
  }
  return all;
}

}  // namespace ordito::nvrtc
