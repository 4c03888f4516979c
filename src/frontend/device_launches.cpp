// See device_launches.hpp. How a launch gets past clang-19:
//
// clang knows no launches from kernels: it takes kernels out of overload resolution in device functions, and reports
// every mention of one. It does so by the function around the mention. In a member initializer of a local class there
// is none, so names and templates are resolved as usual, and with the scope that the launch has; the array bound inside
// keeps clang from looking once more when the initializer is used. Members of the local class carry configuration and
// arguments, which only the function around it can compute:
//
//   ({ auto data = ordito_launch::configure(grid, block)(a, b);
//      struct launch : decltype(data) {
//        size_t done = sizeof(char[(kernel<<<this->grid, this->block, …>>>(get<0>(*this), get<1>(*this)), 1)]);
//      };
//      launch{data}; })
//
// src/frontend/launch_pass.cpp makes the calls of the device runtime of it. The same text is right in host code, so a
// function that is for both sides, or is wrongly taken for device code, still launches.
#include "frontend/device_launches.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <set>
#include <utility>

#include "frontend/asm_registers.hpp"
#include "frontend/cxx_tokens.hpp"
#include "frontend/shared_alignment.hpp"

namespace ordito::frontend {
namespace fs = std::filesystem;
namespace {

using Tokens = std::vector<CxxToken>;
using Kind = CxxToken::Kind;

/// Three '<' or three '>' from `i` on.
bool isTriple(const Tokens& tokens, size_t i, char c) {
  const std::string_view one(&c, 1);
  return i + 2 < tokens.size() && tokens[i].is(one) && tokens[i + 1].is(one) && tokens[i + 2].is(one);
}

bool areAdjacent(const Tokens& tokens, size_t i) { return tokens[i + 1].offset == tokens[i].end(); }

/// `kernel<<<configuration>>>(arguments)` by the indices of its tokens.
struct Launch {
  size_t first;      // of the kernel's name
  size_t open;       // the three '<'
  size_t close;      // the three '>'
  size_t arguments;  // '('
  size_t end;        // ')'
  bool isSpaced = false;
  bool hasBraces = false;
};

/// The indices where the items of a configuration begin.
std::vector<size_t> configurationItems(const Tokens& tokens, const Launch& launch) {
  std::vector<size_t> items = {launch.open + 3};
  for (size_t i = launch.open + 3; i < launch.close; ++i) {
    if (tokens[i].is("(") || tokens[i].is("[") || tokens[i].is("{"))
      i = closingBracket(tokens, i);
    else if (tokens[i].is(","))
      items.push_back(i + 1);
  }
  return items;
}

/// The type that a braced list stands for in each place of a configuration.
constexpr std::array kConfigurationTypes = {"::dim3", "::dim3", "decltype(sizeof(0))", "::cudaStream_t"};

/// The '<' of the template arguments that end before `end`; brackets hide what is in them.
size_t openingAngle(const Tokens& tokens, size_t end) {
  int angles = 0, brackets = 0;
  for (size_t i = end; i-- > 0;) {
    const char c = tokens[i].kind == Kind::Punctuation ? tokens[i].text[0] : ' ';
    if (c == ')' || c == ']' || c == '}') ++brackets;
    if (c == '(' || c == '[' || c == '{') --brackets;
    if (brackets > 0) continue;
    if (c == '>') ++angles;
    if (c == '<' && --angles == 0) return i;
    if (c == ';' || brackets < 0) break;
  }
  return 0;
}

/// The first token of the name before `<<<`: words joined by ::, template arguments at the end of each.
size_t firstOfName(const Tokens& tokens, size_t open) {
  size_t i = open;
  while (i > 0) {
    if (tokens[i - 1].is(">")) i = openingAngle(tokens, i);
    if (i == 0 || tokens[i - 1].kind != Kind::Word) return open;
    --i;
    if (i >= 1 && tokens[i - 1].is("template")) --i;
    if (i < 2 || !tokens[i - 1].is(":") || !tokens[i - 2].is(":")) return i;
    i -= 2;
    const bool isGlobal = i == 0 || tokens[i - 1].is("return") || tokens[i - 1].is("else") || tokens[i - 1].is("do");
    if (isGlobal || (tokens[i - 1].kind != Kind::Word && !tokens[i - 1].is(">"))) return i;
  }
  return i;
}

/// The three '>' that end a configuration: followed by '(', and behind a comma, since a grid and a block are needed.
size_t endOfConfiguration(const Tokens& tokens, size_t first) {
  bool comma = false;
  for (size_t i = first; i < tokens.size(); ++i) {
    if (tokens[i].is("(") || tokens[i].is("[") || tokens[i].is("{"))
      i = closingBracket(tokens, i);
    else if (tokens[i].is(","))
      comma = true;
    else if (comma && isTriple(tokens, i, '>') && i + 3 < tokens.size() && tokens[i + 3].is("("))
      return i;
    else if (tokens[i].is(";") || tokens[i].is(")") || tokens[i].is("}"))
      break;
  }
  return tokens.size();
}

std::optional<Launch> launchAt(const Tokens& tokens, size_t i) {
  if (!isTriple(tokens, i, '<') || !areAdjacent(tokens, i) || i == 0 || tokens[i - 1].is("operator"))
    return std::nullopt;
  Launch launch{};
  launch.open = i;
  launch.close = endOfConfiguration(tokens, i + 3);
  if (launch.close == tokens.size()) return std::nullopt;
  launch.first = firstOfName(tokens, i);
  launch.arguments = launch.close + 3;
  launch.end = closingBracket(tokens, launch.arguments);
  if (launch.first == i || launch.end == tokens.size()) return std::nullopt;
  launch.isSpaced =
      !areAdjacent(tokens, i + 1) || !areAdjacent(tokens, launch.close) || !areAdjacent(tokens, launch.close + 1);
  for (const size_t item : configurationItems(tokens, launch)) launch.hasBraces |= tokens[item].is("{");
  return launch;
}

/// Words that make a function one of the device's: the attributes behind __global__ and __device__, these themselves in
/// text that is not preprocessed, and macros made of them.
class DeviceWords {
 public:
  void add(std::string_view macro) { macros_.emplace(macro); }
  bool contains(std::string_view word) const { return macros_.count(std::string(word)) > 0; }

  bool marksDevice(const Tokens& tokens, size_t i) const {
    const CxxToken& token = tokens[i];
    if (token.kind != Kind::Word) return false;
    if (token.is("__global__") || token.is("__device__") || contains(token.text)) return true;
    if (!token.is("global") && !token.is("device")) return false;
    return i >= 3 && tokens[i - 1].is("(") && tokens[i - 2].is("(") && tokens[i - 3].is("__attribute__");
  }

 private:
  std::set<std::string> macros_;
};

/// Goes through tokens in order and knows whether they are in device code.
class Place {
 public:
  Place(const Tokens& tokens, const DeviceWords& words) : tokens_(tokens), words_(words) {}

  bool isDevice() const { return !open_.empty() && open_.back(); }

  /// Whether the function around a launch declares its kernel, as a parameter or a variable: a pointer.
  bool declaresLocal(const Launch& launch) const {
    if (launch.open != launch.first + 1) return false;  // qualified, or with template arguments
    const std::string_view name = tokens_[launch.first].text;
    for (size_t i = function_ + 1; i + 1 < launch.first; ++i)
      if (tokens_[i].is(name) && isDeclared(i)) return true;
    return false;
  }

  void pass(size_t i) {
    const CxxToken& token = tokens_[i];
    if (token.is("{")) {
      if (!isDevice() && declared_) function_ = mark_;
      open_.push_back(isDevice() || declared_);
      declared_ = false;
    } else if (token.is("}")) {
      // In `__device__ S() : a{1}, b{2} {` the marks count for the body.
      const bool goesOn = i + 1 < tokens_.size() && (tokens_[i + 1].is(",") || tokens_[i + 1].is("{"));
      declared_ = goesOn && isDevice();
      if (!open_.empty()) open_.pop_back();
    } else if (token.is(";")) {
      declared_ = false;
    } else if (words_.marksDevice(tokens_, i)) {
      if (!declared_) mark_ = i;
      declared_ = true;
    }
  }

 private:
  /// Behind a type, a `*` or a `&`, and in front of what may follow a declared name.
  bool isDeclared(size_t i) const {
    const CxxToken &before = tokens_[i - 1], &behind = tokens_[i + 1];
    const bool isType = before.kind == Kind::Word && !before.is("return") && !before.is("else") && !before.is("do");
    if (!isType && !before.is("*") && !before.is("&") && !before.is(">")) return false;
    return behind.is("=") || behind.is(";") || behind.is(",") || behind.is(")") || behind.is("{");
  }

  const Tokens& tokens_;
  const DeviceWords& words_;
  std::vector<bool> open_;  // by brace
  bool declared_ = false;   // the next brace opens a function of the device's
  size_t mark_ = 0;         // what says so
  size_t function_ = 0;     // and said so of the function that is open
};

/// A macro, so that the compiler's messages show little more than what the programmer wrote. The kernel's name comes
/// last because it may have commas.
const std::string kLaunchMacro =
    "#define __ORDITO_LAUNCH(configuration, arguments, count, values, ...) (__extension__({ "
    "auto __ordito_data = ::ordito_launch::configure configuration arguments; "
    "static_assert(decltype(__ordito_data)::__ordito_count == count, \"the commas in this launch from a kernel can be "
    "read in two ways: put comparisons in parentheses\"); "
    "struct __ordito_launch : decltype(__ordito_data) { typedef decltype(__ordito_data) __ordito_base; "
    "__attribute__((host)) __attribute__((device)) explicit __ordito_launch(const __ordito_base& __ordito_d) : "
    "__ordito_base(__ordito_d) {} "
    "unsigned long __ordito_done = sizeof(char[(__VA_ARGS__<<<this->__ordito_grid, this->__ordito_block, "
    "this->__ordito_shared, this->__ordito_stream>>>values, 1)]); }; (void)__ordito_launch{__ordito_data}; }))\n";

class Rewriter {
 public:
  explicit Rewriter(std::string_view text) : text_(text), tokens_(cxxTokens(text)), place_(tokens_, words_) {}

  std::optional<std::string> run() {
    const std::string result = range(0, tokens_.size(), 0, text_.size());
    if (!changed_) return std::nullopt;
    // The text begins with the line that says where it comes from.
    return kLaunchMacro + result;
  }

 private:
  /// Text from offset `from` to `to`, which holds the tokens [first, last), with launches rewritten.
  std::string range(size_t first, size_t last, size_t from, size_t to) {
    std::string out;
    for (size_t i = first; i < last; ++i) {
      // The launch stands behind its kernel's name, so that name is still in `pending`.
      const auto launch = launchAt(tokens_, i);
      if (!launch || launch->end >= last || launch->first < first || !mustChange(*launch)) {
        place_.pass(i);
        continue;
      }
      changed_ = true;
      out += text_.substr(from, tokens_[launch->first].offset - from);
      out += place_.isDevice() ? onDevice(*launch) : onHost(*launch);
      from = tokens_[launch->end].end();
      i = launch->end;
    }
    out += text_.substr(from, to - from);
    return out;
  }

  bool mustChange(const Launch& launch) const { return place_.isDevice() || launch.isSpaced || launch.hasBraces; }

  /// `{x, y}` means what it initialises, which clang does not ask for in a configuration.
  std::string configuration(const Launch& launch) {
    const auto items = configurationItems(tokens_, launch);
    const size_t first = tokens_[launch.open + 2].end();
    std::string text(text_.substr(first, tokens_[items[0]].offset - first));
    for (size_t k = 0; k < items.size(); ++k) {
      const size_t end = k + 1 < items.size() ? items[k + 1] - 1 : launch.close;
      if (tokens_[items[k]].is("{") && k < kConfigurationTypes.size()) text += kConfigurationTypes[k];
      text += range(items[k], end, tokens_[items[k]].offset, tokens_[end].offset);
      if (k + 1 < items.size())
        text += text_.substr(tokens_[end].offset, tokens_[items[k + 1]].offset - tokens_[end].offset);
    }
    return text;
  }

  /// What stands between two brackets.
  std::string inside(size_t open, size_t close) {
    return range(open + 1, close, tokens_[open].end(), tokens_[close].offset);
  }

  std::string_view source(size_t first, size_t last) const {
    return text_.substr(tokens_[first].offset, tokens_[last - 1].end() - tokens_[first].offset);
  }

  std::string onHost(const Launch& launch) {
    const std::string grid = configuration(launch);
    return fmt::format("{}<<<{}>>>({})", source(launch.first, launch.open), grid, inside(launch.arguments, launch.end));
  }

  std::string onDevice(const Launch& launch) {
    std::string name(source(launch.first, launch.open));
    std::replace(name.begin(), name.end(), '\n', ' ');  // it moves behind the rest
    const std::string grid = configuration(launch);
    const std::vector<std::string> values = argumentValues(launch);
    std::string arguments = inside(launch.arguments, launch.end);
    size_t count = values.size();
    if (place_.declaresLocal(launch)) {
      // A local class cannot name it, so the pointer comes with the arguments, behind them.
      arguments += (count > 0 ? ", " : "") + name;
      name = fmt::format("::ordito_launch::get<{}>(*this)", count++);
    }
    return fmt::format("__ORDITO_LAUNCH(({}), ({}), {}, ({}), {})", grid, arguments, count, fmt::join(values, ", "),
                       name);
  }

  /// How the kernel gets its arguments inside the local class.
  std::vector<std::string> argumentValues(const Launch& launch) const {
    std::vector<std::string> values;
    size_t first = launch.arguments + 1;
    for (size_t i = first; i <= launch.end && first < launch.end; ++i) {
      if (tokens_[i].is("(") || tokens_[i].is("[") || tokens_[i].is("{")) {
        i = closingBracket(tokens_, i);
      } else if (tokens_[i].is("<")) {
        const size_t close = closingAngle(tokens_, i, launch.end);
        if (close < launch.end) i = close;
      } else if (i == launch.end || tokens_[i].is(",")) {
        values.push_back(argumentValue(first, i, values.size()));
        first = i + 1;
      }
    }
    return values;
  }

  /// Null pointers lose their nature in a variable.
  std::string argumentValue(size_t first, size_t last, size_t index) const {
    if (last == first + 1 && (tokens_[first].is("0") || tokens_[first].is("__null")))
      return std::string(tokens_[first].text);
    return fmt::format("::ordito_launch::get<{}>(*this)", index);
  }

  std::string_view text_;
  const Tokens tokens_;
  const DeviceWords words_;
  Place place_;
  bool changed_ = false;
};

std::string readFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Reads a source and what it includes, and collects what rewriting would look for.
class Scan {
 public:
  explicit Scan(const std::vector<fs::path>& folders) : folders_(folders) {}

  bool run(const fs::path& source) {
    if (const auto file = identityOf(source)) visit(source, *file);
    return found();
  }

  /// Of texts that are no files; what they include may be.
  bool run(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) look(fs::path("."), text);
    return found();
  }

 private:
  bool found() const {
    if (hasPragmaInMacro_) return true;
    return std::any_of(texts_.begin(), texts_.end(), [&](const std::string& text) { return hasLaunch(text); });
  }

  using Identity = std::pair<dev_t, ino_t>;

  static std::optional<Identity> identityOf(const fs::path& path) {
    struct stat status{};
    if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    return Identity(status.st_dev, status.st_ino);
  }

  void visit(const fs::path& path, Identity file) {
    if (seen_.insert(file).second) look(path, readFile(path));
  }

  void look(const fs::path& path, std::string text) {
    for (size_t at = text.find('#'); at != std::string::npos; at = text.find('#', at + 1))
      directive(path, text, at + 1);
    auto has = [&](const char* what) { return text.find(what) != std::string::npos; };
    if (has("<<<") || has("<< <") || (has("__shared__") && has("alignas")) || has("asm"))
      texts_.push_back(std::move(text));
  }

  void directive(const fs::path& path, const std::string& text, size_t at) {
    size_t end = text.find('\n', at);
    while (end != std::string::npos && end > 0 && text[end - 1] == '\\') end = text.find('\n', end + 1);
    const std::string_view line = std::string_view(text).substr(at, end == std::string::npos ? end : end - at);
    const size_t word = line.find_first_not_of(" \t");
    if (word == std::string_view::npos) return;
    const std::string_view rest = line.substr(word);
    if (rest.starts_with("include")) include(path, rest.substr(7));
    if (rest.starts_with("define")) define(rest.substr(6));
  }

  void include(const fs::path& path, std::string_view rest) {
    const size_t open = rest.find_first_of("\"<");
    if (open == std::string_view::npos) return;
    const size_t close = rest.find_first_of("\">", open + 1);
    if (close == std::string_view::npos) return;
    const std::string name(rest.substr(open + 1, close - open - 1));
    const fs::path own = rest[open] == '"' ? "." / path.parent_path() : fs::path();
    if (!asked_.insert({own.string(), name}).second) return;  // template libraries name each header hundreds of times
    if (!own.empty() && visitIn(own, name)) return;
    for (const fs::path& folder : folders_)
      if (visitIn(folder, name)) return;
  }

  bool visitIn(const fs::path& folder, const std::string& name) {
    const fs::path path = folder / name;
    const auto file = identityOf(path);
    if (file) visit(path, *file);
    return file.has_value();
  }

  void define(std::string_view rest) {
    hasPragmaInMacro_ |= rest.find("#pragma") != std::string_view::npos;
    const Tokens tokens = cxxTokens(rest);
    for (size_t i = 1; i < tokens.size(); ++i)
      if (words_.marksDevice(tokens, i)) return words_.add(tokens[0].text);
  }

  bool hasLaunch(const std::string& text) const {
    const Tokens tokens = cxxTokens(text);
    Place place(tokens, words_);
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (const auto launch = launchAt(tokens, i);
          launch && (place.isDevice() || launch->isSpaced || launch->hasBraces))
        return true;
      place.pass(i);
    }
    return hasSharedAlignment(tokens) || hasRegisterPercent(tokens) || hasLaunchInMacro(text);
  }

  /// A macro can be used anywhere.
  static bool hasLaunchInMacro(const std::string& text) {
    for (size_t at = text.find("<<<"); at != std::string::npos; at = text.find("<<<", at + 3)) {
      size_t line = text.rfind('\n', at);
      while (line != std::string::npos && line > 0 && text[line - 1] == '\\') line = text.rfind('\n', line - 1);
      const size_t first = text.find_first_not_of(" \t\n", line == std::string::npos ? 0 : line);
      if (first < at && text[first] == '#') return true;
    }
    return false;
  }

  std::vector<fs::path> folders_;
  std::set<Identity> seen_;
  std::set<std::pair<std::string, std::string>> asked_;  // folders of quotes and names
  std::vector<std::string> texts_;                       // those that are worth a closer look
  DeviceWords words_;
  bool hasPragmaInMacro_ = false;  // which nvcc obeys once the macro is replaced
};

}  // namespace

std::optional<std::string> rewriteLaunches(std::string_view preprocessed) { return Rewriter(preprocessed).run(); }

bool mayNeedRewriting(const fs::path& source, const std::vector<fs::path>& folders) {
  return Scan(folders).run(source);
}

bool mayNeedRewriting(const std::vector<std::string>& texts, const std::vector<fs::path>& folders) {
  return Scan(folders).run(texts);
}

}  // namespace ordito::frontend
