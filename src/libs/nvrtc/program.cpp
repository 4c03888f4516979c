// See program.hpp.
//
// A name expression (`scale<float>`, `&ns::table`) must be compiled, since a template has no code before it is named,
// and its name in the PTX is to be found. So a variable for each is put behind the source, with the address of what the
// expression names as its value. In the PTX that value is the name; the variables are then taken out.
#include "libs/nvrtc/program.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <filesystem>

#include "base/cache_folder.hpp"
#include "base/link_code.hpp"
#include "libs/nvrtc/messages.hpp"
#include "libs/nvrtc/options.hpp"

namespace ordito::nvrtc {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kNameVariable = "__ordito_name_";

/// This library lies in the toolkit's folder for libraries.
fs::path ownToolkit() {
  Dl_info info{};
  std::error_code ignored;
  if (dladdr(reinterpret_cast<const void*>(&ownToolkit), &info) == 0) return {};
  return fs::canonical(info.dli_fname, ignored).parent_path().parent_path();
}

void addOwn(const Options& options, frontend::CompileOptions& compile, frontend::CudaSource& source) {
  compile.preprocessor.insert(compile.preprocessor.end(), {"-D__CUDACC_RTC__=1", "-Wunused-variable"});
  // What NVRTC's programs have without an #include: NV_IF_TARGET, on which the headers of halves count, placement new
  // std::initializer_list, std::move and std::forward. Nothing that brings <type_traits> along: programs put names of
  // their own there.
  compile.prelude = {"nv/target", "new"};
  if (options.hasInitializerList) compile.prelude.emplace_back("initializer_list");
  if (options.hasMoveForward) compile.prelude.emplace_back("ordito/move_forward.h");
  compile.prelude.emplace_back("ordito/program_begins.h");
  compile.preludeFolder = cacheFolder().string();
  // The first keeps out of the prelude what programs define themselves, as NVRTC has no host's headers in scope.
  // NVIDIA's headers of small floats, which wheels bring along, only declare functions for NVRTC: it has their bodies.
  // Ours, in the second, have the bodies of ours.
  const fs::path own = ownToolkit() / "include" / "ordito";
  compile.preprocessor.insert(
      compile.preprocessor.begin(),
      {"-D__ORDITO_PRELUDE__=1", "-I" + (own / "hidden_host").string(), "-I" + (own / "before_others").string()});
  if (options.searchesOwnFolder) {
    const fs::path folder = fs::path(source.file).parent_path();
    compile.lastFolder = folder.empty() ? "." : folder.string();
  }
  compile.staticNames = frontend::StaticNames::Plain;
  if (!options.isDeviceDefault) return;
  // What is not said to be the host's or the device's is both, but in headers of the C++ library.
  const fs::path standard = ownToolkit() / "include" / "ordito_standard";
  compile.preprocessor.insert(compile.preprocessor.begin(), "-I" + standard.string());
  source.headers.push_back(
      {"ordito_default_device.h", "#pragma clang force_cuda_host_device begin\n#define ORDITO_DEFAULT_DEVICE\n"});
  compile.preprocessor.insert(compile.preprocessor.end(), {"-include", "ordito_default_device.h"});
}

/// Programs that can do with clang without CUDA's language declare that themselves, by __clang__, which NVRTC does not
/// define. It is hidden from those: other programs take it for what the compiler knows. One such program seldom comes
/// alone, so the process remembers.
frontend::Compiled compileText(const frontend::Toolchain& tools, const frontend::CompileOptions& options,
                               const frontend::CudaSource& source) {
  static std::atomic<bool> isHidden{false};
  const auto compileIt = [&](bool hides) {
    frontend::CudaSource seen = source;
    if (hides) seen.text = "#undef __clang__\n#line 1\n" + *source.text;
    return frontend::compileToPtx(tools, options, seen);
  };
  const auto declares = [](const frontend::Compiled& compiled) {
    return compiled.messages.find("redeclaration of 'threadIdx'") != std::string::npos;
  };
  if (isHidden) {
    frontend::Compiled hidden = compileIt(true);
    if (hidden.status == 0) return hidden;
    frontend::Compiled plain = compileIt(false);
    return declares(plain) ? hidden : plain;
  }
  frontend::Compiled plain = compileIt(false);
  if (plain.status == 0 || !declares(plain)) return plain;
  isHidden = true;
  return compileIt(true);
}

/// PTX up to its first function or variable, which is what NVRTC gives when only errors are wanted.
std::string headOf(const std::string& ptx) {
  const size_t last = ptx.find(".address_size");
  return last == std::string::npos ? ptx : ptx.substr(0, ptx.find('\n', last) + 1);
}

/// The symbol that an initialiser names: `generic(_Z5tablev)` or `_Z5scaleIfEvPT_`.
std::string symbolIn(std::string_view value) {
  const size_t open = value.find('(');
  if (open != std::string_view::npos) value = value.substr(open + 1, value.find(')') - open - 1);
  const size_t end = value.find_first_of(" ;+\n");
  return std::string(value.substr(0, end));
}

}  // namespace

nvrtcResult Program::addName(const std::string& expression) {
  const std::scoped_lock lock(mutex_);
  if (wasCompiled_) return NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
  if (std::find(names_.begin(), names_.end(), expression) == names_.end()) names_.push_back(expression);
  return NVRTC_SUCCESS;
}

nvrtcResult Program::report(nvrtcResult result, const std::string& message) {
  log_ += "nvrtc: error: " + message + "\n";
  return result;
}

nvrtcResult Program::compile(std::span<const char* const> words) {
  const std::scoped_lock lock(mutex_);
  log_.clear();
  made_.reset();
  lowered_.clear();
  const auto options = readOptions(words);
  if (!options) return report(NVRTC_ERROR_INVALID_OPTION, options.error().message);
  const auto tools = frontend::findToolchain(ownToolkit(), "");
  if (!tools) return report(NVRTC_ERROR_BUILTIN_OPERATION_FAILURE, tools.error().message);
  wasCompiled_ = true;
  isReal_ = options->isReal;
  isForLto_ = options->isForLto;
  frontend::CompileOptions compile = options->compile;
  frontend::CudaSource source = source_;
  addOwn(*options, compile, source);
  if (!names_.empty()) source.text = withNames(*source.text);
  // The variables of names are taken out of PTX only.
  compile.makesBitcode = isForLto_ && names_.empty() && !options->isForSyntax;
  frontend::Compiled compiled;
  try {
    compiled = compileText(*tools, compile, source);
  } catch (const std::exception& error) {
    return report(NVRTC_ERROR_INTERNAL_ERROR, error.what());
  }
  log_ = asNvrtcs(compiled.messages, source_.file);
  if (compiled.status != 0) return NVRTC_ERROR_COMPILATION;
  if (!names_.empty()) compiled.ptx = takeLoweredNames(compiled.ptx);
  if (options->isForSyntax) compiled.ptx = headOf(compiled.ptx);
  made_ = std::make_shared<const std::string>(isForLto_ ? asLinkCode(compiled.ptx, compiled.bitcode)
                                                        : std::move(compiled.ptx));
  return NVRTC_SUCCESS;
}

/// A kernel's address can be taken in device code as a template argument only.
std::string Program::withNames(const std::string& text) const {
  std::string out = text + "\n#line 1 \"name expressions\"\n" +
                    "template <typename T, T Value> struct __ordito_address { static constexpr T value = Value; };\n";
  for (size_t i = 0; i < names_.size(); ++i) {
    const std::string& name = names_[i];
    const size_t first = name.find_first_not_of(" \t\n");
    const std::string address = first != std::string::npos && name[first] == '&' ? name : "&" + name;
    out += fmt::format(
        "#line 1 \"name expression '{0}'\"\n"
        "extern \"C\" __attribute__((device)) __attribute__((used)) decltype({1}) const {2}{3} = "
        "__ordito_address<decltype({1}), ({1})>::value;\n",
        [&] {
          std::string plain = name;
          std::replace_if(plain.begin(), plain.end(), [](char c) { return c == '"' || c == '\\' || c == '\n'; }, ' ');
          return plain;
        }(),
        address, kNameVariable, i);
  }
  return out;
}

/// The PTX without the variables.
std::string Program::takeLoweredNames(const std::string& ptx) {
  std::string rest;
  for (size_t at = 0; at < ptx.size();) {
    const size_t end = std::min(ptx.find('\n', at), ptx.size() - 1) + 1;
    const std::string_view line = std::string_view(ptx).substr(at, end - at);
    at = end;
    const size_t name = line.find(kNameVariable), equals = line.find(" = ");
    if (name == std::string_view::npos || equals == std::string_view::npos || equals < name) {
      rest += line;
      continue;
    }
    const size_t index = std::stoul(std::string(line.substr(name + kNameVariable.size(), 9)));
    if (index < names_.size()) lowered_[names_[index]] = symbolIn(line.substr(equals + 3));
  }
  return rest;
}

nvrtcResult Program::loweredName(const std::string& expression, const char** name) const {
  const std::scoped_lock lock(mutex_);
  if (!made_) return NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
  const auto found = lowered_.find(expression);
  if (found == lowered_.end()) return NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
  *name = found->second.c_str();
  return NVRTC_SUCCESS;
}

std::shared_ptr<const std::string> Program::ptx() const {
  const std::scoped_lock lock(mutex_);
  return isForLto_ ? nullptr : made_;
}

std::shared_ptr<const std::string> Program::intermediate() const {
  const std::scoped_lock lock(mutex_);
  return isForLto_ ? made_ : nullptr;
}

std::shared_ptr<const std::string> Program::cubin() const {
  const std::scoped_lock lock(mutex_);
  return isReal_ && !isForLto_ ? made_ : nullptr;
}

std::string Program::log() const {
  const std::scoped_lock lock(mutex_);
  return log_;
}

}  // namespace ordito::nvrtc
