// Two engines as one: a compiler, whose code is fast once it is there, and an interpreter, which can begin at once.
//
// A launch waits a little for its kernel's code, as long as most kernels take to compile. If the code is not there by
// then, the interpreter runs the blocks that start until it is. A block that has changed nothing outside of itself when
// the code comes is begun again on it (restart.hpp); any other ends where it has begun. Both engines follow the same
// rules of memory, so that blocks of one grid can work together wherever they run. A kernel that the compiler refuses
// by name stays with the interpreter.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "machine/kernel.hpp"

namespace ordito::machine {

struct TierRules {
  std::chrono::milliseconds grace{0};  // how long a launch waits for code before the interpreter begins
  bool waits = false;                  // a launch always waits for code
  /// Does the interpreter compute the function that a module calls by this name as compiled code does, bit by bit? If
  /// not, kernels that call it wait for their code.
  std::function<bool(const std::string& name)> agreeOn = {};
  /// Gets the compiler's refusal for every kernel that stays with the interpreter.
  std::function<void(const Error&)> tell = {};
};

std::unique_ptr<Engine> makeTiers(std::unique_ptr<Engine> compiler, std::unique_ptr<Engine> interpreter,
                                  TierRules rules);

}  // namespace ordito::machine
