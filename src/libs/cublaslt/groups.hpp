// Groups of products: each matrix has a size of its own. Sizes and pointers are arrays of the device, so they are read
// in the task.
#pragma once

#include "libs/cublaslt/matmul.hpp"

namespace ordito::cublaslt {

/// Of a product whose layouts are groups: what the call can know, as supportOf() says it.
cublasStatus_t groupsSupport(const Product& p);

/// One of the products, as if it had been asked for alone. False if its sizes contradict each other, or their leading
/// dimensions.
bool takeGroup(const Product& all, const Operands& operands, int64_t group, Product* one, Operands* own);

}  // namespace ordito::cublaslt
