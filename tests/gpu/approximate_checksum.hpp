// What one argument and its result add to the checksums of approximate_functions.recorded; the order does not matter.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
__host__ __device__
#endif
    inline uint64_t
    contribution(uint32_t x, uint32_t result) {
  uint64_t h = (uint64_t{x} << 32 | result) * 0x9E3779B97F4A7C15u;
  h ^= h >> 29;
  return h * 0xBF58476D1CE4E5B9u;
}
