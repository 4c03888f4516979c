// What `ordito nvcc` does with a command line that is read: each source through clang twice, for the kernels and for
// the host, what clang refuses mended in between, and the objects linked.
#include "frontend/nvcc_build.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include "base/digest.hpp"
#include "driver/fatbin.hpp"
#include "frontend/cccl.hpp"
#include "frontend/compile.hpp"
#include "frontend/nvcc_libraries.hpp"
#include "frontend/phase_times.hpp"
#include "frontend/process.hpp"
#include "frontend/resource_usage.hpp"
#include "ptx/parser.hpp"

namespace ordito::frontend {
namespace fs = std::filesystem;
namespace {

using Action = NvccOptions::Action;

std::string readFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// One run of the tool: what it was asked, what it has, and the folder for what lies between.
class Build : public CommandRunner {
 public:
  Build(NvccOptions options, Toolchain tools)
      : options_(std::move(options)), tools_(std::move(tools)), invocation_(options_.unit) {
    options_.colours = isatty(STDERR_FILENO) != 0;
  }

  int run() {
    writeMacros();
    const int status = act();
    if (!options_.timeFile.empty() && !times_.append(options_.timeFile))
      return complain("cannot write " + options_.timeFile);
    return status;
  }

 private:
  /// For the commands that only preprocess.
  void writeMacros() {
    const std::string macros = delayedMacros(options_);
    if (macros.empty()) return;
    macros_.push_back(std::make_shared<const MemoryFile>(macros));
    options_.macroFile = macros_.back()->path();
  }

  /// The host loads these by names.
  bool makesModule() const {
    return options_.action == Action::Ptx || options_.action == Action::Fatbin || options_.action == Action::Cubin;
  }

  int act() {
    if (makesModule()) options_.staticNames = options_.relocatable ? StaticNames::OfUnit : StaticNames::Plain;
    if (options_.keep) makeKeepFolder();
    if (options_.clean) return clean();
    switch (options_.action) {
      case Action::Preprocess:
        return eachSource(
            [&](const std::string& source) { return execute(preprocessCommand(tools_, options_, source)); });
      case Action::Dependencies:
        return eachSource([&](const std::string& source) { return printDependencies(source); });
      case Action::Ptx:
        return eachSource([&](const std::string& source) { return writePtx(source, named(source, ".ptx")); });
      case Action::Fatbin:
        return eachSource([&](const std::string& source) { return compileFatbin(source, named(source, ".fatbin")); });
      case Action::Cubin:
        return eachSource([&](const std::string& source) { return compileFatbin(source, named(source, ".cubin")); });
      case Action::Syntax:
        return eachSource([&](const std::string& source) {
          std::string ignored;
          return compilePtx(source, ignored);
        });
      case Action::Compile:
        return eachSource([&](const std::string& source) { return compileObject(source, named(source, ".o")); });
      case Action::DeviceLink: return linkDevice(deviceLinkOutput());
      default: return options_.run ? linkAndRun() : linkAll();
    }
  }

  int execute(const Command& command) {
    if (options_.verbose || options_.dryRun) fmt::print(stderr, "#$ {}\n", shellLine(command));
    return options_.dryRun ? 0 : timed(command, [&] { return runProcess(command, macros_); });
  }

  /// A phase for -time.
  template <class Run>
  int timed(const Command& command, const Run& run) {
    const auto start = std::chrono::steady_clock::now();
    const int status = run();
    if (!options_.timeFile.empty()) times_.add(command, clangArch(options_), std::chrono::steady_clock::now() - start);
    return status;
  }

  static int complain(const std::string& message) {
    fmt::print(stderr, "ordito nvcc: {}\n", message);
    return 1;
  }

  std::string named(const std::string& source, const char* suffix) const {
    return options_.output.empty() ? inOutputFolder(fs::path(source).filename().replace_extension(suffix))
                                   : options_.output;
  }

  std::string inOutputFolder(const fs::path& name) const { return (fs::path(options_.outputFolder) / name).string(); }

  bool isSource(const NvccOptions::Item& item) const {
    return item.isFile && languageOf(options_, item.text) != Language::None;
  }

  void makeKeepFolder() const {
    std::error_code ignored;  // what is written into it will complain
    if (!options_.keepFolder.empty()) fs::create_directories(options_.keepFolder, ignored);
  }

  /// Deletes what the same command without -clean would make.
  int clean() const {
    const std::map<Action, const char*> suffixes = {
        {Action::Ptx, ".ptx"}, {Action::Fatbin, ".fatbin"}, {Action::Cubin, ".cubin"}, {Action::Compile, ".o"}};
    const auto suffix = suffixes.find(options_.action);
    std::vector<std::string> made;
    if (options_.action == Action::Link || options_.action == Action::Archive) made = {linkedOutput()};
    if (options_.action == Action::DeviceLink) made = {deviceLinkOutput()};
    for (const auto& item : options_.items)
      if (suffix != suffixes.end() && isSource(item)) made.push_back(named(item.text, suffix->second));
    for (const auto& file : made) {
      std::error_code error;
      if (!options_.dryRun && fs::is_regular_file(file, error)) fs::remove(file, error);
    }
    return 0;
  }

  std::string deviceLinkOutput() const { return options_.output.empty() ? "a_dlink.o" : options_.output; }

  std::string linkedOutput() const {
    if (!options_.output.empty()) return options_.output;
    if (options_.action == Action::Archive) return inOutputFolder("a.a");
    return inOutputFolder(options_.shared ? "a.so" : "a.out");
  }

  template <class Compile>
  int eachSource(const Compile& compile) {
    std::vector<std::string> sources;
    for (const auto& item : options_.items) {
      if (!item.isFile) continue;
      if (languageOf(options_, item.text) != Language::None) {
        sources.push_back(item.text);
      } else {
        fmt::print(stderr, "ordito nvcc: warning: {}: not a source file, and nothing is linked\n", item.text);
      }
    }
    if (sources.empty()) return complain("no source file given");
    if (sources.size() > 1 && !options_.output.empty() && options_.action != Action::Preprocess) {
      return complain(
          fmt::format("-o {} names one output, but there are {} source files", options_.output, sources.size()));
    }
    for (const auto& source : sources) {
      if (const int status = compile(source)) return status;
    }
    return 0;
  }

  int printDependencies(const std::string& source) {
    const std::string wanted = options_.dependencyFile.empty() ? options_.output : options_.dependencyFile;
    options_.dependencyFile = scratch(".d");
    const int status = execute(preprocessCommand(tools_, options_, source));
    if (status != 0 || options_.dryRun) return status;
    const std::string text = withoutMacroFile(readFile(options_.dependencyFile));
    options_.dependencyFile = wanted;
    if (wanted.empty()) {
      fmt::print("{}", text);
    } else {
      std::ofstream(wanted, std::ios::app) << text;
    }
    return 0;
  }

  /// A make rule must not name a file that is gone when make reads it.
  std::string withoutMacroFile(std::string rule) const {
    if (options_.macroFile.empty()) return rule;
    const auto at = rule.find(options_.macroFile);
    if (at != std::string::npos) rule.erase(at, options_.macroFile.size());
    return rule;
  }

  /// The options with what the rule of a .d file says: it is about the output, or the object that there would be.
  NvccOptions withDependencyRule(const std::string& source) const {
    NvccOptions options = options_;
    if (options.dependencyMode.empty()) return options;
    const fs::path target = named(source, ".o");
    if (options.dependencyTargets.empty()) options.dependencyTargets = {target.string()};
    if (options.dependencyFile.empty()) options.dependencyFile = fs::path(target).replace_extension(".d").string();
    return options;
  }

  void cleanDependencyFile(const std::string& path) const {
    if (path.empty() || options_.macroFile.empty() || options_.dryRun) return;
    const std::string text = withoutMacroFile(readFile(path));
    std::ofstream(path) << text;
  }

  void nameUnit(const std::string& source) { options_.unit = Digest().add(invocation_).add(source).hex(); }

  // The commands of CudaCompiler.
  ProcessResult run(const Command& command, std::string_view input, const MemoryFiles& files) override {
    if (options_.verbose || options_.dryRun) fmt::print(stderr, "#$ {}\n", shellLine(command));
    ProcessResult result;
    if (!options_.dryRun) timed(command, [&] { return (result = runCaught(command, input, files)).status; });
    return result;
  }
  bool pretends() const override { return options_.dryRun; }
  void keep(const char* suffix, const std::string& text) override {
    if (options_.keep && !options_.dryRun) std::ofstream(scratch(current_, suffix), std::ios::binary) << text;
  }

  CudaCompiler& compilerOf(const std::string& source) {
    current_ = source;
    auto& compiler = compilers_[source];
    if (!compiler) compiler = std::make_unique<CudaCompiler>(tools_, options_, CudaSource{source, {}, {}}, *this);
    return *compiler;
  }

  static int finish(const ProcessResult& result) {
    std::fwrite(result.messages.data(), 1, result.messages.size(), stderr);
    const std::string advice = adviceOnMissingCccl(result.messages);
    if (!advice.empty()) complain(advice);
    return result.status;
  }

  /// The kernels of a source; what clang says is shown.
  int compilePtx(const std::string& source, std::string& ptx) {
    if (languageOf(options_, source) != Language::Cuda) return complain(source + ": only .cu files compile to PTX");
    nameUnit(source);
    ProcessResult result = compilerOf(source).toPtx();
    ptx = std::move(result.output);
    return finish(result);
  }

  int writePtx(const std::string& source, const std::string& file) {
    std::string ptx;
    if (const int status = compilePtx(source, ptx)) return status;
    return options_.dryRun || write(file, ptx) ? 0 : complain("cannot write " + file);
  }

  /// `-` is standard output, as clang has it.
  static bool write(const std::string& path, std::string_view text) {
    if (path == "-") return std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    std::ofstream file(path, std::ios::binary);
    file << text;
    return bool(file.flush());
  }

  int compileHost(const NvccOptions& options, const std::string& source, const std::string& fatbin,
                  const std::string& object) {
    return finish(compilerOf(source).toObject(
        [&](const CompileOptions& now, const std::string& input, const std::string& output, Pass pass) {
          NvccOptions all = options;
          static_cast<CompileOptions&>(all) = now;
          const bool isObject = output.empty();
          return hostCommand(tools_, all, input, isObject ? fatbin : "", isObject ? object : output, pass);
        }));
  }

  int compileFatbin(const std::string& source, const std::string& fatbin) {
    std::string text;
    if (const int status = compilePtx(source, text)) return status;
    if (options_.dryRun) return 0;
    if (options_.keep) write(scratch(source, ".ptx"), text);
    if (options_.resourceUsage)
      if (const int status = printResourceUsage(text)) return status;
    // Small PTX stays readable in the executable; template libraries make megabytes of it.
    const bool large = text.size() > 65536;
    const driver::FatbinImage image = {driver::FatbinEntry::Kind::Ptx, architecture(), source, text,
                                       large ? driver::FatbinPacking::Zstd : driver::FatbinPacking::Plain};
    const auto bytes = driver::writeFatbin({&image, 1});
    const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return write(fatbin, all) ? 0 : complain("cannot write " + fatbin);
  }

  /// What ptxas says under -v.
  int printResourceUsage(const std::string& ptx) const {
    const auto module = ptx::parse(ptx, "PTX");
    if (!module) return complain(module.error().message);
    fmt::print(stderr, "{}", resourceUsage(*module, architecture()));
    return 0;
  }

  /// The number of the one that kernels are compiled for.
  uint32_t architecture() const { return static_cast<uint32_t>(std::atoi(clangArch(options_).c_str() + 3)); }

  int compileObject(const std::string& source, const std::string& object) {
    if (!fs::exists(source)) return complain(source + ": no such file");
    const Language language = languageOf(options_, source);
    nameUnit(source);
    const NvccOptions options = withDependencyRule(source);
    if (language != Language::Cuda) return execute(plainCommand(tools_, options, language, source, object));
    const std::string fatbin = scratch(source, ".fatbin");
    if (const int status = compileFatbin(source, fatbin)) return status;
    if (const int status = compileHost(options, source, fatbin, object)) return status;
    cleanDependencyFile(options.dependencyFile);
    return options_.relocatable && !options_.dryRun ? redirectRegistration(object) : 0;
  }

  /// Under -fgpu-rdc clang registers kernels through a function that NVIDIA's device linker would generate for each
  /// object. Here kernels are linked when they are loaded, so all those functions are one function of the runtime
  /// library.
  int redirectRegistration(const std::string& object) {
    const std::string marker = "__cudaRegisterLinkedBinary_";
    const std::string bytes = readFile(object);
    const auto at = bytes.find(marker + "_nv_");
    if (at == std::string::npos) return 0;
    if (tools_.objcopy.empty())
      return complain("-rdc=true needs llvm-objcopy-19 or objcopy (on Debian: apt install llvm-19)");
    const std::string symbol = bytes.substr(at, bytes.find('\0', at) - at);
    // The wrapper of the fat binary is for that linker, too, and named after the source, which may be compiled twice.
    const std::string wrapper = "__fatbinwrap_" + symbol.substr(marker.size());
    return execute({tools_.objcopy, "--redefine-sym", symbol + "=__orditoRegisterLinkedBinary", "--localize-symbol",
                    wrapper, "--add-symbol", kUnitPrefix + options_.unit + "=.text:0,weak", object});
  }

  /// What a device link makes: an object that asks for every unit, so that the linker takes them out of libraries.
  int linkDevice(const std::string& object) {
    const std::string source = scratch(".c");
    std::ofstream file(source);
    file << "typedef int nothing;\n";
    for (const auto& unit : deviceUnits(options_))
      file << fmt::format("extern const char {0}[];\nstatic const char *const of{0} __attribute__((used)) = {0};\n",
                          unit);
    file.close();
    return execute({tools_.clang, "-x", "c", "-fPIC", "-c", source, "-o", object});
  }

  int linkAll() {
    std::vector<std::string> inputs;
    for (const auto& item : options_.items) {
      if (isSource(item)) {
        const std::string object = scratch(item.text, ".o");
        if (const int status = compileObject(item.text, object)) return status;
        inputs.push_back(object);
        continue;
      }
      auto input = linkerInput(tools_, options_, item);
      if (!input) return complain(input.error().message);
      inputs.insert(inputs.end(), input->begin(), input->end());
    }
    if (inputs.empty()) return complain("no input files");
    if (options_.action == Action::Archive) {
      Command command = {"ar", "rcs", linkedOutput()};
      std::copy_if(inputs.begin(), inputs.end(), std::back_inserter(command),
                   [](const std::string& i) { return !i.starts_with("-"); });
      return execute(command);
    }
    for (const auto& unit : deviceUnits(options_)) inputs.push_back("-Wl,-u," + unit);
    return execute(linkCommand(tools_, options_, inputs, linkedOutput()));
  }

  int linkAndRun() {
    std::string program = onlyProgram();
    if (program.empty()) {
      program = linkedOutput();
      if (const int status = linkAll()) return status;
    }
    Command command = {fs::absolute(program).string()};
    command.insert(command.end(), options_.runArguments.begin(), options_.runArguments.end());
    return execute(command);
  }

  /// The one input, if it is an executable already.
  std::string onlyProgram() const {
    if (options_.items.size() != 1 || isSource(options_.items[0]) || !options_.items[0].isFile) return {};
    const std::string& file = options_.items[0].text;
    return fs::is_regular_file(file) && access(file.c_str(), X_OK) == 0 ? file : std::string();
  }

  /// An intermediate file of a source, which -keep keeps.
  std::string scratch(const std::string& source, const char* suffix) {
    if (!options_.keep) return scratch(suffix);
    return (fs::path(options_.keepFolder) / fs::path(source).filename().replace_extension(suffix)).string();
  }

  std::string scratch(const char* suffix) {
    return (folder_.path() / (std::to_string(++scratchFiles_) + suffix)).string();
  }

  NvccOptions options_;
  Toolchain tools_;
  std::string invocation_;
  TemporaryFolder folder_;
  int scratchFiles_ = 0;
  MemoryFiles macros_;
  std::map<std::string, std::unique_ptr<CudaCompiler>> compilers_;  // by source
  std::string current_;                                             // source
  PhaseTimes times_;
};

}  // namespace

int build(NvccOptions options, Toolchain tools) { return Build(std::move(options), std::move(tools)).run(); }

}  // namespace ordito::frontend
