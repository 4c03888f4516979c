// Random kernels about one question: which products does a GPU's compiler fuse into sums? They add, subtract and
// multiply without rounding modifiers in every floating-point type, over branches, loops and guards, with copies,
// negations and registers that are written again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "isa/types.hpp"
#include "text_case.hpp"

namespace ordito::gpu {

struct ContractionKernel {
  isa::Type type;
  test::TextTest test;
  test::Case launch;  // its last buffer is the output
};

/// The same kernel for the same number, everywhere.
ContractionKernel contractionKernel(uint64_t number);

/// Of the output, with all NaNs alike.
uint64_t checksumOf(const ContractionKernel& kernel, const std::vector<uint64_t>& output);

}  // namespace ordito::gpu
