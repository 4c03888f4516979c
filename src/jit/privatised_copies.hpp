// Privatised counters (simt/privatised_counters.hpp): their copies are cleared when a block starts, and added up at the
// end of each region that counts in them.
#pragma once

#include "jit/tools.hpp"

namespace ordito::jit {

class PrivatisedCopies : private Chapter {
 public:
  explicit PrivatisedCopies(Tools& tools) : Chapter(tools) {}

  LlvmValue address(unsigned copy);
  void clear();
  void addUp();
  LlvmValue contain(const Parts& offsets);
};

}  // namespace ordito::jit
