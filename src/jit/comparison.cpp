// PTX ISA, "Comparison and Selection Instructions".
#include "jit/pure_chapters.hpp"

namespace ordito::jit {

using isa::ModifierKind;
using isa::Type;
using Results = PureResults;
using Predicate = llvm::CmpInst::Predicate;

namespace {

struct CompareRule {
  std::string_view name;
  Predicate isSigned, isUnsigned, isFloat;
};

constexpr Predicate kNone = Predicate::BAD_ICMP_PREDICATE;

/// PTX's comparison operators; lo, ls, hi, hs are unsigned names, the u forms hold for unordered floats.
constexpr CompareRule kRules[] = {
    {"eq", Predicate::ICMP_EQ, Predicate::ICMP_EQ, Predicate::FCMP_OEQ},
    {"ne", Predicate::ICMP_NE, Predicate::ICMP_NE, Predicate::FCMP_ONE},
    {"lt", Predicate::ICMP_SLT, Predicate::ICMP_ULT, Predicate::FCMP_OLT},
    {"le", Predicate::ICMP_SLE, Predicate::ICMP_ULE, Predicate::FCMP_OLE},
    {"gt", Predicate::ICMP_SGT, Predicate::ICMP_UGT, Predicate::FCMP_OGT},
    {"ge", Predicate::ICMP_SGE, Predicate::ICMP_UGE, Predicate::FCMP_OGE},
    {"lo", Predicate::ICMP_ULT, Predicate::ICMP_ULT, kNone},
    {"ls", Predicate::ICMP_ULE, Predicate::ICMP_ULE, kNone},
    {"hi", Predicate::ICMP_UGT, Predicate::ICMP_UGT, kNone},
    {"hs", Predicate::ICMP_UGE, Predicate::ICMP_UGE, kNone},
    {"equ", kNone, kNone, Predicate::FCMP_UEQ},
    {"neu", kNone, kNone, Predicate::FCMP_UNE},
    {"ltu", kNone, kNone, Predicate::FCMP_ULT},
    {"leu", kNone, kNone, Predicate::FCMP_ULE},
    {"gtu", kNone, kNone, Predicate::FCMP_UGT},
    {"geu", kNone, kNone, Predicate::FCMP_UGE},
    {"num", kNone, kNone, Predicate::FCMP_ORD},
    {"nan", kNone, kNone, Predicate::FCMP_UNO},
};

}  // namespace

LlvmValue ComparisonAndSelection::compare(LlvmValue x, LlvmValue y, Type t) {
  for (const CompareRule& rule : kRules) {
    if (rule.name != i_.mods.name(ModifierKind::Compare)) continue;
    const Predicate p = isa::isFloat(t) ? rule.isFloat : isa::isSigned(t) ? rule.isSigned : rule.isUnsigned;
    if (p == kNone) break;
    return isa::isFloat(t) ? b_.CreateFCmp(p, x, y) : b_.CreateICmp(p, x, y);
  }
  context_.refuse(i_, "this comparison does not apply to the type");
}

/// `(threadIdx.x & m) == 0` and its like: the warp decides once about its base, and what is asked of the lanes is the
/// same for all warps, so LLVM takes it out of the loop over them. Null where the operands are nothing of the kind.
LlvmValue ComparisonAndSelection::compareChosenBits(size_t x, size_t y, Type t) {
  const auto operation = i_.mods.name(ModifierKind::Compare);
  if ((operation != "eq" && operation != "ne") || i_.operands[y].kind != ptx::Operand::Kind::Integer) return nullptr;
  const auto bits = comparisons_.chosenBits(i_, x, t, s_);
  if (!bits) return nullptr;
  const uint64_t wanted = ptx::immediateBits(i_.operands[y], t), low = (uint64_t{1} << bits->patternBits) - 1;
  auto is = [&](LlvmValue v, uint64_t number) {
    return b_.CreateICmpEQ(v, llvm::ConstantInt::get(v->getType(), number));
  };
  LlvmValue open = is(bits->ofBase, wanted & ~low), lanes = is(bits->ofPattern, wanted & low);
  comparisons_.note(i_, open, lanes, operation == "ne");
  LlvmValue equal = b_.CreateSelect(open, lanes, llvm::Constant::getNullValue(lanes->getType()));
  return operation == "eq" ? equal : b_.CreateNot(equal);
}

LlvmValue ComparisonAndSelection::compareOperands(size_t x, size_t y, Type t) {
  if (LlvmValue test = isa::isFloat(t) ? nullptr : compareChosenBits(x, y, t)) return test;
  if (isa::isPacked(t)) return compareHalves(x, y, 0);
  if (isa::isFloat(t)) return compare(floatIn(x, t), floatIn(y, t), t);
  return compare(in(x, t), in(y, t), t);
}

/// The comparison of the lower or the upper halves of packed operands.
LlvmValue ComparisonAndSelection::compareHalves(size_t x, size_t y, unsigned half) {
  const Type t = isa::element(i_.type[i_.op == isa::Op::Set || i_.op == isa::Op::SetBool ? 1 : 0]);
  return compare(halfIn(x, t, half), halfIn(y, t, half), t);
}

LlvmValue ComparisonAndSelection::combine(LlvmValue test, LlvmValue with) {
  const auto op = i_.mods.name(ModifierKind::BoolOp);
  return op == "and" ? b_.CreateAnd(test, with) : op == "or" ? b_.CreateOr(test, with) : b_.CreateXor(test, with);
}

/// Results for p[|q]: the comparison and its negation, or for packed types the comparisons of the lower and of the
/// upper halves.
Results ComparisonAndSelection::setPredicates(bool hasBool) {
  LlvmValue p = compareOperands(2, 3, i_.type[0]);
  LlvmValue q = isa::isPacked(i_.type[0]) ? compareHalves(2, 3, 1) : b_.CreateNot(p);
  if (!hasBool) return {p, q};
  LlvmValue c = in(4, Type::pred);
  return {combine(p, c), combine(q, c)};
}

Results ComparisonAndSelection::Setp() { return setPredicates(false); }
Results ComparisonAndSelection::SetpBool() { return setPredicates(true); }

/// True is all ones as an integer and 1.0 as a float.
LlvmValue ComparisonAndSelection::setOne(LlvmValue test, Type to) {
  const uint64_t one = to == Type::f32    ? 0x3F800000
                       : to == Type::f16  ? 0x3C00
                       : to == Type::bf16 ? 0x3F80
                                          : ~uint64_t{0};
  return b_.CreateSelect(test, number(to, one), number(to, 0));
}

/// Packed numbers give a result for each half, of 16 bits where that is an integer.
Results ComparisonAndSelection::set(bool hasBool) {
  const bool halves = isa::isPacked(i_.type[1]);
  const Type to = halves && isa::isInteger(i_.type[0]) ? Type::u16 : isa::element(i_.type[0]);
  auto result = [&](LlvmValue test) { return setOne(hasBool ? combine(test, in(3, Type::pred)) : test, to); };
  LlvmValue low = result(compareOperands(1, 2, i_.type[1]));
  if (!isa::isPacked(i_.type[0]) && !halves) return {low};
  auto word = [&](LlvmValue v) { return b_.CreateZExt(b_.CreateBitCast(v, type(Type::u16)), type(Type::u32)); };
  if (!halves) return {word(low)};
  return {b_.CreateOr(word(low), b_.CreateShl(word(result(compareHalves(1, 2, 1))), 16))};
}

Results ComparisonAndSelection::Set() { return set(false); }
Results ComparisonAndSelection::SetBool() { return set(true); }
Results ComparisonAndSelection::Selp() { return {b_.CreateSelect(in(3, Type::pred), passIn(1), passIn(2))}; }

/// a if c >= 0, else b; -0 counts as >= 0, NaN does not.
Results ComparisonAndSelection::Slct() {
  const Type t = i_.type[1];
  LlvmValue c = t == Type::f32 ? floatIn(3, t) : in(3, t);
  LlvmValue test = t == Type::f32 ? b_.CreateFCmpOGE(c, number(Type::f32, 0)) : b_.CreateICmpSGE(c, number(t, 0));
  return {b_.CreateSelect(test, passIn(1), passIn(2))};
}

}  // namespace ordito::jit
