// See assembler.hpp.
#include "frontend/assembler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "frontend/resource_usage.hpp"
#include "ir/contraction.hpp"
#include "ptx/parser.hpp"
#include "ptx/printer.hpp"
#include "ptx/verifier.hpp"

namespace ordito::frontend {
namespace {

/// Options whose value is the next word if it is not in the same one.
constexpr std::array kWithValue = {
    "--gpu-name", "-arch",           "--output-file",    "-o",        "--opt-level",
    "-O",         "--maxrregcount",  "-maxrregcount",    "--machine", "-m",
    "--fmad",     "-fmad",           "--def-load-cache", "-dlcm",     "--def-store-cache",
    "-dscm",      "--split-compile", "--entry",          "-e"};

void set(AssemblerOptions& options, std::string_view name, const std::string& value) {
  if (name == "--output-file" || name == "-o") options.output = value;
  if (name == "--gpu-name" || name == "-arch") options.architecture = value;
  if (name == "--fmad" || name == "-fmad") options.contracts = value != "false";
  if ((name == "--opt-level" || name == "-O") && value == "0") options.contracts = false;
}

/// Options without a value, and the input.
void take(AssemblerOptions& options, std::string_view word) {
  if (word == "-v" || word == "--verbose") options.isVerbose = true;
  if (word == "-V" || word == "--version") options.asksVersion = true;
  if (word == "-O0" || word == "-g" || word == "--device-debug") options.contracts = false;
  if (!word.starts_with("-") || word == "-") options.input = word;
}

}  // namespace

AssemblerOptions readAssemblerOptions(std::span<const char* const> words) {
  AssemblerOptions options;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const std::string_view name = word.substr(0, word.find('='));
    const bool takesValue = std::find(kWithValue.begin(), kWithValue.end(), name) != kWithValue.end();
    if (takesValue && name.size() < word.size())
      set(options, name, std::string(word.substr(name.size() + 1)));
    else if (takesValue && i + 1 < words.size())
      set(options, name, words[++i]);
    else
      take(options, word);
  }
  return options;
}

Expected<Assembled> assemble(std::string text, const std::string& name, const AssemblerOptions& options) {
  auto module = ptx::parse(text, name);
  if (!module) return tl::unexpected(module.error());
  if (const auto valid = ptx::verify(*module); !valid) return fail("{}: {}", name, valid.error().message);
  Assembled result;
  if (options.isVerbose) {
    const size_t number = options.architecture.find_first_of("0123456789");
    if (number == std::string::npos) return fail("no architecture: {}", options.architecture);
    const auto sm = static_cast<uint32_t>(std::strtoul(options.architecture.c_str() + number, nullptr, 10));
    result.usage = resourceUsage(*module, sm);
  }
  if (!options.contracts) {
    ir::roundEachProduct(*module);
    text = ptx::print(*module);
  }
  result.image = text.substr(0, text.find('\0')) + '\0';
  return result;
}

}  // namespace ordito::frontend
