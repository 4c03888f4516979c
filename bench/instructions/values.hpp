// Operands to measure with.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "isa/isa.hpp"
#include "subject.hpp"

namespace ordito::bench {

/// One value of this type for each tuple, as bits. `isPositive`: of floats, for what is defined on positive numbers.
std::vector<uint64_t> valuesFor(isa::Type type, Values values, bool isPositive, std::string_view seed);

}  // namespace ordito::bench
