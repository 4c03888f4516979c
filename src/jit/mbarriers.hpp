// PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier": calls of rt/mbarrier.cpp, lane after
// lane. A wait is a test in a loop that spins (ir/sync_points.hpp).
#pragma once

#include <optional>

#include "jit/tools.hpp"

namespace ordito::jit {

class Mbarriers : private Chapter {
 public:
  explicit Mbarriers(Tools& tools) : Chapter(tools) {}

  void emit(const Instruction& i);

 private:
  struct Form;
  static std::optional<Form> formOf(isa::Op op);
  void tell(const Instruction& i, const Form& form, const Address& a, const Parts& mask, LlvmValue results);
};

}  // namespace ordito::jit
