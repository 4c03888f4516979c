// Regions in which counting in shared memory goes to several copies of it.
#pragma once

#include <vector>

#include "ir/ir.hpp"
#include "ir/stops.hpp"
#include "machine/layout.hpp"

namespace ordito::jit {

/// Is `i`, an atomic instruction, an addition of whole numbers to shared memory whose old value nobody reads?
bool isCount(const ir::Instruction& i, const std::vector<char>& isRead);

/// By point of `stops`: can the region that starts there count in copies? It does so in a loop, and does nothing else
/// with shared memory: all that an addition changes is then what is there in the end. All zero for kernels that park,
/// have one region only, or whose shared memory is large or sized at the launch.
std::vector<char> shadowedRegions(const ir::Function& function, const ir::Stops& stops,
                                  const machine::KernelLayout& layout, const std::vector<char>& isRead);

}  // namespace ordito::jit
