// Pure instructions: a body (pure_chapters.hpp) is emitted once for each base or vector of its result.
#pragma once

#include "jit/instruction_body.hpp"

namespace ordito::jit {

class PureInstructions : private Chapter {
 public:
  explicit PureInstructions(Tools& tools)
      : Chapter(tools), tools_(tools), comparisons_(tools.context, tools.values, tools.operands) {}

  void emit(const Instruction& i) { emit(i, true); }
  /// Where its results are made again: what stops a kernel has been looked at where it stands.
  void emitAgain(const Instruction& i) { emit(i, false); }
  Comparisons& comparisons() { return comparisons_; }

 private:
  /// The definitions of an instruction, and which of the body's results each gets.
  struct Definitions {
    std::vector<ValueId> values;
    std::vector<unsigned> source;
  };
  void emit(const Instruction& i, bool isChecked);
  static Definitions definitionsOf(const Instruction& i);
  PureResults body(const Instruction& i, const Source& s);
  LlvmValue result(const Instruction& i, const Definitions& d, size_t k, LlvmValue v, const Source& s);
  void emitVectors(const Instruction& i, const Definitions& d);
  void emitBases(const Instruction& i, const Definitions& d);
  bool isElementwise(const Instruction& i, const ir::Shape& shape) const;
  void emitWidening(const Instruction& i, bool isChecked);
  LlvmValue wrapsAround(LlvmValue wide, bool isSigned, int64_t low, int64_t high);
  void checkWidening(const std::vector<Parts>& bases, LlvmValue wraps, const ir::Pattern& pattern, bool isSigned);
  void checkWideningOfAll(const std::vector<Parts>& bases, const ir::Pattern& pattern, bool isSigned);
  LlvmValue lanesReading(const std::vector<Parts>& bases, unsigned p);

  Tools& tools_;  // what bodies are made with
  Comparisons comparisons_;
  llvm::AllocaInst* widened_ = nullptr;  // what checkWideningOfAll shows its helper
};

}  // namespace ordito::jit
