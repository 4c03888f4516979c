// See cxx_tokens.hpp.
#include "frontend/cxx_tokens.hpp"

#include <algorithm>
#include <cctype>
#include <string>

namespace ordito::frontend {
namespace {

using Kind = CxxToken::Kind;

bool beginsWord(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }
bool continuesWord(char c) { return beginsWord(c) || std::isdigit(static_cast<unsigned char>(c)); }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<CxxToken> run() {
    while (skipBlanks()) next();
    return std::move(tokens_);
  }

 private:
  char at(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  bool sees(std::string_view what) const { return text_.substr(here_, what.size()) == what; }

  void skipPast(std::string_view end) {
    const size_t found = text_.find(end, here_);
    here_ = found == std::string_view::npos ? text_.size() : found + end.size();
  }

  /// To the end of the line, or of the lines if they are continued.
  void skipLine() {
    while (here_ < text_.size() && text_[here_] != '\n') here_ += text_[here_] == '\\' ? 2 : 1;
    here_ = std::min(here_, text_.size());
    lineIsEmpty_ = true;
  }

  /// False at the end of the text.
  bool skipBlanks() {
    while (here_ < text_.size()) {
      if (text_[here_] == '\n') lineIsEmpty_ = true;
      if (std::isspace(static_cast<unsigned char>(text_[here_])) || text_[here_] == '\\') {
        ++here_;
      } else if (sees("//") || (text_[here_] == '#' && lineIsEmpty_)) {
        skipLine();
      } else if (sees("/*")) {
        here_ += 2;
        skipPast("*/");
      } else {
        return true;
      }
    }
    return false;
  }

  void add(Kind kind, size_t first) {
    here_ = std::min(here_, text_.size());
    tokens_.push_back({kind, text_.substr(first, here_ - first), first});
  }

  void next() {
    lineIsEmpty_ = false;
    const size_t first = here_;
    const char c = text_[here_];
    if (beginsWord(c)) {
      while (continuesWord(at(here_))) ++here_;
      if (at(here_) != '"' && at(here_) != '\'') return add(Kind::Word, first);
      const std::string_view prefix = text_.substr(first, here_ - first);
      if (prefix.size() > 3) return add(Kind::Word, first);
      return literal(first, prefix.ends_with('R'));
    }
    if (c == '"' || c == '\'') return literal(first, false);
    if (std::isdigit(static_cast<unsigned char>(c))) return number(first);
    ++here_;
    add(Kind::Punctuation, first);
  }

  void literal(size_t first, bool isRaw) {
    const char quote = text_[here_++];
    if (isRaw && quote == '"') {
      const size_t open = std::min(text_.find('(', here_), text_.size());
      skipPast(")" + std::string(text_.substr(here_, open - here_)) + "\"");
      return add(Kind::Literal, first);
    }
    while (here_ < text_.size() && text_[here_] != quote && text_[here_] != '\n') here_ += text_[here_] == '\\' ? 2 : 1;
    ++here_;
    add(Kind::Literal, first);
  }

  void number(size_t first) {
    while (true) {
      const char c = at(here_), before = here_ > first ? text_[here_ - 1] : '\0';
      const bool sign = (c == '+' || c == '-') && (before == 'e' || before == 'E' || before == 'p' || before == 'P') &&
                        !text_.substr(first).starts_with("0x");
      const bool separator = c == '\'' && std::isalnum(static_cast<unsigned char>(at(here_ + 1)));
      if (!continuesWord(c) && c != '.' && !sign && !separator) break;
      ++here_;
    }
    add(Kind::Number, first);
  }

  std::string_view text_;
  size_t here_ = 0;
  bool lineIsEmpty_ = true;
  std::vector<CxxToken> tokens_;
};

}  // namespace

std::vector<CxxToken> cxxTokens(std::string_view text) { return Lexer(text).run(); }

size_t closingBracket(const std::vector<CxxToken>& tokens, size_t open) {
  int depth = 0;
  for (size_t i = open; i < tokens.size(); ++i) {
    if (tokens[i].kind != Kind::Punctuation) continue;
    const char c = tokens[i].text[0];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if ((c == ')' || c == ']' || c == '}') && --depth == 0) return i;
  }
  return tokens.size();
}

size_t closingAngle(const std::vector<CxxToken>& tokens, size_t open, size_t limit) {
  if (open == 0 || tokens[open - 1].kind != Kind::Word) return limit;
  int depth = 0;
  for (size_t i = open; i < limit; ++i) {
    const CxxToken& token = tokens[i];
    if (token.is("(") || token.is("[") || token.is("{")) {
      i = closingBracket(tokens, i);
    } else if (token.is("<")) {
      ++depth;
    } else if (token.is(">") && !(i > 0 && tokens[i - 1].is("-")) && --depth == 0) {
      // What follows template arguments continues or ends an expression; behind a comparison stands an operand.
      const bool operand = i + 1 < limit && (tokens[i + 1].kind != Kind::Punctuation);
      return operand ? limit : i;
    } else if (token.is(";") || token.is("}") || token.is(")")) {
      return limit;
    }
  }
  return limit;
}

}  // namespace ordito::frontend
