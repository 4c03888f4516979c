// The events of instructions, branches and barriers (machine/events.hpp): what their only listener here, the counters,
// makes of them, compiled in on request. Who listens is known here and in access_events.hpp alone; without listeners
// nothing is emitted.
#pragma once

#include <optional>

#include "jit/iteration_logs.hpp"
#include "jit/sector_rows.hpp"
#include "jit/values.hpp"
#include "machine/counters.hpp"

namespace ordito::jit {

class Counting : private Emitting {
 public:
  Counting(EmissionContext& context, Masks& masks, Values& values)
      : Emitting(context),
        masks_(masks),
        values_(values),
        rows_(context, masks, values),
        iterations_(context, values) {}

  bool listens() const { return plan_.facts.counters; }
  void raiseIssues(const ir::Block& block);
  void raiseGuardedIssue(const Instruction& i);
  void raiseEnd(const ir::Terminator& end, const Parts& mask);
  void raiseTaken(const ir::Terminator& end, const Parts& mask);
  void raiseParted(const ir::Terminator& end, const Parts& mask, const Parts& taken);
  void raiseExit(const ir::Terminator& end, const Parts& mask);

  /// `amount`: i64. The word that it is added to, if any: what is the same may be counted with it.
  std::optional<uint32_t> count(machine::Counter c, LlvmValue amount);
  void countWith(uint32_t word, machine::Counter c) { c_.result.counters.terms.push_back({word, c_.at.line, 1, c}); }
  /// A word for what is counted later (`rows`), and now.
  uint32_t newWord() { return c_.result.counters.words++; }
  void countInto(uint32_t word, machine::Counter c, LlvmValue amount);
  SectorRows& rows() { return rows_; }
  /// Code for one thread at a time tells them what it would count of a warp.
  IterationLogs& iterations() { return iterations_; }
  void countWarps(machine::Counter c, uint32_t times, const Parts& mask);
  LlvmValue sumOfBits(LlvmValue words);
  void begin();
  void flush();
  void finish();

 private:
  void countLanes(machine::Counter c, const Parts& mask);
  /// What was last added up over the parts of a mask, and the word that it went to.
  struct Sum {
    llvm::BasicBlock* block = nullptr;
    Parts mask;
    uint32_t word = 0;
  };
  void countSum(machine::Counter c, uint32_t factor, Sum& last, const Parts& mask, llvm::function_ref<LlvmValue()> sum);
  LlvmValue partsOf(LlvmValue which);
  void countLines(machine::Counter c, const std::vector<uint32_t>& lines, llvm::function_ref<void()> once);
  uint32_t openWord();
  void addToWord(uint32_t word, LlvmValue amount);

  Masks& masks_;
  Values& values_;
  SectorRows rows_;
  IterationLogs iterations_;
  llvm::AllocaInst* counters_ = nullptr;         // EmittedKernel::counters.words of them
  std::vector<llvm::CallInst*> counterFlushes_;  // told how many when all is emitted
  uint32_t blockWord_ = 0;                       // counts how often the code being emitted runs
  Sum lanes_, warps_;
};

}  // namespace ordito::jit
