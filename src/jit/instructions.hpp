// From an instruction to the chapter that knows its effect.
#pragma once

#include "jit/async_copies.hpp"
#include "jit/atomics.hpp"
#include "jit/function_calls.hpp"
#include "jit/loads_and_stores.hpp"
#include "jit/matrix.hpp"
#include "jit/mbarriers.hpp"
#include "jit/pure.hpp"
#include "jit/textures.hpp"
#include "jit/warp.hpp"
#include "jit/wide_accesses.hpp"

namespace ordito::jit {

class Instructions : private Chapter {
 public:
  explicit Instructions(Tools& tools)
      : Chapter(tools),
        pure_(tools),
        wide_(tools),
        loadsAndStores_(tools, wide_),
        atomics_(tools),
        asyncCopies_(tools),
        mbarriers_(tools),
        warps_(tools),
        functions_(tools),
        textures_(tools, atomics_),
        products_(tools),
        tiles_(tools),
        fragments_(tools) {}

  void emit(const Instruction& i);
  /// Emits the value of one that the plan rematerialises.
  void rematerialise(ValueId v);
  Comparisons& comparisons() { return pure_.comparisons(); }
  CombinedAtomics& combined() { return atomics_.combined(); }

 private:
  void emitByEffect(const Instruction& i);
  void emitMatrix(const Instruction& i);

  PureInstructions pure_;
  WideAccesses wide_;
  LoadsAndStores loadsAndStores_;
  Atomics atomics_;
  AsyncCopies asyncCopies_;
  Mbarriers mbarriers_;
  WarpInstructions warps_;
  FunctionCalls functions_;
  Textures textures_;
  MatrixProducts products_;
  MatrixTiles tiles_;
  MatrixFragments fragments_;
};

}  // namespace ordito::jit
