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

namespace ordito::ptx {

struct Root {
  enum class Kind : uint8_t { Unknown, Parameter, ModuleVariable, FunctionVariable };
  Kind kind{};
  uint32_t index = 0;  // of the variable; of a parameter its offset in the parameter block
  auto operator<=>(const Root&) const = default;
};
using Roots = std::set<Root>;

class FunctionRoots {
 public:
  explicit FunctionRoots(const Function& function);
  /// Of all addresses of the memory operands at a line.
  const Roots& at(uint32_t line) const;
  /// Of the addresses that an instruction of the function uses.
  Roots of(const Instruction& instruction) const;

 private:
  Roots of(const Operand& operand) const;
  bool add(const Operand& target, const Roots& roots);
  Roots made(const Instruction& instruction) const;
  Roots loaded(const Instruction& instruction, size_t element) const;
  bool visit(const Instruction& instruction);

  const Function& function_;
  std::vector<Roots> registers_;
  std::map<uint32_t, Roots> lines_;
};

}  // namespace ordito::ptx
