// PTX ISA, "Asynchronous copy": done at once, which is one of the orders that the manual allows.
#pragma once

#include "jit/tools.hpp"

namespace ordito::jit {

class AsyncCopies : private Chapter {
 public:
  explicit AsyncCopies(Tools& tools) : Chapter(tools) {}

  void emit(const Instruction& i);
  /// cp.async.commit_group, cp.async.wait_group and wait_all.
  void order(const Instruction& i);
  void emitBulk(const Instruction& i);
  void orderBulk(const Instruction& i);

 private:
  LlvmValue wantedBytes(const Instruction& i, unsigned bytes, unsigned part);
};

}  // namespace ordito::jit
