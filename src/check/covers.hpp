// Accesses that data decides about, and those before them that are made in any case.
//
// `if (a[i] > a[j]) swap(a[i], a[j])` stores where, without the condition, the same thread has just loaded. Where no
// synchronisation lies between the two, what the store could race with is what a store in place of the load would race
// with: the load *covers* the store. So a proof (proof.hpp) may know that a block has no race whatever its data, though
// the block that was watched stored elsewhere.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "ir/block_forms.hpp"
#include "ptx/operands.hpp"

namespace ordito::check {

class Covers {
 public:
  Covers(const ir::Function& function, const ir::BlockForms& forms) : f_(function), forms_(forms) {}

  /// The accesses that cover that of an instruction of a block: on each way to it one of the same address, no fewer
  /// bytes, that all blocks make alike, with no synchronisation behind it. Nothing: there is a way without.
  std::optional<std::vector<const ir::Instruction*>> of(ir::BlockId block, size_t instruction) const;

 private:
  struct Wanted {
    ptx::Operand address;
    ptx::Space space;
    unsigned bytes;
  };
  enum class Step { GoOn, Found, Lost };
  Step look(ir::BlockId block, const ir::Instruction& i, const Wanted& wanted) const;
  Step lookBack(ir::BlockId block, size_t end, const Wanted& wanted, std::vector<const ir::Instruction*>& found) const;
  bool isEnd(ir::BlockId block, const Wanted& wanted) const;

  const ir::Function& f_;
  const ir::BlockForms& forms_;
};

}  // namespace ordito::check
