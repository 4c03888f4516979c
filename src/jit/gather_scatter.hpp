// Accesses at addresses of which nothing is known when the kernel is compiled: gathers and scatters, and what is
// quicker where lanes turn out to be neighbours or read vectors. Lanes that are masked off must not touch memory: where
// the host's instructions take no mask, those lanes go to a dummy word of the block's scratch memory.
#pragma once

#include <functional>

#include "jit/runtime_calls.hpp"

namespace ordito::jit {

class GatherScatter : private Emitting {
 public:
  GatherScatter(EmissionContext& context, Masks& masks, Values& values, RuntimeCalls& calls)
      : Emitting(context), masks_(masks), values_(values), calls_(calls) {}

  LlvmValue gather(LlvmValue addresses, llvm::Type* element, LlvmValue mask);
  void scatter(LlvmValue addresses, LlvmValue value, LlvmValue mask);
  /// The same, contiguous where the lanes turn out to be neighbours.
  LlvmValue loadTested(LlvmValue addresses, llvm::Type* element, LlvmValue mask);
  void storeTested(LlvmValue addresses, LlvmValue value, LlvmValue mask);
  std::vector<LlvmValue> loadWords(LlvmValue addresses, unsigned count, LlvmValue mask);
  std::vector<LlvmValue> loadVectors(LlvmValue addresses, unsigned count, llvm::Type* element, LlvmValue mask);
  /// The elements of 16 bytes from each lane's address on.
  std::vector<LlvmValue> loadColumns(llvm::function_ref<LlvmValue(unsigned lane)> addressOf, llvm::Type* element);
  void storeVectors(LlvmValue addresses, const std::vector<LlvmValue>& values, LlvmValue mask);

 private:
  std::vector<LlvmValue> loadFours(llvm::function_ref<LlvmValue(unsigned lane)> addressOf);
  std::vector<LlvmValue> elementsOf(std::vector<LlvmValue> words, llvm::Type* element);
  struct Pointers {
    LlvmValue pointers, on;
  };
  LlvmValue reachable(LlvmValue addresses, LlvmValue mask);
  Pointers pointersOf(LlvmValue addresses, LlvmValue mask);
  bool isAssembled(unsigned bytes) const { return c_.target.avx2 && !c_.target.avx512 && (bytes == 4 || bytes == 8); }
  LlvmValue gatherByAssembly(LlvmValue addresses, llvm::FixedVectorType* type);
  void scatterByAssembly(LlvmValue addresses, LlvmValue value);
  std::vector<LlvmValue> foursOf(LlvmValue addresses, unsigned first, unsigned count);
  LlvmValue areNeighbours(LlvmValue addresses, unsigned bytes, LlvmValue mask);
  void byNeighbourhood(LlvmValue addresses, unsigned bytes, LlvmValue mask, const std::function<void()>& near,
                       const std::function<void()>& far);

  Masks& masks_;
  Values& values_;
  RuntimeCalls& calls_;
  llvm::AllocaInst* vectorStores_ = nullptr;  // what storeVectors stores: elements, addresses
};

}  // namespace ordito::jit
