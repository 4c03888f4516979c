// What the values of a kernel in SSA form are to a GPU's own compiler: which are the same, which are no values at all
// but operands of whoever reads them, and in which register file the others live.
//
// PTX is far from what runs. A front end writes every address in full and every constant into a register; the assembler
// merges what is equal, folds what an instruction can take as an operand (constants, parameters, offsets, products that
// are then added), keeps 32 bits of 64 where nobody reads the rest, and computes what is the same for the whole warp in
// the uniform registers that GPUs have since sm_75. What is left lives in the general registers, which occupancy
// counts.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ir/ir.hpp"

namespace ordito::registers {

using ir::BlockId;
using ir::ValueId;

/// Where a value lives. The order is that of a lattice: an instruction's result is as far down as its operands.
enum class File : uint8_t {
  Constant,   // known when the kernel is compiled
  Bank,       // a parameter, or a size of the launch, in the constant bank
  Uniform,    // a uniform register
  General,    // a general register
  Predicate,  // a predicate register
};

struct Value {
  ValueId same = ir::kNoValue;                  // the value that it is a copy of (itself, if none)
  const ir::Instruction* definition = nullptr;  // null: a phi, a barrier's result, or nothing
  BlockId block = ir::kNoBlock;                 // of the definition
  File file = File::General;
  uint8_t words = 1;   // 32-bit registers that it takes
  uint32_t reads = 0;  // places that read it, of instructions that are needed
  bool isPhi = false;
  bool isNeeded = false;       // reaches something that the kernel does
  bool isWide = false;         // somebody reads the upper half of a 64-bit integer
  std::vector<ValueId> parts;  // if not empty: no register of its own, its readers read these instead
};

/// A kernel and what is known of its values. Each step is a function of its own and may be printed between.
struct Values {
  const ir::Function* function = nullptr;
  int sm = 75;
  std::vector<Value> of;
  std::vector<char> isConvergent;  // by block: do all threads of a warp come here together?

  ValueId resolve(ValueId v) const { return of[v].same; }
  const Value& operator[](ValueId v) const { return of[of[v].same]; }
  Value& operator[](ValueId v) { return of[of[v].same]; }
};

/// Definitions and copies: moves, address conversions and conversions that change no bit; equal instructions of which
/// one dominates the other (Briggs, Cooper, Simpson: "Value Numbering", 1997).
Values findCopies(const ir::Function& function, int sm);

/// Constants, and what the constant bank holds.
void findConstants(Values& values);

/// What the kernel's effects depend on; everything else is dead.
void findNeeded(Values& values);

/// 64-bit integers of which only the lower half is read take one register.
void findWords(Values& values);

/// Values that the uniform registers can hold.
void findUniform(Values& values);

/// Products that are added, offsets of addresses and the like: one instruction computes them with their only reader.
void foldOperands(Values& values);

/// All of the above.
Values analyse(const ir::Function& function, int sm);

}  // namespace ordito::registers
