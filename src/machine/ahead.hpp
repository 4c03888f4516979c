// Kernels compiled before they are asked for.
//
// A program that starts with nothing in the cache launches the kernels of its module one after another and waits for
// each. While it waits for one, another thread compiles the module's next kernel for the same block shape, since most
// programs launch their kernels in about the order in which they are written, and in blocks of one shape. A guess that
// goes wrong costs the time of a processor that had nothing to do; after a few of them no more is guessed until the
// program launches a kernel that was.
#pragma once

#include <chrono>
#include <memory>

#include "machine/kernel.hpp"

namespace ordito::machine {

struct AheadRules {
  /// A kernel whose code is there sooner was on the disk: then the others are, too, or nobody wants them.
  std::chrono::milliseconds patience{5};
  unsigned threads = 1;        // that compile ahead, at most
  unsigned guesses = 2;        // that may be open before one of them has been right
  size_t largestKernel = 500;  // instructions of PTX: larger ones take too long to be guessed
};

/// `compiler`, which keeps the code that it has made and may be asked from several threads, with the kernels next to
/// those that a launch waits for compiled meanwhile. What listeners ask for is not compiled ahead.
std::unique_ptr<Engine> makeAhead(std::unique_ptr<Engine> compiler, AheadRules rules);

}  // namespace ordito::machine
