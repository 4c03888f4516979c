// What the table (isa/ptx.def) says of an instruction's operands: their types, and the memory that the instruction
// touches. Nothing here knows an instruction by its name.
#pragma once

#include <array>
#include <span>

#include "ptx/module.hpp"

namespace ordito::ptx {

/// The type that operand `index` of `i` is read or written as. None for addresses, labels, calls and absent operands.
isa::Type operandType(const Instruction& i, size_t index);

/// The state space that `i` names, Generic if it names none; .param::entry and .param::func are Param, .shared::cta is
/// Shared.
Space spaceOf(const Instruction& i);
/// The same for the address that is operand `k`: cp.async has two, one of shared memory.
Space spaceOf(const Instruction& i, size_t k);

/// One place of memory that an instruction touches: cp.async has two, most instructions that touch memory have one.
struct MemoryAccess {
  enum class Kind : uint8_t {
    Load,
    Store,
    Atomic,     // reads, changes, writes, and gives the old value
    Reduction,  // the same without a result
  };
  enum class Pattern : uint8_t {
    Lanes,   // each lane has an address, and touches `bytes` there
    Rows,    // the first 8·count lanes have the addresses of rows of `bytes` each (ldmatrix, stmatrix)
    Matrix,  // all lanes give one address and a stride, and touch a matrix of `bytes` together (wmma.load, wmma.store)
    Image,   // coordinates of a texture or surface; `bytes` is 0 where the image's format decides
  };
  Kind kind{};
  Pattern pattern{};
  Space space{};         // as the instruction names it: Generic, if it leaves that to the address
  bool isAsync = false;  // one side of a copy that goes on behind the instruction
  uint8_t operand = 0;   // which operand is the address
  uint8_t count = 1;     // Lanes: elements of a vector, in `bytes` already; Rows: matrices
  unsigned bytes = 0;
};

/// The memory that an instruction touches, in the order of its operands; empty for one that touches none (prefetches,
/// fences and queries touch none).
class MemoryAccesses {
 public:
  explicit MemoryAccesses(const Instruction& i);
  const MemoryAccess* begin() const { return accesses_.data(); }
  const MemoryAccess* end() const { return accesses_.data() + count_; }
  size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  const MemoryAccess& operator[](size_t k) const { return accesses_[k]; }

 private:
  std::array<MemoryAccess, 2> accesses_{};
  size_t count_ = 0;
};

}  // namespace ordito::ptx
