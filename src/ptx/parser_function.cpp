// Kernels and functions: headers, bodies, scopes, labels and what is declared with a label (.callprototype,
// .calltargets, .branchtargets).
#include "ptx/parser_impl.hpp"

namespace ordito::ptx {
namespace {

// CUDA allows 32764 bytes of kernel parameters; functions may pass larger structures by value.
constexpr uint64_t kLargestParameters = uint64_t{1} << 20;

bool sameShape(const std::vector<Parameter>& a, const std::vector<Parameter>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i].size != b[i].size || a[i].isRegister != b[i].isRegister || isa::bits(a[i].type) != isa::bits(b[i].type))
      return false;
  return true;
}

/// Places parameters one after the other, each at its alignment, as the CUDA driver does.
uint32_t layOut(std::vector<Parameter>& list) {
  uint32_t end = 0;
  for (Parameter& p : list) {
    if (p.isRegister) continue;
    p.offset = (end + p.alignment - 1) & ~(p.alignment - 1);
    end = p.offset + p.size;
  }
  return end;
}

}  // namespace

void Parser::entry(Linkage linkage) {
  function_ = {};
  function_.isEntry = true;
  function_.linkage = linkage;
  std::string_view name;
  Token at = token_;
  header(name);
  definition(name, at);
}

void Parser::func(Linkage linkage) {
  function_ = {};
  function_.linkage = linkage;
  std::string_view name;
  Token at = token_;
  header(name);
  definition(name, at);
}

/// From the return parameters to the directives before the body. Opens the function's scope.
void Parser::header(std::string_view& name) {
  inFunction_ = true;
  location_ = {};
  taken_.clear();
  copies_.clear();
  names_.open();
  if (token_.isDotted("attribute")) return error(token_, "attributes of functions are not supported by Ordito");
  if (!function_.isEntry && token_.is('(')) parameterList(function_.returns, Symbol::Kind::ReturnParameter, false);
  function_.line = token_.line;
  name = expectWord(function_.isEntry ? "the kernel's name" : "the function's name");
  function_.name = name;
  if (token_.is('(')) parameterList(function_.parameters, Symbol::Kind::Parameter, false);
  layOut(function_.returns);
  function_.parameterBytes = layOut(function_.parameters);
  functionDirectives();
}

/// Declaration or definition. A definition's name is known inside its own body.
void Parser::definition(std::string_view name, const Token& at) {
  if (failed()) return;
  function_.hasBody = token_.is('{');
  if (!function_.hasBody && !expect(';', "the header")) return;
  uint32_t index = declareFunction(name, at, function_.hasBody);
  if (failed()) return;
  if (function_.hasBody) body();
  if (failed()) return;
  closeScope();
  if (failed()) return;
  if (function_.hasBody) module_.functions[index] = std::move(function_);
  inFunction_ = false;
}

uint32_t Parser::declareFunction(std::string_view name, const Token& at, bool hasBody) {
  if (hasBody && function_.linkage == Linkage::Extern) function_.linkage = Linkage::Visible;
  auto next = static_cast<uint32_t>(module_.functions.size());
  auto [known, isNew] =
      names_.module().names.try_emplace(name, Entity{Entity::Kind::Symbol, {}, {Symbol::Kind::Function, next}, 0});
  if (isNew) {
    module_.functions.push_back(function_);
    return next;
  }
  if (known->second.symbol.kind != Symbol::Kind::Function) return error(at, "'{}' is declared twice", name), 0;
  uint32_t index = known->second.symbol.index;
  Function& before = module_.functions[index];
  if (hasBody && before.hasBody) return error(at, "'{}' has two bodies", name), 0;
  if (before.isEntry != function_.isEntry || !sameShape(before.parameters, function_.parameters) ||
      !sameShape(before.returns, function_.returns))
    return error(at, "'{}' was declared on line {} with other parameters", name, before.line), 0;
  Linkage declared = before.linkage;
  if (hasBody) {
    if (function_.linkage == Linkage::Internal && declared != Linkage::Extern) function_.linkage = declared;
    function_.noReturn |= before.noReturn;
    before = function_;
  }
  return index;
}

void Parser::parameterList(std::vector<Parameter>& list, Symbol::Kind kind, bool prototype) {
  expect('(', "the name");
  if (accept(')')) return;
  uint64_t total = 0;
  do {
    Token at = token_;
    std::string_view name;
    Parameter p = parameter(name);
    if (failed()) return;
    total += p.size + p.alignment;
    if (total > kLargestParameters) return error(at, "parameters are larger than {} bytes", kLargestParameters);
    if (!prototype) {
      p.name = uniqueName(name);
      if (p.isRegister) {
        p.reg = static_cast<RegisterId>(function_.registers.size());
        function_.registers.push_back({p.name, p.type});
        declare(name, {Entity::Kind::Register, p.type, {}, p.reg}, at);
      } else {
        declare(name, {Entity::Kind::Symbol, {}, {kind, static_cast<uint32_t>(list.size())}, 0}, at);
      }
    } else {
      p.name = name;
    }
    list.push_back(std::move(p));
  } while (more() && accept(','));
  expect(')', "the parameters");
}

Parameter Parser::parameter(std::string_view& name) {
  Parameter p;
  Token at = token_;
  p.isRegister = acceptDotted("reg");
  if (!p.isRegister && !acceptDotted("param")) return error(at, "expected .param, found {}", found()), p;
  uint32_t alignment = p.isRegister ? 0 : alignDirective();
  if (token_.isDotted("v2") || token_.isDotted("v4")) error(token_, "vector parameters are not supported by Ordito");
  Token typeAt = token_;
  p.type = typeDirective("the parameter's type");
  if (isa::isOpaque(p.type))
    error(typeAt, "parameters of type .{} are not supported by Ordito; pass the object as .u64", isa::name(p.type));
  if (isa::isPredicate(p.type) && !p.isRegister) error(typeAt, "a parameter cannot be of type .pred");
  p.alignment = std::max(isa::bytes(p.type), 1u);
  p.size = isa::bytes(p.type);
  if (p.isRegister) return name = expectWord("the parameter's name"), p;
  // `.ptr .global .align 16` tells what a pointer points to; nothing depends on it here.
  if (acceptDotted("ptr")) {
    for (std::string_view space : {"const", "global", "local", "shared"})
      if (acceptDotted(space)) break;
    alignDirective();
  }
  if (uint32_t late = alignDirective()) alignment = late;
  name = expectWord("the parameter's name");
  p.alignment = std::max(alignment, p.alignment);
  if (accept('[')) {
    if (token_.is(']')) return error(token_, "arrays of unknown size as parameters are not supported by Ordito"), p;
    Token size = token_;
    p.count = static_cast<uint32_t>(unsignedInteger("the array's size", kLargestParameters));
    if (!failed() && !p.count) error(size, "array size must be a positive integer");
    p.size = std::min<uint64_t>(uint64_t{p.count} * isa::bytes(p.type), kLargestParameters + 1);
    expect(']', "the array's size");
  }
  return p;
}

void Parser::threeNumbers(uint32_t (&n)[3]) {
  n[0] = n[1] = n[2] = 1;
  int i = 0;
  do {
    Token at = token_;
    n[i] = static_cast<uint32_t>(unsignedInteger("a number of threads", UINT32_MAX));
    if (!failed() && n[i] == 0) error(at, "a block has at least one thread in each dimension");
  } while (++i < 3 && accept(','));
}

void Parser::functionDirectives() {
  uint32_t ignored = 0;
  while (more() && token_.kind == TokenKind::Dotted) {
    if (acceptDotted("noreturn"))
      function_.noReturn = true;
    else if (acceptDotted("maxntid"))
      threeNumbers(function_.maxntid);
    else if (acceptDotted("reqntid"))
      threeNumbers(function_.reqntid);
    else if (acceptDotted("minnctapersm"))
      function_.minnctapersm = static_cast<uint32_t>(unsignedInteger("a number of blocks", UINT32_MAX));
    else if (acceptDotted("maxnctapersm"))
      ignored = static_cast<uint32_t>(unsignedInteger("a number of blocks", UINT32_MAX));
    else if (acceptDotted("maxclusterrank"))
      ignored = static_cast<uint32_t>(unsignedInteger("a number of blocks", UINT32_MAX));
    else if (acceptDotted("maxnreg"))
      function_.maxnreg = static_cast<uint32_t>(unsignedInteger("a number of registers", UINT32_MAX));
    else if (acceptDotted("pragma"))
      pragmaDirective();
    else
      error(token_, "directive {} of a {} is not supported by Ordito", found(),
            function_.isEntry ? "kernel" : "function");
  }
  (void)ignored;
}

// Bodies

void Parser::body() {
  size_t outer = names_.depth();
  advance();
  while (more()) {
    if (token_.is('{')) {
      if (names_.depth() - outer >= kDeepestScope)
        return error(token_, "scopes are nested deeper than {}", kDeepestScope);
      names_.open();
      advance();
    } else if (token_.is('}')) {
      if (names_.depth() == outer) break;
      closeScope();
      advance();
    } else {
      statement();
    }
  }
  expect('}', "the body");
}

void Parser::statement() {
  if (accept(';')) return;
  if (token_.is('@')) return guardedInstruction();
  if (token_.kind == TokenKind::Dotted) return bodyDirective();
  Token first = token_;
  if (expectWord("an instruction").empty()) return;
  if (accept(':')) return label(first.text, first);
  instruction(first, {});
}

void Parser::bodyDirective() {
  if (acceptDotted("reg")) return registers();
  if (acceptDotted("loc")) return locDirective();
  if (acceptDotted("pragma")) return pragmaDirective();
  if (acceptDotted("file")) return fileDirective();
  if (acceptDotted("section")) return skipSection();
  Linkage how = linkage();
  if (auto space = spaceDirective()) return variables(*space, how);
  error(token_, "expected an instruction or a directive, found {}", found());
}

void Parser::label(std::string_view name, const Token& at) {
  if (acceptDotted("callprototype")) return callPrototype(name);
  if (acceptDotted("calltargets")) return callTargets(name);
  if (acceptDotted("branchtargets")) return branchTargets(name);
  declare(name, {Entity::Kind::Label, {}, {}, static_cast<uint32_t>(function_.labels.size())}, at);
  function_.labels.push_back({uniqueName(name), static_cast<uint32_t>(function_.instructions.size())});
}

/// `name: .callprototype (.param .b32 _) _ (.param .b64 _);`
void Parser::callPrototype(std::string_view name) {
  declare(name, {Entity::Kind::Prototype, {}, {}, static_cast<uint32_t>(function_.prototypes.size())}, token_);
  Prototype prototype;
  prototype.name = uniqueName(name);
  if (token_.is('(')) parameterList(prototype.returns, Symbol::Kind::None, true);
  expectWord("'_'");
  if (token_.is('(')) parameterList(prototype.parameters, Symbol::Kind::None, true);
  acceptDotted("noreturn");
  expect(';', ".callprototype");
  layOut(prototype.returns);
  layOut(prototype.parameters);
  function_.prototypes.push_back(std::move(prototype));
}

/// `name: .calltargets f, g;`: all have one signature, so the first gives the prototype.
void Parser::callTargets(std::string_view name) {
  declare(name, {Entity::Kind::Prototype, {}, {}, static_cast<uint32_t>(function_.prototypes.size())}, token_);
  Prototype prototype;
  bool first = true;
  do {
    Token at = token_;
    Entity* target = names_.find(expectWord("a function"));
    if (failed()) return;
    if (!target || target->symbol.kind != Symbol::Kind::Function) return error(at, "'{}' is no function", at.text);
    const Function& f = module_.functions[target->symbol.index];
    if (first) prototype = {uniqueName(name), f.returns, f.parameters};
    first = false;
  } while (more() && accept(','));
  for (auto* list : {&prototype.returns, &prototype.parameters})
    for (Parameter& p : *list) p.name = "_", p.reg = kNoRegister;
  expect(';', ".calltargets");
  function_.prototypes.push_back(std::move(prototype));
}

void Parser::branchTargets(std::string_view name) {
  auto index = static_cast<uint32_t>(function_.branchTargets.size());
  declare(name, {Entity::Kind::BranchTargets, {}, {}, index}, token_);
  BranchTargets targets{uniqueName(name), {}};
  do {
    Token at = token_;
    expectWord("a label");
    names_.innermost().labelUses.push_back(
        {at.text, at.at, at.line, index, static_cast<uint32_t>(targets.labels.size()), true});
    targets.labels.push_back(0);
  } while (more() && accept(','));
  expect(';', ".branchtargets");
  function_.branchTargets.push_back(std::move(targets));
}

// Scopes

/// A label may be used before it is declared, so uses wait for the end of their scope; what is not found there goes to
/// the scope around it.
void Parser::closeScope() {
  Names::Scope scope = names_.close();
  bool outermost = names_.depth() == 1;
  for (const LabelUse& use : scope.labelUses) {
    auto found = scope.names.find(use.name);
    if (found != scope.names.end() && found->second.kind == Entity::Kind::Label)
      resolve(use, found->second.index);
    else if (outermost && !failed())
      fail(use.line, use.at, fmt::format("label '{}' is not declared", use.name));
    else
      names_.innermost().labelUses.push_back(use);
  }
}

void Parser::resolve(const LabelUse& use, uint32_t label) {
  if (use.inTargets)
    function_.branchTargets[use.index].labels[use.operand] = label;
  else
    function_.instructions[use.index].operands[use.operand].label = label;
}

void Parser::declare(std::string_view name, const Entity& entity, const Token& at) {
  if (!failed() && !names_.declare(name, entity)) error(at, "'{}' is declared twice in one scope", name);
}

/// Names in a Function are unique although scopes may repeat them (param0 in each call): the second `x` becomes `x$1`.
/// So does an inner `x` that hides a module's, since a Function has no inner scopes.
std::string Parser::uniqueName(std::string_view name) {
  bool inner = names_.depth() > 2;
  std::string unique(name);
  while ((inner && names_.module().names.contains(unique)) || !taken_.insert(unique).second)
    unique = fmt::format("{}${}", name, ++copies_[name]);
  return unique;
}

}  // namespace ordito::ptx
