// See shared_alignment.hpp.
#include "frontend/shared_alignment.hpp"

#include <algorithm>

namespace ordito::frontend {
namespace {

using Tokens = std::vector<CxxToken>;
using Kind = CxxToken::Kind;

/// An alignas behind __shared__, by the indices of its tokens.
struct Misplaced {
  size_t declaration;  // the first token of the declaration
  size_t first, end;   // alignas and its ')'
};

/// The '(' that `close` closes, or 0.
size_t openingParenthesis(const Tokens& tokens, size_t close) {
  int depth = 0;
  for (size_t i = close + 1; i-- > 0;) {
    if (tokens[i].is(")")) ++depth;
    if (tokens[i].is("(") && --depth == 0) return i;
  }
  return 0;
}

bool isSpecifier(const CxxToken& token) {
  for (const char* word : {"extern", "static", "const", "volatile", "__shared__", "inline"})
    if (token.is(word)) return true;
  return false;
}

/// Goes back from the alignas at `at` over specifiers and attributes.
std::optional<Misplaced> misplacedAt(const Tokens& tokens, size_t at) {
  if (!tokens[at].is("alignas") || at + 1 >= tokens.size() || !tokens[at + 1].is("(")) return std::nullopt;
  const size_t end = closingBracket(tokens, at + 1);
  if (end == tokens.size()) return std::nullopt;
  bool isShared = false;
  size_t first = at;
  while (first > 0) {
    if (isSpecifier(tokens[first - 1])) {
      isShared |= tokens[--first].is("__shared__");
      continue;
    }
    if (!tokens[first - 1].is(")")) break;
    const size_t open = openingParenthesis(tokens, first - 1);
    if (open == 0 || !tokens[open - 1].is("__attribute__")) break;
    for (size_t i = open; i < first; ++i) isShared |= tokens[i].is("shared");
    first = open - 1;
  }
  if (!isShared) return std::nullopt;
  return Misplaced{first, at, end};
}

std::string withoutLines(std::string_view text) {
  std::string line(text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

}  // namespace

std::optional<std::string> moveSharedAlignment(std::string_view text) {
  const Tokens tokens = cxxTokens(text);
  std::string out;
  size_t done = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const auto found = misplacedAt(tokens, i);
    if (!found || tokens[found->declaration].offset < done) continue;
    const size_t start = tokens[found->declaration].offset, first = tokens[i].offset, end = tokens[found->end].end();
    const std::string_view alignment = text.substr(first, end - first);
    out += text.substr(done, start - done);
    out += withoutLines(alignment) + " ";
    out += text.substr(start, first - start);
    out.append(static_cast<size_t>(std::count(alignment.begin(), alignment.end(), '\n')), '\n');
    done = end;
  }
  if (done == 0) return std::nullopt;
  return out.append(text.substr(done));
}

bool hasSharedAlignment(const Tokens& tokens) {
  for (size_t i = 0; i < tokens.size(); ++i)
    if (misplacedAt(tokens, i)) return true;
  return false;
}

}  // namespace ordito::frontend
