// Where each value comes from: the one place that knows. In SSA form a value has one definition, so every question of
// the kind "what is this address made of" walks from definition to definition, and starts here.
#pragma once

#include <optional>
#include <vector>

#include "ir/ir.hpp"

namespace ordito::ir {

struct Definition {
  enum class Kind : uint8_t {
    None,     // read before it is written
    Code,     // by an instruction of a block
    Phi,      // on the edges into a block
    Barrier,  // by the barrier that ends a block
  };
  Kind kind = Kind::None;
  BlockId block = kNoBlock;
  const Instruction* instruction = nullptr;  // Kind::Code
  const Phi* phi = nullptr;                  // Kind::Phi
};

/// The definitions of a function, which must outlive this and stay as it is.
class Definitions {
 public:
  explicit Definitions(const Function& function);
  const Definition& operator[](ValueId v) const { return definitions_[v]; }
  size_t size() const { return definitions_.size(); }
  /// The instruction that defines `v`; null if there is none.
  const Instruction* instruction(ValueId v) const {
    return v < definitions_.size() ? definitions_[v].instruction : nullptr;
  }
  /// The instruction that alone decides what `v` is: one without a guard, under which an older value could remain.
  const Instruction* decisive(ValueId v) const {
    const Instruction* i = instruction(v);
    return i && !i->guard ? i : nullptr;
  }
  const Phi* phi(ValueId v) const { return v < definitions_.size() ? definitions_[v].phi : nullptr; }
  /// Does anything read it?
  bool isRead(ValueId v) const { return isRead_[v]; }

 private:
  std::vector<Definition> definitions_;
  std::vector<char> isRead_;
};

/// A summand of a value: one of its instruction's operands, or the product of two, times 2^shift.
struct Term {
  const ptx::Operand* value = nullptr;
  const ptx::Operand* factor = nullptr;  // null: 1
  unsigned shift = 0;

  /// Is it the operand as it is?
  bool isPlain() const { return !factor && shift == 0; }
  /// What multiplies `value`, where that is a constant.
  std::optional<int64_t> constantFactor() const;
};

/// What an integer instruction adds up, in arithmetic modulo 2^(bits of the result).
struct Sum {
  std::array<Term, 2> terms;
  size_t count = 0;
  bool subtracts = false;  // the second term is taken away
  const Term* begin() const { return terms.data(); }
  const Term* end() const { return terms.data() + count; }
};

/// Copies, conversions that keep the low bits, sums, products and shifts by constants as sums; empty for the others.
Sum sumOf(const Instruction& i);

}  // namespace ordito::ir
