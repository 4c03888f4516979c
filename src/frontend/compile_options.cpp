// See compile_options.hpp.
#include "frontend/compile_options.hpp"

namespace ordito::frontend {

const std::vector<int>& clangArchitectures() {
  static const std::vector<int> all = {50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90};
  return all;
}

std::string clangArch(const CompileOptions& options) {
  if (options.arch == 0) return "sm_80";
  int best = clangArchitectures().front();
  for (const int known : clangArchitectures()) {
    if (known <= options.arch) best = known;
  }
  return "sm_" + std::to_string(best) + (best == 90 && options.arch == 90 && options.archIsSpecific ? "a" : "");
}

bool isDelayedMacro(std::string_view option) {
  if (!option.starts_with("-D") && !option.starts_with("-U")) return false;
  const std::string_view name = option.substr(2);
  return !name.starts_with("_") && !name.starts_with("CUDA") && !name.starts_with("NDEBUG");
}

std::string delayedMacros(const CompileOptions& options) {
  std::string text;
  for (const auto& option : options.preprocessor) {
    if (!isDelayedMacro(option)) continue;
    const std::string definition = option.substr(2);
    if (option[1] == 'U') {
      text += "#undef " + definition + "\n";
      continue;
    }
    const auto equals = definition.find('=');
    const std::string value = equals == std::string::npos ? "1" : definition.substr(equals + 1);
    text += "#define " + definition.substr(0, equals) + " " + value + "\n";
  }
  return text;
}

}  // namespace ordito::frontend
