// PTX ISA, "Comparison and Selection Instructions".
#include "jit/lower.hpp"

namespace ordito::jit {

using isa::ModifierKind;
using isa::Type;
using Results = Lower::Results;
using Predicate = llvm::CmpInst::Predicate;

namespace {

struct CompareRule {
  std::string_view name;
  Predicate isSigned, isUnsigned, isFloat;
};

constexpr Predicate kNone = Predicate::BAD_ICMP_PREDICATE;

/// PTX's comparison operators; lo, ls, hi, hs are unsigned names, the u forms hold for unordered floats.
constexpr CompareRule kRules[] = {
    {"eq", Predicate::ICMP_EQ, Predicate::ICMP_EQ, Predicate::FCMP_OEQ},   {"ne", Predicate::ICMP_NE, Predicate::ICMP_NE, Predicate::FCMP_ONE},
    {"lt", Predicate::ICMP_SLT, Predicate::ICMP_ULT, Predicate::FCMP_OLT}, {"le", Predicate::ICMP_SLE, Predicate::ICMP_ULE, Predicate::FCMP_OLE},
    {"gt", Predicate::ICMP_SGT, Predicate::ICMP_UGT, Predicate::FCMP_OGT}, {"ge", Predicate::ICMP_SGE, Predicate::ICMP_UGE, Predicate::FCMP_OGE},
    {"lo", Predicate::ICMP_ULT, Predicate::ICMP_ULT, kNone},               {"ls", Predicate::ICMP_ULE, Predicate::ICMP_ULE, kNone},
    {"hi", Predicate::ICMP_UGT, Predicate::ICMP_UGT, kNone},               {"hs", Predicate::ICMP_UGE, Predicate::ICMP_UGE, kNone},
    {"equ", kNone, kNone, Predicate::FCMP_UEQ},                            {"neu", kNone, kNone, Predicate::FCMP_UNE},
    {"ltu", kNone, kNone, Predicate::FCMP_ULT},                            {"leu", kNone, kNone, Predicate::FCMP_ULE},
    {"gtu", kNone, kNone, Predicate::FCMP_UGT},                            {"geu", kNone, kNone, Predicate::FCMP_UGE},
    {"num", kNone, kNone, Predicate::FCMP_ORD},                            {"nan", kNone, kNone, Predicate::FCMP_UNO},
};

}  // namespace

LlvmValue Lower::compare(LlvmValue x, LlvmValue y, Type t) {
  for (const CompareRule& rule : kRules) {
    if (rule.name != i.mods.name(ModifierKind::Compare)) continue;
    const Predicate p = isa::isFloat(t) ? rule.isFloat : isa::isSigned(t) ? rule.isSigned : rule.isUnsigned;
    if (p == kNone) break;
    return isa::isFloat(t) ? b.CreateFCmp(p, x, y) : b.CreateICmp(p, x, y);
  }
  e.refuse(i, "this comparison does not apply to the type");
}

LlvmValue Lower::compareOperands(size_t x, size_t y, Type t) {
  if (isa::isPacked(t)) e.refuse(i, "packed comparisons are not supported by the JIT");
  if (isa::isFloat(t)) return compare(floatIn(x, t), floatIn(y, t), t);
  return compare(in(x, t), in(y, t), t);
}

LlvmValue Lower::combine(LlvmValue test, LlvmValue with) {
  const auto op = i.mods.name(ModifierKind::BoolOp);
  return op == "and" ? b.CreateAnd(test, with) : op == "or" ? b.CreateOr(test, with) : b.CreateXor(test, with);
}

/// Results for p[|q]; q holds the comparison negated.
Results Lower::Setp() {
  LlvmValue p = compareOperands(2, 3, i.type[0]);
  return {p, b.CreateNot(p)};
}

Results Lower::SetpBool() {
  LlvmValue p = compareOperands(2, 3, i.type[0]), c = in(4, Type::pred);
  return {combine(p, c), combine(b.CreateNot(p), c)};
}

/// True is all ones as an integer and 1.0 as a float.
static LlvmValue setValue(llvm::IRBuilder<>& b, LlvmValue test, llvm::Type* type) {
  if (type->isFPOrFPVectorTy()) return b.CreateUIToFP(test, type);
  return b.CreateSExt(test, type);
}

Results Lower::Set() { return {setValue(b, compareOperands(1, 2, i.type[1]), type(i.type[0]))}; }
Results Lower::SetBool() { return {setValue(b, combine(compareOperands(1, 2, i.type[1]), in(3, Type::pred)), type(i.type[0]))}; }
Results Lower::Selp() { return {b.CreateSelect(in(3, Type::pred), in(1), in(2))}; }

/// a if c >= 0, else b; -0 counts as >= 0, NaN does not.
Results Lower::Slct() {
  const Type t = i.type[1];
  LlvmValue c = t == Type::f32 ? floatIn(3, t) : in(3, t);
  LlvmValue test = t == Type::f32 ? b.CreateFCmpOGE(c, number(Type::f32, 0)) : b.CreateICmpSGE(c, number(t, 0));
  return {b.CreateSelect(test, in(1), in(2))};
}

}  // namespace ordito::jit
