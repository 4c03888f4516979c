// Which object an address was made from: the kernel's parameter or the variable that the instructions before it started
// with. An access that lands in another object is wrong even where that object is alive.
//
// A register's roots are the union over all instructions that write it, followed through moves, additions and the like.
// What a product or a narrow value contributes is an index and no pointer. A value that comes from memory, a call or
// another lane may be any pointer, so it makes the answer "unknown"; then the address alone decides.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "ptx/module.hpp"

namespace ordito::check {

struct Root {
  enum class Kind : uint8_t { Unknown, Parameter, ModuleVariable, FunctionVariable };
  Kind kind{};
  uint32_t index = 0;  // of the variable; of a parameter its offset in the parameter block
  auto operator<=>(const Root&) const = default;
};
using Roots = std::set<Root>;

class FunctionRoots {
 public:
  explicit FunctionRoots(const ptx::Function& function);
  /// Of all addresses of the memory operands at a line.
  const Roots& at(uint32_t line) const;

 private:
  Roots of(const ptx::Operand& operand) const;
  bool add(const ptx::Operand& target, const Roots& roots);
  Roots made(const ptx::Instruction& instruction) const;
  Roots loaded(const ptx::Instruction& instruction, size_t element) const;
  bool visit(const ptx::Instruction& instruction);

  const ptx::Function& function_;
  std::vector<Roots> registers_;
  std::map<uint32_t, Roots> lines_;
};

}  // namespace ordito::check
