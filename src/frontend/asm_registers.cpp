// See asm_registers.hpp.
#include "frontend/asm_registers.hpp"

#include <cctype>

namespace ordito::frontend {
namespace {

using Tokens = std::vector<CxxToken>;
using Kind = CxxToken::Kind;

bool isLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }

/// Offsets in `literal` of each % that one more belongs to: before a name of two letters or more, so that operands with
/// a modifier (`%c0`) stay what they are.
std::vector<size_t> loosePercents(std::string_view literal) {
  std::vector<size_t> found;
  for (size_t i = 0; i + 2 < literal.size(); ++i) {
    if (literal[i] != '%') continue;
    if (literal[i + 1] == '%')
      ++i;
    else if (isLetter(literal[i + 1]) && isLetter(literal[i + 2]))
      found.push_back(i);
  }
  return found;
}

/// If the token at `i` begins an asm statement with operands: where its template's literals end. Otherwise `i`.
size_t endOfTemplate(const Tokens& tokens, size_t i) {
  if (!tokens[i].is("asm") && !tokens[i].is("__asm__") && !tokens[i].is("__asm")) return i;
  size_t at = i + 1;
  while (at < tokens.size() && (tokens[at].is("volatile") || tokens[at].is("__volatile__"))) ++at;
  if (at >= tokens.size() || !tokens[at].is("(")) return i;
  for (++at; at < tokens.size() && tokens[at].kind == Kind::Literal; ++at) {
  }
  return at < tokens.size() && tokens[at].is(":") ? at : i;
}

/// The offsets in the text of all that are to be doubled.
std::vector<size_t> loosePercents(const Tokens& tokens) {
  std::vector<size_t> found;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const size_t end = endOfTemplate(tokens, i);
    for (size_t k = i; k < end; ++k) {
      if (tokens[k].kind != Kind::Literal) continue;
      for (const size_t at : loosePercents(tokens[k].text)) found.push_back(tokens[k].offset + at);
    }
  }
  return found;
}

}  // namespace

std::optional<std::string> doubleRegisterPercents(std::string_view text) {
  const std::vector<size_t> percents = loosePercents(cxxTokens(text));
  if (percents.empty()) return std::nullopt;
  std::string out;
  size_t done = 0;
  for (const size_t at : percents) {
    out += text.substr(done, at - done);
    out += '%';
    done = at;
  }
  return out.append(text.substr(done));
}

bool hasRegisterPercent(const Tokens& tokens) { return !loosePercents(tokens).empty(); }

}  // namespace ordito::frontend
