// Kernels in PTX that call a program's own operators, for cuSPARSE's products with such (operators.cpp).
#pragma once

#include <optional>
#include <string>

#include "library_types.h"
#include "libs/device_code.hpp"

namespace ordito::cusparse {

/// How a program's operators get numbers of this type; nothing if they cannot have it.
std::optional<libs::PtxElement> elementOf(cudaDataType type);

/// What C++ adds to the name of a function with `count` parameters of this type.
std::string mangledParameters(cudaDataType type, int count);

/// c[i][j] = epilogue(add over k in the row i of mul(a[k], b[column of k][j]), c[i][j]), for operators of two elements;
/// an empty row has the sum 0. A kernel of (offsets, columns, a, b, c, elements of c, columns of c), all of 64 bits.
struct ProductOperators {
  libs::PtxFunction add, multiply, epilogue;
};
std::string productKernel(const ProductOperators& operators);
inline constexpr const char* kProductKernel = "orditoSparseProduct";

/// z[i] = epilogue(i, z[i]). A kernel of (z, elements of z).
std::string rowKernel(const libs::PtxFunction& epilogue);
inline constexpr const char* kRowKernel = "orditoSparseRows";

}  // namespace ordito::cusparse
