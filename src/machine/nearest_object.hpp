// Of the objects in a thread's local memory the one that an address lies in, or else the one next to it: whose red zone
// it is (ptx/local_objects.hpp).
#pragma once

#include <cstdint>

#include "ptx/module.hpp"

namespace ordito::machine {

class NearestObject {
 public:
  explicit NearestObject(uint64_t address) : address_(address) {}

  void offer(uint64_t begin, uint64_t bytes, const ptx::Variable* variable) {
    const bool isBefore = address_ < begin, isBehind = address_ >= begin + bytes;
    const uint64_t away = isBefore ? begin - address_ : isBehind ? address_ - (begin + bytes) + 1 : 0;
    if (bytes == 0 || away >= away_) return;
    away_ = away, begin_ = begin, bytes_ = bytes, variable_ = variable;
  }

  uint64_t begin() const { return begin_; }
  uint64_t bytes() const { return bytes_; }  // 0: none was offered
  const ptx::Variable* variable() const { return variable_; }
  bool contains(uint64_t size) const { return away_ == 0 && size <= bytes_ - (address_ - begin_); }

 private:
  uint64_t address_, away_ = ~uint64_t{0}, begin_ = 0, bytes_ = 0;
  const ptx::Variable* variable_ = nullptr;
};

}  // namespace ordito::machine
