// Sums, products and extremes of the ranks' elements.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "nccl.h"

namespace ordito::libs::nccl {

/// An element of whatever type.
using Element = std::array<std::byte, 8>;

/// How elements become one: of ncclNumOps, which stands for the program's own operations, the sum of each rank's
/// elements times its factor.
struct Reduction {
  ncclRedOp_t operation = ncclSum;
  std::vector<Element> factors{};
};

/// 0 if there is no such type.
size_t sizeOf(ncclDataType_t type);

/// result[i] of the ranks' elements, inputs[rank][i]. The result may be one of the inputs. Numbers of 16 and 8 bits are
/// computed in single precision and rounded once; integers wrap.
void reduce(ncclDataType_t type, const Reduction& reduction, const std::vector<const std::byte*>& inputs,
            std::byte* result, size_t count);

}  // namespace ordito::libs::nccl
