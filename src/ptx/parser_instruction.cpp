// Instructions: the opcode is looked up in the instruction table, and the row found says which operands follow.
#include "ptx/parser_impl.hpp"

namespace ordito::ptx {

void Parser::guardedInstruction() {
  advance();
  Guard guard;
  guard.negated = accept('!');
  Token at = token_;
  std::string_view name = expectWord("a predicate");
  if (failed()) return;
  Entity* entity = names_.find(name);
  if (!entity || entity->kind != Entity::Kind::Register)
    return error(at, "'{}' is not a declared predicate register", name);
  guard.reg = use(*entity, name);
  Token mnemonic = token_;
  if (token_.is('{')) return error(token_, "a predicate cannot guard a block");
  if (!expectWord("an instruction").empty()) instruction(mnemonic, guard);
}

/// Reads the words behind a mnemonic and finds the row. A module uses few different opcodes, so each spelling is looked
/// up once.
const Opcode* Parser::opcode(const Token& mnemonic) {
  constexpr size_t kMostWords = 16;
  std::string_view words[kMostWords];
  size_t count = 0;
  bool contiguous = true;
  const char* end = mnemonic.end();
  while (token_.kind == TokenKind::Dotted) {
    if (count == kMostWords) return error(mnemonic, "instruction '{}' has too many modifiers", mnemonic.text), nullptr;
    contiguous &= token_.at == end;
    end = token_.end();
    words[count++] = token_.text;
    advance();
  }
  std::string_view spelling(mnemonic.at, end - mnemonic.at);
  if (contiguous)
    if (auto known = opcodes_.find(spelling); known != opcodes_.end()) return &known->second;
  auto row = findOpcode(mnemonic.text, {words, count});
  if (!row) return error(mnemonic, "{}", row.error().message), nullptr;
  return &opcodes_.insert_or_assign(spelling, *row).first->second;
}

void Parser::instruction(const Token& mnemonic, Guard guard) {
  const Opcode* found = opcode(mnemonic);
  if (!found || failed()) return;
  Instruction& i = function_.instructions.emplace_back();
  i.op = found->op;
  i.mods = found->mods;
  std::copy(std::begin(found->type), std::end(found->type), std::begin(i.type));
  i.guard = guard;
  i.line = mnemonic.line;
  i.location = locationIndex();
  i.operands.resize(i.info().form.operandCount);
  if (i.op == isa::Op::Call)
    callOperands(i);
  else
    operands(i), spaceFromSymbol(i), unwrapVectorOfOne(i);
  if (!failed() && !accept(';'))
    error(token_, "expected ';' after '{}', found {}", isa::manualSyntax(i.info()), this->found());
}

/// A place of the source gets its number when an instruction first comes from it.
uint32_t Parser::locationIndex() {
  if (location_ == SourceLocation{}) return 0;
  const std::array key{location_.file, location_.line, location_.column};
  auto [found, isNew] = locations_.try_emplace(key, static_cast<uint32_t>(module_.locations.size()));
  if (isNew) module_.locations.push_back(location_);
  return found->second;
}

/// A vector of one is its element: nvcc writes so the one register of a surface access, Triton that of a load or store.
void Parser::unwrapVectorOfOne(Instruction& i) {
  const bool mayBe = i.info().unit == isa::Unit::Texture || i.op == isa::Op::Ld || i.op == isa::Op::St;
  if (!mayBe || i.has(isa::ModifierKind::Vector)) return;
  for (Operand& o : i.operands) {
    if (o.kind != Operand::Kind::Vector || o.elements.size() != 1) continue;
    Operand only = std::move(o.elements[0]);
    o = std::move(only);
  }
}

void Parser::operands(Instruction& i) {
  const isa::Form& form = i.info().form;
  bool first = true;
  for (uint32_t k = 0; k < form.operandCount && !failed(); ++k) {
    const isa::OperandForm& position = form.operands[k];
    if (position.paired) {
      if (accept('|'))
        i.operands[k] = operand();
      else if (!position.optional)
        error(token_, "expected '|' and a second result: '{}', found {}", isa::manualSyntax(i.info()), found());
      continue;
    }
    if (!first && !accept(',')) {
      if (position.optional) continue;
      // `d, a{, b}, c` with three operands: the last one is c.
      if (form.operands[k - 1].optional && !form.operands[k - 1].paired && i.operands[k].is(Operand::Kind::None)) {
        i.operands[k] = std::exchange(i.operands[k - 1], {});
        continue;
      }
      return error(token_, "operand '{}' is missing: expected '{}', found {}", position.name,
                   isa::manualSyntax(i.info()), found());
    }
    first = false;
    if (position.kind == isa::OperandForm::Kind::Label)
      labelOperand(k);
    else if (position.kind == isa::OperandForm::Kind::Address && !token_.is('['))
      i.operands[k] = arrayElement();
    else if (position.kind == isa::OperandForm::Kind::Image)
      i.operands[k] = image();
    else if (token_.is('-') && i.op == isa::Op::Vmad)
      advance(), i.operands[k] = operand(), i.operands[k].negated = true;
    else
      i.operands[k] = operand();
    if (position.kind == isa::OperandForm::Kind::Address && i.op == isa::Op::Ld) unifiedAttribute(i);
  }
  // `cp.async … [d], [a], b{, c}{, u}` with .L2::cache_hint: the policy is the last, and may stand alone.
  const size_t last = i.operands.size() - 1;
  if (i.has(isa::ModifierKind::CacheHint) && form.operands[last - 1].optional &&
      i.operands[last].is(Operand::Kind::None))
    i.operands[last] = std::exchange(i.operands[last - 1], {});
}

/// `ld.global.u32 d, [a].unified`: the address is the same in all lanes, says the compiler; nothing depends on it.
void Parser::unifiedAttribute(const Instruction& i) {
  const Token at = token_;
  if (!acceptDotted("unified")) return;
  const auto space = i.mods.name(isa::ModifierKind::Space);
  if (!space.empty() && space != "global") error(at, ".unified needs .global or generic memory");
}

/// `[a, c]` and `[a, b, c]`: texture or surface, sampler, coordinates.
Operand Parser::image() {
  Operand list;
  list.kind = Operand::Kind::Vector;
  if (!expect('[', "the operands before it")) return list;
  do {
    if (token_.is('[')) error(token_, "expected a texture, a surface or coordinates, found {}", found());
    list.elements.push_back(operand());
  } while (more() && list.elements.size() < 3 && accept(','));
  if (list.elements.size() < 2) error(token_, "expected ', coordinates', found {}", found());
  expect(']', "the coordinates");
  return list;
}

/// `ld.u32 %r1, [x]` names no state space but means that of x: only there is the symbol's address valid.
void Parser::spaceFromSymbol(Instruction& i) const {
  const isa::Form& form = i.info().form;
  if (i.has(isa::ModifierKind::Space) || i.info().unit == isa::Unit::Texture) return;
  for (uint32_t k = 0; k < form.operandCount; ++k) {
    if (form.operands[k].kind != isa::OperandForm::Kind::Address) continue;
    const Symbol& s = i.operands[k].symbol;
    bool ofModule = s.kind == Symbol::Kind::ModuleVariable, ofFunction = s.kind == Symbol::Kind::LocalVariable;
    if (!ofModule && !ofFunction) continue;
    Space space = ofModule ? module_.variables[s.index].space : function_.variables[s.index].space;
    if (space != Space::Global && space != Space::Shared && space != Space::Local) continue;
    std::string_view name = space == Space::Global ? "global" : space == Space::Shared ? "shared" : "local";
    i.mods[isa::ModifierKind::Space] = isa::modifierValue(isa::ModifierKind::Space, name);
  }
}

void Parser::labelOperand(uint32_t index) {
  Token at = token_;
  if (expectWord("a label").empty()) return;
  if (function_.instructions.back().op == isa::Op::BrxIdx) {
    const Entity* targets = names_.find(at.text);
    if (!targets || targets->kind != Entity::Kind::BranchTargets)
      return error(at, "'{}' names no .branchtargets", at.text);
    Operand& o = function_.instructions.back().operands[index];
    o.kind = Operand::Kind::Integer;
    o.bits = targets->index;
    return;
  }
  auto instruction = static_cast<uint32_t>(function_.instructions.size() - 1);
  function_.instructions.back().operands[index].kind = Operand::Kind::Label;
  names_.innermost().labelUses.push_back({at.text, at.at, at.line, instruction, index, false});
}

/// `call (ret), f, (a, b);` with every part but the target optional, and `call (ret), %rd1, (a), prototype;`
void Parser::callOperands(Instruction& i) {
  if (token_.is('(')) {
    i.operands[0] = callList();
    expect(',', "the return list");
  }
  Token at = token_;
  if (expectWord("a function").empty()) return;
  Entity* target = names_.find(at.text);
  if (!target) return error(at, "function '{}' is not declared", at.text);
  if (target->kind == Entity::Kind::Register) {
    i.operands[1].kind = Operand::Kind::Register;
    i.operands[1].reg = use(*target, at.text);
  } else if (target->kind == Entity::Kind::Symbol && target->symbol.kind == Symbol::Kind::Function) {
    i.operands[1].kind = Operand::Kind::Symbol;
    i.operands[1].symbol = target->symbol;
  } else {
    return error(at, "'{}' is no function", at.text);
  }
  bool more = accept(',');
  if (more && token_.is('(')) {
    i.operands[2] = callList();
    more = accept(',');
  }
  bool indirect = i.operands[1].is(Operand::Kind::Register);
  if (more) {
    Token name = token_;
    Entity* prototype = names_.find(expectWord("a prototype"));
    if (failed()) return;
    if (!prototype || prototype->kind != Entity::Kind::Prototype) return error(name, "'{}' is no prototype", name.text);
    if (!indirect) return;
    i.operands[3].kind = Operand::Kind::Integer;
    i.operands[3].bits = prototype->index;
  } else if (indirect && !failed()) {
    error(token_, "an indirect call needs a .callprototype or .calltargets, found {}", found());
  }
}

Operand Parser::callList() {
  Operand list;
  list.kind = Operand::Kind::Vector;
  advance();
  if (accept(')')) return list;
  do {
    if (token_.is('[') || token_.is('{')) error(token_, "expected an argument, found {}", found());
    list.elements.push_back(operand());
  } while (more() && accept(','));
  expect(')', "the list");
  return list;
}

// Operands

Operand Parser::operand() {
  if (token_.kind == TokenKind::Word) return named();
  if (token_.is('[')) return address();
  if (token_.is('{')) return vector();
  if (token_.kind == TokenKind::Number || token_.is('-') || token_.is('+') || token_.is('~') || token_.is('('))
    return fromConstant(constant());
  if (accept('!')) {
    if (token_.kind != TokenKind::Word) return fromConstant({false, false, !constant().bits});
    Token at = token_;
    Operand o = named();
    const bool isPredicate = o.is(Operand::Kind::Register) && isa::isPredicate(function_.registers[o.reg].type);
    if (!failed() && !isPredicate) error(at, "'!' needs a predicate");
    o.negated = true;
    return o;
  }
  error(token_, "expected an operand, found {}", found());
  return {};
}

Operand Parser::fromConstant(const Constant& c) {
  Operand o;
  o.kind = c.isFloat ? Operand::Kind::Float : Operand::Kind::Integer;
  o.bits = c.bits;
  return o;
}

/// A register, a variable (its address), `_` or a special register.
Operand Parser::named() {
  Token at = token_;
  advance();
  Operand o;
  Entity* entity = names_.find(at.text);
  if (size_t dot = at.text.find('.'); !entity && dot != std::string_view::npos) {
    entity = names_.find(at.text.substr(0, dot));
    const bool selects = entity && entity->kind == Entity::Kind::Register && selector(o, at.text.substr(dot + 1));
    if (!selects) entity = nullptr;
  }
  if (!entity) return special(at);
  switch (entity->kind) {
    case Entity::Kind::Register:
      o.kind = Operand::Kind::Register;
      o.reg = use(*entity, at.text.substr(0, o.selector ? at.text.find('.') : at.text.size()));
      if (token_.kind == TokenKind::Dotted && token_.at == at.end() && selector(o, token_.text)) advance();
      break;
    case Entity::Kind::Symbol:
      o.kind = Operand::Kind::Symbol;
      o.symbol = entity->symbol;
      o.offset = elementOffset(o.symbol) + offset();
      break;
    default: error(at, "label '{}' cannot be an operand here", at.text);
  }
  return o;
}

/// `.b0`, `.h1`, `.b3210`: parts of a register that a video instruction uses (see Operand::selector).
bool Parser::selector(Operand& o, std::string_view text) {
  if (text.size() < 2 || text.size() > 5 || (text[0] != 'b' && text[0] != 'h')) return false;
  unsigned digits = 0;
  for (char c : text.substr(1)) {
    if (c < '0' || c > '7') return false;
    digits = digits << 3 | static_cast<unsigned>(c - '0');
  }
  o.selector = static_cast<uint16_t>((text[0] == 'h') << 15 | (text.size() - 1) << 12 | digits);
  return true;
}

Operand Parser::special(const Token& at) {
  Operand o;
  if (at.text == "_") {
    o.kind = Operand::Kind::Sink;
    return o;
  }
  // The manual lists WARP_SZ with the special registers, but it is a constant and may stand wherever one may.
  if (at.text == "WARP_SZ") return fromConstant({false, false, 32});
  if (auto special = isa::specialFromName(at.text)) {
    o.kind = Operand::Kind::Special;
    o.special = *special;
    return o;
  }
  std::string_view name = at.text;
  for (std::string_view vector : {"%tid", "%ntid", "%ctaid", "%nctaid"})
    if (name == vector)
      return error(at, "special register '{}' as a whole vector is not supported by Ordito; name a component: {}.x",
                   name, name),
             o;
  for (std::string_view known : {"%reserved_smem"})
    if (name.starts_with(known)) return error(at, "special register '{}' is not supported by Ordito", name), o;
  if (size_t dot = name.find('.'); dot != std::string_view::npos && names_.find(name.substr(0, dot)))
    return error(at, "'{}': vector registers are not supported by Ordito", name), o;
  error(at, "'{}' is not declared", name.substr(0, 200));
  return o;
}

/// `[reg]`, `[reg+4]`, `[reg+-4]`, `[symbol]`, `[symbol+4]` or `[1024]`.
Operand Parser::address() {
  advance();
  Operand o;
  o.kind = Operand::Kind::Address;
  Token at = token_;
  if (token_.kind == TokenKind::Word) {
    Operand base = named();
    if (base.is(Operand::Kind::Register)) {
      o.reg = base.reg;
      o.offset = offset();
    } else if (base.is(Operand::Kind::Symbol)) {
      o.symbol = base.symbol;
      o.offset = base.offset;
    } else {
      error(at, "'{}' cannot be an address", at.text);
    }
  } else {
    Constant c = constant();
    if (c.isFloat) error(at, "a floating-point constant cannot be an address");
    o.offset = static_cast<int64_t>(c.bits);
  }
  expect(']', "the address");
  return o;
}

/// `ld.u32 s, a[2]`: PTX ISA, "Arrays as Operands": an element of an array is an address without brackets around it.
Operand Parser::arrayElement() {
  const Token at = token_;
  const Entity* entity = at.kind == TokenKind::Word ? names_.find(at.text) : nullptr;
  Operand o;
  if (!entity || entity->kind != Entity::Kind::Symbol)
    return error(at, "expected an address in brackets, found {}", found()), o;
  advance();
  if (!token_.is('[')) return error(at, "expected an address in brackets, found '{}'", at.text), o;
  o.kind = Operand::Kind::Address;
  o.symbol = entity->symbol;
  o.offset = elementOffset(o.symbol);
  return o;
}

/// The bytes that `[2]` behind the name of an array means, 0 without one.
int64_t Parser::elementOffset(const Symbol& symbol) {
  const Token at = token_;
  if (!accept('[')) return 0;
  const Constant index = constant();
  expect(']', "the index");
  const bool ofModule = symbol.kind == Symbol::Kind::ModuleVariable;
  if (!ofModule && symbol.kind != Symbol::Kind::LocalVariable) return error(at, "only a variable has elements"), 0;
  if (index.isFloat) return error(at, "an index is an integer"), 0;
  const Variable& array = ofModule ? module_.variables[symbol.index] : function_.variables[symbol.index];
  return static_cast<int64_t>(index.bits * isa::bytes(array.type));
}

/// The `+4`, `-8` or `+-4` behind an address, 0 if there is none.
int64_t Parser::offset() {
  constexpr int kProduct = 10;  // terms may multiply, sums are taken here
  uint64_t sum = 0;
  while (token_.is('+') || token_.is('-')) {
    Token at = token_;
    advance();
    Constant c = constant(kProduct);
    if (c.isFloat) error(at, "a floating-point constant cannot be an offset");
    sum = at.is('+') ? sum + c.bits : sum - c.bits;
  }
  return static_cast<int64_t>(sum);
}

Operand Parser::vector() {
  constexpr size_t kLongestVector = 8;
  Token at = token_;
  advance();
  Operand o;
  o.kind = Operand::Kind::Vector;
  do {
    if (token_.is('[') || token_.is('{')) error(token_, "expected a vector's element, found {}", found());
    o.elements.push_back(operand());
    if (o.elements.size() > kLongestVector) error(at, "vector has more than {} elements", kLongestVector);
  } while (more() && accept(','));
  expect('}', "the vector");
  return o;
}

RegisterId Parser::use(Entity& entity, std::string_view name) {
  if (entity.index == kNoRegister) {
    entity.index = static_cast<RegisterId>(function_.registers.size());
    function_.registers.push_back({uniqueName(name), entity.type});
  }
  return entity.index;
}

}  // namespace ordito::ptx
