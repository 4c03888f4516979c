// See options.hpp. Most options mean what nvcc's of the same name do, so nvcc's table says what; here is which of those
// NVRTC has, and what only NVRTC has.
#include "libs/nvrtc/options.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "frontend/nvcc_option_table.hpp"
#include "frontend/nvcc_options.hpp"

namespace ordito::nvrtc {
namespace {

using frontend::NvccOption;
using Result = Expected<void>;

/// Of nvcc's options those that NVRTC has too, by their long names.
constexpr std::string_view kShared[] = {"gpu-architecture",
                                        "std",
                                        "use_fast_math",
                                        "ftz",
                                        "prec-div",
                                        "prec-sqrt",
                                        "fmad",
                                        "relocatable-device-code",
                                        "device-c",
                                        "device-w",
                                        "extensible-whole-program",
                                        "device-debug",
                                        "generate-line-info",
                                        "dopt",
                                        "Ofast-compile",
                                        "maxrregcount",
                                        "restrict",
                                        "extra-device-vectorization",
                                        "pre-include",
                                        "disable-warnings",
                                        "diag-suppress",
                                        "diag-warn",
                                        "diag-error",
                                        "display-error-number",
                                        "no-display-error-number",
                                        "brief-diagnostics",
                                        "split-compile",
                                        "jump-table-density",
                                        "device-stack-protector",
                                        "ptxas-options",
                                        "frandom-seed",
                                        "ftemplate-depth",
                                        "ftemplate-backtrace-limit",
                                        "optix-ir"};

/// Without effect: they change how long compiling takes, or allow what is always allowed.
struct Ignored {
  std::string_view longName, shortName;
  bool hasValue;
};
constexpr Ignored kIgnored[] = {{"device-int128", "device-int128", false},
                                {"modify-stack-limit", "modify-stack-limit", true},
                                {"optimization-info", "opt-info", true},
                                {"version-ident", "dQ", true},
                                {"minimal", "minimal", false},
                                {"gen-opt-lto", "gen-opt-lto", false},
                                {"no-cache", "no-cache", false},
                                {"pch", "pch", false},
                                {"create-pch", "create-pch", true},
                                {"use-pch", "use-pch", true},
                                {"pch-dir", "pch-dir", true},
                                {"pch-verbose", "pch-verbose", true},
                                {"pch-messages", "pch-messages", true},
                                {"instantiate-templates-in-pch", "instantiate-templates-in-pch", true}};

/// Those of NVRTC 12 and 13: clang's, and later ones, which are compiled for the last that clang knows.
bool isArchitecture(int arch) {
  constexpr int kLater[] = {88, 100, 101, 103, 110, 120, 121};
  const auto& clangs = frontend::clangArchitectures();
  return std::find(clangs.begin(), clangs.end(), arch) != clangs.end() ||
         std::find(std::begin(kLater), std::end(kLater), arch) != std::end(kLater);
}

bool isStandard(std::string_view name) {
  constexpr std::string_view kAll[] = {"c++03", "c++11", "c++14", "c++17", "c++20", "c++23"};
  return std::find(std::begin(kAll), std::end(kAll), name) != std::end(kAll);
}

const NvccOption* findShared(std::string_view name) {
  for (const NvccOption& row : frontend::nvccOptionTable())
    if ((row.longName == name || row.shortName == name) &&
        std::find(std::begin(kShared), std::end(kShared), row.longName) != std::end(kShared))
      return &row;
  return nullptr;
}

class Reader {
 public:
  explicit Reader(std::span<const char* const> words) : words_(words.begin(), words.end()) {}

  Expected<Options> read() {
    while (next_ < words_.size())
      if (auto ok = readOne(words_[next_++]); !ok) return tl::unexpected(ok.error());
    options_.compile = std::move(static_cast<frontend::CompileOptions&>(nvcc_));
    options_.compile.warns = !nvcc_.noWarnings;
    if (options_.isForLto) options_.compile.relocatable = true;
    if (options_.compile.arch == 0) options_.compile.arch = 52;  // NVRTC's own, of CUDA 12
    return std::move(options_);
  }

 private:
  Result readOne(const std::string& word) {
    if (word.size() < 2 || word[0] != '-') return unknown(word);
    const std::string_view body = std::string_view(word).substr(word.starts_with("--") ? 2 : 1);
    const size_t equals = std::min(body.find('='), body.size());
    const std::string name(body.substr(0, equals));
    const std::string* const value = equals < body.size() ? &(value_ = body.substr(equals + 1)) : nullptr;
    // -DNAME=VALUE has its first = in the definition.
    if (!word.starts_with("--") && (body[0] == 'D' || body[0] == 'U' || body[0] == 'I'))
      return addPreprocessor(word, body[0],
                             body.size() > 1 ? std::optional(std::string(body.substr(1))) : std::nullopt);
    for (const auto& [longName, letter] :
         {std::pair{"define-macro", 'D'}, std::pair{"undefine-macro", 'U'}, std::pair{"include-path", 'I'}})
      if (name == longName) return addPreprocessor(word, letter, value ? std::optional(*value) : std::nullopt);
    if (const NvccOption* row = findShared(name)) return readShared(*row, word, value);
    if (name == "device-as-default-execution-space" || name == "default-device")
      return options_.isDeviceDefault = true, Result{};
    if (name == "no-source-include") return options_.searchesOwnFolder = false, Result{};
    if (name == "dlink-time-opt" || name == "dlto") return options_.isForLto = true, Result{};
    if (name == "fdevice-syntax-only") return options_.isForSyntax = true, Result{};
    if (name == "builtin-initializer-list") return readBool(options_.hasInitializerList, word, value);
    if (name == "builtin-move-forward") return readBool(options_.hasMoveForward, word, value);
    for (const Ignored& ignored : kIgnored)
      if (name == ignored.longName || name == ignored.shortName)
        return ignored.hasValue && !value ? valueOf(word).map([](const auto&) {}) : Result{};
    return unknown(word);
  }

  static Result unknown(const std::string& word) { return fail("unrecognized option {} found", word); }

  Expected<std::string> valueOf(const std::string& word) {
    if (next_ == words_.size()) return fail("{}: the option's value is missing", word);
    return words_[next_++];
  }

  Result readBool(bool& place, const std::string& word, const std::string* value) {
    const auto text = value ? Expected<std::string>(*value) : valueOf(word);
    if (!text) return tl::unexpected(text.error());
    if (*text != "true" && *text != "false") return fail("{}: true or false", word);
    place = *text == "true";
    return {};
  }

  Result addPreprocessor(const std::string& word, char letter, std::optional<std::string> text) {
    if (!text) {
      auto value = valueOf(word);
      if (!value) return tl::unexpected(value.error());
      text = std::move(*value);
    }
    while (!text->empty() && text->front() == ' ') text->erase(0, 1);  // "-I folder" as one word
    nvcc_.preprocessor.push_back(std::string("-") + letter + *text);
    return {};
  }

  Result readShared(const NvccOption& row, const std::string& word, const std::string* value) {
    std::string text = value ? *value : std::string();
    if (row.takes == NvccOption::Takes::Nothing && value) return fail("{}: the option takes no value", word);
    if (row.takes != NvccOption::Takes::Nothing && !value) {
      auto next = valueOf(word);
      if (!next) return tl::unexpected(next.error());
      text = std::move(*next);
    }
    if (row.longName == "std" && !isStandard(text)) return fail("invalid value for --std (-std): {}", text);
    if (row.longName == "gpu-architecture") {
      if (!text.starts_with("sm_") && !text.starts_with("compute_"))
        return fail("invalid value for --gpu-architecture (-arch): {}", text);
      options_.isReal = text.starts_with("sm_");
    }
    if (auto ok = row.apply(nvcc_, text); !ok) return fail("{}: {}", word, ok.error().message);
    if (row.longName == "gpu-architecture" && !isArchitecture(nvcc_.arch))
      return fail("invalid value for --gpu-architecture (-arch): {}", text);
    return {};
  }

  std::vector<std::string> words_;
  size_t next_ = 0;
  std::string value_;
  frontend::NvccOptions nvcc_;
  Options options_;
};

}  // namespace

Expected<Options> readOptions(std::span<const char* const> words) { return Reader(words).read(); }

}  // namespace ordito::nvrtc
