// nvcc's command line as data.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "frontend/compile_options.hpp"

namespace ordito::frontend {

struct NvccOptions : CompileOptions {
  enum class Action {
    Link,
    Compile,
    Ptx,
    Fatbin,
    Cubin,   ///< a fat binary under another name
    Syntax,  ///< look for errors only
    Preprocess,
    Dependencies,
    DeviceLink,
    Archive,
    ListGpus,
    Version,
    Help
  };

  Action action = Action::Link;
  /// Input files and what the linker reads between them (-l, -Xlinker), in the order given: for a linker the order
  /// matters.
  struct Item {
    std::string text;
    bool isFile = true;
  };
  std::vector<Item> items;
  std::string output;
  std::string outputFolder;
  std::string language;  ///< -x: cu, c++ or c for all inputs; empty: by suffix.

  std::string hostCompiler;         ///< -ccbin: asked for its options if it is a wrapper of MPI's.
  std::string cccl;                 ///< --cccl: a copy of Thrust, CUB and libcu++.
  std::vector<std::string> host;    ///< -Xcompiler and what only host code obeys.
  std::vector<std::string> linker;  ///< -L and -Xlinker options that clang's driver takes.
  std::string optimization;         ///< The digit after -O; host code only.
  bool hostDebug = false;
  bool deviceDebug = false;
  bool shared = false;
  bool noWarnings = false;
  bool linkRuntime = true;
  bool sharedRuntime = false;  ///< asked for by name
  bool verbose = false;
  bool dryRun = false;
  bool forwardUnknown = false;
  bool clean = false;  ///< Delete what would be made.
  bool run = false;    ///< The program, once it is linked.
  std::vector<std::string> runArguments;
  bool keep = false;  ///< Intermediate files, in keepFolder.
  std::string keepFolder;
  bool resourceUsage = false;  ///< Say what each kernel takes.
  std::string timeFile;        ///< Where the phases' times are added; `-` is standard output.
  bool listArch = false, listCode = false;

  std::string dependencyMode;  ///< M, MM, MD or MMD.
  std::string dependencyFile;
  std::vector<std::string> dependencyTargets;

  std::vector<std::string> notes;     ///< Options accepted without effect; shown under -v.
  std::vector<std::string> warnings;  ///< The same where the user may be surprised; always shown.
};

/// Reads the arguments (option files included). An option that would change results and that Ordito cannot honour is an
/// error, as is one that nvcc does not have.
Expected<NvccOptions> parseNvccOptions(const std::vector<std::string>& arguments);

/// What --list-gpu-arch and --list-gpu-code print: the architectures that clang-19 knows.
std::string gpuList(const NvccOptions& options);

/// One line for each option, for --help.
std::string nvccOptionHelp();

/// Splits like a shell: blanks separate, quotes and backslashes protect.
std::vector<std::string> splitShellWords(std::string_view text);

}  // namespace ordito::frontend
