// The tokens of C++ text, as far as finding one's way in it takes: words, numbers, literals and single characters of
// punctuation. Comments and preprocessor lines are left out.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace ordito::frontend {

struct CxxToken {
  enum class Kind { Word, Number, Literal, Punctuation };
  Kind kind;
  std::string_view text;
  size_t offset;  ///< in the text

  bool is(std::string_view what) const { return text == what && kind != Kind::Literal; }
  size_t end() const { return offset + text.size(); }
};

std::vector<CxxToken> cxxTokens(std::string_view text);

/// The index of the token that closes the bracket at `open` ( '(', '[' or '{' ), or tokens.size().
size_t closingBracket(const std::vector<CxxToken>& tokens, size_t open);

/// If the '<' at `open` can begin template arguments that end before `limit`: the index of its '>'. Otherwise `limit`.
size_t closingAngle(const std::vector<CxxToken>& tokens, size_t open, size_t limit);

}  // namespace ordito::frontend
