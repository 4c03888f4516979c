// bar.red in blocks whose threads are converged: the region before the barrier adds up arrivals and true values, batch
// after batch; the region behind it starts with the answer.
#pragma once

#include "jit/tools.hpp"

namespace ordito::jit {

class BarrierReductions : private Chapter {
 public:
  explicit BarrierReductions(Tools& tools) : Chapter(tools) {}

  void clear();
  void arrive(const Instruction& i, const Parts& mask);
  void take(uint32_t resumePoint);
  void deliver(uint32_t resumePoint);
};

}  // namespace ordito::jit
