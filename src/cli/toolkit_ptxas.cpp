// A stand-in for ptxas, for people who call clang with --cuda-path set to our toolkit folder: clang insists on running
// it between its own PTX and the fat binary. There is no machine code to make, so the "assembled" file is the PTX
// itself. With -v it says what each kernel takes, as ptxas does.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "frontend/resource_usage.hpp"
#include "ptx/parser.hpp"

namespace {

struct Options {
  std::string input, output, architecture = "sm_75";  // ptxas 13's own default
  bool isVerbose = false;
};

Options read(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const bool isOutput = argument == "--output-file" || argument == "-o";
    const bool isArchitecture = argument == "--gpu-name" || argument == "-arch";
    if ((isOutput || isArchitecture) && i + 1 < argc) {
      (isOutput ? options.output : options.architecture) = argv[++i];
    } else if (argument.starts_with("-arch=") || argument.starts_with("--gpu-name=")) {
      options.architecture = argument.substr(argument.find('=') + 1);
    } else if (argument == "-v" || argument == "--verbose") {
      options.isVerbose = true;
    } else if (!argument.starts_with("-")) {
      options.input = argument;
    }
  }
  return options;
}

int complain(const std::string& message) {
  fmt::print(stderr, "ptxas (Ordito): {}\n", message);
  return 1;
}

int printUsage(const Options& options) {
  std::ifstream file(options.input, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto module = ordito::ptx::parse(text, options.input);
  if (!module) return complain(module.error().message);
  const size_t number = options.architecture.find_first_of("0123456789");
  if (number == std::string::npos) return complain("no architecture: " + options.architecture);
  const auto sm = static_cast<uint32_t>(std::strtoul(options.architecture.c_str() + number, nullptr, 10));
  fmt::print(stderr, "{}", ordito::frontend::resourceUsage(*module, sm));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = read(argc, argv);
  if (options.input.empty() || options.output.empty()) return complain("usage: ptxas file.ptx -o file.cubin");
  if (options.isVerbose)
    if (const int status = printUsage(options)) return status;
  std::error_code error;
  std::filesystem::copy_file(options.input, options.output, std::filesystem::copy_options::overwrite_existing, error);
  if (error) return complain(options.input + " to " + options.output + ": " + error.message());
  return 0;
}
