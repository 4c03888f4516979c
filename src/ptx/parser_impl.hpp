// The recursive-descent parser, shared by the parser*.cpp files: one class, one file for each part of the grammar.
//
// Errors are sticky. The first call of error() keeps its message and turns the rest of the text into End, so every rule
// returns soon and no rule has to test what the rules below it answered; only loops ask `more()`.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "base/error.hpp"
#include "ptx/lexer.hpp"
#include "ptx/module.hpp"
#include "ptx/names.hpp"
#include "ptx/opcode.hpp"

namespace ordito::ptx {

/// The value of a constant expression.
struct Constant {
  bool isFloat = false;
  bool isUnsigned = false;
  uint64_t bits = 0;  // two's complement, or the IEEE double
};

/// What a .loc names: index into Module::files, line, column.
struct SourcePlace {
  uint32_t file = 0, line = 0, column = 0;
  auto operator<=>(const SourcePlace&) const = default;
};

class Parser {
 public:
  Parser(std::string_view text, std::string_view name) : lexer_(text), name_(name) { advance(); }
  Expected<Module> run();

 private:
  // parser.cpp: tokens and errors
  void advance();
  bool more() const { return !failed() && token_.kind != TokenKind::End; }
  bool failed() const { return error_.has_value(); }
  bool accept(char c);
  bool acceptDotted(std::string_view word);
  bool expect(char c, std::string_view after);
  std::string_view expectWord(std::string_view what);
  bool followedBy(char c) const;
  std::string found() const;
  std::string where() const;
  template <class... Args>
  void error(const Token& at, fmt::format_string<Args...> format, Args&&... args) {
    if (!failed()) fail(at.line, at.at, fmt::format(format, std::forward<Args>(args)...));
  }
  void fail(uint32_t line, const char* at, std::string message);

  // parser.cpp: module
  void moduleStatement();
  void versionDirective();
  void targetDirective();
  void addressSizeDirective();
  void fileDirective();
  void locDirective();
  void pragmaDirective();
  void skipSection();
  Linkage linkage();
  uint32_t fileIndex(uint64_t number);
  SourcePlace sourcePlace();
  uint32_t inlinedFile(uint32_t file, const SourcePlace& call);
  void nameInlinedFiles();

  // parser_constant.cpp
  Constant constant(int lowest = 0);
  Constant unary();
  Constant primary();
  Constant number();
  Constant apply(const Token& at, int op, Constant a, Constant b);
  int binaryOperator() const;
  uint64_t unsignedInteger(std::string_view what, uint64_t most);

  // parser_variable.cpp
  struct Initialiser;
  std::optional<Space> spaceDirective();
  void variables(Space space, Linkage linkage);
  void variable(Variable v, uint32_t vectorLength);
  void dimensions(Variable& v, std::vector<uint64_t>& dims, uint32_t vectorLength);
  void initialiser(Variable& v, std::vector<uint64_t>& dims);
  void initialiserLevel(Initialiser& to, size_t level, uint64_t first);
  void initialiserElement(Initialiser& to, uint64_t index);
  void initialiserAddress(Initialiser& to, uint64_t index);
  void reserve(Initialiser& to, uint64_t index);
  void declareVariable(Variable v, std::string_view name);
  void addModuleVariable(Variable v, std::string_view name);
  void registers();
  isa::Type typeDirective(std::string_view what);
  uint32_t alignDirective();
  void resolveInitialisers();

  // parser_function.cpp
  void entry(Linkage linkage);
  void func(Linkage linkage);
  void header(std::string_view& name);
  void definition(std::string_view name, const Token& at);
  void parameterList(std::vector<Parameter>& list, Symbol::Kind kind, bool prototype);
  Parameter parameter(std::string_view& name);
  void functionDirectives();
  void threeNumbers(uint32_t (&n)[3]);
  uint32_t declareFunction(std::string_view name, const Token& at, bool hasBody);
  void body();
  void statement();
  void bodyDirective();
  void label(std::string_view name, const Token& at);
  void callPrototype(std::string_view name);
  void callTargets(std::string_view name);
  void branchTargets(std::string_view name);
  void closeScope();
  void resolve(const LabelUse& use, uint32_t label);
  void declare(std::string_view name, const Entity& entity, const Token& at);
  std::string uniqueName(std::string_view name);

  // parser_instruction.cpp
  void guardedInstruction();
  void instruction(const Token& mnemonic, Guard guard);
  const Opcode* opcode(const Token& mnemonic);
  void unwrapVectorOfOne(Instruction& i);
  void operands(Instruction& i);
  void unifiedAttribute(const Instruction& i);
  void spaceFromSymbol(Instruction& i) const;
  void callOperands(Instruction& i);
  Operand callList();
  Operand image();
  bool selector(Operand& o, std::string_view text);
  Operand operand();
  Operand named();
  Operand address();
  Operand vector();
  Operand special(const Token& at);
  Operand fromConstant(const Constant& c);
  void labelOperand(uint32_t index);
  Operand arrayElement();
  int64_t elementOffset(const Symbol& symbol);
  int64_t offset();
  uint32_t locationIndex();
  RegisterId use(Entity& entity, std::string_view name);

  static constexpr size_t kDeepestScope = 64;
  static constexpr int kDeepestExpression = 200;

  struct PendingInitialiser {
    uint32_t variable = 0;
    size_t relocation = 0;
    Token name;
  };

  Lexer lexer_;
  std::string_view name_;
  Token token_;
  const char* previousEnd_ = nullptr;
  std::optional<Error> error_;
  Module module_;
  Names names_;
  std::vector<Token> addresses_;  // names in the relocations of the variable being parsed
  std::vector<PendingInitialiser> pendingInitialisers_;
  std::unordered_map<uint64_t, uint32_t> files_;           // number in .file -> index in Module::files
  std::map<std::array<uint32_t, 3>, uint32_t> locations_;  // file, line, column -> index in Module::locations
  std::unordered_map<std::string_view, Opcode> opcodes_;   // spelling -> what it was found to be
  struct InlinedFile {
    uint32_t index = 0, file = 0, callFile = 0, callLine = 0;
  };
  std::map<std::array<uint32_t, 3>, uint32_t> inlinedFiles_;  // file, the call's file and line -> index
  std::vector<InlinedFile> unnamedFiles_;
  std::map<SourcePlace, uint32_t> fileAt_;  // the file of the last .loc of this place, which may be an inlined one
  int depth_ = 0;                           // of the constant expression

  bool inFunction_ = false;
  Function function_;                                      // the one being parsed
  SourceLocation location_;                                // of the last .loc
  std::unordered_set<std::string> taken_;                  // names given out in function_
  std::unordered_map<std::string_view, uint32_t> copies_;  // how often a name was declared again
};

}  // namespace ordito::ptx
