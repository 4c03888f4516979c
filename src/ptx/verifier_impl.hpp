// Between the verifier's files.
#pragma once

#include "ptx/operands.hpp"

namespace ordito::ptx {

/// What is wrong, as a sentence; null if nothing is.
using Problem = const char*;
inline constexpr Problem kFine = nullptr;

/// Of the modifiers and types of `i` taken together.
Problem modifierProblem(const Instruction& i);
/// The same for textures, surfaces, matrices and video.
Problem specialUnitProblem(const Instruction& i);
/// The same for loads, stores, atomic operations, mbarriers and addresses.
Problem memoryProblem(const Instruction& i);
/// How many elements the vector that is operand `k` must have; 0 if it cannot be a vector.
size_t vectorLength(const Instruction& i, size_t k);
/// The least number of coordinates of a texture or surface instruction.
size_t coordinateCount(const Instruction& i);

}  // namespace ordito::ptx
