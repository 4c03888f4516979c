// See nvcc_option_table.hpp.
#include "frontend/nvcc_option_table.hpp"

#include <cctype>

namespace ordito::frontend {
namespace {

using Action = NvccOptions::Action;
using Result = Expected<void>;
using Row = NvccOption;
using Takes = NvccOption::Takes;

Expected<bool> readBool(const std::string& value) {
  if (value == "true" || value == "1" || value.empty()) return true;
  if (value == "false" || value == "0") return false;
  return fail("'{}' is neither true nor false", value);
}

template <auto Member>
Result setBool(NvccOptions& options, const std::string& value) {
  auto flag = readBool(value);
  if (!flag) return tl::unexpected(flag.error());
  options.*Member = *flag;
  return {};
}

template <auto Member>
Result setTrue(NvccOptions& options, const std::string&) {
  options.*Member = true;
  return {};
}

template <Action Value>
Result setAction(NvccOptions& options, const std::string&) {
  options.action = Value;
  return {};
}

template <auto Member>
Result setText(NvccOptions& options, const std::string& value) {
  options.*Member = value;
  return {};
}

Result ignore(NvccOptions&, const std::string&) { return {}; }

Result refuseOptix(NvccOptions&, const std::string&) {
  return fail("OptiX's code is not PTX, and nothing here could run it; compile to PTX with -ptx");
}

Result refuseLto(NvccOptions&, const std::string&) {
  return fail("there is no intermediate code for link-time optimisation here; compile to PTX with -ptx");
}

Result addArch(NvccOptions& options, std::string_view name) {
  if (name == "native" || name == "all" || name == "all-major") return {};
  const auto digits = name.find_first_of("0123456789");
  const bool known = name.starts_with("sm_") || name.starts_with("compute_") || name.starts_with("lto_");
  if (!known || digits == std::string_view::npos) return fail("'{}' is no GPU architecture", name);
  int number = 0;
  std::size_t at = digits;
  for (; at < name.size() && std::isdigit(static_cast<unsigned char>(name[at])); ++at)
    number = number * 10 + (name[at] - '0');
  if (number < options.arch) return {};
  options.arch = number;
  options.archIsSpecific = at < name.size() && name[at] == 'a';
  return {};
}

Result addGencode(NvccOptions& options, const std::string& value) {
  const auto at = value.find("arch=");
  if (at == std::string::npos) return fail("-gencode {}: arch= is missing", value);
  auto name = value.substr(at + 5);
  name = name.substr(0, name.find(','));
  return addArch(options, name);
}

Result addDefinition(NvccOptions& options, const std::string& value, const char* option) {
  const bool oneDefinition = value.find_first_of("(\"'") != std::string::npos;
  for (const auto& part : oneDefinition ? std::vector{value} : splitList(value))
    options.preprocessor.push_back(option + part);
  return {};
}

Result addPaths(NvccOptions& options, const std::string& value, const char* option) {
  for (const auto& part : splitList(value)) {
    options.preprocessor.emplace_back(option);
    options.preprocessor.push_back(part);
  }
  return {};
}

/// Host compiler options reach the device pass too where they steer the preprocessor, since both passes must see the
/// same program.
Result addHostOptions(NvccOptions& options, const std::string& value) {
  for (const auto& part : splitList(value)) {
    for (const auto& word : splitShellWords(part)) {
      const bool steersPreprocessor = word.starts_with("-D") || word.starts_with("-U") || word.starts_with("-I");
      if (word == "-m32") return fail("-Xcompiler -m32: only 64-bit programs");
      if (word.starts_with("-std=")) {
        options.standard = word.substr(5);
      } else {
        (steersPreprocessor ? options.preprocessor : options.host).push_back(word);
      }
    }
  }
  return {};
}

Result addLinkerOptions(NvccOptions& options, const std::string& value) {
  for (const auto& part : splitList(value)) {
    for (const auto& word : splitShellWords(part)) {
      options.items.push_back({"-Xlinker", false});
      options.items.push_back({word, false});
    }
  }
  return {};
}

Result addLibraries(NvccOptions& options, const std::string& value) {
  for (const auto& part : splitList(value)) options.items.push_back({"-l" + part, false});
  return {};
}

Result setRuntime(NvccOptions& options, const std::string& value) {
  if (value != "none" && value != "shared" && value != "static")
    return fail("-cudart {}: none, shared or static", value);
  options.linkRuntime = value != "none";
  options.sharedRuntime = value == "shared";
  if (value == "static") options.notes.push_back("-cudart static: the runtime is linked as a shared library");
  return {};
}

Result setDefaultStream(NvccOptions& options, const std::string& value) {
  if (value != "legacy" && value != "null" && value != "none" && value != "per-thread") {
    return fail("-default-stream {}: legacy or per-thread", value);
  }
  options.perThreadStream = value == "per-thread";
  return {};
}

Result setFastMath(NvccOptions& options, const std::string&) {
  options.fastMath = options.flushToZero = options.contract = true;
  options.preciseDivision = options.preciseSqrt = false;
  return {};
}

Result setLanguage(NvccOptions& options, const std::string& value) {
  if (value != "cu" && value != "c++" && value != "c") return fail("-x {}: cu, c++ or c", value);
  options.language = value;
  return {};
}

Result setMachine(NvccOptions&, const std::string& value) {
  if (value != "64") return fail("-m {}: only 64-bit programs", value);
  return {};
}

Result setOptimization(NvccOptions& options, const std::string& value) {
  options.optimization = value.empty() ? "2" : value;
  return {};
}

Result noteRegisters(NvccOptions& options, const std::string& value) {
  options.notes.push_back("-maxrregcount=" + value + ": a CPU does not divide its registers between threads");
  return {};
}

Result setAssembler(NvccOptions& options, const std::string& value) {
  for (const auto& option : splitList(value)) {
    const bool isVerbose = option == "-v" || option == "--verbose" || option == "-verbose";
    options.resourceUsage |= isVerbose;
    if (!isVerbose) options.notes.push_back("-Xptxas " + option + ": there is no ptxas here");
  }
  return {};
}

Result noteHostCompiler(NvccOptions& options, const std::string& value) {
  options.hostCompiler = value;
  options.notes.push_back("-ccbin " + value +
                          ": host code is compiled by clang++-19, which compiles the kernels as well");
  return {};
}

/// The kinds beside these two are warnings of nvcc's own front end, which clang does not have.
Result setWarningsAsErrors(NvccOptions& options, const std::string& value) {
  for (const auto& kind : splitList(value)) {
    if (kind == "all-warnings") options.host.emplace_back("-Werror");
    if (kind == "reorder") options.host.emplace_back("-Werror=reorder");
    if (kind == "deprecated-declarations") options.host.emplace_back("-Werror=deprecated-declarations");
  }
  return {};
}

Result addRunArguments(NvccOptions& options, const std::string& value) {
  for (auto& part : splitList(value)) options.runArguments.push_back(std::move(part));
  return {};
}

Result setLists(NvccOptions& options, bool NvccOptions::* list) {
  options.*list = true;
  return setAction<Action::ListGpus>(options, {});
}

/// A script of the linker's cannot be written without device code for it.
Result checkLinkerScript(NvccOptions&, const std::string& value) {
  if (value == "use-lcs") return {};
  return fail("host linker scripts serve machine code, which programs do not contain here; leave the option out");
}

template <const char* Mode>
Result setDependencies(NvccOptions& options, const std::string&) {
  options.dependencyMode = Mode;
  if (options.dependencyMode == "M" || options.dependencyMode == "MM") options.action = Action::Dependencies;
  return {};
}
constexpr char kM[] = "M", kMM[] = "MM", kMD[] = "MD", kMMD[] = "MMD";
template <const char* Option>
Result addHost(NvccOptions& options, const std::string&) {
  options.host.emplace_back(Option);
  return {};
}
constexpr char kMP[] = "-MP", kPg[] = "-pg", kNoExceptions[] = "-fno-exceptions", kReorder[] = "-Wreorder",
               kNoDeprecated[] = "-Wno-deprecated-declarations";

// Why an option has no effect, where several share the reason.
constexpr char kWindows[] = "no effect: for Windows";
constexpr char kOptimizer[] = "no effect: kernels are always optimised, for the CPU that runs them";
constexpr char kLinkTime[] = "no effect: kernels are linked and optimised when the program runs";
constexpr char kStubs[] = "no effect: about functions that nvcc generates";
constexpr char kWarnings[] = "no effect: a warning that is never given here";
constexpr char kNumbers[] = "no effect: the numbers of messages of nvcc's own front end";
constexpr char kTime[] = "no effect: about how long compiling takes";

// One row for each option; clang-format would make five lines of each.
// clang-format off
constexpr Row kRows[] = {
    // What to make.
    {"compile", "c", Takes::Nothing, false, "compile to object files", setAction<Action::Compile>},
    {"device-c", "dc", Takes::Nothing, false, "-c with -rdc=true",
     [](NvccOptions& o, const std::string&) { o.relocatable = true; return setAction<Action::Compile>(o, {}); }},
    {"device-w", "dw", Takes::Nothing, false, "-c with -rdc=false",
     [](NvccOptions& o, const std::string&) { o.relocatable = false; return setAction<Action::Compile>(o, {}); }},
    {"device-link", "dlink", Takes::Nothing, false, "an object that asks for the device code of others; it is linked when the program starts",
     setAction<Action::DeviceLink>},
    {"link", "link", Takes::Nothing, false, "compile and link (the default)", setAction<Action::Link>},
    {"lib", "lib", Takes::Nothing, false, "compile and archive into a library", setAction<Action::Archive>},
    {"run", "run", Takes::Nothing, false, "compile, link and run; or run the one executable that is given", setTrue<&NvccOptions::run>},
    {"run-args", "run-args", Takes::List, false, "the arguments of the program that -run runs", addRunArguments},
    {"ptx", "ptx", Takes::Nothing, false, "compile to PTX", setAction<Action::Ptx>},
    {"fatbin", "fatbin", Takes::Nothing, false, "compile to a fat binary of PTX", setAction<Action::Fatbin>},
    {"cubin", "cubin", Takes::Nothing, false, "the same under the name that programs load", setAction<Action::Cubin>},
    {"fdevice-syntax-only", "fdevice-syntax-only", Takes::Nothing, false, "look for errors in device code only", setAction<Action::Syntax>},
    {"preprocess", "E", Takes::Nothing, false, "preprocess only", setAction<Action::Preprocess>},
    {"generate-dependencies", "M", Takes::Nothing, false, "print what the source includes", setDependencies<kM>},
    {"generate-nonsystem-dependencies", "MM", Takes::Nothing, false, "the same without system headers", setDependencies<kMM>},
    {"generate-dependencies-with-compile", "MD", Takes::Nothing, false, "compile, and write a .d file", setDependencies<kMD>},
    {"generate-nonsystem-dependencies-with-compile", "MMD", Takes::Nothing, false, "the same without system headers", setDependencies<kMMD>},
    {"dependency-output", "MF", Takes::Value, false, "the .d file's name", setText<&NvccOptions::dependencyFile>},
    {"dependency-target-name", "MT", Takes::Value, false, "the target in the .d file",
     [](NvccOptions& o, const std::string& v) -> Result { o.dependencyTargets.push_back(v); return {}; }},
    {"generate-dependency-targets", "MP", Takes::Nothing, false, "a phony target for each header", addHost<kMP>},
    {"clean-targets", "clean", Takes::Nothing, false, "delete what the command would make", setTrue<&NvccOptions::clean>},
    {"list-gpu-arch", "arch-ls", Takes::Nothing, false, "print the architectures for -arch=compute_..",
     [](NvccOptions& o, const std::string&) { return setLists(o, &NvccOptions::listArch); }},
    {"list-gpu-code", "code-ls", Takes::Nothing, false, "print the architectures for -arch=sm_..",
     [](NvccOptions& o, const std::string&) { return setLists(o, &NvccOptions::listCode); }},
    {"optix-ir", "optix-ir", Takes::Nothing, false, "refused: not PTX", refuseOptix},
    {"ltoir", "ltoir", Takes::Nothing, false, "refused: no such intermediate code", refuseLto},
    {"cuda", "cuda", Takes::Nothing, false, "refused: no intermediate C++ file",
     [](NvccOptions&, const std::string&) -> Result { return fail("there is no intermediate C++ file here"); }},
    {"version", "V", Takes::Nothing, false, "print the version", setAction<Action::Version>},
    {"help", "h", Takes::Nothing, false, "print this", setAction<Action::Help>},

    // Files.
    {"output-file", "o", Takes::Value, true, "the output's name", setText<&NvccOptions::output>},
    {"output-directory", "odir", Takes::Value, false, "where outputs go", setText<&NvccOptions::outputFolder>},
    {"x", "x", Takes::Value, true, "the inputs' language: cu, c++, c", setLanguage},
    {"pre-include", "include", Takes::List, false, "include a file first",
     [](NvccOptions& o, const std::string& v) { return addPaths(o, v, "-include"); }},
    {"define-macro", "D", Takes::Value, true, "define a macro",
     [](NvccOptions& o, const std::string& v) { return addDefinition(o, v, "-D"); }},
    {"undefine-macro", "U", Takes::Value, true, "undefine a macro",
     [](NvccOptions& o, const std::string& v) { return addDefinition(o, v, "-U"); }},
    {"include-path", "I", Takes::List, true, "where headers are",
     [](NvccOptions& o, const std::string& v) { return addPaths(o, v, "-I"); }},
    {"system-include", "isystem", Takes::List, false, "where headers are whose warnings do not matter",
     [](NvccOptions& o, const std::string& v) { return addPaths(o, v, "-isystem"); }},
    {"cccl", "cccl", Takes::Value, false, "a copy of Thrust, CUB and libcu++ (Ordito's own option)",
     setText<&NvccOptions::cccl>},
    {"library", "l", Takes::List, true, "link a library", addLibraries},
    {"library-path", "L", Takes::List, true, "where libraries are",
     [](NvccOptions& o, const std::string& v) -> Result {
       for (const auto& part : splitList(v)) o.linker.push_back("-L" + part);
       return {};
     }},
    {"cudart", "cudart", Takes::Value, false, "none, shared or static runtime", setRuntime},
    {"cudadevrt", "cudadevrt", Takes::Value, false, "no effect: the device runtime is part of the runtime", ignore},
    {"libdevice-directory", "ldir", Takes::Value, false, "no effect: libdevice is Ordito's own", ignore},
    {"target-directory", "target-dir", Takes::Value, false, "no effect: there is one target, x86-64 Linux", ignore},
    {"compiler-bindir", "ccbin", Takes::Value, false, "noted: host code is compiled by clang; of mpicxx and the like their options", noteHostCompiler},
    {"archiver-binary", "arbin", Takes::Value, false, "no effect: the archiver is ar", ignore},
    {"allow-unsupported-compiler", "allow-unsupported-compiler", Takes::Nothing, false, "no effect: no compiler is refused", ignore},
    {"use-local-env", "use-local-env", Takes::Nothing, false, kWindows, ignore},
    {"force-cl-env-setup", "force-cl-env-setup", Takes::Nothing, false, kWindows, ignore},
    {"input-drive-prefix", "idp", Takes::Value, false, kWindows, ignore},
    {"dependency-drive-prefix", "ddp", Takes::Value, false, kWindows, ignore},
    {"drive-prefix", "dp", Takes::Value, false, kWindows, ignore},
    {"no-align-double", "no-align-double", Takes::Nothing, false, "no effect: for 32-bit programs", ignore},
    {"qpp-config", "qpp-config", Takes::Value, false, "no effect: for QNX", ignore},

    // The language and the code.
    {"std", "std", Takes::Value, false, "the C++ standard", setText<&NvccOptions::standard>},
    {"optimize", "O", Takes::Value, true, "optimise host code (kernels always are)", setOptimization},
    {"Ofast-compile", "Ofc", Takes::Value, false, kOptimizer, ignore},
    {"optimization-info", "opt-info", Takes::List, false, kOptimizer, ignore},
    {"debug", "g", Takes::Nothing, false, "debug information for host code", setTrue<&NvccOptions::hostDebug>},
    {"device-debug", "G", Takes::Nothing, false, "keep line numbers in kernels", setTrue<&NvccOptions::deviceDebug>},
    {"generate-line-info", "lineinfo", Takes::Nothing, false, "always done: errors and profiles name source lines", ignore},
    {"profile", "pg", Takes::Nothing, false, "instrument host code for gprof", addHost<kPg>},
    {"dopt", "dopt", Takes::Value, false, kOptimizer, ignore},
    {"shared", "shared", Takes::Nothing, false, "make a shared library", setTrue<&NvccOptions::shared>},
    {"relocatable-link", "r", Takes::Nothing, false, "no effect: kernels are linked when the program starts", ignore},
    {"no-device-link", "nodlink", Takes::Nothing, false, "no effect: kernels are linked when the program starts", ignore},
    {"extensible-whole-program", "ewp", Takes::Nothing, false, "no effect: kernels are linked when the program starts", ignore},
    {"no-exceptions", "noeh", Takes::Nothing, false, "host code without exceptions", addHost<kNoExceptions>},
    {"gpu-architecture", "arch", Takes::Value, false, "the virtual architecture: the value of __CUDA_ARCH__",
     [](NvccOptions& o, const std::string& v) { return addArch(o, v); }},
    {"gpu-code", "code", Takes::List, false, "no effect: PTX is always kept, and machine code is never made", ignore},
    {"generate-code", "gencode", Takes::Value, false, "-gencode arch=..,code=..: the highest one counts", addGencode},
    {"relocatable-device-code", "rdc", Takes::Value, false, "kernels may call functions of other files",
     setBool<&NvccOptions::relocatable>},
    {"relocatable-ptx", "reloc-ptx", Takes::Nothing, false, "no effect: PTX is always kept", ignore},
    {"use_fast_math", "use_fast_math", Takes::Nothing, false, "approximate math functions, and the next four", setFastMath},
    {"ftz", "ftz", Takes::Value, false, "flush single-precision denormals to zero", setBool<&NvccOptions::flushToZero>},
    {"prec-div", "prec-div", Takes::Value, false, "IEEE single-precision division", setBool<&NvccOptions::preciseDivision>},
    {"prec-sqrt", "prec-sqrt", Takes::Value, false, "IEEE single-precision square root", setBool<&NvccOptions::preciseSqrt>},
    {"fmad", "fmad", Takes::Value, false, "contract a*b+c into one rounding", setBool<&NvccOptions::contract>},
    {"default-stream", "default-stream", Takes::Value, false, "legacy or per-thread", setDefaultStream},
    {"machine", "m", Takes::Value, false, "64", setMachine},
    {"m64", "m64", Takes::Nothing, false, "no effect: always 64 bits", ignore},
    {"m32", "m32", Takes::Nothing, false, "refused: only 64-bit programs", [](NvccOptions& o, const std::string&) { return setMachine(o, "32"); }},
    {"expt-relaxed-constexpr", "expt-relaxed-constexpr", Takes::Nothing, false, "always on",
     [](NvccOptions& o, const std::string&) -> Result { o.preprocessor.emplace_back("-D__CUDACC_RELAXED_CONSTEXPR__"); return {}; }},
    {"extended-lambda", "extended-lambda", Takes::Nothing, false, "always on",
     [](NvccOptions& o, const std::string&) -> Result { o.preprocessor.emplace_back("-D__CUDACC_EXTENDED_LAMBDA__"); return {}; }},
    {"expt-extended-lambda", "expt-extended-lambda", Takes::Nothing, false, "always on",
     [](NvccOptions& o, const std::string&) -> Result { o.preprocessor.emplace_back("-D__CUDACC_EXTENDED_LAMBDA__"); return {}; }},
    {"no-host-device-initializer-list", "nohdinitlist", Takes::Nothing, false, "no effect: std::initializer_list is for both sides", ignore},
    {"no-host-device-move-forward", "nohdmoveforward", Takes::Nothing, false, "no effect: std::move and std::forward are for both sides", ignore},
    {"maxrregcount", "maxrregcount", Takes::Value, false, "noted", noteRegisters},
    {"dlink-time-opt", "dlto", Takes::Nothing, false, kLinkTime, ignore},
    {"lto", "lto", Takes::Nothing, false, kLinkTime, ignore},
    {"gen-opt-lto", "gen-opt-lto", Takes::Nothing, false, kLinkTime, ignore},
    {"restrict", "restrict", Takes::Nothing, false, kOptimizer, ignore},
    {"extra-device-vectorization", "extra-device-vectorization", Takes::Nothing, false, kOptimizer, ignore},
    {"jump-table-density", "jtd", Takes::Value, false, kOptimizer, ignore},
    {"keep-device-functions", "keep-device-functions", Takes::Nothing, false, kOptimizer, ignore},
    {"device-stack-protector", "device-stack-protector", Takes::Value, false, "no effect: a kernel's stack is no one else's", ignore},
    {"entries", "e", Takes::List, false, "no effect: all kernels are compiled, each when it is first launched", ignore},
    {"static-global-template-stub", "static-global-template-stub", Takes::Value, false, kStubs, ignore},
    {"device-entity-has-hidden-visibility", "device-entity-has-hidden-visibility", Takes::Value, false, kStubs, ignore},
    {"host-linker-script", "hls", Takes::Value, false, "use-lcs: no effect", checkLinkerScript},
    {"augment-host-linker-script", "aug-hls", Takes::Nothing, false, "no effect: for machine code", ignore},
    {"sanitize", "sanitize", Takes::Value, false, "no effect: faults are always found, with their line", ignore},
    {"compile-as-tools-patch", "astoolspatch", Takes::Nothing, false, "refused: a tool's patch is machine code",
     [](NvccOptions&, const std::string&) -> Result { return fail("a tool's patch is machine code, which is never made here"); }},

    // Options for the tools behind.
    {"compiler-options", "Xcompiler", Takes::Value, false, "options for the host compiler", addHostOptions},
    {"linker-options", "Xlinker", Takes::Value, false, "options for the linker", addLinkerOptions},
    {"ptxas-options", "Xptxas", Takes::Value, false, "-v says what each kernel takes; there is no ptxas here for others", setAssembler},
    {"fatbin-options", "Xfatbin", Takes::Value, false, "no effect: large PTX is compressed", ignore},
    {"nvlink-options", "Xnvlink", Takes::Value, false, "no effect: there is no nvlink here", ignore},
    {"archive-options", "Xarchive", Takes::Value, false, "no effect: libraries are made by ar rcs", ignore},
    {"forward-unknown-to-host-compiler", "forward-unknown-to-host-compiler", Takes::Nothing, false,
     "pass on what nvcc does not know", setTrue<&NvccOptions::forwardUnknown>},
    {"forward-unknown-opts", "forward-unknown-opts", Takes::Nothing, false, "the same", setTrue<&NvccOptions::forwardUnknown>},
    {"forward-unknown-to-host-linker", "forward-unknown-to-host-linker", Takes::Nothing, false, "the same", setTrue<&NvccOptions::forwardUnknown>},

    // Messages and housekeeping.
    {"verbose", "v", Takes::Nothing, false, "show the commands", setTrue<&NvccOptions::verbose>},
    {"dryrun", "dryrun", Takes::Nothing, false, "show the commands without running them", setTrue<&NvccOptions::dryRun>},
    {"keep", "keep", Takes::Nothing, false, "keep intermediate files", setTrue<&NvccOptions::keep>},
    {"save-temps", "save-temps", Takes::Nothing, false, "the same", setTrue<&NvccOptions::keep>},
    {"keep-dir", "keep-dir", Takes::Value, false, "where -keep keeps them", setText<&NvccOptions::keepFolder>},
    {"disable-warnings", "w", Takes::Nothing, false, "no warnings", setTrue<&NvccOptions::noWarnings>},
    {"Werror", "Werror", Takes::List, false, "all-warnings makes warnings errors", setWarningsAsErrors},
    {"Wno-deprecated-declarations", "Wno-deprecated-declarations", Takes::Nothing, false, "no warnings of deprecated names",
     addHost<kNoDeprecated>},
    {"Wreorder", "Wreorder", Takes::Nothing, false, "warn when members are initialised in another order", addHost<kReorder>},
    {"Wno-deprecated-gpu-targets", "Wno-deprecated-gpu-targets", Takes::Nothing, false, kWarnings, ignore},
    {"Wdefault-stream-launch", "Wdefault-stream-launch", Takes::Nothing, false, kWarnings, ignore},
    {"Wmissing-launch-bounds", "Wmissing-launch-bounds", Takes::Nothing, false, kWarnings, ignore},
    {"Wext-lambda-captures-this", "Wext-lambda-captures-this", Takes::Nothing, false, kWarnings, ignore},
    {"diag-suppress", "diag-suppress", Takes::List, false, kNumbers, ignore},
    {"diag-warn", "diag-warn", Takes::List, false, kNumbers, ignore},
    {"diag-error", "diag-error", Takes::List, false, kNumbers, ignore},
    {"display-error-number", "err-no", Takes::Nothing, false, kNumbers, ignore},
    {"no-display-error-number", "no-err-no", Takes::Nothing, false, kNumbers, ignore},
    {"brief-diagnostics", "brief-diag", Takes::Value, false, "no effect: messages are clang's", ignore},
    {"resource-usage", "res-usage", Takes::Nothing, false, "say what each kernel takes; registers are estimates",
     setTrue<&NvccOptions::resourceUsage>},
    {"source-in-ptx", "src-in-ptx", Takes::Nothing, false, "no effect: PTX names its source lines", ignore},
    {"threads", "t", Takes::Value, true, kTime, ignore},
    {"split-compile", "split-compile", Takes::Value, false, kTime, ignore},
    {"split-compile-extended", "split-compile-extended", Takes::Value, false, kTime, ignore},
    {"jobserver", "jobserver", Takes::Nothing, false, kTime, ignore},
    {"time", "time", Takes::Value, false, "adds a table of the phases' times to a file", setText<&NvccOptions::timeFile>},
    {"fdevice-time-trace", "fdevice-time-trace", Takes::Value, false, kTime, ignore},
    {"objdir-as-tempdir", "objtemp", Takes::Nothing, false, "no effect: intermediate files are in TMPDIR", ignore},
    {"dont-use-profile", "noprof", Takes::Nothing, false, "no effect: there is no nvcc.profile", ignore},
    {"compress-mode", "compress-mode", Takes::Value, false, "no effect: large PTX is compressed", ignore},
    {"no-compress", "no-compress", Takes::Nothing, false, "no effect: large PTX is compressed", ignore},
    {"frandom-seed", "frandom-seed", Takes::Value, false, "no effect: names do not depend on chance", ignore},
    {"ftemplate-depth", "ftemplate-depth", Takes::Value, false, "how deep templates may nest",
     [](NvccOptions& o, const std::string& v) -> Result { o.host.push_back("-ftemplate-depth=" + v); return {}; }},
    {"ftemplate-backtrace-limit", "ftemplate-backtrace-limit", Takes::Value, false, "no effect: messages are clang's", ignore},
};
// clang-format on

}  // namespace

std::span<const NvccOption> nvccOptionTable() { return kRows; }

bool hasNoEffect(const NvccOption& option) { return option.apply == ignore; }

std::vector<std::string> splitList(const std::string& text) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == ',') {
      parts.back() += text[++i];
    } else if (text[i] == ',') {
      parts.emplace_back();
    } else {
      parts.back() += text[i];
    }
  }
  std::erase(parts, "");
  return parts;
}

}  // namespace ordito::frontend
