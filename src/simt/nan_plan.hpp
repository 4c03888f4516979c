// Where the NaNs of f32 arithmetic get NVIDIA's bits.
//
// A GPU's f32 arithmetic gives the NaN 0x7fffffff; the host's gives a payload of an operand. Nothing but a look at the
// bits can tell, so compiled code leaves such values as they are ("dirty") and mends them only where bits are read:
// stores, shuffles, integer instructions. Inner loops stay free of it.
//
// Registers that merely pass values on (mov, selp, phis, the old value under a guard) stay dirty as long as only
// arithmetic flows into them. One into which a loaded value flows as well must keep that value's payload: there, if
// anybody may look at the bits, the dirty inputs are mended on the way in.
#pragma once

#include <string>
#include <vector>

#include "ir/ir.hpp"

namespace ordito::simt {

class NanPlan {
 public:
  explicit NanPlan(const ir::Function& function);
  /// May `v` hold an f32 NaN with other bits than a GPU's?
  bool isDirty(ir::ValueId v) const { return pure_[v] && dirty_[v]; }
  /// Must the inputs that flow into `v` be mended first?
  bool isMixed(ir::ValueId v) const { return !pure_[v] && dirty_[v] && observed_[v]; }
  /// Is it cvt.f32.f32, which leaves even a NaN as it is?
  static bool onlyMoves(const ir::Instruction& i);
  /// Does `i` compute an f32 whose NaNs a GPU makes canonical?
  static bool isArithmetic(const ir::Instruction& i);

 private:
  void collect(const ir::Function& f);
  void collectUses(const ir::Instruction& i);
  void iterate();

  std::vector<std::vector<ir::ValueId>> inputs_;  // what flows into a value unchanged
  std::vector<char> pure_;                        // only arithmetic and ordinary numbers flow into it
  std::vector<char> dirty_;                       // some arithmetic does
  std::vector<char> observed_;                    // somebody may look at its bits
};

std::string print(const NanPlan& nans, const ir::Function& function);

}  // namespace ordito::simt
