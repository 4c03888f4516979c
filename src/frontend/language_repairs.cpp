// See language_repairs.hpp.
#include "frontend/language_repairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <vector>

#include "frontend/cxx_tokens.hpp"

namespace ordito::frontend {
namespace {

using Tokens = std::vector<CxxToken>;
using Kind = CxxToken::Kind;

constexpr std::string_view kSharedInitialiser = "initialization is not supported for __shared__ variables";
constexpr std::string_view kDeviceAddress = "reference to __device__ function";
constexpr std::string_view kKernelAddress = "reference to __global__ function";
constexpr std::string_view kVariableArray = "variable-sized object may not be initialized";
constexpr std::string_view kAttribute = "an attribute list cannot appear here";
constexpr std::string_view kTemplate = "use 'template' keyword to treat '";
constexpr std::string_view kTypename = "missing 'typename' prior to dependent type name";
constexpr std::string_view kOperand = "expected ')'";
constexpr std::string_view kTemplateOperator[] = {"missing 'template' keyword prior to dependent template name",
                                                  "reference to non-static member function must be called"};
constexpr std::string_view kNoLiteral = "variable of non-literal type";
constexpr std::string_view kDefinition = "out-of-line definition of '";
constexpr std::string_view kThis = "use of 'this' pointer is only allowed within the evaluation";  // a note

/// Where a refused deduction guide is declared.
constexpr std::string_view kGuide = "'<deduction guide for";
constexpr std::string_view kHostCall = "reference to __host__ function";
constexpr std::string_view kCaller = "called by '";  // a note of where the function with such a call is called

/// One of clang's errors or notes: `file:line:column: error: text`.
struct Message {
  size_t line, column;
  std::string_view text;
};

std::optional<size_t> number(std::string_view text) {
  size_t value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end.ec != std::errc() || end.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string_view> linesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::vector<Message> messagesIn(std::string_view messages) {
  std::vector<Message> found;
  for (const std::string_view line : linesOf(messages)) {
    const size_t error = std::min(line.find(": error: "), line.find(": note: "));
    if (error == std::string_view::npos) continue;
    const std::string_view place = line.substr(0, error);
    const size_t second = place.rfind(':');
    const size_t first = second == std::string_view::npos || second == 0 ? second : place.rfind(':', second - 1);
    if (first == std::string_view::npos) continue;
    const auto lineNumber = number(place.substr(first + 1, second - first - 1));
    const auto column = number(place.substr(second + 1));
    if (lineNumber && column) found.push_back({*lineNumber, *column, line.substr(line.find(' ', error + 2) + 1)});
  }
  return found;
}

/// A marker looks like `# 12 "file.cu" 1`.
bool isLineMarker(std::string_view line) {
  return line.size() > 2 && line[0] == '#' && line[1] == ' ' && line[2] >= '0' && line[2] <= '9';
}

/// What takes the place of the text [first, end).
struct Edit {
  size_t first, end;
  std::string text;
};

class Mender {
 public:
  explicit Mender(std::string_view text) : text_(text), tokens_(cxxTokens(text)) {
    for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      lines_.push_back(at);
      if (text.find('\n', at) == std::string_view::npos) break;
    }
  }

  std::optional<std::string> run(std::string_view messages) {
    for (const Message& message : messagesIn(messages)) {
      const size_t at = tokenAt(message);
      if (at == tokens_.size()) continue;
      if (message.text.starts_with(kSharedInitialiser)) mendShared(at);
      if (message.text.starts_with(kDeviceAddress)) mendAddress(at);
      if (message.text.starts_with(kKernelAddress)) mendKernelAddress(at);
      if (message.text.starts_with(kVariableArray)) mendArray(at);
      if (message.text.starts_with(kGuide)) mendGuide(at);
      if (message.text.starts_with(kAttribute)) mendAttribute(at);
      if (message.text.starts_with(kOperand)) mendOperands(at);
      if (message.text.starts_with(kHostCall) || message.text.starts_with(kCaller)) mendDeadCall(at);
      if (message.text.starts_with(kThis)) mendThis(at);
      if (message.text.starts_with(kNoLiteral)) mendConstexpr(at);
      if (message.text.starts_with(kDefinition) && message.text.find("in namespace") != std::string_view::npos)
        mendDefinition(at);
      for (const std::string_view one : kTemplateOperator)
        if (message.text.starts_with(one)) mendOperatorName(at);
      if (message.text.starts_with(kTemplate)) replace(at, at + 1, "template " + std::string(tokens_[at].text));
      if (message.text.starts_with(kTypename)) replace(at, at + 1, "typename " + std::string(tokens_[at].text));
    }
    if (edits_.empty()) return std::nullopt;
    std::string out = text_.starts_with(kPrelude) ? "" : kPrelude;
    size_t done = 0;
    for (const auto& [first, edit] : edits_) {
      out += text_.substr(done, first - done);
      out += edit.text;
      done = edit.end;
    }
    return out.append(text_.substr(done));
  }

 private:
  // On one line, ahead of the line that says where the text comes from.
  static constexpr char kPrelude[] =
      "namespace ordito_mended { template <unsigned long long> struct place { static char value; }; "
      "template <unsigned long long name> char place<name>::value = 0; "
      "template <class T> struct pointed; template <class T> struct pointed<T*> { typedef T type; }; "
      "template <class T> using class_of = typename pointed<T>::type; }\n";

  size_t tokenAt(const Message& message) const {
    if (message.line == 0 || message.line > lines_.size()) return tokens_.size();
    const size_t offset = lines_[message.line - 1] + message.column - 1;
    const auto found = std::lower_bound(tokens_.begin(), tokens_.end(), offset,
                                        [](const CxxToken& token, size_t where) { return token.offset < where; });
    const bool exact = found != tokens_.end() && found->offset == offset;
    return exact ? static_cast<size_t>(found - tokens_.begin()) : tokens_.size();
  }

  std::string_view source(size_t first, size_t last) const {
    if (first >= last) return {};
    return text_.substr(tokens_[first].offset, tokens_[last - 1].end() - tokens_[first].offset);
  }

  /// Replaces the tokens [first, last), and keeps their lines.
  void replace(size_t first, size_t last, std::string text) {
    const std::string_view old = source(first, last);
    const auto missing = std::count(old.begin(), old.end(), '\n') - std::count(text.begin(), text.end(), '\n');
    if (missing > 0) text.append(static_cast<size_t>(missing), '\n');
    edits_.emplace(tokens_[first].offset, Edit{tokens_[first].offset, tokens_[last - 1].end(), std::move(text)});
  }

  /// Where the statement with the token at `at` begins.
  size_t beginOfStatement(size_t at) const {
    size_t first = at;
    while (first > 0 && !tokens_[first - 1].is(";") && !tokens_[first - 1].is("{") && !tokens_[first - 1].is("}"))
      --first;
    return first;
  }

  /// The words of a declaration in front of its first name, sorted.
  struct Specifiers {
    std::string type;        // what a typedef takes
    std::string attributes;  // alignment
    bool isShared = false;
  };

  Specifiers specifiers(size_t first, size_t name) const {
    Specifiers found;
    for (size_t i = first; i < name; ++i) {
      const CxxToken& token = tokens_[i];
      const bool isAttribute = token.is("__attribute__") || token.is("alignas");
      const size_t close = isAttribute && i + 1 < name ? closingBracket(tokens_, i + 1) : i;
      if (token.is("static")) continue;
      if (!isAttribute) {
        found.type += token.text;
        if (i + 1 == name || tokens_[i + 1].offset != token.end()) found.type += ' ';
        continue;
      }
      const bool isShared = std::any_of(tokens_.begin() + static_cast<std::ptrdiff_t>(i),
                                        tokens_.begin() + static_cast<std::ptrdiff_t>(std::min(close, name)),
                                        [](const CxxToken& t) { return t.is("shared"); });
      found.isShared |= isShared;
      if (!isShared) found.attributes += std::string(source(i, close + 1)) + " ";
      i = close;
    }
    return found;
  }

  /// `__shared__ T a, b[2];`, of which `name` is the first name.
  void mendShared(size_t name) {
    const size_t first = beginOfStatement(name);
    if (tokens_[first].offset <= lastMended_ && lastMended_ != 0) return;  // another name of the same declaration
    const Specifiers words = specifiers(first, name);
    if (!words.isShared || words.type.empty() || tokens_[name].kind != Kind::Word) return;
    std::string out;
    size_t i = name;
    for (bool more = true; more; ++i) {
      const size_t declared = i++;
      if (i >= tokens_.size() || tokens_[declared].kind != Kind::Word) return;
      while (i < tokens_.size() && tokens_[i].is("[")) i = closingBracket(tokens_, i) + 1;
      if (i >= tokens_.size() || (!tokens_[i].is(",") && !tokens_[i].is(";"))) return;  // with an initialiser
      more = tokens_[i].is(",");
      const std::string variable(tokens_[declared].text), bounds(source(declared + 1, i));
      const std::string type = "__ordito_type_" + variable, storage = "__ordito_shared_" + variable;
      out += fmt::format(
          "typedef {0}{1}{2}; {3}__attribute__((shared)) __attribute__((aligned(alignof({1})))) unsigned char "
          "{4}[sizeof({1})]; {1}& {5} = *reinterpret_cast<{1}*>({4}); ",
          words.type, type, bounds, words.attributes, storage, variable);
    }
    if (isCopiedByLambda(i)) return;
    std::replace(out.begin(), out.end(), '\n', ' ');
    lastMended_ = tokens_[i - 1].offset;
    replace(first, i, out);
  }

  /// A reference is copied into a [=] lambda with what it refers to; a shared variable is not.
  bool isCopiedByLambda(size_t at) const {
    int depth = 0;
    for (; at + 1 < tokens_.size() && depth >= 0; ++at) {
      if (tokens_[at].is("{")) ++depth;
      if (tokens_[at].is("}")) --depth;
      if (tokens_[at].is("[") && tokens_[at + 1].is("=")) return true;
    }
    return false;
  }

  /// The end of a name with its qualifiers and template arguments.
  size_t endOfName(size_t i) const {
    while (i < tokens_.size()) {
      if (tokens_[i].kind != Kind::Word) return i;
      ++i;
      if (i < tokens_.size() && tokens_[i].is("<")) {
        const size_t close = closingAngle(tokens_, i, tokens_.size());
        if (close < tokens_.size()) i = close + 1;
      }
      if (i + 2 >= tokens_.size() || !tokens_[i].is(":") || !tokens_[i + 1].is(":")) return i;
      i += 2;
    }
    return i;
  }

  /// The name of a __device__ function, which is not called, or the & in front of it.
  void mendAddress(size_t at) {
    size_t name = tokens_[at].is("&") ? at + 1 : at, first = name;
    const size_t last = endOfName(name);
    if (last == name || last >= tokens_.size() || tokens_[last].is("(")) return;  // calls stay the errors that they are
    while (name >= 3 && tokens_[name - 1].is(":") && tokens_[name - 2].is(":") && tokens_[name - 3].kind == Kind::Word)
      name -= 3;
    first = name;
    // A & in front can only be the operator that takes an address.
    if (first > 1 && tokens_[first - 1].is("&") && !tokens_[first - 2].is("&")) --first;
    const std::string function(source(name, last));
    replace(first, last,
            fmt::format("reinterpret_cast<decltype(&{0})>(&::ordito_mended::place<{1}ull>::value)", function,
                        hash(function)));
  }

  /// The name of a kernel in device code, or the & in front of it, as a value. A local class may name it where clang
  /// resolves names with no function around (device_launches.cpp).
  void mendKernelAddress(size_t at) {
    const size_t name = tokens_[at].is("&") ? at + 1 : at;
    const size_t last = endOfName(name);
    if (last == name || last >= tokens_.size() || tokens_[last].is("(") || tokens_[last].is("<")) return;
    replace(at, last,
            fmt::format("(__extension__({{ struct __ordito_named {{ decltype(&{0}) __ordito_pointer; unsigned long "
                        "__ordito_done = sizeof(char[(this->__ordito_pointer = &{0}, 1)]); }}; "
                        "__ordito_named().__ordito_pointer; }}))",
                        source(name, last)));
  }

  /// FNV-1a: the same in every file that names the function.
  static unsigned long long hash(std::string_view text) {
    unsigned long long value = 14695981039346656037ull;
    for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 1099511628211ull;
    return value;
  }

  /// `pair(A, B) -> pair<A, B>;` has no code, so it may be for both sides.
  void mendGuide(size_t name) {
    if (tokens_[name].kind != Kind::Word || name + 1 >= tokens_.size() || !tokens_[name + 1].is("(")) return;
    const size_t close = closingBracket(tokens_, name + 1);
    if (close + 2 >= tokens_.size() || !tokens_[close + 1].is("-") || !tokens_[close + 2].is(">")) return;
    replace(name, name + 1, "__attribute__((host)) __attribute__((device)) " + std::string(tokens_[name].text));
  }

  /// `__device__ [[nodiscard]] int f();`: what can stand there changes warnings only.
  void mendAttribute(size_t at) {
    if (at + 1 >= tokens_.size() || !tokens_[at].is("[") || !tokens_[at + 1].is("[")) return;
    const size_t close = closingBracket(tokens_, at);
    if (close < tokens_.size()) replace(at, close + 1, "");
  }

  /// `asm("..." ::"r"(a) "l"(b))`: operands without a comma between them.
  void mendOperands(size_t at) {
    size_t open = beginOfStatement(at);
    while (open < at && !tokens_[open].is("asm") && !tokens_[open].is("__asm__") && !tokens_[open].is("__asm")) ++open;
    while (open < at && !tokens_[open].is("(")) ++open;
    const size_t close = closingBracket(tokens_, open);
    if (open == at || close >= tokens_.size()) return;
    for (size_t i = open + 1; i < close; ++i) {
      if (tokens_[i].is("(")) i = closingBracket(tokens_, i);
      if (tokens_[i].is(")") && tokens_[i + 1].kind == Kind::Literal) replace(i, i + 1, "),");
    }
  }

  /// `if (0) return f();` with an f of the host's, of which nvcc makes no code. The statement becomes a function of the
  /// host's that nobody calls, so that the kernels that it names are still made.
  void mendDeadCall(size_t at) {
    for (size_t i = at; i >= 4; --i) {
      const bool isNever = tokens_[i - 2].is("0") || tokens_[i - 2].is("false");
      if (!tokens_[i - 4].is("if") || !tokens_[i - 3].is("(") || !isNever || !tokens_[i - 1].is(")")) continue;
      const size_t end = endOfStatement(i);
      if (end > at && end <= tokens_.size())
        replace(i, end, fmt::format("{{ (void)[&]() __attribute__((host)) {{ {} }}; }}", source(i, end)));
      return;
    }
  }

  /// `if constexpr (this->isPair)` with a static member: what is known of the class is asked of the class.
  void mendThis(size_t at) {
    if (at + 2 >= tokens_.size() || !tokens_[at].is("this") || !tokens_[at + 1].is("-") || !tokens_[at + 2].is(">"))
      return;
    replace(at, at + 3, "::ordito_mended::class_of<decltype(this)>::");
  }

  /// `value.operator()<n>(x)`, where the type of the value is not known yet.
  void mendOperatorName(size_t at) {
    if (at > 0 && tokens_[at].is("operator") && (tokens_[at - 1].is(".") || tokens_[at - 1].is(">")))
      replace(at, at + 1, "template operator");
  }

  /// A function of a template's that is constexpr, and has a variable that cannot be: it is no constant for any type.
  void mendConstexpr(size_t at) {
    int depth = 0;
    for (size_t i = at; i-- > 0;) {
      if (tokens_[i].is("}")) ++depth;
      if (!tokens_[i].is("{") || --depth >= 0) continue;
      depth = 0;
      for (size_t word = beginOfStatement(i); word < i; ++word)
        if (tokens_[word].is("constexpr") && (word == 0 || !tokens_[word - 1].is("if")))
          return replace(word, word + 1, "inline");
    }
  }

  /// `template <...> void n::f(...) { }` with other parameters than in n's declaration: to nvcc and g++ another
  /// function.
  void mendDefinition(size_t name) {
    std::string begin, end;
    size_t first = name;
    for (; first >= 3 && tokens_[first - 1].is(":") && tokens_[first - 2].is(":"); first -= 3) {
      const CxxToken& qualifier = tokens_[first - 3];  // none if the name begins with `::`
      if (qualifier.kind != Kind::Word || qualifier.end() != tokens_[first - 2].offset) return;
      begin = fmt::format("namespace {} {{ {}", qualifier.text, begin);
      end += " }";
    }
    const size_t statement = beginOfStatement(first);
    size_t body = name + 1;
    while (body < tokens_.size() && !tokens_[body].is("{") && !tokens_[body].is(";"))
      body = (tokens_[body].is("(") ? closingBracket(tokens_, body) : body) + 1;
    const size_t close =
        body < tokens_.size() && tokens_[body].is("{") ? closingBracket(tokens_, body) : tokens_.size();
    if (first == name || !tokens_[statement].is("template") || close >= tokens_.size()) return;
    replace(statement, statement + 1, begin + "template");
    replace(first, name, "");
    replace(close, close + 1, "}" + end);
  }

  /// Behind a statement that begins at `first`: a block, or what ends with a semicolon.
  size_t endOfStatement(size_t first) const {
    if (first < tokens_.size() && tokens_[first].is("{")) return closingBracket(tokens_, first) + 1;
    while (first < tokens_.size() && !tokens_[first].is(";"))
      first = (tokens_[first].is("(") || tokens_[first].is("{") ? closingBracket(tokens_, first) : first) + 1;
    return first + 1;
  }

  static bool isArithmetic(std::string_view word) {
    constexpr std::string_view kWords[] = {"float",  "double", "int",    "char",    "long",     "short",   "unsigned",
                                           "signed", "bool",   "size_t", "int64_t", "uint64_t", "int32_t", "uint32_t"};
    return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
  }

  /// `double a[n] = {1, 2};`; clang points to the name or to the brace.
  void mendArray(size_t at) {
    const size_t first = beginOfStatement(tokens_[at].is("{") ? at - 1 : at);
    size_t name = first;
    bool isNumber = false;
    for (; name + 1 < tokens_.size() && !tokens_[name + 1].is("["); ++name) {
      if (tokens_[name].kind != Kind::Word) return;
      isNumber |= isArithmetic(tokens_[name].text);
    }
    size_t open = name + 1, dimensions = 0;
    for (; open < tokens_.size() && tokens_[open].is("["); ++dimensions) open = closingBracket(tokens_, open) + 1;
    const size_t boundsEnd = open;
    if (open < tokens_.size() && tokens_[open].is("=")) ++open;
    if (!isNumber || open >= tokens_.size() || !tokens_[open].is("{")) return;
    const size_t close = closingBracket(tokens_, open);
    if (close + 1 >= tokens_.size() || !tokens_[close + 1].is(";")) return;
    const bool isZero = close == open + 1 || (close == open + 2 && tokens_[open + 1].is("0"));
    if (!isZero && dimensions != 1) return;
    for (size_t i = first; i < name; ++i)
      if (tokens_[i].is("const")) replace(i, i + 1, "");
    std::string out = fmt::format("; __builtin_memset({0}, 0, sizeof({0}))", tokens_[name].text);
    if (!isZero) out += copyOfFirst(tokens_[name].text, source(open, close + 1));
    replace(boundsEnd, close + 1, std::move(out));
  }

  /// Sets the first elements of an array; of more than it has, g++ says nothing and sets those that there are.
  static std::string copyOfFirst(std::string_view array, std::string_view values) {
    return fmt::format(
        "; {{ __typeof__({0}[0]) __ordito_first[] = {1}; __builtin_memcpy({0}, __ordito_first, "
        "sizeof(__ordito_first) < sizeof({0}) ? sizeof(__ordito_first) : sizeof({0})); }}",
        array, values);
  }

  std::string_view text_;
  const Tokens tokens_;
  std::vector<size_t> lines_;  // their offsets
  std::map<size_t, Edit> edits_;
  size_t lastMended_ = 0;
};

}  // namespace

bool mayBeMended(std::string_view messages) {
  constexpr std::string_view kAll[] = {kHostCall,      kSharedInitialiser, kDeviceAddress, kKernelAddress,
                                       kVariableArray, kAttribute,         kTemplate,      kOperand,
                                       kThis,          kNoLiteral,         kDefinition,    kTypename};
  const auto isThere = [&](std::string_view one) { return messages.find(one) != std::string_view::npos; };
  return std::any_of(std::begin(kAll), std::end(kAll), isThere) ||
         std::any_of(std::begin(kTemplateOperator), std::end(kTemplateOperator), isThere);
}

std::string withoutLineMarkers(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const std::string_view line : linesOf(text)) {
    if (!isLineMarker(line)) out += line;
    out += '\n';
  }
  return out;
}

std::optional<std::string> mended(std::string_view text, std::string_view messages) {
  return Mender(text).run(messages);
}

}  // namespace ordito::frontend
