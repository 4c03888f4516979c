#include "known.hpp"

#include <fstream>
#include <sstream>

namespace ordito::gpu {

bool matches(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] != '*') return !text.empty() && pattern[0] == text[0] && matches(pattern.substr(1), text.substr(1));
  return matches(pattern.substr(1), text) || (!text.empty() && matches(pattern, text.substr(1)));
}

Expected<std::vector<Known>> readKnown(const std::string& path) {
  std::ifstream file(path);
  if (!file) return fail("cannot read {}", path);
  std::vector<Known> all;
  std::string line;
  for (unsigned number = 1; std::getline(file, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    Known k;
    std::string what;
    if (!(words >> k.pattern)) continue;
    if (!(words >> k.engine >> what)) return fail("{}:{}: expected: opcode engine what", path, number);
    if (what == "nan")
      k.isNan = true;
    else if (what == "value")
      k.isValue = true;
    else if (what != "ulp" || !(words >> k.ulp))
      return fail("{}:{}: expected 'nan', 'value' or 'ulp N'", path, number);
    all.push_back(k);
  }
  return all;
}

}  // namespace ordito::gpu
