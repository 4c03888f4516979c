// CUDA C++ to PTX and diagnostics, as a function: no files but those that the source names and the prelude that is
// kept (precompiled.hpp), nothing of the process is changed, and any number of threads may call it. `ordito nvcc` and
// the compiler at run time (libs/nvrtc) are both made of this.
//
// A source goes through clang as it is. If it holds what nvcc takes and clang refuses (language_repairs.hpp,
// device_launches.hpp), it is preprocessed, rewritten in memory, and compiled from there.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "frontend/compile_options.hpp"
#include "frontend/nvcc_commands.hpp"
#include "frontend/process.hpp"
#include "frontend/virtual_files.hpp"

namespace ordito::frontend {

struct CudaHeader {
  std::string name;  ///< as #include names it
  std::string text;
};

struct CudaSource {
  std::string file;                 ///< Its path; or, of a text, the name that messages use.
  std::optional<std::string> text;  ///< Nothing: what the file holds.
  std::vector<CudaHeader> headers;  ///< Found before any in a folder, except where the language has one of that name.
};

struct Compiled {
  int status = 0;  ///< 0: there is PTX.
  std::string ptx;
  std::string bitcode;   ///< CompileOptions::makesBitcode
  std::string messages;  ///< Errors and warnings, by the names and lines of the source.
};

Compiled compileToPtx(const Toolchain& tools, const CompileOptions& options, const CudaSource& source);

/// How the commands of a compilation are run. `ordito nvcc` shows them, takes their time, or only pretends.
class CommandRunner {
 public:
  virtual ~CommandRunner() = default;
  virtual ProcessResult run(const Command& command, std::string_view input, const MemoryFiles& files) {
    return runCaught(command, input, files);
  }
  /// Nothing is run, and no text is there to look at.
  virtual bool pretends() const { return false; }
  /// Gets the preprocessed text that is compiled in the place of the source, under the suffix that nvcc gives it.
  virtual void keep(const char* /*suffix*/, const std::string& /*text*/) {}
};

/// Compiles the two sides of one source. What has been learned of the source on one side is used on the other.
class CudaCompiler {
 public:
  CudaCompiler(const Toolchain& tools, CompileOptions options, CudaSource source, CommandRunner& runner);

  /// The kernels; PTX, or bitcode where the options say so, is the result's output.
  ProcessResult toPtx();
  /// The command for the host's side, from the options, an input, an output (empty: the object) and a pass.
  using HostCommand = std::function<Command(const CompileOptions&, const std::string&, const std::string&, Pass)>;
  ProcessResult toObject(const HostCommand& command);

 private:
  /// The command of one side for an input, an output (empty: what is wanted) and a pass.
  using MakeCommand = std::function<Command(const std::string&, const std::string&, Pass)>;

  ProcessResult compile(const char* suffix, const MakeCommand& command);
  ProcessResult runWhole(const MakeCommand& command);
  ProcessResult runOnSource(Command command);
  ProcessResult run(Command command, std::string_view input = {});
  bool mayNeedRewriting();
  bool rewrite(std::string& text) const;
  bool mend(std::string& text, const MakeCommand& command);
  bool bringFunctional();
  void addStaticNames();
  void addHeaders();
  void keepToolkitsHeaders();

  const Toolchain& tools_;
  CompileOptions options_;
  CudaSource source_;
  CommandRunner& runner_;
  std::string input_;  // what clang calls the source
  VirtualFiles virtual_;
  std::vector<std::string> virtualArguments_;
  MemoryFiles files_;
  std::optional<bool> mayNeedRewriting_;
  bool mended_ = false;
};

}  // namespace ordito::frontend
