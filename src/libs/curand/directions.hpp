// Direction vectors of Sobol's sequences, and what scrambles them.
#pragma once

#include <cstdint>

namespace ordito::curand {

/// Dimensions, as many as a GPU's library has.
constexpr unsigned kDimensions = 20000;

/// 32 or 64 vectors for each dimension, made at the first call; they stay. What is behind the last dimension cannot be
/// read. Scrambled: each vector times a random triangular matrix of its dimension (Matousek, 1998), with constants to
/// be exclusively ored to the numbers.
const uint32_t* directions32(bool isScrambled);
const uint64_t* directions64(bool isScrambled);
const uint32_t* constants32();
const uint64_t* constants64();

}  // namespace ordito::curand
