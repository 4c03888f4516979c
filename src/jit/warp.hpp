// PTX ISA, warp-level instructions: shfl, vote, match, redux, elect, activemask, bar.warp.sync. A warp is one vector,
// so they are permutations and reductions of it.
#pragma once

#include "jit/tools.hpp"

namespace ordito::jit {

class WarpInstructions : private Chapter {
 public:
  explicit WarpInstructions(Tools& tools) : Chapter(tools) {}

  void emit(const Instruction& i);

 private:
  /// A shuffle of one part: the lanes' values, and who reads a lane of its segment.
  struct Shuffled {
    LlvmValue values, inside;
  };
  void shuffle(const Instruction& i);
  Shuffled shuffleByTable(const Instruction& i, LlvmValue value);
  Shuffled shuffleByNumbers(const Instruction& i, LlvmValue value, const Source& s);
  void vote(const Instruction& i);
  void match(const Instruction& i);
  LlvmValue lanesOfEqualValues(LlvmValue v, LlvmValue active);
  LlvmValue lanesEqualTo(LlvmValue v, LlvmValue place, LlvmValue lane);
  LlvmValue lanesEqualToEach(LlvmValue v, LlvmValue place, LlvmValue active);
  LlvmValue lanesIfAllAgree(LlvmValue v, LlvmValue full);
  void redux(const Instruction& i);
  void elect(const Instruction& i);
  void defineResult(const Instruction& i, ValueId result, const Parts& answers);
  LlvmValue memberMask(const Instruction& i, unsigned part);
};

}  // namespace ordito::jit
