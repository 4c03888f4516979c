// Which products a GPU's compiler fuses, as read in the machine code that ptxas 13.0 makes of 50,000 random expressions
// (docs/accuracy.md). The PTX manual leaves the choice open.
//
// A candidate is a `mul` without rounding modifier, .sat and guard; it can be fused into an `add` or `sub` without
// rounding modifier of the same type and the same .ftz. Copies are looked through, and so are negations and factors of
// 1 and -1. All happens within one run (runs.hpp), but for products with a factor that is a number, a parameter or from
// constant memory: their sums may stand anywhere. For each sum, in the order of the program:
//
//   * A product can be fused here if all who still read it are such sums, each with another second operand. If it
//     has several readers, a product that only one of these sums reads goes before it (not for .f16x2 and .bf16x2,
//     where both can be had). If it has one, the sum must not add two products of the same factors (but for these types
//     and .ftz).
//   * Of two that can, the one with fewer readers is fused; of two with equally many, the first operand.
//   * The other operand is then read by a fused multiply-add, and can itself be fused into nothing any more.
#include "ir/contraction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <optional>
#include <set>

#include "ir/runs.hpp"

namespace ordito::ir {
namespace {

using isa::ModifierKind;
using isa::Op;
using isa::Type;
using ptx::Operand;
using ptx::RegisterId;

constexpr uint32_t kNone = ~0u;

bool mayFuse(const ptx::Instruction& i) { return !i.has(ModifierKind::Rounding); }
bool isProduct(const ptx::Instruction& i) {
  return i.op == Op::MulF && mayFuse(i) && !i.has(ModifierKind::Saturate) && !i.guard;
}
bool isSum(const ptx::Instruction& i) {
  return (i.op == Op::AddF || i.op == Op::SubF) && mayFuse(i) && i.operands[0].is(Operand::Kind::Register);
}

/// What a register or an operand holds.
struct Content {
  uint32_t value = kNone;    // equal for copies of the same
  uint32_t product = kNone;  // in products_
  bool negated = false;
  bool isConstant = false;
  bool isSumToOthers = false;  // came through neg.ftz, which the GPU does by adding to -0
  bool operator==(const Content&) const = default;
};

struct Product {
  uint32_t position;
  std::array<Content, 2> factors;
  unsigned readers = 0;        // at first
  bool escapes = false;        // somebody reads it who cannot take it in
  bool isCopied = false;       // read through a copy: the copy stays, and so does the product
  std::vector<uint32_t> sums;  // those that still read it
};

struct Sum {
  uint32_t position;
  std::array<Content, 2> operands;  // with the sign of `sub`
};

/// The changes to a function, made when all are known, since its labels count instructions.
class Changes {
 public:
  explicit Changes(ptx::Function& f) : f_(f), before_(f.instructions.size()), isGone_(f.instructions.size(), 0) {}

  ptx::Instruction& at(uint32_t instruction) { return f_.instructions[instruction]; }
  void drop(uint32_t instruction) { isGone_[instruction] = 1; }

  /// `operand`, or its negative, as the instruction finds it: in a new register.
  Operand keep(uint32_t instruction, const Operand& operand, bool negated) {
    const ptx::Instruction& place = at(instruction);
    const Type type = place.type[0], bits = isa::bits(type) == 16 ? Type::b16 : isa::isPacked(type) ? Type::b32 : type;
    Operand copy;
    copy.kind = Operand::Kind::Register;
    copy.reg = static_cast<RegisterId>(f_.registers.size());
    f_.registers.push_back({fmt::format("%kept{}", copy.reg), bits});
    ptx::Instruction keeper;
    keeper.op = negated ? Op::NegF : Op::Mov;
    keeper.type[0] = negated ? type : bits;
    keeper.operands = {copy, operand};
    keeper.line = place.line;
    keeper.location = place.location;
    before_[instruction].push_back(std::move(keeper));
    return copy;
  }

  void finish() {
    std::vector<ptx::Instruction> code;
    std::vector<uint32_t> place;
    for (uint32_t i = 0; i < isGone_.size(); ++i) {
      place.push_back(static_cast<uint32_t>(code.size()));
      for (ptx::Instruction& added : before_[i]) code.push_back(std::move(added));
      if (!isGone_[i]) code.push_back(std::move(f_.instructions[i]));
    }
    place.push_back(static_cast<uint32_t>(code.size()));
    for (ptx::Label& label : f_.labels) label.instruction = place[label.instruction];
    f_.instructions = std::move(code);
  }

 private:
  ptx::Function& f_;
  std::vector<std::vector<ptx::Instruction>> before_;
  std::vector<char> isGone_;
};

/// What is known of registers that are written once: they hold the same wherever they are read.
struct Facts {
  std::vector<unsigned> writes;             // by register
  std::map<RegisterId, Operand> constants;  // of those that a `mov` sets to a number
  std::set<RegisterId> uniforms;            // of those that are loaded from constant memory, as parameters are

  explicit Facts(const ptx::Function& f) : writes(f.registers.size(), 0) {
    for (const ptx::Instruction& i : f.instructions) {
      forEachResult(i, [&](RegisterId r) { ++writes[r]; });
      if (i.guard || i.operands.size() < 2 || !i.operands[0].is(Operand::Kind::Register)) continue;
      const RegisterId r = i.operands[0].reg;
      if (i.op == Op::Mov && i.operands[1].is(Operand::Kind::Float)) constants[r] = i.operands[1];
      if (i.op == Op::Ld && isConstantMemory(f, i)) uniforms.insert(r);
    }
    std::erase_if(constants, [&](const auto& c) { return !isWrittenOnce(c.first); });
    std::erase_if(uniforms, [&](RegisterId r) { return !isWrittenOnce(r); });
  }
  bool isWrittenOnce(RegisterId r) const { return r < writes.size() && writes[r] == 1; }

 private:
  static bool isConstantMemory(const ptx::Function& f, const ptx::Instruction& load) {
    if (load.operands[1].reg != ptx::kNoRegister) return false;
    const auto space = load.mods.name(ModifierKind::Space);
    return space == "const" ||
           (space.starts_with("param") && f.isEntry && load.operands[1].symbol.kind == ptx::Symbol::Kind::Parameter);
  }
};

/// First who reads what, run by run; then the choice and the changes. A position counts instructions in the order of
/// runs.
class Contraction {
 public:
  Contraction(const Runs& runs, const Facts& facts, Changes& changes) : facts_(facts), changes_(changes) {
    for (const Runs::Run& run : runs.runs)
      order_.insert(order_.end(), run.instructions.begin(), run.instructions.end());
    for (uint32_t position = 0; position < order_.size(); ++position)
      if (runs.isNeeded[order_[position]]) findLasting(position);
    uint32_t position = 0;
    for (const Runs::Run& run : runs.runs) {
      for (uint32_t i : run.instructions) read(position++, runs.isNeeded[i] != 0);
      for (RegisterId r : run.live)
        if (!lasts(r)) escape(contentOf(r));
      held_.clear();
    }
  }

  void run() {
    for (uint32_t s = 0; s < sums_.size(); ++s) fuse(s);
    for (const Product& p : products_)
      if (!p.escapes && !p.isCopied && p.readers > 0 && p.sums.empty()) changes_.drop(order_[p.position]);
  }

 private:
  const ptx::Instruction& at(uint32_t position) const { return changes_.at(order_[position]); }

  /// A product with a constant or uniform factor is one for all runs: the compiler makes it where it is needed.
  void findLasting(uint32_t position) {
    const ptx::Instruction& i = at(position);
    if (!isProduct(i) || unit(i.operands[1]) || unit(i.operands[2])) return;
    const RegisterId result = i.operands[0].reg;
    const bool isUniform = isSame(i.operands[1]) || isSame(i.operands[2]);
    if (!isUniform || !isStable(i.operands[1]) || !isStable(i.operands[2]) || !facts_.isWrittenOnce(result)) return;
    if (const auto product = newProduct(position)) lasting_[result] = *product;
  }
  bool isSame(const Operand& o) const { return constant(o) || facts_.uniforms.contains(o.reg); }
  bool isStable(const Operand& o) const { return !o.is(Operand::Kind::Register) || facts_.isWrittenOnce(o.reg); }
  bool lasts(RegisterId r) const { return lasting_.contains(r); }
  bool isLasting(const Content& h) const {
    return h.product != kNone && lasts(at(products_[h.product].position).operands[0].reg);
  }

  Content fresh() { return {values_++, kNone, false, false, false}; }

  Content contentOf(RegisterId r) {
    if (const auto lasting = lasting_.find(r); lasting != lasting_.end()) return lasting->second;
    const auto [it, isNew] = held_.try_emplace(r);
    if (isNew) it->second = fresh();
    return it->second;
  }

  const Operand* constant(const Operand& o) const {
    if (o.is(Operand::Kind::Float) || o.is(Operand::Kind::Integer)) return &o;
    const auto it = o.is(Operand::Kind::Register) ? facts_.constants.find(o.reg) : facts_.constants.end();
    return it == facts_.constants.end() ? nullptr : &it->second;
  }

  Content contentOf(const Operand& o) {
    if (const Operand* c = constant(o)) {
      const auto [it, isNew] = constantValues_.try_emplace(c->bits, values_);
      values_ += isNew;
      return {it->second, kNone, false, true, false};
    }
    return o.is(Operand::Kind::Register) ? contentOf(o.reg) : fresh();
  }

  void escape(const Content& h) {
    if (h.product == kNone) return;
    ++products_[h.product].readers;
    products_[h.product].escapes |= !h.isSumToOthers;
  }

  /// Who reads what at this instruction, and what its results are.
  void read(uint32_t position, bool isNeeded) {
    const ptx::Instruction& i = at(position);
    std::optional<Content> result;
    if (isNeeded) {
      result = copied(i);
      if (result && result->product != kNone) products_[result->product].isCopied = true;
      if (!result && isSum(i)) readSum(position);
      if (!result && !isSum(i)) forEachSource(i, [&](RegisterId r) { escape(contentOf(r)); });
      if (!result && isProduct(i) && !lasts(i.operands[0].reg)) result = newProduct(position);
    }
    forEachResult(i, [&](RegisterId r) {
      if (i.guard && isNeeded) escape(contentOf(r));  // where the guard is false it stays
      held_[r] = result ? *result : fresh();
      if (result && isLasting(*result) && facts_.isWrittenOnce(r)) lasting_[r] = *result;
      writes_[r].push_back(position);
    });
  }

  /// Of an instruction whose result is another value, but for its sign: that value.
  std::optional<Content> copied(const ptx::Instruction& i) {
    if (i.guard) return std::nullopt;
    const Type type = i.type[0];
    if (i.op == Op::Mov && i.operands[0].is(Operand::Kind::Register) && i.operands[1].is(Operand::Kind::Register))
      return contentOf(i.operands[1]);
    if (i.op == Op::NegF && type != Type::bf16x2) return through(i, i.operands[1], true);
    if (i.op == Op::AbsF && type != Type::bf16x2) return ofSquare(i);
    if (i.op == Op::MulF && isProduct(i) && !isa::isPacked(type))
      for (unsigned k : {1u, 2u})
        if (const auto sign = unit(i.operands[k])) return through(i, i.operands[3 - k], *sign);
    return std::nullopt;
  }

  /// A product's type and .ftz are those of the instruction, or the value is another one.
  std::optional<Content> through(const ptx::Instruction& i, const Operand& source, bool negated) {
    Content h = contentOf(source);
    if (h.isConstant || (h.product != kNone && !isAlike(i, products_[h.product]))) return std::nullopt;
    if (h.product == kNone && i.has(ModifierKind::Flush)) h = fresh();
    h.negated ^= negated;
    h.isSumToOthers |= i.op == Op::NegF && i.has(ModifierKind::Flush);
    return h;
  }

  bool isAlike(const ptx::Instruction& i, const Product& p) const {
    const ptx::Instruction& product = at(p.position);
    const bool isFlushed = i.has(ModifierKind::Flush) && !product.has(ModifierKind::Flush);
    return i.type[0] == product.type[0] && !isFlushed;
  }

  /// |x·x| is x·x.
  std::optional<Content> ofSquare(const ptx::Instruction& i) {
    const Content h = contentOf(i.operands[1]);
    if (h.product == kNone || h.negated || !isAlike(i, products_[h.product])) return std::nullopt;
    const auto& factors = products_[h.product].factors;
    return factors[0] == factors[1] ? std::optional(h) : std::nullopt;
  }

  /// 1 (false) or -1 (true).
  std::optional<bool> unit(const Operand& o) const {
    const Operand* c = constant(o);
    if (!c || !c->is(Operand::Kind::Float)) return std::nullopt;
    const double number = std::bit_cast<double>(c->bits);
    return number == 1 || number == -1 ? std::optional(number < 0) : std::nullopt;
  }

  std::optional<Content> newProduct(uint32_t position) {
    const ptx::Instruction& i = at(position);
    const Content a = contentOf(i.operands[1]), b = contentOf(i.operands[2]);
    if (a.isConstant && b.isConstant) return std::nullopt;  // computed by the compiler
    products_.push_back({position, {a, b}, 0, false, false, {}});
    Content h = fresh();
    h.product = static_cast<uint32_t>(products_.size() - 1);
    return h;
  }

  void readSum(uint32_t position) {
    const ptx::Instruction& i = at(position);
    Sum sum{position, {contentOf(i.operands[1]), contentOf(i.operands[2])}};
    sum.operands[1].negated ^= i.op == Op::SubF;
    const bool isDouble = sum.operands[0].product == sum.operands[1].product;
    for (const Content& h : sum.operands) {
      if (h.product == kNone) continue;
      Product& p = products_[h.product];
      const ptx::Instruction& product = at(p.position);
      const bool fits = i.type[0] == product.type[0] && i.has(ModifierKind::Flush) == product.has(ModifierKind::Flush);
      if (isDouble || !fits) p.escapes = true;
      ++p.readers;
      p.sums.push_back(static_cast<uint32_t>(sums_.size()));
    }
    sums_.push_back(sum);
  }

  /// Does the sum add two products of the same factors?
  bool isTwice(const Sum& sum) const {
    const auto& [a, b] = sum.operands;
    const ptx::Instruction& i = at(sum.position);
    if (a.product == kNone || b.product == kNone || a.negated != b.negated) return false;
    if (i.has(ModifierKind::Flush) || isa::isPacked(i.type[0])) return false;
    const auto &x = products_[a.product].factors, &y = products_[b.product].factors;
    return (x[0] == y[0] && x[1] == y[1]) || (x[0] == y[1] && x[1] == y[0]);
  }

  bool canFuse(uint32_t product) const {
    if (product == kNone || products_[product].escapes) return false;
    const Product& p = products_[product];
    return std::none_of(p.sums.begin(), p.sums.end(), [&](uint32_t s) {
      if (p.readers == 1) return isTwice(sums_[s]);
      const auto& operands = sums_[s].operands;
      const uint32_t other = operands[operands[0].product == product ? 1 : 0].product;
      if (other == kNone || isa::isPacked(at(sums_[s].position).type[0])) return false;
      return products_[other].readers == 1 && !products_[other].escapes;
    });
  }

  void fuse(uint32_t s) {
    const auto& operands = sums_[s].operands;
    const bool first = canFuse(operands[0].product), second = canFuse(operands[1].product);
    if (!first && !second) return;
    const bool takesSecond =
        !first || (second && products_[operands[1].product].readers < products_[operands[0].product].readers);
    const Content fused = operands[takesSecond ? 1 : 0], other = operands[takesSecond ? 0 : 1];
    std::erase(products_[fused.product].sums, s);
    if (other.product != kNone) products_[other.product].escapes = true;
    rewrite(sums_[s].position, products_[fused.product], fused.negated, takesSecond);
  }

  void rewrite(uint32_t position, const Product& product, bool negated, bool isSecond) {
    const uint32_t target = order_[position];
    Operand a = factor(product, 1, position), b = factor(product, 2, position);
    if (negated) a = changes_.keep(target, a, true);
    Operand c = at(position).operands[isSecond ? 1 : 2];
    if (at(position).op == Op::SubF && !isSecond) c = changes_.keep(target, c, true);
    ptx::Instruction& sum = changes_.at(target);
    sum.op = Op::FmaF;
    sum.mods[ModifierKind::Rounding] = isa::modifierValue(ModifierKind::Rounding, "rn");
    sum.operands = {sum.operands[0], std::move(a), std::move(b), std::move(c)};
  }

  /// A factor as the sum finds it: kept in a register of its own if it is overwritten in between.
  Operand factor(const Product& product, unsigned index, uint32_t sum) {
    const Operand& o = at(product.position).operands[index];
    if (isStable(o)) return o;
    const auto writes = writes_.find(o.reg);
    const bool stays =
        writes == writes_.end() || std::none_of(writes->second.begin(), writes->second.end(),
                                                [&](uint32_t w) { return w >= product.position && w < sum; });
    return stays ? o : changes_.keep(order_[product.position], o, false);
  }

  const Facts& facts_;
  Changes& changes_;
  std::vector<uint32_t> order_;  // of instructions
  uint32_t values_ = 0;
  std::map<uint64_t, uint32_t> constantValues_;
  std::map<RegisterId, Content> held_;                  // in this run
  std::map<RegisterId, Content> lasting_;               // in all
  std::map<RegisterId, std::vector<uint32_t>> writes_;  // positions
  std::vector<Product> products_;
  std::vector<Sum> sums_;
};

}  // namespace

void contractProducts(ptx::Function& function) {
  const auto& code = function.instructions;
  if (std::none_of(code.begin(), code.end(), isProduct) || std::none_of(code.begin(), code.end(), isSum)) return;
  const Facts facts(function);
  Changes changes(function);
  Contraction(findRuns(function), facts, changes).run();
  changes.finish();
}

void contractProducts(ptx::Module& module) {
  for (ptx::Function& function : module.functions) contractProducts(function);
}

void roundEachProduct(ptx::Module& module) {
  for (ptx::Function& function : module.functions)
    for (ptx::Instruction& i : function.instructions)
      if ((i.op == Op::MulF || i.op == Op::AddF || i.op == Op::SubF) && mayFuse(i))
        i.mods[ModifierKind::Rounding] = isa::modifierValue(ModifierKind::Rounding, "rn");
}

}  // namespace ordito::ir
