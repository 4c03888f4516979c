// The transfer functions of the shape analysis: the shape of an instruction's result from the shapes of its operands.
//
// Two ways lead to a segmented result. *Elementwise*: no operand has a pattern (perhaps after splitting into more
// segments), so the instruction is done once for each base. *Linear*: the instruction applied to the bases alone gives
// the bases of the result, and the pattern follows at compile time (add, multiply or shift by a constant, masks that
// cut between base and pattern). The JIT therefore needs no case of its own: it applies the instruction to the bases.
#pragma once

#include <optional>
#include <vector>

#include "ir/shape.hpp"

namespace ordito::ir {

/// Does this instruction widen a 32-bit integer to 64 bits (cvt, mul.wide, mad.wide)?
bool isWidening(const Instruction& i);

/// In the linear rule, is operand `k` split into segments without a pattern (its pattern added to its bases) before the
/// instruction is applied?
bool splitsOperand(const Instruction& i, size_t k);

class ShapeTransfer {
 public:
  explicit ShapeTransfer(Shapes& shapes) : shapes_(shapes) {}
  /// The shape of `value`, the `index`-th definition of `i`.
  Shape operator()(const Instruction& i, ValueId value, unsigned index);

  /// For each value: is it read only as an address or to compute one? (64-bit values; a greatest fixed point.)
  static std::vector<char> addressOnly(const Function& f);

 private:
  Shape pure(const Instruction& i, ValueId value);
  Shape load(const Instruction& i);
  std::optional<Shape> linear(const Instruction& i);
  std::optional<Shape> linearProduct(const Instruction& i);
  Shape combine(const Instruction& i, const Shape& a, int64_t fa, const Shape& b, int64_t fb, int alignment);
  unsigned widthOf(const Instruction& i) const;
  std::optional<Shape> disjointOr(const Shape& a, const Shape& b, unsigned bits);
  std::optional<Shape> lowAndHighBits(const Instruction& i, const Shape& a, const Shape& b);
  std::optional<Shape> linearBits(const Instruction& i, const Shape& a, uint64_t constant);
  std::optional<Shape> orderOfBases(const Instruction& i);
  bool widensExactly(const Shape& s) const;
  Shape withPattern(Shape s, const Pattern& p, unsigned bits);
  const Pattern& patternOf(const Shape& s) const { return shapes_.pattern(s.pattern); }

  Shapes& shapes_;
};

}  // namespace ordito::ir
