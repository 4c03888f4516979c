// The parser's ground floor: tokens, messages, and the directives that stand at module level.
#include "ptx/parser.hpp"

#include "ptx/parser_impl.hpp"

namespace ordito::ptx {

Expected<Module> parse(std::string_view text, std::string_view name) {
  auto module = Parser(text, name).run();
  if (module) module->source.digest.add(text);
  return module;
}

Expected<Module> Parser::run() {
  if (!token_.isDotted("version")) error(token_, "PTX must start with .version, found {}", found());
  while (more()) moduleStatement();
  if (module_.target.empty()) error(token_, ".target is missing");
  resolveInitialisers();
  nameInlinedFiles();
  if (failed()) return tl::unexpected(*error_);
  return std::move(module_);
}

// Tokens

void Parser::advance() {
  if (failed()) return;
  previousEnd_ = token_.end();
  token_ = lexer_.next();
  if (token_.kind == TokenKind::Invalid) error(token_, "{}", token_.text);
}

bool Parser::accept(char c) {
  if (!token_.is(c)) return false;
  advance();
  return true;
}

bool Parser::acceptDotted(std::string_view word) {
  if (!token_.isDotted(word)) return false;
  advance();
  return true;
}

bool Parser::expect(char c, std::string_view after) {
  if (accept(c)) return true;
  error(token_, "expected '{}' after {}, found {}", c, after, found());
  return false;
}

std::string_view Parser::expectWord(std::string_view what) {
  std::string_view word = token_.text;
  if (token_.kind != TokenKind::Word) {
    error(token_, "expected {}, found {}", what, found());
    return {};
  }
  advance();
  return word;
}

/// Whether `c` stands directly behind the current token.
bool Parser::followedBy(char c) const { return lexer_.at(token_.end()) == c; }

// Messages

std::string Parser::found() const {
  constexpr size_t kLongest = 40;
  switch (token_.kind) {
    case TokenKind::End: return "the end of the text";
    case TokenKind::Dotted: return fmt::format("'.{}'", token_.text.substr(0, kLongest));
    case TokenKind::String: return fmt::format("\"{}\"", token_.text.substr(0, kLongest));
    default: return fmt::format("'{}'", token_.text.substr(0, kLongest));
  }
}

std::string Parser::where() const {
  if (!inFunction_ || function_.name.empty()) return "";
  return fmt::format("{} '{}': ", function_.isEntry ? "kernel" : "function", function_.name);
}

void Parser::fail(uint32_t line, const char* at, std::string message) {
  constexpr int kInvalidPtx = 218;  // CUDA_ERROR_INVALID_PTX
  error_ = Error{fmt::format("{}:{}:{}: {}{}", name_, line, lexer_.column(at), where(), message), kInvalidPtx};
  token_ = {};
}

// Module level

Linkage Parser::linkage() {
  if (acceptDotted("visible")) return Linkage::Visible;
  if (acceptDotted("extern")) return Linkage::Extern;
  if (acceptDotted("weak")) return Linkage::Weak;
  if (acceptDotted("common")) return Linkage::Common;
  return Linkage::Internal;
}

void Parser::moduleStatement() {
  if (accept(';')) return;
  if (acceptDotted("version")) return versionDirective();
  if (acceptDotted("target")) return targetDirective();
  if (acceptDotted("address_size")) return addressSizeDirective();
  if (acceptDotted("file")) return fileDirective();
  if (acceptDotted("loc")) return locDirective();
  if (acceptDotted("pragma")) return pragmaDirective();
  if (acceptDotted("section")) return skipSection();
  Linkage how = linkage();
  if (acceptDotted("entry")) return entry(how);
  if (acceptDotted("func")) return func(how);
  if (auto space = spaceDirective()) return variables(*space, how);
  if (token_.isDotted("alias")) return error(token_, "directive '.alias' is not supported by Ordito");
  error(token_, "expected a directive at module level, found {}", found());
}

void Parser::versionDirective() {
  Token at = token_;
  size_t dot = at.text.find('.');
  unsigned major = 0, minor = 0;
  for (char c : at.text.substr(0, dot)) major = major < 1000 && c >= '0' && c <= '9' ? major * 10 + (c - '0') : 1000;
  if (dot != std::string_view::npos && at.text.size() == dot + 2) minor = at.text[dot + 1] - '0';
  if (at.kind != TokenKind::Number || dot == std::string_view::npos || at.text.size() != dot + 2 || major >= 100 ||
      minor > 9)
    return error(at, "expected a version such as 8.3, found {}", found());
  advance();
  module_.version = major * 10 + minor;
}

void Parser::targetDirective() {
  do {
    Token at = token_;
    std::string_view word = expectWord("a target such as sm_80");
    bool gpu = word.starts_with("sm_") || word.starts_with("compute_");
    if (gpu) {
      module_.target = word;
      module_.sm = 0;
      for (char c : word.substr(word.find('_') + 1))
        if (c >= '0' && c <= '9' && module_.sm < 10000) module_.sm = module_.sm * 10 + (c - '0');
      if (!module_.sm) error(at, "target '{}' has no number", word);
    } else if (word != "debug" && word != "texmode_unified" && word != "texmode_independent") {
      error(at, "target option '{}' is not supported by Ordito", word);
    }
  } while (accept(','));
}

void Parser::addressSizeDirective() {
  Token at = token_;
  module_.addressSize = static_cast<uint32_t>(unsignedInteger("an address size", 64));
  if (module_.addressSize != 64) error(at, "only .address_size 64 is supported by Ordito");
}

uint32_t Parser::fileIndex(uint64_t number) {
  auto [found, isNew] = files_.try_emplace(number, static_cast<uint32_t>(module_.files.size()));
  if (isNew) module_.files.emplace_back();
  return found->second;
}

// .file may stand before or after the .loc's that refer to it: clang writes it first, nvcc last.
void Parser::fileDirective() {
  uint32_t index = fileIndex(unsignedInteger("a file number", UINT32_MAX));
  if (token_.kind != TokenKind::String) return error(token_, "expected a file name, found {}", found());
  module_.files[index] = token_.text;
  advance();
  while (accept(',')) unsignedInteger("a time stamp or size", UINT64_MAX);
}

SourcePlace Parser::sourcePlace() {
  SourcePlace place;
  place.file = fileIndex(unsignedInteger("a file number", UINT32_MAX));
  place.line = static_cast<uint32_t>(unsignedInteger("a line", UINT32_MAX));
  place.column = static_cast<uint32_t>(unsignedInteger("a column", UINT32_MAX));
  return place;
}

void Parser::locDirective() {
  const SourcePlace place = sourcePlace();
  uint32_t file = place.file;
  while (accept(',')) {
    std::string_view word = expectWord("function_name or inlined_at");
    if (word == "function_name") {
      expectWord("a label");
      if (accept('+')) unsignedInteger("an offset", UINT64_MAX);
    } else if (word == "inlined_at") {
      file = inlinedFile(place.file, sourcePlace());
    } else {
      error(token_, "expected function_name or inlined_at, found '{}'", word);
    }
  }
  fileAt_[place] = file;
  location_ = {file, place.line, place.column};
}

/// A file seen through a call is a file of its own, named "a.cu:20 > b.cuh", outermost call first. The call itself may
/// be inlined: then the last .loc of its place told where.
uint32_t Parser::inlinedFile(uint32_t file, const SourcePlace& call) {
  const auto outer = fileAt_.find(call);
  const uint32_t callFile = outer == fileAt_.end() ? call.file : outer->second;
  const auto index = static_cast<uint32_t>(module_.files.size());
  const auto [known, isNew] = inlinedFiles_.try_emplace({file, callFile, call.line}, index);
  if (!isNew) return known->second;
  module_.files.emplace_back();
  unnamedFiles_.push_back({index, file, callFile, call.line});
  return index;
}

/// At the end, when all .file directives are known. What lies outside comes first in the list.
void Parser::nameInlinedFiles() {
  for (const InlinedFile& inlined : unnamedFiles_) {
    const std::string& own = module_.files[inlined.file];
    module_.files[inlined.index] =
        fmt::format("{}:{} > {}", module_.files[inlined.callFile], inlined.callLine, own.substr(own.rfind('/') + 1));
  }
}

// Pragmas are advice to the compiler ("nounroll"); taking it or not changes no result.
void Parser::pragmaDirective() {
  do {
    if (token_.kind != TokenKind::String) return error(token_, "expected a string after .pragma, found {}", found());
    advance();
  } while (accept(','));
  expect(';', ".pragma");
}

// Debug information (DWARF) in a block of its own.
void Parser::skipSection() {
  if (token_.kind != TokenKind::Dotted && token_.kind != TokenKind::Word)
    return error(token_, "expected a section's name, found {}", found());
  advance();
  if (!expect('{', "the section's name")) return;
  for (int depth = 1; depth > 0;) {
    if (!more()) return error(token_, "section is never closed");
    if (token_.is('{')) ++depth;
    if (token_.is('}')) --depth;
    advance();
  }
}

}  // namespace ordito::ptx
