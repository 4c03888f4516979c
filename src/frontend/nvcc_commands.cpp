// The compiler and linker commands behind `ordito nvcc`.
//
// A .cu file is compiled twice: its kernels to PTX, then its host code to an object that carries the PTX in a fat
// binary. Two commands of ours rather than clang's own pipeline, because nvcc's options speak to one side or the other:
// -O and -g to the host, -ftz and -fmad to the device.
#include "frontend/nvcc_commands.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/environment.hpp"
#include "frontend/cccl.hpp"
#include "frontend/include_order.hpp"
#include "frontend/nvcc_warnings.hpp"
#include "frontend/prefix.hpp"

namespace ordito::frontend {
namespace fs = std::filesystem;
namespace {

void add(Command& command, const std::vector<std::string>& more) {
  command.insert(command.end(), more.begin(), more.end());
}

/// What nvcc tolerates and clang makes an error or a warning of.
const std::vector<std::string> kTolerance = {"-Wno-register",
                                             "-Wno-error=c++11-narrowing",
                                             "-Wno-invalid-constexpr",
                                             "-Wno-missing-template-arg-list-after-template-kw",
                                             "-Wno-unknown-warning-option",
                                             "-Wno-unused-command-line-argument",
                                             "-Wno-unknown-cuda-version",
                                             "-Wno-ignored-optimization-argument"};

/// Behind the user's own folders. clang looks into its toolkit last, after /usr/local/include, where another toolkit's
/// headers may lie.
void addSystemFolders(Command& command, const Toolchain& tools) {
  for (const fs::path& folder : tools.cccl) add(command, {"-isystem", folder.string()});
  add(command, {"-isystem", (tools.toolkit / "include").string()});
}

/// What comes before the source: the prelude, then macros. Without the last switch clang would not look whether headers
/// of the system or the toolkit have changed.
void addPrelude(Command& command, const CompileOptions& options, Pass pass) {
  if (pass == Pass::Whole && !options.precompiled.empty())
    add(command,
        {"-Xclang", "-include-pch", "-Xclang", options.precompiled, "-Xclang", "-fmodules-validate-system-headers"});
  else
    for (const std::string& header : options.prelude) add(command, {"-include", header});
  if (!options.macroFile.empty()) add(command, {"-include", options.macroFile});
}

/// The prelude knows no headers but its own.
void addPreprocessor(Command& command, const CompileOptions& options, Pass pass) {
  const std::vector<std::string> all = toolkitsLast(options.preprocessor);
  for (size_t i = 0; i < all.size(); ++i) {
    if (pass == Pass::Prelude && all[i] == "-include")
      ++i;
    else if (!isDelayedMacro(all[i]))
      command.push_back(all[i]);
  }
}

/// Both passes over a .cu file must see the same program, so they share everything that can change its meaning.
Command cudaBase(const Toolchain& tools, const CompileOptions& options, Pass pass = Pass::Whole) {
  Command command = {tools.clang, "-x", "cuda", "--cuda-path=" + tools.toolkit.string(),
                     "--cuda-gpu-arch=" + clangArch(options)};
  add(command, {"-D__NVCC__", "-D__CUDACC_VER_BUILD__=0"});
  if (isCuda13())
    add(command, {"-D__CUDACC_VER_MAJOR__=13", "-D__CUDACC_VER_MINOR__=0"});
  else
    add(command, {"-D__CUDACC_VER_MAJOR__=12", "-D__CUDACC_VER_MINOR__=3"});
  add(command, kTolerance);
  if (pass == Pass::Preprocessed) command.emplace_back("-nocudainc");  // headers and macros are in the text already
  if (!options.standard.empty()) command.push_back("-std=" + options.standard);
  if (options.relocatable) add(command, {"-fgpu-rdc", "-D__CUDACC_RDC__"});
  // What is static in CUDA gets a name of its own for each unit, which both passes must know alike. clang's driver
  // gives a compilation of the device alone an id made of its arguments, and one of the host alone none.
  if (options.relocatable) add(command, {"-cuid=" + options.unit, "-Xclang", "-cuid=" + options.unit});
  if (options.perThreadStream)
    add(command, {"-Xclang", "-fgpu-default-stream=per-thread", "-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1"});
  if (options.fastMath) command.emplace_back("-D__USE_FAST_MATH__=1");
  if (pass == Pass::Preprocessed) return command;
  if (options.bringsFunctional) command.emplace_back("-D__ORDITO_FUNCTIONAL__=1");
  // With C++20's modules clang refuses a precompiled header with functions that the two sides define differently.
  if (!options.preludeFolder.empty()) add(command, {"-Xclang", "-fno-cxx-modules"});
  if (pass != Pass::Prelude) addPrelude(command, options, pass);
  addPreprocessor(command, options, pass);
  if (pass != Pass::Prelude && !options.lastFolder.empty()) command.push_back("-I" + options.lastFolder);
  addSystemFolders(command, tools);
  return command;
}

/// The pass that clang loads for launches from kernels.
fs::path launchPass(const Toolchain& tools) { return tools.toolkit / "lib64" / "ordito_launch_pass.so"; }

void addHostFlags(Command& command, const NvccOptions& options) {
  // nvcc leaves host code unoptimised unless told; the reference computations of test programs are worth a better
  // default here.
  const bool debugging = options.hostDebug || options.deviceDebug;
  command.push_back(!options.optimization.empty() ? "-O" + options.optimization : debugging ? "-O0" : "-O2");
  // Programs square numbers past the range of int, and g++, which they were written for, rarely minds.
  command.emplace_back("-fwrapv");
  if (options.hostDebug) command.emplace_back("-g");
  if (options.noWarnings) command.emplace_back("-w");
  if (options.shared) command.emplace_back("-fPIC");
  add(command, withQuietWarnings(options.host));
}

void addDependencyFlags(Command& command, const NvccOptions& options) {
  if (options.dependencyMode.empty()) return;
  command.push_back("-" + options.dependencyMode);
  if (!options.dependencyFile.empty()) add(command, {"-MF", options.dependencyFile});
  for (const auto& target : options.dependencyTargets) add(command, {"-MT", target});
}

}  // namespace

Expected<Toolchain> findToolchain(const fs::path& toolkit, const std::string& chosenCccl) {
  Toolchain tools;
  tools.toolkit = toolkit;
  if (!fs::exists(tools.toolkit / "include" / "cuda_runtime.h")) {
    return fail("{} has no CUDA headers; is the installation complete?", tools.toolkit.string());
  }
  if (const std::string chosen = readEnvironment().clang; !chosen.empty()) {
    tools.clang = chosen;
  } else if (findInPath("clang++-19")) {
    tools.clang = "clang++-19";
  } else {
    return fail("clang++-19 is not in PATH: install it (on Debian: apt install clang-19) or name one in ORDITO_CLANG");
  }
  auto cccl = ccclFolders(tools.toolkit, chosenCccl);
  if (!cccl) return tl::unexpected(cccl.error());
  tools.cccl = std::move(*cccl);
  for (const char* name : {"llvm-objcopy-19", "llvm-objcopy", "objcopy"}) {
    if (tools.objcopy.empty() && findInPath(name)) tools.objcopy = name;
  }
  return tools;
}

std::optional<std::string> missingPart(const Toolchain& tools, const NvccOptions& options) {
  if (std::find(options.host.begin(), options.host.end(), "-fopenmp") == options.host.end()) return std::nullopt;
  const auto clang = findInPath(tools.clang);
  std::error_code ignored;
  const fs::path beside = fs::canonical(clang ? *clang : fs::path(tools.clang), ignored).parent_path() / "../lib";
  for (const fs::path& folder : {beside, fs::path("/usr/lib/x86_64-linux-gnu"), fs::path("/usr/local/lib")})
    if (fs::exists(folder / "libomp.so")) return std::nullopt;
  return "-fopenmp needs clang's OpenMP library, which is not installed (on Debian: apt install libomp-19-dev)";
}

Language languageOf(const NvccOptions& options, const std::string& file) {
  if (options.language == "cu") return Language::Cuda;
  if (options.language == "c++") return Language::Cxx;
  if (options.language == "c") return Language::C;
  const std::string suffix = fs::path(file).extension().string();
  if (suffix == ".cu") return Language::Cuda;
  if (suffix == ".cpp" || suffix == ".cc" || suffix == ".cxx" || suffix == ".C" || suffix == ".c++")
    return Language::Cxx;
  return suffix == ".c" ? Language::C : Language::None;
}

namespace {

/// What decides how LLVM's instructions become PTX.
void addBackEnd(Command& command, const CompileOptions& options) {
  command.emplace_back(options.contract ? "-ffp-contract=fast" : "-ffp-contract=off");
  // LLVM 19 has no functions for the conversions between __int128 and floating point, unless it is told to expand them.
  add(command, {"-mllvm", "-expand-fp-convert-bits=64"});
  // 0: div.approx, 1: div.full, 2: div.rn.
  if (!options.preciseDivision)
    add(command, {"-mllvm", options.fastMath ? "-nvptx-prec-divf32=0" : "-nvptx-prec-divf32=1"});
}

/// All but the input and the output.
Command deviceBase(const Toolchain& tools, const CompileOptions& options, Pass pass) {
  Command command = cudaBase(tools, options, pass);
  // Line numbers always: they cost nothing at run time, and every message about a kernel can name its source. Warnings
  // come from the host pass, which reads the same text.
  add(command, {"--cuda-device-only", "-O3", "-gline-tables-only"});
  if (pass == Pass::Preprocess)
    command.emplace_back("-E");
  else if (options.makesBitcode)
    add(command, {"-c", "-emit-llvm"});
  else
    command.emplace_back("-S");
  if (!options.warns) command.emplace_back("-w");
  // Kernels hand values to shuffles that only one lane has set. C++ calls that undefined, and clang would conclude that
  // the other lanes do not exist.
  add(command, {"-Xclang", "-no-enable-noundef-analysis"});
  // Local arrays keep their names, for whoever finds an access outside of them (separate_locals_pass.cpp).
  command.emplace_back("-fno-discard-value-names");
  // A run of bytes that LLVM 19 packs into a vector across blocks is loaded 16 bytes at a time, however it is aligned.
  command.emplace_back("-fno-slp-vectorize");
  if (pass != Pass::Preprocess) command.push_back("-fpass-plugin=" + launchPass(tools).string());
  addBackEnd(command, options);
  if (options.flushToZero) command.emplace_back("-fgpu-flush-denormals-to-zero");
  if (options.fastMath) command.emplace_back("-fgpu-approx-transcendentals");
  // Our headers send sqrtf to its approximation; LLVM's own switch for this reaches only its unsafe math.
  if (!options.preciseSqrt) command.emplace_back("-D__ORDITO_APPROXIMATE_SQRT__=1");
  return command;
}

}  // namespace

Command deviceCommand(const Toolchain& tools, const CompileOptions& options, const std::string& source,
                      const std::string& ptx, Pass pass) {
  Command command = deviceBase(tools, options, pass);
  add(command, {source, "-o", ptx});
  return command;
}

Command bitcodeCommand(const Toolchain& tools, const CompileOptions& options) {
  Command command = {tools.clang, "-x", "ir", "--target=nvptx64-nvidia-cuda", "-march=" + clangArch(options),
                     "-S",        "-O3"};
  // The bitcode has been optimised; the version of PTX is the one of .cu files.
  add(command, {"-Xclang", "-disable-llvm-passes", "-Xclang", "-target-feature", "-Xclang", "+ptx83"});
  addBackEnd(command, options);
  add(command, {"-", "-o", "-"});
  return command;
}

Command preludeCommand(const Toolchain& tools, const CompileOptions& options) {
  Command command = deviceBase(tools, options, Pass::Prelude);
  add(command, {"-Xclang", "-emit-pch"});
  return command;
}

Command hostCommand(const Toolchain& tools, const NvccOptions& options, const std::string& source,
                    const std::string& fatbin, const std::string& object, Pass pass) {
  Command command = cudaBase(tools, options, pass);
  add(command, {"--cuda-host-only", pass == Pass::Preprocess ? "-E" : "-c"});
  command.push_back("-D__ORDITO_LIBRARY_FOLDER__=\"" + (tools.toolkit / "lib64").string() + "\"");
  if (!fatbin.empty()) add(command, {"-Xclang", "-fcuda-include-gpubinary", "-Xclang", fatbin});
  addHostFlags(command, options);
  if (pass != Pass::Preprocessed) addDependencyFlags(command, options);
  // The array bound of a rewritten launch is no constant.
  if (pass == Pass::Preprocessed) add(command, {"-Wno-vla", "-Wno-vla-cxx-extension"});
  add(command, {source, "-o", object});
  return command;
}

std::vector<fs::path> includeFolders(const CompileOptions& options) {
  std::vector<fs::path> folders;
  for (size_t i = 0; i < options.preprocessor.size(); ++i) {
    const std::string& option = options.preprocessor[i];
    if ((option == "-I" || option == "-isystem" || option == "-iquote") && i + 1 < options.preprocessor.size())
      folders.emplace_back(options.preprocessor[++i]);
    else if (option.starts_with("-I"))
      folders.emplace_back(option.substr(2));
  }
  if (!options.lastFolder.empty()) folders.emplace_back(options.lastFolder);
  return folders;
}

Command plainCommand(const Toolchain& tools, const NvccOptions& options, Language language, const std::string& source,
                     const std::string& object) {
  Command command = {tools.clang, "-x", language == Language::C ? "c" : "c++", "-c", "-D__NVCC__"};
  add(command, kTolerance);
  if (!options.standard.empty() && language == Language::Cxx) command.push_back("-std=" + options.standard);
  if (options.perThreadStream) command.emplace_back("-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1");
  add(command, toolkitsLast(options.preprocessor));
  addSystemFolders(command, tools);
  addHostFlags(command, options);
  addDependencyFlags(command, options);
  add(command, {source, "-o", object});
  return command;
}

Command preprocessCommand(const Toolchain& tools, const NvccOptions& options, const std::string& source) {
  const Language language = languageOf(options, source);
  Command command;
  if (language == Language::Cuda) {
    command = cudaBase(tools, options);
    command.emplace_back("--cuda-host-only");
  } else {
    command = {tools.clang, "-x", language == Language::C ? "c" : "c++", "-D__NVCC__"};
    add(command, toolkitsLast(options.preprocessor));
    addSystemFolders(command, tools);
  }
  add(command, options.host);
  if (options.action == NvccOptions::Action::Preprocess) command.emplace_back("-E");
  addDependencyFlags(command, options);
  command.push_back(source);
  if (!options.output.empty() && options.action == NvccOptions::Action::Preprocess)
    add(command, {"-o", options.output});
  return command;
}

std::string libraryFolder(const Toolchain& tools) { return (tools.toolkit / "lib64").string(); }

Command linkCommand(const Toolchain& tools, const NvccOptions& options, const std::vector<std::string>& inputs,
                    const std::string& output) {
  // The script links with clang and adds the run path of our libraries. CMake takes it from this command for its own.
  const std::string linker = options.linkRuntime ? (tools.toolkit / "bin" / "host-link").string() : tools.clang;
  Command command = {linker, "-Wno-unused-command-line-argument", "-o", output};
  if (options.shared) command.emplace_back("-shared");
  // Ahead of the user's folders, which may be those of another toolkit.
  command.push_back("-L" + libraryFolder(tools));
  add(command, options.host);
  add(command, inputs);
  add(command, options.linker);
  if (options.linkRuntime) command.emplace_back("-lcudart");
  // The shared one leaves nothing for the static one to define. CMake, which links by itself, reads here what nvcc's
  // default is.
  if (options.linkRuntime && !options.sharedRuntime) command.emplace_back("-lcudart_static");
  add(command, {"-lpthread", "-ldl", "-lrt"});
  return command;
}

}  // namespace ordito::frontend
