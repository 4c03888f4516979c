// alloca, stacksave and stackrestore as plain instructions (PTX ISA, "Stack Manipulation Instructions").
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "ptx/module.hpp"

namespace ordito::ir {

/// Bytes that a thread can have from alloca at one time.
inline constexpr uint32_t kAllocaBytes = 64 * 1024;

bool usesStack(const ptx::Function& function);

/// Replaces them in a kernel with everything inlined: a variable in local memory of which a register says from where on
/// it is in use. A thread that wants more ends the launch with StackOverflow. `origin`: see Function::origin.
void lowerStack(ptx::Function& kernel, std::vector<std::pair<uint32_t, uint32_t>>& origin);

}  // namespace ordito::ir
