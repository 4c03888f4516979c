// The lexer is one table of character classes and a loop for each kind of token. It never looks further than the end of
// the text, whatever the text is.
#include "ptx/lexer.hpp"

#include <array>
#include <cstring>

namespace ordito::ptx {
namespace {

enum Class : uint8_t { kLetter = 1, kDigit = 2, kFollow = 4, kBlank = 8, kPunct = 16 };

constexpr std::array<uint8_t, 256> makeClasses() {
  std::array<uint8_t, 256> c{};
  for (int i = 'a'; i <= 'z'; ++i) c[i] = kLetter, c[i - 'a' + 'A'] = kLetter;
  for (int i = '0'; i <= '9'; ++i) c[i] = kDigit;
  c['_'] = c['$'] = kFollow;
  for (char b : {' ', '\t', '\r', '\n', '\f', '\v'}) c[static_cast<uint8_t>(b)] = kBlank;
  for (char p : {'!', '%', '&', '(', ')', '*', '+', ',', '-', '/', ':', ';',
                 '<', '=', '>', '?', '@', '[', ']', '^', '{', '|', '}', '~'})
    c[static_cast<uint8_t>(p)] = kPunct;
  return c;
}

constexpr std::array<uint8_t, 256> kClass = makeClasses();

bool has(char c, int classes) { return kClass[static_cast<uint8_t>(c)] & classes; }
bool inWord(char c) { return has(c, kLetter | kDigit | kFollow); }

}  // namespace

Lexer::Lexer(std::string_view text) {
  // Fat binaries pad PTX with zero bytes.
  while (!text.empty() && text.back() == '\0') text.remove_suffix(1);
  begin_ = at_ = text.data();
  end_ = begin_ + text.size();
}

uint32_t Lexer::column(const char* at) const {
  const char* lineStart = at;
  while (lineStart > begin_ && lineStart[-1] != '\n') --lineStart;
  return static_cast<uint32_t>(at - lineStart) + 1;
}

/// Skips blanks and comments. False if a comment is not closed; `bad` is then the token to return.
bool Lexer::skipBlanks(Token& bad) {
  while (at_ < end_) {
    if (has(*at_, kBlank)) {
      line_ += *at_++ == '\n';
    } else if (*at_ == '/' && at_ + 1 < end_ && at_[1] == '/') {
      auto* newline = static_cast<const char*>(std::memchr(at_, '\n', end_ - at_));
      at_ = newline ? newline : end_;
    } else if (*at_ == '/' && at_ + 1 < end_ && at_[1] == '*') {
      bad = {TokenKind::Invalid, 0, line_, at_, "comment that is never closed"};
      for (at_ += 2; at_ + 1 < end_ && !(at_[0] == '*' && at_[1] == '/'); ++at_) line_ += *at_ == '\n';
      if (at_ + 1 >= end_) return at_ = end_, false;
      at_ += 2;
    } else {
      break;
    }
  }
  return true;
}

Token Lexer::next() {
  Token token;
  if (!skipBlanks(token)) return token;
  token = {TokenKind::End, 0, line_, at_, {at_, at_}};
  if (at_ == end_) return token;
  char c = *at_;
  char following = at_ + 1 < end_ ? at_[1] : '\0';
  if (has(c, kLetter | kFollow) || (c == '%' && inWord(following))) return word(token);
  if (has(c, kDigit)) return number(token);
  if (c == '.' && inWord(following)) return word(token);
  if (c == '"') return string(token);
  ++at_;
  token.text = std::string_view(token.at, 1);
  if (has(c, kPunct)) {
    token.kind = TokenKind::Punct;
    token.punct = c;
  } else {
    token.kind = TokenKind::Invalid;
    token.text = c == '.' ? "a dot without a word" : "character that PTX does not have";
  }
  return token;
}

Token Lexer::word(Token token) {
  char first = *at_++;
  bool dotted = first == '.';
  token.kind = dotted ? TokenKind::Dotted : TokenKind::Word;
  for (;;) {
    while (at_ < end_ && inWord(*at_)) ++at_;
    if (dotted && end_ - at_ > 2 && at_[0] == ':' && at_[1] == ':' && inWord(at_[2])) {
      at_ += 2;
    } else if (first == '%' && end_ - at_ > 1 && *at_ == '.' && has(at_[1], kLetter)) {
      ++at_;
    } else {
      break;
    }
  }
  token.text = std::string_view(token.at + dotted, at_ - token.at - dotted);
  return token;
}

Token Lexer::number(Token token) {
  token.kind = TokenKind::Number;
  bool hexadecimal = end_ - at_ > 1 && *at_ == '0' && std::strchr("xXfFdD", at_[1]) && at_[1];
  while (at_ < end_) {
    bool exponentSign = !hexadecimal && (*at_ == '+' || *at_ == '-') && (at_[-1] == 'e' || at_[-1] == 'E');
    if (!exponentSign && *at_ != '.' && !inWord(*at_)) break;
    ++at_;
  }
  token.text = std::string_view(token.at, at_ - token.at);
  return token;
}

Token Lexer::string(Token token) {
  token.kind = TokenKind::String;
  for (++at_; at_ < end_ && *at_ != '"' && *at_ != '\n'; ++at_) {
    if (*at_ == '\\' && at_ + 1 < end_ && at_[1] != '\n') ++at_;
  }
  token.text = std::string_view(token.at + 1, at_ - token.at - 1);
  if (at_ < end_ && *at_ == '"') {
    ++at_;
  } else {
    token.kind = TokenKind::Invalid;
    token.text = "string that is never closed";
  }
  return token;
}

}  // namespace ordito::ptx
