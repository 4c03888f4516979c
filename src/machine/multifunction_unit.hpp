// The special function unit of NVIDIA's GPUs (MUFU in their machine code), bit for bit: what the approximate
// instructions of PTX (rcp, rsqrt, sqrt, ex2, lg2, sin, cos, tanh) give.
//
// Oberman and Siu, "A High-Performance Area-Efficient Multifunction Interpolator" (ARITH 2005), describe the design:
// the upper bits of a 23-bit argument choose a segment, and a quadratic in the lower bits, computed in fixed point, is
// cut to 24 bits. Four things are not in the paper and were read off an H200's answers over whole octaves:
//
// * The square is a truncated one. Of the 17 lower bits, the partial products x_i·x_j of weight below 2^19 are never
//   formed, so 15 bits of the square remain. The other products and sums lose nothing before the final cut.
// * The coefficients (multifunction_table.inc): with this square, the answers of one segment leave exactly one
//   possible integer for the linear and for the quadratic coefficient, and a window of a few units for the constant.
// * Negative numbers are complemented, not negated: in ex2's argument and in lg2's result. Sines and cosines count
//   turns in 25 bits and complement what lies in an odd quadrant.
// * 1 is an exception for rsqrt and lg2.
//
// All 2^32 arguments of the eight functions agree with the H200's: docs/accuracy.md.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace ordito::machine {

enum class Multifunction : uint8_t { Rcp, Rsqrt, Sqrt, Ex2, Lg2, Sin, Cos, Tanh };

/// One result, f32 bits from f32 bits. Subnormal arguments count as zero and subnormal results become zero, but for
/// tanh, which returns what is below 2^-8. Sin and Cos take radians.
uint32_t multifunction(Multifunction function, uint32_t x);

/// What `function`.approx gives, with .ftz or without: subnormal numbers are scaled before and after, as the GPU's
/// compiler has it done.
uint32_t approximate(Multifunction function, uint32_t x, bool flush);

/// x / y by div.approx (`full` false) or div.full; `flush` with .ftz. f32 bits.
uint32_t approximateQuotient(uint32_t x, uint32_t y, bool full, bool flush);

/// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64: the upper word of the result from the upper word of the argument; the
/// lower ones are zero.
uint32_t reciprocalOfDouble(uint32_t upper);
uint32_t reciprocalRootOfDouble(uint32_t upper);

/// rsqrt.approx.f64: a start from the unit and one step of third order, which is what the GPU's compiler makes of it.
double reciprocalRoot(double x);

/// f32 bits, cut (not rounded) to f16 or bf16: what ex2 and tanh of these types do with their result.
uint16_t cutToHalf(uint32_t x);
uint16_t cutToBfloat(uint32_t x);

/// The functions on 4, 8 or 16 lanes, for compiled code: mufu_rcp_sse2 takes and gives 4 floats in a register,
/// mufu_rcp_avx2 8, mufu_rcp_avx512f 16.
std::vector<std::pair<std::string_view, void*>> multifunctionTable();

}  // namespace ordito::machine
