// `ordito nvcc`: builds CUDA programs from nvcc's command line, with clang and our own headers.
#include "frontend/nvcc.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "base/digest.hpp"
#include "frontend/nvcc_build.hpp"
#include "frontend/prefix.hpp"

namespace ordito::frontend {
namespace fs = std::filesystem;
namespace {

using Action = NvccOptions::Action;

/// What tells this compilation from others whose objects may end in the same program: a file may be compiled twice,
/// with different options or into different objects.
std::string invocation(const std::vector<std::string>& arguments) {
  Digest digest;
  digest.add(fs::current_path().string());
  for (const auto& argument : arguments) digest.add(argument);
  return digest.hex();
}

/// CMake knows a compiler by the first line's first words; it and others find the release in the last two lines.
void printVersion() {
  fmt::print(
      "nvcc: NVIDIA (R) Cuda compiler driver, which Ordito 0.1.0 stands in for, with clang 19\n"
      "Runs on any x86-64 CPU; speaks the language of\n"
      "Cuda compilation tools, release {0}, V{0}.0\n"
      "Build cuda_{0}.r{0}/ordito_0.1.0\n",
      isCuda13() ? "13.0" : "12.3");
}

void printHelp() {
  fmt::print(
      "Usage: ordito nvcc [options] file.cu ... [-o program]\n\n"
      "Takes the command line of nvcc, so that builds written for nvcc work: make NVCC=\"ordito nvcc\". What cannot "
      "change\n"
      "results is accepted without effect; what Ordito cannot honour is refused.\n\n{}",
      nvccOptionHelp());
}

/// nvcc reads options from the environment as well.
std::vector<std::string> withEnvironment(const std::vector<std::string>& arguments) {
  std::vector<std::string> all;
  if (const char* first = std::getenv("NVCC_PREPEND_FLAGS")) all = splitShellWords(first);
  all.insert(all.end(), arguments.begin(), arguments.end());
  if (const char* last = std::getenv("NVCC_APPEND_FLAGS")) {
    for (auto& word : splitShellWords(last)) all.push_back(std::move(word));
  }
  return all;
}

void printNotes(const NvccOptions& options) {
  for (const auto& warning : options.warnings) fmt::print(stderr, "ordito nvcc: warning: {}\n", warning);
  if (!options.verbose) return;
  for (const auto& note : options.notes) fmt::print(stderr, "ordito nvcc: note: {}\n", note);
  const std::string arch = clangArch(options);
  if (options.arch != 0 && std::to_string(options.arch) != arch.substr(3)) {
    fmt::print(stderr, "ordito nvcc: note: compiling for {}, the closest that there is to sm_{}\n", arch, options.arch);
  }
}

/// What nvcc tells under -v before anything else. CMake learns from these lines where the toolkit is, how programs are
/// linked (the line with LIBRARIES in it) and which architecture is the default.
void printToolkit(const NvccOptions& options, const Toolchain& tools) {
  if (!options.verbose && !options.dryRun) return;
  const std::string toolkit = tools.toolkit.string();
  fmt::print(stderr, "#$ TOP={}\n#$ INCLUDES=-I{}/include\n#$ LIBRARIES=-L{}\n#$ DEVICE=-arch compute_{}\n", toolkit,
             toolkit, libraryFolder(tools), clangArch(options).substr(3));
}

}  // namespace

int runNvcc(const std::vector<std::string>& arguments) {
  const auto all = withEnvironment(arguments);
  auto options = parseNvccOptions(all);
  if (!options) {
    fmt::print(stderr, "ordito nvcc: {}\n", options.error().message);
    return 1;
  }
  if (options->action == Action::Version) return printVersion(), 0;
  if (options->action == Action::ListGpus) return fmt::print("{}", gpuList(*options)), 0;
  if (options->action == Action::Help) return printHelp(), 0;
  options->unit = invocation(all);
  printNotes(*options);
  auto tools = findToolchain(toolkitFolder(), options->cccl);
  if (!tools) {
    fmt::print(stderr, "ordito nvcc: {}\n", tools.error().message);
    return 1;
  }
  printToolkit(*options, *tools);
  if (const auto missing = options->dryRun ? std::nullopt : missingPart(*tools, *options)) {
    fmt::print(stderr, "ordito nvcc: {}\n", *missing);
    return 1;
  }
  return build(std::move(*options), std::move(*tools));
}

}  // namespace ordito::frontend
