// Operand values for recorded instructions: the corners of each type, and random numbers of the kinds that make
// instructions differ. They follow from the seed alone, so that a record holds results only.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "isa/types.hpp"

namespace ordito::gpu {

/// `tuples` values for each of the operands of the given types. The first tuples pair the corners of the types with
/// each other; later ones are random, often related to the operand before (equal, negated, of like magnitude).
std::vector<std::vector<uint64_t>> operandValues(const std::vector<isa::Type>& types, size_t tuples,
                                                 std::string_view seed);

/// A number that is the same on every machine for the same text.
uint64_t hashOf(std::string_view text);

}  // namespace ordito::gpu
