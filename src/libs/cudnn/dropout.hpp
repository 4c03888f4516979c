// Which elements a dropout keeps.
#pragma once

#include <cstdint>

namespace ordito::libs::cudnn {

/// In the program's states, device memory that is its: so that a graph's launches go on from each other.
struct DropoutStates {
  uint64_t seed, calls;

  /// A number from 0 to 1 for each element of each call: a finaliser of good mixing over seed, call and element
  /// (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014). A GPU's numbers are others.
  double uniform(uint64_t element) const {
    uint64_t z = seed + 0x9e3779b97f4a7c15 * (calls * 0x100000001 + element + 1);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return static_cast<double>((z ^ z >> 31) >> 11) * 0x1p-53;
  }
};

}  // namespace ordito::libs::cudnn
