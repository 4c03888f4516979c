// The compiler and linker commands behind `ordito nvcc`.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "frontend/nvcc_options.hpp"
#include "frontend/process.hpp"

namespace ordito::frontend {

/// Where the tools are.
struct Toolchain {
  std::string clang;    ///< clang++-19
  std::string objcopy;  ///< Empty if there is none: needed for separate compilation only.
  std::filesystem::path toolkit;
  std::vector<std::filesystem::path> cccl;  ///< Folders of headers of Thrust, CUB and libcu++; the system's if empty.
};

/// In our folder that looks like a toolkit, in PATH, and where the environment says (ORDITO_CLANG, CCCL_ROOT). `cccl`
/// names a copy of Thrust, CUB and libcu++ if it is not empty.
Expected<Toolchain> findToolchain(const std::filesystem::path& toolkit, const std::string& cccl);

/// What the options need and this machine lacks.
std::optional<std::string> missingPart(const Toolchain& tools, const NvccOptions& options);

enum class Language { Cuda, Cxx, C, None };

/// None for what the linker takes: objects, libraries, names without a known suffix.
Language languageOf(const NvccOptions& options, const std::string& file);

/// How much of a compilation a command does. Files with launches from kernels are preprocessed first and compiled once
/// these have been rewritten. Before all of them there may be a prelude.
enum class Pass { Whole, Preprocess, Preprocessed, Prelude };

/// Kernels to PTX.
Command deviceCommand(const Toolchain& tools, const CompileOptions& options, const std::string& source,
                      const std::string& ptx, Pass pass = Pass::Whole);

/// PTX of what such a command with CompileOptions::makesBitcode gave; standard input and output.
Command bitcodeCommand(const Toolchain& tools, const CompileOptions& options);

/// CompileOptions::prelude to a precompiled header for such commands: all but the input and the output.
Command preludeCommand(const Toolchain& tools, const CompileOptions& options);

/// Host code of a .cu file to an object, with the fat binary embedded (none if empty).
Command hostCommand(const Toolchain& tools, const NvccOptions& options, const std::string& source,
                    const std::string& fatbin, const std::string& object, Pass pass = Pass::Whole);

/// Where a source's quoted includes are looked for, beside its own folder.
std::vector<std::filesystem::path> includeFolders(const CompileOptions& options);

/// A plain C or C++ file to an object.
Command plainCommand(const Toolchain& tools, const NvccOptions& options, Language language, const std::string& source,
                     const std::string& object);

/// -E and -M.
Command preprocessCommand(const Toolchain& tools, const NvccOptions& options, const std::string& source);

/// Our libraries, as the linker is told.
std::string libraryFolder(const Toolchain& tools);

/// `inputs` are objects, libraries and linker options in their order.
Command linkCommand(const Toolchain& tools, const NvccOptions& options, const std::vector<std::string>& inputs,
                    const std::string& output);

}  // namespace ordito::frontend
