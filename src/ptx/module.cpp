// What an immediate's bits are; see module.hpp.
#include "ptx/module.hpp"

#include <bit>

namespace ordito::ptx {
namespace {

/// The f32 of a double's bits. NaNs are narrowed by hand, so that 0f7F800001 comes out as it was written.
uint32_t narrow(uint64_t d) {
  bool nan = (d & 0x7FF0000000000000) == 0x7FF0000000000000 && (d & 0x000FFFFFFFFFFFFF) != 0;
  if (!nan) return std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(d)));
  uint32_t payload = d >> 29 & 0x7FFFFF;
  return static_cast<uint32_t>(d >> 63) << 31 | 0x7F800000 | (payload ? payload : 0x400000);
}

}  // namespace

uint64_t immediateBits(const Operand& operand, isa::Type type) {
  unsigned width = isa::bits(type);
  if (operand.is(Operand::Kind::Float)) return width == 32 ? narrow(operand.bits) : operand.bits;
  return width < 64 ? operand.bits & ((uint64_t{1} << width) - 1) : operand.bits;
}

}  // namespace ordito::ptx
