// Atomics that wait in a buffer of the host thread (simt/combined_atomics.hpp, machine/combining_buffer.hpp).
#pragma once

#include "jit/single_atomics.hpp"

namespace ordito::jit {

/// A warp's operation: where the lanes go, with what, and which lanes (null: all).
struct WarpAtomic {
  const Address& address;
  unsigned part;
  int64_t offset;
  LlvmValue operands, lanes;
  const simt::IndexedPlace* indexed = nullptr;  // what the address is made of, if that is known
};

class CombinedAtomics : private Chapter {
 public:
  explicit CombinedAtomics(Tools& tools) : Chapter(tools) {}

  /// Empties the buffer where `i` must not come before what waits in it.
  void comeBefore(const Instruction& i);
  /// The same before a function that does what is in these blocks.
  void comeBefore(const std::vector<BlockId>& blocks);
  /// Combines in the buffer; `inMemory` emits the same for places that it does not stand for.
  void emit(const WarpAtomic& a, llvm::function_ref<void()> inMemory);

 private:
  enum class Form : uint8_t { OnePlace, Neighbours, Indexed, Lanes };
  /// Where an operation goes: an address, those of neighbours by their first, or the lanes'.
  struct Places {
    Form form;
    LlvmValue at = nullptr;     // Indexed: the pointer
    LlvmValue index = nullptr;  // Indexed: of each lane, 32 bits
    unsigned shift = 0;
    bool differ() const { return form == Form::Lanes || form == Form::Indexed; }  // from lane to lane, anyhow
  };
  LlvmValue field(size_t offset, llvm::Type* type);
  LlvmValue word(size_t offset) { return field(offset, b_.getInt64Ty()); }
  Form formOf(const WarpAtomic& a) const;
  Places placesOf(const WarpAtomic& a);
  LlvmValue isInside(const Places& places, LlvmValue lanes);
  void outside(const Places& places, const WarpAtomic& a, llvm::function_ref<void()> inMemory);
  void combine(const Places& places, const WarpAtomic& a);
  void combineLanes(const Places& places, const WarpAtomic& a);
  void change(LlvmValue place, LlvmValue operand);
  /// A place of memory that an instruction touches.
  struct Touch {
    Address address;
    Parts mask;
    int64_t offset;
    unsigned bytes;  // of each lane
  };
  std::vector<Touch> touchesOf(const Instruction& i);
  LlvmValue touches(const Touch& t);
  LlvmValue waits();
  void emptyIf(LlvmValue condition);
};

/// `base` and the offset of each lane, 32 bits, as scalars. They leave the vector registers as pairs: single 64-bit
/// addresses arrive so unevenly that Zen 4 takes later updates for independent of earlier ones and starts over (10
/// times slower on a histogram).
std::vector<LlvmValue> scalarAddresses(llvm::IRBuilder<>& b, llvm::ArrayRef<LlvmValue> bases, LlvmValue offsets,
                                       bool areSigned = true);

}  // namespace ordito::jit
