// Findings that somebody has looked at and wants to hear no more of: named in a file, in a comment of the source, or in
// a baseline of all that was there once. See check_findings.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "cli/check_findings.hpp"

namespace ordito::cli {

namespace {

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// FNV-1a, 64 bits.
uint64_t digestOf(const std::string& text) {
  uint64_t digest = 0xcbf29ce484222325;
  for (const char c : text) digest = (digest ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return digest;
}

/// Does the line say "ordito: ok RULE"? The rule may hold `*`.
bool isAllowedAt(const std::string& line, const std::string& rule) {
  constexpr std::string_view kMark = "ordito: ok ";
  const size_t mark = line.find(kMark);
  if (mark == std::string::npos) return false;
  std::istringstream words(line.substr(mark + kMark.size()));
  std::string said;
  words >> said;
  return matches(said, rule);
}

}  // namespace

/// What stands between two `*` is looked for once, from the left: if the first place does not do, none behind it does
/// better.
bool matches(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, star = std::string_view::npos, behindStar = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++, behindStar = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p, ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1, t = ++behindStar;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

SourcePlace placeOf(const FindingJson& access) {
  if (!access.is_object() || !access.contains("source")) return {};
  // A copy has no place but that of its call.
  if (!access.at("source").is_string()) return access.contains("call") ? placeOf(access.at("call")) : SourcePlace{};
  auto source = access.at("source").get<std::string>();
  if (const size_t inlined = source.rfind(" > "); inlined != std::string::npos) source.erase(0, inlined + 3);
  const size_t colon = source.rfind(':');
  if (colon == std::string::npos) return {source, 0};
  return {source.substr(0, colon), static_cast<uint32_t>(std::strtoul(source.c_str() + colon + 1, nullptr, 10)),
          access.contains("column") ? access.at("column").get<uint32_t>() : 0};
}

std::string lineAt(const SourcePlace& place) {
  std::ifstream in(place.file);
  std::string line;
  for (uint32_t i = 0; i < place.line; ++i)
    if (!std::getline(in, line)) return "";
  return trimmed(line);
}

Expected<> Suppressions::readFile(const std::string& path) {
  std::ifstream in(path);
  if (!in) return fail("{}: cannot be read", path);
  for (std::string text; std::getline(in, text);) {
    std::istringstream words(text.substr(0, text.find('#')));
    Line line;
    if (!(words >> line.rule)) continue;
    words >> line.kernel;
    // A kernel's name has blanks in its list of parameters; the place is the last word that has a colon and a number.
    std::string rest;
    std::getline(words, rest);
    rest = trimmed(rest);
    const size_t blank = rest.rfind(' ');
    if (blank != std::string::npos) line.kernel += " " + trimmed(rest.substr(0, blank));
    if (!rest.empty()) line.place = rest.substr(blank == std::string::npos ? 0 : blank + 1);
    lines_.push_back(std::move(line));
  }
  return {};
}

Expected<> Suppressions::readBaseline(const std::string& path) {
  std::ifstream in(path);
  if (!in) return fail("{}: cannot be read", path);
  for (std::string text; std::getline(in, text);)
    if (!text.empty() && text[0] != '#') fingerprints_.push_back(text.substr(0, text.find(' ')));
  return {};
}

bool Suppressions::covers(const FindingJson& f) const {
  const auto rule = f.at("rule").get<std::string>(), kernel = f.at("kernel").get<std::string>();
  const FindingJson& accesses = f.at("accesses");
  const auto isAt = [&](const std::string& pattern) {
    return std::ranges::any_of(accesses, [&](const FindingJson& a) {
      return a.at("source").is_string() && matches(pattern, a.at("source").get<std::string>());
    });
  };
  const auto says = [&](const Line& line) {
    return matches(line.rule, rule) && matches(line.kernel, kernel) && (line.place == "*" || isAt(line.place));
  };
  if (std::ranges::any_of(lines_, says)) return true;
  if (std::ranges::any_of(accesses, [&](const FindingJson& a) { return isAllowedAt(lineAt(placeOf(a)), rule); }))
    return true;
  return !fingerprints_.empty() && std::ranges::count(fingerprints_, fingerprintOf(f)) > 0;
}

std::string fingerprintOf(const FindingJson& f) {
  std::string text = f.at("rule").get<std::string>() + "\n" + f.at("kernel").get<std::string>();
  for (const FindingJson& access : f.at("accesses")) {
    text += "\n";
    for (const char c : lineAt(placeOf(access)))
      if (c != ' ' && c != '\t') text += c;
    if (access.contains("operation")) text += access.at("kind").get<std::string>();
  }
  if (f.at("accesses").empty())
    for (const char c : f.at("message").get<std::string>())
      if (c < '0' || c > '9') text += c;
  return fmt::format("{:016x}", digestOf(text));
}

Expected<> writeBaseline(const std::string& path, const std::vector<FindingJson>& findings) {
  std::ofstream out(path);
  out << "# Findings that ordito check need not tell again: fingerprint, rule, kernel.\n";
  for (const FindingJson& f : findings)
    out << fmt::format("{} {} {}\n", fingerprintOf(f), f.at("rule").get<std::string>(),
                       f.at("kernel").get<std::string>());
  if (!out.flush()) return fail("{}: cannot be written", path);
  return {};
}

}  // namespace ordito::cli
