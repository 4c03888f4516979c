// A stand-in for ptxas, for those who run it between their own PTX and the driver: clang with --cuda-path set to our
// toolkit folder, Triton, XLA. There is no machine code to make, so the "assembled" file is the PTX itself, once it is
// found to be right. With -v it says what each kernel takes, as ptxas does.
//
// The file ends with a NUL: callers hand its bytes to cuModuleLoadData, which is not told how many there are.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "frontend/resource_usage.hpp"
#include "ir/contraction.hpp"
#include "ptx/parser.hpp"
#include "ptx/printer.hpp"
#include "ptx/verifier.hpp"

namespace {

/// The release of CUDA whose interface this is: callers choose the version of PTX by it.
constexpr const char* kVersion =
    "ptxas: Ordito's stand-in for the PTX assembler; it checks PTX and passes it on\n"
    "Cuda compilation tools, release 12.9, V12.9.86\n";

/// What ptxas answers for input that it refuses.
constexpr int kRefused = 255;

struct Options {
  std::string input, output = "elf.o", architecture = "sm_75";  // ptxas 13's own defaults
  bool isVerbose = false, asksVersion = false, contracts = true;
};

/// Options whose value is the next word if it is not in the same one.
constexpr std::array kWithValue = {
    "--gpu-name", "-arch",           "--output-file",    "-o",        "--opt-level",
    "-O",         "--maxrregcount",  "-maxrregcount",    "--machine", "-m",
    "--fmad",     "-fmad",           "--def-load-cache", "-dlcm",     "--def-store-cache",
    "-dscm",      "--split-compile", "--entry",          "-e"};

void set(Options& options, std::string_view name, const std::string& value) {
  if (name == "--output-file" || name == "-o") options.output = value;
  if (name == "--gpu-name" || name == "-arch") options.architecture = value;
  if (name == "--fmad" || name == "-fmad") options.contracts = value != "false";
  if ((name == "--opt-level" || name == "-O") && value == "0") options.contracts = false;
}

/// Options without a value that mean something here, and the input. The rest tells how to make machine code.
void take(Options& options, std::string_view word) {
  if (word == "-v" || word == "--verbose") options.isVerbose = true;
  if (word == "-V" || word == "--version") options.asksVersion = true;
  if (word == "-O0" || word == "-g" || word == "--device-debug") options.contracts = false;
  if (!word.starts_with("-") || word == "-") options.input = word;
}

Options read(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const std::string_view name = word.substr(0, word.find('='));
    const bool takesValue = std::find(kWithValue.begin(), kWithValue.end(), name) != kWithValue.end();
    if (takesValue && name.size() < word.size())
      set(options, name, std::string(word.substr(name.size() + 1)));
    else if (takesValue && i + 1 < argc)
      set(options, name, argv[++i]);
    else
      take(options, word);
  }
  return options;
}

int complain(const std::string& message) {
  fmt::print(stderr, "ptxas (Ordito): {}\n", message);
  return kRefused;
}

int printUsage(const Options& options, const ordito::ptx::Module& module) {
  const size_t number = options.architecture.find_first_of("0123456789");
  if (number == std::string::npos) return complain("no architecture: " + options.architecture);
  const auto sm = static_cast<uint32_t>(std::strtoul(options.architecture.c_str() + number, nullptr, 10));
  fmt::print(stderr, "{}", ordito::frontend::resourceUsage(module, sm));
  return 0;
}

int assemble(const Options& options) {
  std::ifstream file(options.input, std::ios::binary);
  if (!file) return complain("cannot read " + options.input);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  auto module = ordito::ptx::parse(text, options.input);
  if (!module) return complain(module.error().message);
  if (const auto valid = ordito::ptx::verify(*module); !valid)
    return complain(options.input + ": " + valid.error().message);
  if (options.isVerbose)
    if (const int status = printUsage(options, *module)) return status;
  if (!options.contracts) {
    ordito::ir::roundEachProduct(*module);
    text = ordito::ptx::print(*module);
  }
  std::ofstream out(options.output, std::ios::binary);
  out << text.substr(0, text.find('\0')) << '\0';
  return out.flush() ? 0 : complain("cannot write " + options.output);
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = read(argc, argv);
  if (options.asksVersion) return fmt::print("{}", kVersion), 0;
  if (options.input.empty()) return complain("usage: ptxas [-arch=sm_N] [-v] [-fmad=false] file.ptx -o file.cubin");
  return assemble(options);
}
