// See source_lines.hpp. Only messages ask, so instructions are looked through one by one.
#include "ptx/source_lines.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <tuple>

namespace ordito::ptx {

namespace {

/// As a user in the current folder would name it.
std::string shortened(const std::string& path) {
  std::error_code ignored;
  const std::string here = std::filesystem::current_path(ignored).string() + "/";
  return path.starts_with(here) ? path.substr(here.size()) : path;
}

/// Line 0 stands for code that belongs to no line; the one before it has a line nearby.
std::optional<SourceLocation> locationIn(const Module& module, const Function& function, uint32_t ptxLine) {
  std::optional<SourceLocation> last;
  for (const Instruction& i : function.instructions) {
    if (const SourceLocation& here = module.locations[i.location]; i.location && here.line) last = here;
    if (i.line == ptxLine) return last;
  }
  return std::nullopt;
}

std::optional<SourceLocation> locationOf(const Module& module, const Function& first, uint32_t ptxLine) {
  auto found = locationIn(module, first, ptxLine);
  for (size_t f = 0; !found && f < module.functions.size(); ++f)
    found = locationIn(module, module.functions[f], ptxLine);
  return found;
}

Located instructionIn(const Function& function, uint32_t ptxLine) {
  for (const Instruction& i : function.instructions)
    if (i.line == ptxLine) return {&function, &i};
  return {};
}

}  // namespace

Located instructionAt(const Module& module, const Function& first, uint32_t ptxLine) {
  Located found = instructionIn(first, ptxLine);
  for (size_t f = 0; !found && f < module.functions.size(); ++f) found = instructionIn(module.functions[f], ptxLine);
  return found;
}

std::string sourceOf(const Module& module, const Function& first, uint32_t ptxLine) {
  const auto found = locationOf(module, first, ptxLine);
  return found ? fmt::format("{}:{}", shortened(module.files[found->file]), found->line) : "";
}

uint32_t columnOf(const Module& module, const Function& first, uint32_t ptxLine) {
  const auto found = locationOf(module, first, ptxLine);
  return found ? found->column : 0;
}

/// As locationIn: line 0 has the place of the line before it.
SourcePlaces::SourcePlaces(const Module& module, const Function& function) {
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> firsts;
  const SourceLocation* last = nullptr;
  for (const Instruction& i : function.instructions) {
    if (const SourceLocation& here = module.locations[i.location]; i.location && here.line) last = &here;
    if (last)
      first_.try_emplace(i.line, firsts.try_emplace({last->file, last->line, last->column}, i.line).first->second);
  }
}

std::string withSources(const Module& module, const Function& first, const std::string& text) {
  constexpr std::string_view kMark = "PTX line ";
  std::string result;
  size_t done = 0;
  for (size_t at = text.find(kMark); at != std::string::npos; at = text.find(kMark, at + 1)) {
    uint32_t line = 0;
    const char* const number = text.data() + at + kMark.size();
    const auto end = static_cast<size_t>(std::from_chars(number, text.data() + text.size(), line).ptr - text.data());
    result.append(text, done, end - done);
    done = end;
    if (const std::string source = sourceOf(module, first, line); !source.empty())
      result += fmt::format(" ({})", source);
  }
  return result.append(text, done);
}

}  // namespace ordito::ptx
