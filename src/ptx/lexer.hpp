// PTX text -> tokens, one at a time and without copying: a token is a view into the text.
//
// PTX has a small lexical grammar (PTX ISA, "Syntax"): words that may start with %, $ or _, words that start with a dot
// (directives, types, modifiers), numbers, strings and single punctuation characters. Two rules keep the parser simple:
// `%tid.x` is one word, since a dot after a
// %-name can only be a component, and `L2::cache_hint` belongs to the dotted word it stands in. Operators of two
// characters (<<, &&) are left as two tokens; only constant expressions have them.
#pragma once

#include <cstdint>
#include <string_view>

namespace ordito::ptx {

enum class TokenKind : uint8_t {
  End,
  Word,     // add, foo, $L__BB0_1, %r1, %tid.x, _
  Dotted,   // .entry, .f32, .L2::64B; `text` is without the dot
  Number,   // 12, 0x1F, 017, 0b11, 10U, 0f3F800000, 0d…, 1.5e3
  String,   // without the quotes
  Punct,    // one character
  Invalid,  // a character that PTX does not have, an unclosed string or comment; `text` says which
};

struct Token {
  TokenKind kind = TokenKind::End;
  char punct = 0;            // Punct: the character
  uint32_t line = 1;         // from 1
  const char* at = nullptr;  // first character in the text, the dot or quote included
  std::string_view text;

  bool is(char c) const { return punct == c; }
  bool isDotted(std::string_view word) const { return kind == TokenKind::Dotted && text == word; }
  /// One past the token's last character in the text.
  const char* end() const { return text.data() + text.size(); }
};

class Lexer {
 public:
  explicit Lexer(std::string_view text);

  Token next();
  /// Column (from 1) of a place in the text.
  uint32_t column(const char* at) const;
  /// The character at a place in the text, 0 at its end.
  char at(const char* place) const { return place < end_ ? *place : '\0'; }

 private:
  bool skipBlanks(Token& bad);
  Token word(Token token);
  Token number(Token token);
  Token string(Token token);

  const char* begin_;
  const char* at_;
  const char* end_;
  uint32_t line_ = 1;
};

}  // namespace ordito::ptx
