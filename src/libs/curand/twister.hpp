// MT19937 (Matsumoto and Nishimura, 1998) in the order of NVIDIA's library, which its manual and recordings of a GPU
// tell: 8192 parts of the sequence lie 2^2048 numbers apart, and each gives eight numbers before it is the next one's
// turn. Eight threads share a part's 624 words, so those do not come in their own order either.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace ordito::curand {

class Mt19937 {
 public:
  static constexpr unsigned kWords = 624, kParts = 8192, kThreads = 8, kTurns = kWords / kThreads;
  using State = std::array<uint32_t, kWords>;  // the next numbers, before they are tempered

  /// Of the seed the lower 32 bits count.
  explicit Mt19937(uint64_t seed);

  uint32_t operator()();

  static float uniform(uint32_t word) { return static_cast<float>(uniformDouble(word)); }
  static double uniformDouble(uint32_t word) { return (word + 0.5) * 0x1p-32; }

 private:
  void grow();

  std::vector<State> parts_;  // made when their first turn comes; numbers in the order of delivery
  unsigned part_ = 0, thread_ = 0;
  uint64_t turn_ = 0;
};

}  // namespace ordito::curand
