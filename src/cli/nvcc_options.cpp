// nvcc's command line: one table row for each option, with what it does here.
#include "cli/nvcc_options.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <iterator>
#include <sstream>

namespace ordito::cli {
namespace {

using Action = NvccOptions::Action;
using Result = Expected<void>;

enum class Takes {
  Nothing,
  Value,
  List,  ///< Values separated by commas, or the option again.
};

struct Row {
  std::string_view longName;
  std::string_view shortName;
  Takes takes;
  bool joined;  ///< The short name may run into its value: -O3, -lm.
  std::string_view help;
  Result (*apply)(NvccOptions&, const std::string&);
};

// ---- values
// ---------------------------------------------------------------------------------------------------------------

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

Expected<bool> readBool(const std::string& value) {
  if (value == "true" || value == "1" || value.empty()) return true;
  if (value == "false" || value == "0") return false;
  return fail("'{}' is neither true nor false", value);
}

template <bool NvccOptions::* Member>
Result setBool(NvccOptions& options, const std::string& value) {
  auto flag = readBool(value);
  if (!flag) return tl::unexpected(flag.error());
  options.*Member = *flag;
  return {};
}

template <bool NvccOptions::* Member>
Result setTrue(NvccOptions& options, const std::string&) {
  options.*Member = true;
  return {};
}

template <Action Value>
Result setAction(NvccOptions& options, const std::string&) {
  options.action = Value;
  return {};
}

template <std::string NvccOptions::* Member>
Result setText(NvccOptions& options, const std::string& value) {
  options.*Member = value;
  return {};
}

Result ignore(NvccOptions&, const std::string&) { return {}; }

Result refuseMachineCode(NvccOptions&, const std::string&) {
  return fail("Ordito makes no machine code for GPUs; compile to PTX with -ptx");
}

Result refuseLto(NvccOptions&, const std::string&) {
  return fail("there is no intermediate code for link-time optimisation here; leave the option out");
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

Result noteHostCompiler(NvccOptions& options, const std::string& value) {
  options.notes.push_back("-ccbin " + value +
                          ": host code is compiled by clang++-19, which compiles the kernels as well");
  return {};
}

Result setWarningsAsErrors(NvccOptions& options, const std::string& value) {
  if (value.find("all-warnings") != std::string::npos) options.host.emplace_back("-Werror");
  return {};
}

template <const char* Mode>
Result setDependencies(NvccOptions& options, const std::string&) {
  options.dependencyMode = Mode;
  if (options.dependencyMode == "M" || options.dependencyMode == "MM") options.action = Action::Dependencies;
  return {};
}
constexpr char kM[] = "M", kMM[] = "MM", kMD[] = "MD", kMMD[] = "MMD";

// ---- the table
// ------------------------------------------------------------------------------------------------------------

constexpr Row kRows[] = {
    // What to make.
    {"compile", "c", Takes::Nothing, false, "compile to object files", setAction<Action::Compile>},
    {"device-c", "dc", Takes::Nothing, false, "-c with -rdc=true",
     [](NvccOptions& o, const std::string&) { o.relocatable = true; return setAction<Action::Compile>(o, {}); }},
    {"device-w", "dw", Takes::Nothing, false, "-c with -rdc=false",
     [](NvccOptions& o, const std::string&) { o.relocatable = false; return setAction<Action::Compile>(o, {}); }},
    {"device-link", "dlink", Takes::Nothing, false, "an empty object: kernels are linked when the program starts",
     setAction<Action::DeviceLink>},
    {"link", "link", Takes::Nothing, false, "compile and link (the default)", setAction<Action::Link>},
    {"lib", "lib", Takes::Nothing, false, "compile and archive into a library", setAction<Action::Archive>},
    {"ptx", "ptx", Takes::Nothing, false, "compile to PTX", setAction<Action::Ptx>},
    {"fatbin", "fatbin", Takes::Nothing, false, "compile to a fat binary of PTX", setAction<Action::Fatbin>},
    {"preprocess", "E", Takes::Nothing, false, "preprocess only", setAction<Action::Preprocess>},
    {"generate-dependencies", "M", Takes::Nothing, false, "print what the source includes", setDependencies<kM>},
    {"generate-nonsystem-dependencies", "MM", Takes::Nothing, false, "the same without system headers", setDependencies<kMM>},
    {"generate-dependencies-with-compile", "MD", Takes::Nothing, false, "compile, and write a .d file", setDependencies<kMD>},
    {"generate-nonsystem-dependencies-with-compile", "MMD", Takes::Nothing, false, "the same without system headers",
     setDependencies<kMMD>},
    {"dependency-output", "MF", Takes::Value, false, "the .d file's name", setText<&NvccOptions::dependencyFile>},
    {"dependency-target-name", "MT", Takes::Value, false, "the target in the .d file",
     [](NvccOptions& o, const std::string& v) -> Result { o.dependencyTargets.push_back(v); return {}; }},
    {"generate-dependency-targets", "MP", Takes::Nothing, false, "a phony target for each header",
     [](NvccOptions& o, const std::string&) -> Result { o.host.emplace_back("-MP"); return {}; }},
    {"cubin", "cubin", Takes::Nothing, false, "", refuseMachineCode},
    {"optix-ir", "optix-ir", Takes::Nothing, false, "", refuseMachineCode},
    {"ltoir", "ltoir", Takes::Nothing, false, "", refuseLto},
    {"cuda", "cuda", Takes::Nothing, false, "",
     [](NvccOptions&, const std::string&) -> Result { return fail("there is no intermediate C++ file here"); }},
    {"run", "run", Takes::Nothing, false, "",
     [](NvccOptions&, const std::string&) -> Result { return fail("build first, then run the program"); }},
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
    {"library", "l", Takes::List, true, "link a library", addLibraries},
    {"library-path", "L", Takes::List, true, "where libraries are",
     [](NvccOptions& o, const std::string& v) -> Result {
       for (const auto& part : splitList(v)) o.linker.push_back("-L" + part);
       return {};
     }},
    {"cudart", "cudart", Takes::Value, false, "none, shared or static runtime", setRuntime},
    {"cudadevrt", "cudadevrt", Takes::Value, false, "", ignore},
    {"libdevice-directory", "ldir", Takes::Value, false, "", ignore},
    {"target-directory", "target-dir", Takes::Value, false, "", ignore},
    {"compiler-bindir", "ccbin", Takes::Value, false, "noted; host code is compiled by clang", noteHostCompiler},
    {"archiver-binary", "arbin", Takes::Value, false, "", ignore},
    {"allow-unsupported-compiler", "allow-unsupported-compiler", Takes::Nothing, false, "", ignore},

    // The language and the code.
    {"std", "std", Takes::Value, false, "the C++ standard", setText<&NvccOptions::standard>},
    {"optimize", "O", Takes::Value, true, "optimise host code (kernels always are)", setOptimization},
    {"debug", "g", Takes::Nothing, false, "debug information for host code", setTrue<&NvccOptions::hostDebug>},
    {"device-debug", "G", Takes::Nothing, false, "keep line numbers in kernels", setTrue<&NvccOptions::deviceDebug>},
    {"generate-line-info", "lineinfo", Takes::Nothing, false, "always done: errors and profiles name source lines", ignore},
    {"profile", "pg", Takes::Nothing, false, "instrument host code for gprof",
     [](NvccOptions& o, const std::string&) -> Result { o.host.emplace_back("-pg"); return {}; }},
    {"dopt", "dopt", Takes::Value, false, "", ignore},
    {"shared", "shared", Takes::Nothing, false, "make a shared library", setTrue<&NvccOptions::shared>},
    {"no-exceptions", "noeh", Takes::Nothing, false, "host code without exceptions",
     [](NvccOptions& o, const std::string&) -> Result { o.host.emplace_back("-fno-exceptions"); return {}; }},
    {"gpu-architecture", "arch", Takes::Value, false, "the virtual architecture: the value of __CUDA_ARCH__",
     [](NvccOptions& o, const std::string& v) { return addArch(o, v); }},
    {"gpu-code", "code", Takes::List, false, "PTX is always kept; machine code is never made", ignore},
    {"generate-code", "gencode", Takes::Value, false, "-gencode arch=..,code=..: the highest one counts", addGencode},
    {"relocatable-device-code", "rdc", Takes::Value, false, "kernels may call functions of other files",
     setBool<&NvccOptions::relocatable>},
    {"use_fast_math", "use_fast_math", Takes::Nothing, false, "approximate math functions, and the next four", setFastMath},
    {"ftz", "ftz", Takes::Value, false, "flush single-precision denormals to zero", setBool<&NvccOptions::flushToZero>},
    {"prec-div", "prec-div", Takes::Value, false, "IEEE single-precision division", setBool<&NvccOptions::preciseDivision>},
    {"prec-sqrt", "prec-sqrt", Takes::Value, false, "IEEE single-precision square root", setBool<&NvccOptions::preciseSqrt>},
    {"fmad", "fmad", Takes::Value, false, "contract a*b+c into one rounding", setBool<&NvccOptions::contract>},
    {"default-stream", "default-stream", Takes::Value, false, "legacy or per-thread", setDefaultStream},
    {"machine", "m", Takes::Value, false, "64", setMachine},
    {"m64", "m64", Takes::Nothing, false, "", ignore},
    {"m32", "m32", Takes::Nothing, false, "", [](NvccOptions& o, const std::string&) { return setMachine(o, "32"); }},
    {"expt-relaxed-constexpr", "expt-relaxed-constexpr", Takes::Nothing, false, "always on",
     [](NvccOptions& o, const std::string&) -> Result { o.preprocessor.emplace_back("-D__CUDACC_RELAXED_CONSTEXPR__"); return {}; }},
    {"extended-lambda", "extended-lambda", Takes::Nothing, false, "always on",
     [](NvccOptions& o, const std::string&) -> Result { o.preprocessor.emplace_back("-D__CUDACC_EXTENDED_LAMBDA__"); return {}; }},
    {"expt-extended-lambda", "expt-extended-lambda", Takes::Nothing, false, "always on",
     [](NvccOptions& o, const std::string&) -> Result { o.preprocessor.emplace_back("-D__CUDACC_EXTENDED_LAMBDA__"); return {}; }},
    {"maxrregcount", "maxrregcount", Takes::Value, false, "noted", noteRegisters},
    {"dlink-time-opt", "dlto", Takes::Nothing, false, "", refuseLto},

    // Options for the tools behind.
    {"compiler-options", "Xcompiler", Takes::Value, false, "options for the host compiler", addHostOptions},
    {"linker-options", "Xlinker", Takes::Value, false, "options for the linker", addLinkerOptions},
    {"ptxas-options", "Xptxas", Takes::Value, false, "accepted: there is no ptxas here", ignore},
    {"nvlink-options", "Xnvlink", Takes::Value, false, "accepted: there is no nvlink here", ignore},
    {"archive-options", "Xarchive", Takes::Value, false, "", ignore},
    {"forward-unknown-to-host-compiler", "forward-unknown-to-host-compiler", Takes::Nothing, false,
     "pass on what nvcc does not know", setTrue<&NvccOptions::forwardUnknown>},
    {"forward-unknown-opts", "forward-unknown-opts", Takes::Nothing, false, "", setTrue<&NvccOptions::forwardUnknown>},
    {"forward-unknown-to-host-linker", "forward-unknown-to-host-linker", Takes::Nothing, false, "", ignore},

    // Messages and housekeeping.
    {"verbose", "v", Takes::Nothing, false, "show the commands", setTrue<&NvccOptions::verbose>},
    {"dryrun", "dryrun", Takes::Nothing, false, "show the commands without running them", setTrue<&NvccOptions::dryRun>},
    {"disable-warnings", "w", Takes::Nothing, false, "no warnings", setTrue<&NvccOptions::noWarnings>},
    {"Werror", "Werror", Takes::Value, false, "all-warnings makes warnings errors", setWarningsAsErrors},
    {"resource-usage", "res-usage", Takes::Nothing, false, "", ignore},
    {"Wno-deprecated-gpu-targets", "Wno-deprecated-gpu-targets", Takes::Nothing, false, "", ignore},
    {"Wno-deprecated-declarations", "Wno-deprecated-declarations", Takes::Nothing, false, "",
     [](NvccOptions& o, const std::string&) -> Result { o.host.emplace_back("-Wno-deprecated-declarations"); return {}; }},
    {"Wreorder", "Wreorder", Takes::Nothing, false, "",
     [](NvccOptions& o, const std::string&) -> Result { o.host.emplace_back("-Wreorder"); return {}; }},
    {"Wdefault-stream-launch", "Wdefault-stream-launch", Takes::Nothing, false, "", ignore},
    {"Wmissing-launch-bounds", "Wmissing-launch-bounds", Takes::Nothing, false, "", ignore},
    {"Wext-lambda-captures-this", "Wext-lambda-captures-this", Takes::Nothing, false, "", ignore},
    {"diag-suppress", "diag-suppress", Takes::Value, false, "", ignore},
    {"diag-warn", "diag-warn", Takes::Value, false, "", ignore},
    {"diag-error", "diag-error", Takes::Value, false, "", ignore},
    {"display-error-number", "err-no", Takes::Nothing, false, "", ignore},
    {"no-display-error-number", "no-err-no", Takes::Nothing, false, "", ignore},
    {"source-in-ptx", "src-in-ptx", Takes::Nothing, false, "", ignore},
    {"restrict", "restrict", Takes::Nothing, false, "", ignore},
    {"extra-device-vectorization", "extra-device-vectorization", Takes::Nothing, false, "", ignore},
    {"keep", "keep", Takes::Nothing, false, "", ignore},
    {"save-temps", "save-temps", Takes::Nothing, false, "", ignore},
    {"keep-dir", "keep-dir", Takes::Value, false, "", ignore},
    {"keep-device-functions", "keep-device-functions", Takes::Nothing, false, "", ignore},
    {"clean-targets", "clean", Takes::Nothing, false, "", ignore},
    {"threads", "t", Takes::Value, true, "", ignore},
    {"split-compile", "split-compile", Takes::Value, false, "", ignore},
    {"time", "time", Takes::Value, false, "", ignore},
    {"objdir-as-tempdir", "objtemp", Takes::Nothing, false, "", ignore},
    {"dont-use-profile", "noprof", Takes::Nothing, false, "", ignore},
    {"entries", "e", Takes::Value, false, "", ignore},
    {"compress-mode", "compress-mode", Takes::Value, false, "", ignore},
    {"no-compress", "no-compress", Takes::Nothing, false, "", ignore},
    {"frandom-seed", "frandom-seed", Takes::Value, false, "", ignore},
    {"ftemplate-depth", "ftemplate-depth", Takes::Value, false, "",
     [](NvccOptions& o, const std::string& v) -> Result { o.host.push_back("-ftemplate-depth=" + v); return {}; }},
    {"ftemplate-backtrace-limit", "ftemplate-backtrace-limit", Takes::Value, false, "", ignore},
    {"static-global-template-stub", "static-global-template-stub", Takes::Value, false, "", ignore},
};

// ---- reading
// --------------------------------------------------------------------------------------------------------------

const Row* findExact(std::string_view name) {
  const auto* row = std::find_if(std::begin(kRows), std::end(kRows),
                                 [&](const Row& r) { return r.longName == name || r.shortName == name; });
  return row == std::end(kRows) ? nullptr : row;
}

const Row* findJoined(std::string_view body) {
  const auto* row = std::find_if(std::begin(kRows), std::end(kRows),
                                 [&](const Row& r) { return r.joined && body.starts_with(r.shortName); });
  return row == std::end(kRows) ? nullptr : row;
}

class Reader {
 public:
  Result readAll(const std::vector<std::string>& arguments, int depth = 0) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      auto result = readOne(arguments, i, depth);
      if (!result) return result;
    }
    return {};
  }

  NvccOptions options;

 private:
  Result readOne(const std::vector<std::string>& arguments, std::size_t& i, int depth) {
    const std::string& argument = arguments[i];
    if (argument.size() < 2 || argument[0] != '-') {
      options.items.push_back({argument, true});
      return {};
    }
    const std::string_view body = std::string_view(argument).substr(argument.starts_with("--") ? 2 : 1);
    const auto equals = body.find('=');
    const std::string_view name = body.substr(0, equals);
    if (name == "options-file" || name == "optf")
      return readFiles(valueOf(argument, equals, body, arguments, i), depth);
    if (const Row* row = findExact(name)) {
      if (row->takes == Takes::Nothing) {
        if (equals != std::string_view::npos) return fail("{}: the option takes no value", argument);
        return applied(*row, argument, "");
      }
      const bool hasValue = equals != std::string_view::npos;
      // -O alone is an optimisation level too, and does not eat the next argument.
      if (!hasValue && name == "O") return applied(*row, argument, "");
      if (!hasValue && i + 1 == arguments.size()) return fail("{}: the option's value is missing", argument);
      return applied(*row, argument, valueOf(argument, equals, body, arguments, i));
    }
    if (const Row* row = findJoined(body))
      return applied(*row, argument, std::string(body.substr(row->shortName.size())));
    return unknown(argument);
  }

  static std::string valueOf(const std::string&, std::size_t equals, std::string_view body,
                             const std::vector<std::string>& arguments, std::size_t& i) {
    if (equals != std::string_view::npos) return std::string(body.substr(equals + 1));
    return i + 1 < arguments.size() ? arguments[++i] : std::string();
  }

  Result applied(const Row& row, const std::string& argument, const std::string& value) {
    auto result = row.apply(options, value);
    if (!result) return fail("{}: {}", argument, result.error().message);
    if (row.apply == ignore) options.notes.push_back(argument + ": accepted, without effect here");
    return {};
  }

  Result unknown(const std::string& argument) {
    if (!options.forwardUnknown) {
      return fail("{}: nvcc has no such option (options of the host compiler go after -Xcompiler)", argument);
    }
    options.host.push_back(argument);
    return {};
  }

  Result readFiles(const std::string& names, int depth) {
    if (depth > 8) return fail("{}: option files include one another", names);
    for (const auto& name : splitList(names)) {
      std::ifstream file(name);
      if (!file) return fail("{}: cannot read the option file", name);
      std::stringstream text;
      text << file.rdbuf();
      auto result = readAll(splitShellWords(text.str()), depth + 1);
      if (!result) return result;
    }
    return {};
  }
};

}  // namespace

std::vector<std::string> splitShellWords(std::string_view text) {
  std::vector<std::string> words;
  bool inWord = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool blank = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (quote == 0 && blank) {
      inWord = false;
      continue;
    }
    if (!inWord) words.emplace_back();
    inWord = true;
    if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      words.back() += text[++i];
    } else if (quote != 0 ? c == quote : c == '"' || c == '\'') {
      quote = quote != 0 ? 0 : c;
    } else {
      words.back() += c;
    }
  }
  return words;
}

Expected<NvccOptions> parseNvccOptions(const std::vector<std::string>& arguments) {
  Reader reader;
  // The option may come after what it is for.
  reader.options.forwardUnknown = std::any_of(arguments.begin(), arguments.end(), [](const std::string& argument) {
    return argument.find("forward-unknown-to-host-compiler") != std::string::npos ||
           argument.find("forward-unknown-opts") != std::string::npos;
  });
  auto result = reader.readAll(arguments);
  if (!result) return tl::unexpected(result.error());
  return std::move(reader.options);
}

std::string clangArch(const NvccOptions& options) {
  constexpr std::array kKnown = {50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90};
  if (options.arch == 0) return "sm_80";
  int best = kKnown.front();
  for (const int known : kKnown) {
    if (known <= options.arch) best = known;
  }
  return "sm_" + std::to_string(best) + (best == 90 && options.arch == 90 && options.archIsSpecific ? "a" : "");
}

bool isDelayedMacro(std::string_view option) {
  if (!option.starts_with("-D") && !option.starts_with("-U")) return false;
  const std::string_view name = option.substr(2);
  return !name.starts_with("_") && !name.starts_with("CUDA") && !name.starts_with("NDEBUG");
}

std::string delayedMacros(const NvccOptions& options) {
  std::string text;
  for (const auto& option : options.preprocessor) {
    if (!isDelayedMacro(option)) continue;
    const std::string definition = option.substr(2);
    if (option[1] == 'U') {
      text += "#undef " + definition + "\n";
      continue;
    }
    const auto equals = definition.find('=');
    const std::string value = equals == std::string::npos ? "1" : definition.substr(equals + 1);
    text += "#define " + definition.substr(0, equals) + " " + value + "\n";
  }
  return text;
}

std::string nvccOptionHelp() {
  std::string text;
  for (const Row& row : kRows) {
    if (row.help.empty()) continue;
    const std::string names = row.longName == row.shortName ? fmt::format("-{}", row.shortName)
                                                            : fmt::format("--{} (-{})", row.longName, row.shortName);
    text += fmt::format("  {:<44} {}\n", names, row.help);
  }
  return text;
}

}  // namespace ordito::cli
