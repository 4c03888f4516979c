// What code for one thread at a time leaves for the counters (simt/counted_iterations.hpp): what each lane did in each
// iteration of a loop, 64 iterations at a time. The runtime counts what the lanes did together
// (rt/iteration_counts.hpp).
#pragma once

#include "jit/event_calls.hpp"
#include "jit/values.hpp"
#include "rt/iteration_counts.hpp"
#include "simt/counted_iterations.hpp"

namespace ordito::jit {

class IterationLogs : private Emitting {
 public:
  IterationLogs(EmissionContext& context, Values& values) : Emitting(context), values_(values) {}

  static rt::IterationLog layoutOf(const simt::CountedIterations& counted) { return {counted.rows, counted.lists}; }
  /// Where the log is made, which many calls of the loop use.
  static void clear(llvm::IRBuilder<>& b, const simt::CountedIterations& counted, LlvmValue log);

  /// The loop that is emitted next.
  void begin(const simt::CountedIterations& counted, LlvmValue log);
  /// What lanes do from here on goes to an empty log.
  void beginLog();
  /// The next lane goes on; where it has begun 64 iterations, at `full`.
  void beginLane(llvm::BasicBlock* full);
  /// It is not done with the loop.
  void interruptLane();
  void endLane();
  void count();

  // ---- events
  void enter(const ir::Block& block);
  void guard(const Instruction& i);
  void take(const ir::Terminator& end);
  void access(const Instruction& i, const AccessEvent& e);

 private:
  using Counted = simt::CountedIterations;
  uint32_t newWord() { return c_.result.counters.words++; }
  void term(uint32_t word, uint32_t line, machine::Counter c) {
    c_.result.counters.terms.push_back({word, line, 1, c});
  }
  rt::CountedLoop::Block describe(const Counted::Block& block);
  rt::CountedLoop::Guard describe(const Counted::Guard& guard);
  rt::CountedLoop::Access describe(const Counted::Access& access);
  static int32_t offsetOf(const Instruction& i);
  llvm::GlobalVariable* makeTable();
  void mark(uint32_t row, LlvmValue condition);
  LlvmValue sectorOf(const Counted::Access& access, LlvmValue address);
  LlvmValue inLog(size_t offset) { return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), log_, offset); }

  Values& values_;
  const Counted* counted_ = nullptr;
  LlvmValue log_ = nullptr, table_ = nullptr;
  std::vector<uint32_t> warps_;             // by block: the word that says how often any lane was there
  std::vector<llvm::AllocaInst*> rows_;     // of the lane that runs
  std::vector<llvm::AllocaInst*> windows_;  // of lists
  llvm::AllocaInst* begun_ = nullptr;       // how many iterations
  llvm::AllocaInst *lanes_ = nullptr, *unfinished_ = nullptr;  // that have begun; a bit for each
  LlvmValue lane_ = nullptr;                                   // the number of the one that runs among them
  LlvmValue lists_ = nullptr;                                  // where its first list is
  LlvmValue now_ = nullptr;                                    // the iteration
  llvm::BasicBlock* full_ = nullptr;
};

}  // namespace ordito::jit
