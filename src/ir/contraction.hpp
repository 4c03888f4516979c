// The contraction that a GPU's compiler does: a product that is only added becomes part of a fused multiply-add, which
// rounds once (PTX ISA, "Floating-Point Instructions": mul, add and sub without a rounding modifier may be contracted).
// As a transformation of PTX, it stands before both engines, and what they run is what the GPU runs.
#pragma once

#include "ptx/module.hpp"

namespace ordito::ir {

/// Contracts the products of every function of the module.
void contractProducts(ptx::Module& module);
void contractProducts(ptx::Function& function);

/// Writes a rounding modifier wherever there is none, so that nothing will be contracted: what -fmad=false means.
void roundEachProduct(ptx::Module& module);

}  // namespace ordito::ir
