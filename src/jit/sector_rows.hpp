// Sectors of accesses whose lanes lie anywhere: the code writes down where they went, and the runtime counts many
// accesses at a time (rt/sector_rows.hpp).
#pragma once

#include "jit/values.hpp"

namespace ordito::jit {

class SectorRows : private Emitting {
 public:
  SectorRows(EmissionContext& context, Masks& masks, Values& values)
      : Emitting(context), masks_(masks), values_(values) {}

  /// Room for the rows. `counters`: the function's words.
  void begin(LlvmValue counters);
  /// Adds the sectors of the lanes that are on, `bytes` each, to a word sooner or later. The result, an i64, is to be
  /// added to the word now. No lane touches two sectors.
  LlvmValue add(uint32_t word, LlvmValue addresses, LlvmValue mask, unsigned bytes);
  /// The same where the addresses are likely to ascend from lane to lane: then they are counted at once.
  LlvmValue addOrdered(uint32_t word, LlvmValue addresses, LlvmValue mask, unsigned bytes);
  /// What has been written down is counted.
  void flush();
  void finish();

 private:
  LlvmValue runsWith(LlvmValue begins, LlvmValue lanes);
  void write(uint32_t word, LlvmValue places, LlvmValue mask, llvm::BasicBlock* join);
  LlvmValue field(size_t offset) const;
  LlvmValue call(const char* name, llvm::Type* result, llvm::ArrayRef<LlvmValue> arguments);
  void branch(LlvmValue usual, llvm::BasicBlock* where, llvm::BasicBlock* otherwise);

  Masks& masks_;
  Values& values_;
  llvm::AllocaInst* rows_ = nullptr;
  LlvmValue counters_ = nullptr;
  std::vector<llvm::Instruction*> whereUsed_;  // what goes where no access comes here
  bool isUsed_ = false;
};

}  // namespace ordito::jit
