// See compile.hpp.
#include "frontend/compile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/digest.hpp"
#include "frontend/asm_registers.hpp"
#include "frontend/device_launches.hpp"
#include "frontend/language_repairs.hpp"
#include "frontend/precompiled.hpp"
#include "frontend/process.hpp"
#include "frontend/shared_alignment.hpp"

namespace ordito::frontend {
namespace fs = std::filesystem;
namespace {

/// A macro became a pragma, which counts once the text is read again. The preprocessor begins lines with those that it
/// has seen itself.
bool hasPragmaOfMacro(const std::string& text) {
  for (size_t at = text.find(" #pragma"); at != std::string::npos; at = text.find(" #pragma", at + 1)) {
    const size_t before = text.find_last_not_of(' ', at);
    if (before == std::string::npos || text[before] == '\n') return true;
  }
  return false;
}

/// clang reads the text as its standard input; a line marker gives it its name.
std::string markedText(const CudaSource& source) {
  std::string marker = "# 1 \"";
  for (const char c : source.file) {
    if (c == '"' || c == '\\') marker += '\\';
    marker += c;
  }
  return marker + "\"\n" + *source.text;
}

/// Does C, C++ or our toolkit have a header of this name? A program for a compiler without headers brings small ones of
/// its own (<cstdint>, <type_traits>), which would hide from clang's headers what these need.
bool isOfLanguage(const Toolchain& tools, const std::string& name) {
  std::error_code ignored;
  return name.find_first_of("./") == std::string::npos || fs::exists(tools.toolkit / "include" / name, ignored) ||
         fs::exists(fs::path("/usr/include") / name, ignored);
}

/// Where clang's own headers are, among them the one that it reads before every CUDA program; empty if not found.
fs::path headersOf(const std::string& clang) {
  const auto program = fs::path(clang).has_parent_path() ? fs::path(clang) : findInPath(clang).value_or(fs::path());
  std::error_code missing;
  const fs::path folder = fs::canonical(program, missing).parent_path().parent_path() / "lib/clang";
  for (const auto& version : fs::directory_iterator(folder, missing))
    if (fs::exists(version.path() / "include/__clang_cuda_runtime_wrapper.h", missing))
      return version.path() / "include";
  return {};
}

/// `00000000_4_k_cu_12345678`: numbers of the invocation, if there was one, and of the file.
std::string unitName(const CompileOptions& options, const std::string& file) {
  std::string name = fs::path(file).filename().string();
  std::replace_if(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  const std::string invocation = options.unit.empty() ? "00000000" : options.unit.substr(0, 8);
  return fmt::format("{}_{}_{}_{}", invocation, name.size(), name, Digest().add(file).hex().substr(0, 8));
}

}  // namespace

CudaCompiler::CudaCompiler(const Toolchain& tools, CompileOptions options, CudaSource source, CommandRunner& runner)
    : tools_(tools), options_(std::move(options)), source_(std::move(source)), runner_(runner), input_(source_.file) {
  if (source_.text) input_ = "-";
  if (options_.staticNames != StaticNames::OfHostCode) addStaticNames();
  addHeaders();
  keepToolkitsHeaders();
  virtualArguments_ = virtual_.arguments();
  files_ = virtual_.files();
  const std::string macros = delayedMacros(options_);
  if (macros.empty()) return;
  files_.push_back(std::make_shared<const MemoryFile>(macros));
  options_.macroFile = files_.back()->path();
}

/// The mark that the compiler's pass looks for.
void CudaCompiler::addStaticNames() {
  const std::string unit = unitName(options_, source_.file);
  const std::string prefix = fmt::format("__nv_static_{}__{}_", unit.size() + 1, unit);
  source_.headers.push_back(
      {"ordito_static_names.h",
       fmt::format("extern \"C\" {{ __attribute__((device)) char __ordito_static_names[] = \"{}|{}\"; }}\n",
                   options_.staticNames == StaticNames::OfUnit ? prefix : "", unit)});
  options_.preprocessor.insert(options_.preprocessor.end(), {"-include", "ordito_static_names.h"});
}

void CudaCompiler::addHeaders() {
  for (const CudaHeader& header : source_.headers)
    virtual_.add(header.name, header.text,
                 isOfLanguage(tools_, header.name) ? VirtualFiles::kLastFolder : VirtualFiles::kFolder);
  if (source_.headers.empty()) return;
  auto& places = options_.preprocessor;
  places.insert(places.begin(), "-I" + std::string(VirtualFiles::kFolder));
  places.push_back("-idirafter" + std::string(VirtualFiles::kLastFolder));
}

/// clang's header before every program includes "cuda.h", and where the program has one of that name in a folder of -I
/// (darknet), that would be it. Beside clang's header comes first.
void CudaCompiler::keepToolkitsHeaders() {
  const auto folders = includeFolders(options_);
  for (const std::string name : {"cuda.h", "cuda_runtime.h"}) {
    std::error_code ignored;
    const bool isHidden = std::any_of(folders.begin(), folders.end(),
                                      [&](const fs::path& folder) { return fs::exists(folder / name, ignored); });
    if (!isHidden) continue;
    if (const fs::path headers = headersOf(tools_.clang); !headers.empty())
      virtual_.add(name, fmt::format("#include \"{}\"\n", (tools_.toolkit / "include" / name).string()),
                   headers.string());
  }
}

ProcessResult CudaCompiler::toPtx() {
  options_.precompiled = precompiledPrelude(tools_, options_);
  return compile(".cpp1.ii", [&](const std::string& input, const std::string& output, Pass pass) {
    return deviceCommand(tools_, options_, input, output.empty() ? "-" : output, pass);
  });
}

ProcessResult CudaCompiler::toObject(const HostCommand& command) {
  return compile(".cpp4.ii", [&](const std::string& input, const std::string& output, Pass pass) {
    return command(options_, input, output, pass);
  });
}

/// One side: as it is, or preprocessed and rewritten if it holds, or clang says that it holds, what clang refuses and
/// nvcc takes.
ProcessResult CudaCompiler::compile(const char* suffix, const MakeCommand& command) {
  bool needsMending = mended_;  // on the other side
  if (!needsMending && !mayNeedRewriting()) {
    ProcessResult result = runWhole(command);
    if (result.status != 0 && bringFunctional()) return compile(suffix, command);
    needsMending = result.status != 0 && mayBeMended(result.messages);
    if (!needsMending) return result;
  }
  ProcessResult preprocessed = runOnSource(command(input_, "-", Pass::Preprocess));
  if (preprocessed.status != 0) return preprocessed;
  std::string text = std::move(preprocessed.output);
  bool changed = rewrite(text);
  if (needsMending) changed |= mend(text, command);
  auto compileText = [&] {
    runner_.keep(suffix, text);
    return run(command("-", "", Pass::Preprocessed), text);
  };
  ProcessResult result = changed ? compileText() : runOnSource(command(input_, "", Pass::Whole));
  if (result.status != 0 && bringFunctional()) return compile(suffix, command);
  if (result.status == 0 || needsMending || !mayBeMended(result.messages) || !mend(text, command)) return result;
  return compileText();
}

/// A precompiled header that clang refuses is made again at the next compilation.
ProcessResult CudaCompiler::runWhole(const MakeCommand& command) {
  ProcessResult result = runOnSource(command(input_, "", Pass::Whole));
  if (result.status == 0 || options_.precompiled.empty() || !refusesPrecompiled(result.messages)) return result;
  std::error_code ignored;
  fs::remove(std::exchange(options_.precompiled, {}), ignored);
  return runOnSource(command(input_, "", Pass::Whole));
}

ProcessResult CudaCompiler::runOnSource(Command command) {
  return source_.text ? run(std::move(command), markedText(source_)) : run(std::move(command));
}

ProcessResult CudaCompiler::run(Command command, std::string_view input) {
  command.insert(command.end(), virtualArguments_.begin(), virtualArguments_.end());
  if (options_.colours) command.insert(command.begin() + 1, "-fcolor-diagnostics");
  ProcessResult result = runner_.run(command, input, files_);
  if (!virtual_.empty()) result.messages = VirtualFiles::withoutFolders(std::move(result.messages));
  return result;
}

bool CudaCompiler::mayNeedRewriting() {
  if (mayNeedRewriting_) return *mayNeedRewriting_;
  const auto folders = includeFolders(options_);
  if (!source_.text) return *(mayNeedRewriting_ = frontend::mayNeedRewriting(source_.file, folders));
  std::vector<std::string> texts = {*source_.text};
  for (const CudaHeader& header : source_.headers) texts.push_back(header.text);
  return *(mayNeedRewriting_ = frontend::mayNeedRewriting(texts, folders));
}

/// Of preprocessed text; false if it can stay as it is.
bool CudaCompiler::rewrite(std::string& text) const {
  if (runner_.pretends()) return true;
  bool changed = false;
  for (const auto& change : {moveSharedAlignment, doubleRegisterPercents, rewriteLaunches}) {
    auto next = change(text);
    if (next) text = std::move(*next);
    changed |= next.has_value();
  }
  return changed || hasPragmaOfMacro(text);
}

/// Mends preprocessed text until clang names nothing more to mend; false if it never did.
bool CudaCompiler::mend(std::string& text, const MakeCommand& command) {
  bool changed = false;
  for (int round = 0; round < 8; ++round) {
    Command check = command("-", "/dev/null", Pass::Preprocessed);
    for (const char* option : {"-fsyntax-only", "-w", "-ferror-limit=0", "-fno-color-diagnostics"})
      check.emplace_back(option);
    const ProcessResult found = run(std::move(check), withoutLineMarkers(text));
    if (found.status == 0) break;
    auto next = mended(text, found.messages);
    if (!next) break;
    text = std::move(*next);
    changed = true;
  }
  mended_ |= changed;
  return changed;
}

/// What a program with extended lambdas may use without including it; false if that was there already.
bool CudaCompiler::bringFunctional() {
  const auto& defined = options_.preprocessor;
  const bool may = std::any_of(defined.begin(), defined.end(), [](const std::string& option) {
    return option.find("__CUDACC_EXTENDED_LAMBDA__") != std::string::npos;
  });
  return may && !std::exchange(options_.bringsFunctional, true);
}

Compiled compileToPtx(const Toolchain& tools, const CompileOptions& options, const CudaSource& source) {
  CommandRunner runner;
  ProcessResult result = CudaCompiler(tools, options, source, runner).toPtx();
  std::string bitcode;
  if (result.status == 0 && options.makesBitcode) {
    bitcode = std::move(result.output);
    std::string messages = std::move(result.messages);
    result = runner.run(bitcodeCommand(tools, options), bitcode, {});
    result.messages.insert(0, messages);
  }
  if (result.status != 0) return {result.status, {}, {}, std::move(result.messages)};
  return {0, std::move(result.output), std::move(bitcode), std::move(result.messages)};
}

}  // namespace ordito::frontend
