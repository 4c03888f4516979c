// ld and st: PTX ISA, "Data Movement and Conversion Instructions".
#pragma once

#include "jit/lane_access.hpp"
#include "jit/wide_accesses.hpp"

namespace ordito::jit {

class LoadsAndStores : private Chapter {
 public:
  LoadsAndStores(Tools& tools, WideAccesses& wide) : Chapter(tools), wide_(wide) {}

  void load(const Instruction& i);
  void store(const Instruction& i);

 private:
  /// A load: its elements' registers, and what is the same for all of them.
  struct Load {
    const Instruction& i;
    const Address& address;
    const simt::Access& access;
    const Allowance allowance;
    const Parts& mask;
    std::vector<ptx::Operand> targets;
    llvm::Type* element;
    unsigned bytes;  // of an element
    int64_t offset(size_t k) const { return i.operands[1].offset + static_cast<int64_t>(k) * bytes; }
  };
  void loadBases(const Load& l, unsigned k);
  void loadVectors(const Load& l);
  std::vector<LlvmValue> loadTogether(const Load& l, unsigned part);
  Parts loadColumns(const Load& l);
  LlvmValue firstLane(const ptx::Operand& o, isa::Type type);
  LlvmValue distance(const simt::Advance& advance);
  void prefetch(LlvmValue far, const Load& l, unsigned bytes, llvm::ArrayRef<llvm::Instruction*> among);
  void prefetchInLoop(const simt::Advance& advance, const Load& l, unsigned bytes);
  std::vector<llvm::Instruction*> emitLoadToGoAmong(const Load& l);
  void emitLoad(const Load& l);
  void loadNeighbours(const Instruction& i);
  bool isGeneral(const ptx::Operand& target) const;
  StructureShape shapeOf(const simt::Structure& s) const;
  void loadStructure(const Instruction& i, const Address& a);
  void storeStructure(const Instruction& i, const Address& a);
  void storeElements(const Instruction& i, const Address& a, const simt::Access& access, unsigned part,
                     const std::vector<LlvmValue>& elements, const Parts& masks);

  WideAccesses& wide_;
};

}  // namespace ordito::jit
