// Pure instructions: a body (lower.hpp) is emitted once for each base or vector of its result.
#pragma once

#include <array>

#include "jit/comparisons.hpp"
#include "jit/tools.hpp"

namespace ordito::jit {

/// What a pure instruction gives: destinations in syntax order, the carry last.
using PureResults = std::array<LlvmValue, 5>;

class PureInstructions : private Chapter {
 public:
  explicit PureInstructions(Tools& tools) : Chapter(tools), comparisons_(tools.context, tools.values, tools.operands) {}

  void emit(const Instruction& i);
  /// x / d or x % d where all lanes divide by the same d: a shift or a mask if d is a power of two, else what `general`
  /// emits.
  LlvmValue divideByUniform(LlvmValue x, ValueId d, unsigned part, bool isSigned, bool remainder,
                            llvm::function_ref<LlvmValue()> general);
  Comparisons& comparisons() { return comparisons_; }

 private:
  friend class Lower;  // the bodies, which use the same tools

  /// The definitions of an instruction, and which of the body's results each gets.
  struct Definitions {
    std::vector<ValueId> values;
    std::vector<unsigned> source;
  };
  static Definitions definitionsOf(const Instruction& i);
  PureResults body(const Instruction& i, const Source& s);
  LlvmValue result(const Instruction& i, const Definitions& d, size_t k, LlvmValue v, const Source& s);
  void emitVectors(const Instruction& i, const Definitions& d);
  void emitBases(const Instruction& i, const Definitions& d);
  bool isElementwise(const Instruction& i, const ir::Shape& shape) const;
  void emitWidening(const Instruction& i);
  LlvmValue wrapsAround(LlvmValue wide, bool isSigned, int64_t low, int64_t high);
  void checkWidening(const std::vector<Parts>& bases, LlvmValue wraps, const ir::Pattern& pattern, bool isSigned);

  Comparisons comparisons_;
  llvm::AllocaInst* widened_ = nullptr;  // what checkWidening shows its helper
};

}  // namespace ordito::jit
