// Variables: .global, .const, .shared, .local and .param (inside bodies) with arrays, alignment and initialisers, and
// .reg.
#include <algorithm>
#include <bit>
#include <cstring>

#include "ptx/parser_impl.hpp"

namespace ordito::ptx {
namespace {

// No variable of a real program comes near these; without a bound a few digits of text could ask for all memory.
constexpr uint64_t kLargestVariable = uint64_t{1} << 35;
constexpr uint64_t kLargestInitialised = uint64_t{1} << 28;
constexpr uint64_t kLargestAlignment = 65536;
constexpr uint64_t kMostRegisters = uint64_t{1} << 31;

std::string_view spaceName(Space space) {
  constexpr std::string_view kNames[] = {"generic", "reg", "const", "global", "local", "param", "shared"};
  return kNames[static_cast<int>(space)];
}

}  // namespace

struct Parser::Initialiser {
  Variable& variable;
  const std::vector<uint64_t>& dims;
  std::vector<uint64_t> strides;  // elements below one step of each dimension
  uint64_t limit = 0;             // elements that may be written
};

std::optional<Space> Parser::spaceDirective() {
  constexpr std::pair<std::string_view, Space> kSpaces[] = {{"global", Space::Global},
                                                            {"const", Space::Const},
                                                            {"shared", Space::Shared},
                                                            {"local", Space::Local},
                                                            {"param", Space::Param}};
  for (auto& [name, space] : kSpaces)
    if (acceptDotted(name)) return space;
  for (std::string_view legacy : {"tex", "surf", "sreg"})
    if (token_.isDotted(legacy)) error(token_, "state space '.{}' is not supported by Ordito", legacy);
  return std::nullopt;
}

isa::Type Parser::typeDirective(std::string_view what) {
  Token at = token_;
  if (token_.kind == TokenKind::Dotted) {
    if (auto type = isa::typeFromName(token_.text)) {
      if (isa::isUndeclarable(*type) && !isa::isOpaque(*type))
        error(at, "type '.{}' belongs to instructions", token_.text);
      advance();
      return *type;
    }
  }
  error(at, "expected {}, found {}", what, found());
  return isa::Type::b8;
}

/// `.align N` if it stands here, otherwise 0.
uint32_t Parser::alignDirective() {
  if (!acceptDotted("align")) return 0;
  Token at = token_;
  uint64_t alignment = unsignedInteger("an alignment", kLargestAlignment);
  if (!failed() && !std::has_single_bit(alignment)) error(at, "alignment {} is no power of two", alignment);
  return failed() ? 1 : static_cast<uint32_t>(alignment);
}

void Parser::variables(Space space, Linkage linkage) {
  if (!inFunction_ && (space == Space::Param || space == Space::Local))
    return error(token_, "a .{} variable cannot stand at module level", spaceName(space));
  Variable v;
  v.space = space;
  v.linkage = linkage;
  if (token_.is('[')) return error(token_, "banks of .const are not supported by Ordito");
  uint32_t vectorLength = 1;
  for (bool directives = true; directives && more();) {
    if (acceptDotted("attribute")) {
      expect('(', ".attribute");
      if (token_.isDotted("managed"))
        v.managed = true, advance();
      else
        error(token_, "attribute {} is not supported by Ordito", found());
      expect(')', "the attribute");
    } else if (uint32_t alignment = alignDirective()) {
      v.alignment = alignment;
    } else if (acceptDotted("v2")) {
      vectorLength = 2;
    } else if (acceptDotted("v4")) {
      vectorLength = 4;
    } else {
      directives = false;
    }
  }
  Token at = token_;
  v.type = typeDirective("the variable's type");
  if (failed()) return;
  if (isa::isPredicate(v.type)) return error(at, "a variable cannot be of type .pred");
  if (isa::isOpaque(v.type) && (space != Space::Global || inFunction_))
    return error(at, "a variable of type .{} must be .global and stand at module level", isa::name(v.type));
  // Written alignment may only raise the natural one.
  v.alignment = std::max<uint32_t>(v.alignment, isa::bytes(v.type) * (v.alignment == 1 ? vectorLength : 1));
  do {
    variable(v, vectorLength);
  } while (more() && accept(','));
  expect(';', "the variable");
}

void Parser::variable(Variable v, uint32_t vectorLength) {
  v.line = token_.line;
  Token at = token_;
  std::string_view name = expectWord("the variable's name");
  if (token_.is('<')) return error(token_, "ranges of variables are not supported by Ordito");
  std::vector<uint64_t> dims;
  dimensions(v, dims, vectorLength);
  if (failed()) return;
  if (accept('=')) {
    if (isa::isOpaque(v.type))
      return error(at, "variables of opaque types with initialisers are not supported by Ordito");
    if (v.space != Space::Global && v.space != Space::Const)
      return error(at, "a .{} variable cannot be initialised", spaceName(v.space));
    initialiser(v, dims);
  } else if (v.count == 0 && v.linkage != Linkage::Extern) {
    return error(at, "array '{}' without a size must be .extern or have an initialiser", name);
  }
  if (!failed()) declareVariable(std::move(v), name);
}

/// Sets count and size. A vector variable is one more dimension: nothing above the parser cares for the difference.
void Parser::dimensions(Variable& v, std::vector<uint64_t>& dims, uint32_t vectorLength) {
  constexpr size_t kMostDimensions = 16;
  Token at = token_;
  while (accept('[')) {
    if (dims.size() == kMostDimensions) return error(token_, "array has more than {} dimensions", kMostDimensions);
    if (token_.is(']') && dims.empty()) {
      dims.push_back(0);
    } else {
      Token size = token_;
      Constant c = constant();
      if (!failed() && (c.isFloat || static_cast<int64_t>(c.bits) <= 0))
        return error(size, "array size must be a positive integer");
      dims.push_back(c.bits);
    }
    if (!expect(']', "the array's size")) return;
  }
  if (vectorLength > 1) dims.push_back(vectorLength);
  // `x[][4]` has no count yet, but its rows are bounded like everything else.
  bool open = !dims.empty() && dims[0] == 0;
  uint64_t elements = 1, most = kLargestVariable / isa::bytes(v.type);
  for (uint64_t d : dims) {
    if (d > most / elements) return error(at, "variable is larger than {} bytes", kLargestVariable);
    elements *= std::max<uint64_t>(d, 1);
  }
  v.count = open ? 0 : elements;
  v.size = v.count * isa::bytes(v.type);
}

void Parser::initialiser(Variable& v, std::vector<uint64_t>& dims) {
  Token at = token_;
  if (v.size > kLargestInitialised)
    return error(at, "initialised variable is larger than {} bytes", kLargestInitialised);
  if (token_.kind == TokenKind::String) return error(at, "strings as initialisers are not supported by Ordito");
  uint64_t width = isa::bytes(v.type);
  Initialiser to{v, dims, std::vector<uint64_t>(dims.size(), 1), 0};
  for (size_t i = dims.size(); i-- > 1;) to.strides[i - 1] = to.strides[i] * dims[i];
  bool open = !dims.empty() && dims[0] == 0;
  to.limit = open ? kLargestInitialised / width : v.count;
  v.initial.resize(v.size);
  addresses_.clear();
  if (dims.empty())
    initialiserElement(to, 0);
  else
    initialiserLevel(to, 0, 0);
  if (failed()) return;
  if (open) {
    uint64_t step = to.strides[0];
    v.count = (v.initial.size() / width + step - 1) / step * step;
    v.size = v.count * width;
    if (v.size == 0) return error(at, "array of unknown size has no initialisers");
    if (v.size > kLargestInitialised)
      return error(at, "initialised variable is larger than {} bytes", kLargestInitialised);
    v.initial.resize(v.size);
  }
}

/// `{…}` for one dimension; its elements are numbered from `first`.
void Parser::initialiserLevel(Initialiser& to, size_t level, uint64_t first) {
  if (!expect('{', "'='")) return;
  uint64_t stride = to.strides[level], end = to.limit;
  if (to.dims[level]) end = std::min(end, first + stride * to.dims[level]);
  if (accept('}')) return;
  uint64_t at = first;
  do {
    if (token_.is('{') && level + 1 < to.dims.size()) {
      if (at + stride > end) return error(token_, "too many initialisers");
      initialiserLevel(to, level + 1, at);
      at += stride;
    } else {
      if (at >= end) return error(token_, "too many initialisers");
      initialiserElement(to, at++);
    }
  } while (more() && accept(','));
  expect('}', "the initialisers");
}

/// Makes room in an array whose size comes from its initialisers.
void Parser::reserve(Initialiser& to, uint64_t index) {
  size_t end = (index + 1) * isa::bytes(to.variable.type);
  if (to.variable.initial.size() < end) to.variable.initial.resize(end);
}

void Parser::initialiserElement(Initialiser& to, uint64_t index) {
  if (token_.kind == TokenKind::Word) return initialiserAddress(to, index);
  Token at = token_;
  Constant c = constant();
  if (token_.is('(')) return error(at, "masked addresses such as 0xFF(symbol) are not supported by Ordito");
  if (failed()) return;
  Variable& v = to.variable;
  unsigned width = isa::bytes(v.type);
  if (c.isFloat && width < 4) return error(at, "floating-point constant in a variable of type .{}", isa::name(v.type));
  if (width > 8) return error(at, "variables of type .{} cannot be initialised", isa::name(v.type));
  if (!c.isFloat && (v.type == isa::Type::f32 || v.type == isa::Type::f64)) {
    c.isFloat = true;
    c.bits = std::bit_cast<uint64_t>(static_cast<double>(static_cast<int64_t>(c.bits)));
  }
  Operand value;
  value.kind = c.isFloat ? Operand::Kind::Float : Operand::Kind::Integer;
  value.bits = c.bits;
  uint64_t bits = immediateBits(value, v.type);
  reserve(to, index);
  std::memcpy(v.initial.data() + index * width, &bits, width);
}

void Parser::initialiserAddress(Initialiser& to, uint64_t index) {
  Token at = token_;
  advance();
  Variable& v = to.variable;
  bool generic = at.text == "generic" && accept('(');
  Token name = at;
  if (generic) {
    name = token_;
    expectWord("a variable");
    expect(')', "the variable");
  } else if (token_.is('(')) {
    return error(at, "operator '{}' in an initialiser is not supported by Ordito", at.text);
  }
  unsigned width = isa::bytes(v.type);
  if (width != 8 && width != 4) return error(at, "address in a variable of type .{}", isa::name(v.type));
  Relocation relocation;
  relocation.offset = index * width;
  relocation.addend = offset();
  relocation.generic = generic;
  relocation.bytes = static_cast<uint8_t>(width);
  if (failed()) return;
  reserve(to, index);
  v.relocations.push_back(relocation);
  addresses_.push_back(name);
}

/// Static variables belong to the module wherever they stand; the others to the function.
void Parser::declareVariable(Variable v, std::string_view name) {
  if (!inFunction_ || v.space == Space::Global || v.space == Space::Const || v.linkage == Linkage::Extern)
    return addModuleVariable(std::move(v), name);
  Entity entity{
      Entity::Kind::Symbol, {}, {Symbol::Kind::LocalVariable, static_cast<uint32_t>(function_.variables.size())}, 0};
  declare(name, entity, token_);
  v.name = uniqueName(name);
  function_.variables.push_back(std::move(v));
}

/// `.extern` may be followed by the definition, and either may be repeated.
void Parser::addModuleVariable(Variable v, std::string_view name) {
  auto index = static_cast<uint32_t>(module_.variables.size());
  Entity entity{Entity::Kind::Symbol, {}, {Symbol::Kind::ModuleVariable, index}, 0};
  v.name = name;
  if (inFunction_) {
    declare(name, entity, token_);
    // '%' may only begin a name.
    v.name = fmt::format("{}${}${}", function_.name, name.substr(name.starts_with('%')), index);
  } else if (auto [known, isNew] = names_.module().names.try_emplace(name, entity); !isNew) {
    Symbol symbol = known->second.symbol;
    bool variable = symbol.kind == Symbol::Kind::ModuleVariable;
    Variable* before = variable ? &module_.variables[symbol.index] : nullptr;
    if (!before || before->space != v.space || before->type != v.type ||
        (before->linkage != Linkage::Extern && v.linkage != Linkage::Extern))
      return error(token_, "'{}' is declared twice", name);
    index = symbol.index;
    if (v.linkage == Linkage::Extern) return;
    *before = std::move(v);
    for (size_t i = 0; i < before->relocations.size(); ++i) pendingInitialisers_.push_back({index, i, addresses_[i]});
    return;
  }
  for (size_t i = 0; i < v.relocations.size(); ++i) pendingInitialisers_.push_back({index, i, addresses_[i]});
  module_.variables.push_back(std::move(v));
}

/// Initialisers may name what is declared after them.
void Parser::resolveInitialisers() {
  for (const PendingInitialiser& pending : pendingInitialisers_) {
    auto known = names_.module().names.find(pending.name.text);
    if (known == names_.module().names.end()) return error(pending.name, "'{}' is not declared", pending.name.text);
    module_.variables[pending.variable].relocations[pending.relocation].symbol = known->second.symbol;
  }
}

/// `.reg .b32 %r<10>, %x;`. Nothing is made yet: see Names.
void Parser::registers() {
  if (token_.isDotted("v2") || token_.isDotted("v4"))
    return error(token_, "vector registers are not supported by Ordito");
  Token typeAt = token_;
  isa::Type type = typeDirective("the registers' type");
  if (isa::isOpaque(type)) return error(typeAt, "a register cannot be of type .{}", isa::name(type));
  do {
    Token at = token_;
    std::string_view name = expectWord("a register's name");
    if (accept('<')) {
      uint64_t count = unsignedInteger("a number of registers", kMostRegisters);
      expect('>', "the number of registers");
      if (!failed() && !names_.declareRange(name, {type, count}))
        error(at, "registers '{}<…>' are declared twice", name);
    } else if (!failed()) {
      declare(name, {Entity::Kind::Register, type, {}, kNoRegister}, at);
    }
  } while (more() && accept(','));
  expect(';', ".reg");
}

}  // namespace ordito::ptx
