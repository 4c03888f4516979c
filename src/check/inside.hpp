// Accesses to shared memory that stay in their array, aligned, whatever the kernel has loaded.
//
// `atomicAdd(&bins[text[i]], 1)` goes anywhere in `bins`, but a byte is at most 255: where `bins` has 256 elements
// nobody needs to look. So it is with what `% 64`, `& 63` or `>> 24` leave of a number.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "ir/definitions.hpp"

namespace ordito::check {

class Inside {
 public:
  /// `threads`: of a block in each dimension.
  Inside(const ir::Function& function, const std::array<uint32_t, 3>& threads)
      : f_(function), threads_(threads), definitions_(function) {}

  /// Does an access of `bytes` at the address that a memory operand names stay in one array of known size, at a
  /// multiple of its size?
  bool contains(const ptx::Operand& address, unsigned bytes) const;

 private:
  /// A number without sign, or an address: where an array begins and such a number.
  struct Range {
    uint64_t most = 0;       // at most so much
    unsigned zeros = 64;     // so many low bits are 0
    ptx::Symbol array = {};  // none: no address
  };
  using Found = std::optional<Range>;
  Found of(const ptx::Operand& operand, unsigned depth) const;
  Found of(const ptx::Symbol& symbol, uint64_t offset) const;
  Found made(const ir::Instruction& i, unsigned depth) const;
  Found converted(const ir::Instruction& i, unsigned depth) const;
  Found masked(const ir::Instruction& i, unsigned depth) const;
  static Found sum(const Found& a, const Found& b, unsigned bits);
  static Found product(const Found& a, const Found& b, unsigned bits);
  const ptx::Variable* variable(const ptx::Symbol& symbol) const;

  const ir::Function& f_;
  const std::array<uint32_t, 3> threads_;
  const ir::Definitions definitions_;
};

}  // namespace ordito::check
