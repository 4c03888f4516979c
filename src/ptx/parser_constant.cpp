// Numbers and constant expressions (PTX ISA, "Constants", "Constant Expressions"): C's operators on 64-bit integers,
// and arithmetic on doubles.
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "ptx/parser_impl.hpp"

namespace ordito::ptx {
namespace {

enum Operator : int {
  kNone,
  kOr,
  kAnd,
  kBitOr,
  kBitXor,
  kBitAnd,
  kEq,
  kNe,
  kLe,
  kGe,
  kLt,
  kGt,
  kShl,
  kShr,
  kAdd,
  kSub,
  kMul,
  kDiv,
  kRem
};

constexpr int precedence(int op) {
  constexpr int kOf[] = {0, 1, 2, 3, 4, 5, 6, 6, 7, 7, 7, 7, 8, 8, 9, 9, 10, 10, 10};
  return kOf[op];
}

constexpr bool twoCharacters(int op) {
  return op == kOr || op == kAnd || op == kEq || op == kNe || op == kLe || op == kGe || op == kShl || op == kShr;
}

double toDouble(const Constant& c) {
  if (c.isFloat) return std::bit_cast<double>(c.bits);
  return c.isUnsigned ? static_cast<double>(c.bits) : static_cast<double>(static_cast<int64_t>(c.bits));
}

Constant integer(uint64_t bits, bool isUnsigned = false) { return {false, isUnsigned, bits}; }
Constant floating(double value) { return {true, false, std::bit_cast<uint64_t>(value)}; }

bool parseDigits(std::string_view digits, int base, uint64_t& value) {
  auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  return problem == std::errc() && end == digits.data() + digits.size() && !digits.empty();
}

/// The bits of an f32 as a double. Done on the bits so that a NaN keeps its payload and stays quiet or signalling as it
/// was.
uint64_t widen(uint32_t f) {
  uint64_t sign = uint64_t{f >> 31} << 63, exponent = f >> 23 & 0xFF, fraction = f & 0x7FFFFF;
  if (exponent == 0xFF) return sign | 0x7FF0000000000000 | fraction << 29;
  return sign | (std::bit_cast<uint64_t>(static_cast<double>(std::bit_cast<float>(f))) & ~(uint64_t{1} << 63));
}

}  // namespace

int Parser::binaryOperator() const {
  switch (token_.punct) {
    case '|': return followedBy('|') ? kOr : kBitOr;
    case '&': return followedBy('&') ? kAnd : kBitAnd;
    case '^': return kBitXor;
    case '=': return followedBy('=') ? kEq : kNone;
    case '!': return followedBy('=') ? kNe : kNone;
    case '<': return followedBy('=') ? kLe : followedBy('<') ? kShl : kLt;
    case '>': return followedBy('=') ? kGe : followedBy('>') ? kShr : kGt;
    case '+': return kAdd;
    case '-': return kSub;
    case '*': return kMul;
    case '/': return kDiv;
    case '%': return kRem;
    default: return kNone;
  }
}

/// An expression of operators that bind at least as tightly as `lowest`.
Constant Parser::constant(int lowest) {
  if (++depth_ > kDeepestExpression) {
    error(token_, "constant expression is nested too deeply");
    --depth_;
    return {};
  }
  Constant left = unary();
  while (int op = more() ? binaryOperator() : kNone) {
    if (precedence(op) < lowest) break;
    Token at = token_;
    advance();
    if (twoCharacters(op)) advance();
    Constant right = constant(precedence(op) + 1);
    left = apply(at, op, left, right);
  }
  if (lowest == 0 && accept('?')) {
    Constant yes = constant();
    expect(':', "the second part of ?:");
    Constant no = constant();
    left = left.bits ? yes : no;
  }
  --depth_;
  return left;
}

Constant Parser::unary() {
  if (++depth_ > kDeepestExpression) {
    error(token_, "constant expression is nested too deeply");
    --depth_;
    return {};
  }
  Constant result;
  if (accept('-')) {
    Constant c = unary();
    result = c.isFloat ? Constant{true, false, c.bits ^ uint64_t{1} << 63} : integer(0 - c.bits, c.isUnsigned);
  } else if (accept('+')) {
    result = unary();
  } else if (accept('~')) {
    Constant c = unary();
    result = integer(~c.bits, c.isUnsigned);
  } else if (accept('!')) {
    result = integer(!unary().bits);
  } else {
    result = primary();
  }
  --depth_;
  return result;
}

Constant Parser::primary() {
  if (token_.kind == TokenKind::Number) return number();
  Token at = token_;
  if (!accept('(')) {
    error(token_, "expected a constant, found {}", found());
    return {};
  }
  bool toSigned = acceptDotted("s64");
  bool toUnsigned = !toSigned && acceptDotted("u64");
  if (toSigned || toUnsigned) {
    expect(')', "the cast");
    Constant c = unary();
    if (c.isFloat) error(at, "a floating-point constant cannot be cast");
    return integer(c.bits, toUnsigned);
  }
  Constant c = constant();
  expect(')', "the expression");
  return c;
}

Constant Parser::number() {
  Token at = token_;
  advance();
  std::string_view text = at.text;
  char kind = text.size() > 1 && text[0] == '0' ? static_cast<char>(text[1] | 0x20) : '\0';
  uint64_t value = 0;
  if (kind == 'f' || kind == 'd') {
    size_t digits = kind == 'f' ? 8 : 16;
    if (text.size() != digits + 2 || !parseDigits(text.substr(2), 16, value)) {
      error(at, "'{}' is no floating-point constant: 0{} and {} hexadecimal digits", text, text[1], digits);
      return {};
    }
    return {true, false, kind == 'f' ? widen(static_cast<uint32_t>(value)) : value};
  }
  bool hexadecimal = kind == 'x';
  if (!hexadecimal && text.find_first_of(".eE") != std::string_view::npos) {
    double d = 0;
    auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), d);
    // Out of range leaves `d` alone; strtod rounds to infinity or to a denormal as IEEE does.
    if (problem == std::errc::result_out_of_range) d = std::strtod(std::string(text).c_str(), nullptr);
    if (problem == std::errc::invalid_argument || end != text.data() + text.size())
      error(at, "'{}' is no number", text);
    return floating(d);
  }
  bool isUnsigned = text.ends_with('U');
  if (isUnsigned) text.remove_suffix(1);
  int base = hexadecimal ? 16 : kind == 'b' ? 2 : text.size() > 1 && text[0] == '0' ? 8 : 10;
  size_t prefix = base == 16 || base == 2 ? 2 : 0;
  if (!parseDigits(text.substr(std::min(prefix, text.size())), base, value)) {
    error(at, "'{}' is no number of at most 64 bits", at.text.substr(0, 80));
    return {};
  }
  return integer(value, isUnsigned || value >> 63);
}

/// Integer arithmetic wraps at 64 bits; it is unsigned if an operand is.
Constant Parser::apply(const Token& at, int op, Constant a, Constant b) {
  if (failed()) return {};
  if (a.isFloat || b.isFloat) {
    double x = toDouble(a), y = toDouble(b);
    switch (op) {
      case kAdd: return floating(x + y);
      case kSub: return floating(x - y);
      case kMul: return floating(x * y);
      case kDiv: return floating(x / y);
      case kEq: return integer(x == y);
      case kNe: return integer(x != y);
      case kLt: return integer(x < y);
      case kLe: return integer(x <= y);
      case kGt: return integer(x > y);
      case kGe: return integer(x >= y);
      default: error(at, "this operator takes no floating-point constants"); return {};
    }
  }
  bool u = a.isUnsigned || b.isUnsigned;
  uint64_t x = a.bits, y = b.bits;
  auto sx = static_cast<int64_t>(x), sy = static_cast<int64_t>(y);
  bool less = u ? x < y : sx < sy;
  switch (op) {
    case kOr: return integer(x || y);
    case kAnd: return integer(x && y);
    case kBitOr: return integer(x | y, u);
    case kBitXor: return integer(x ^ y, u);
    case kBitAnd: return integer(x & y, u);
    case kEq: return integer(x == y);
    case kNe: return integer(x != y);
    case kLt: return integer(less);
    case kGe: return integer(!less);
    case kLe: return integer(less || x == y);
    case kGt: return integer(!less && x != y);
    case kShl: return integer(y < 64 ? x << y : 0, a.isUnsigned);
    case kShr:
      return integer(a.isUnsigned ? (y < 64 ? x >> y : 0) : static_cast<uint64_t>(sx >> std::min<uint64_t>(y, 63)),
                     a.isUnsigned);
    case kAdd: return integer(x + y, u);
    case kSub: return integer(x - y, u);
    case kMul: return integer(x * y, u);
    default: break;
  }
  if (y == 0) {
    error(at, "division by zero in a constant expression");
    return {};
  }
  if (u) return integer(op == kDiv ? x / y : x % y, true);
  // The one signed quotient that does not fit.
  if (sy == -1) return integer(op == kDiv ? 0 - x : 0);
  return integer(static_cast<uint64_t>(op == kDiv ? sx / sy : sx % sy));
}

/// An integer constant of at most `most`, for directives.
uint64_t Parser::unsignedInteger(std::string_view what, uint64_t most) {
  Token at = token_;
  if (token_.kind != TokenKind::Number) {
    error(token_, "expected {}, found {}", what, found());
    return 0;
  }
  Constant c = number();
  if (!failed() && (c.isFloat || c.bits > most))
    error(at, "expected {} of at most {}, found '{}'", what, most, at.text);
  return failed() ? 0 : c.bits;
}

}  // namespace ordito::ptx
