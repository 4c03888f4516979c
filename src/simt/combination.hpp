// Operations of atomics on whole numbers that combine: whether several are done one after the other or first with each
// other makes no difference, in whatever order. (Of floats this holds for minimum and maximum alone, and PTX has these
// for halves only.)
#pragma once

#include <cstdint>

namespace ordito::simt {

struct Combination {
  enum class Operation : uint8_t { Add, And, Or, Xor, Min, Max, UMin, UMax };
  Operation operation = Operation::Add;
  uint8_t bytes = 4;  // of a number: 4 or 8

  bool operator==(const Combination&) const = default;

  /// What changes no number.
  uint64_t identity() const {
    const uint64_t all = bytes == 8 ? ~uint64_t{0} : 0xffffffff;
    switch (operation) {
      case Operation::And:
      case Operation::UMin: return all;
      case Operation::Min: return all >> 1;
      case Operation::Max: return (all >> 1) + 1;
      default: return 0;
    }
  }
};

}  // namespace ordito::simt
