// What is known of the low bits of integers: how many of them are zero in all lanes.
//
// A GPU refuses an access whose address is no multiple of its size, the host does it. An address is mostly a pointer
// plus multiples of the size, so one test of the pointer stands for all lanes, and several accesses share it.
#pragma once

#include <string>
#include <vector>

#include "simt/liveness.hpp"

namespace ordito::simt {

class KnownBits {
 public:
  KnownBits(const ir::Function& function, const ir::Shapes& shapes, const ir::Definitions& definitions);

  /// How many low bits are zero in all lanes; 64 for zero itself.
  unsigned zeroBits(ValueId v) const { return zeros_[v]; }
  unsigned zeroBits(const ptx::Operand& operand) const;
  /// Of the address of a variable; parameters lie where their offsets say, in a block that is aligned for anything.
  unsigned zeroBits(const ptx::Symbol& symbol) const;
  /// The value that decides the low `bits` bits of `v`: what is left when multiples of 2^bits are taken away, also
  /// those that the iterations of a loop have added. In code that is entered at `points`, the value that `v` is made
  /// from may be known no more where `v` is.
  ValueId root(ValueId v, unsigned bits, const Liveness& liveness, const std::vector<uint32_t>& resumePoints) const;

  /// What accesses in other blocks may find as a root is to cross blocks, so that it has a place to be read from there.
  void keepRoots(Liveness& liveness) const;

 private:
  /// One step of root(); none if there is none. `phis` counts those that were looked through.
  ValueId behind(ValueId v, unsigned bits, unsigned& phis) const;
  unsigned ofDefinition(const Instruction& i) const;
  unsigned ofTerm(const ir::Term& term) const;
  ValueId termThatDecides(ValueId v, unsigned bits) const;
  ValueId behindPhi(ValueId v, unsigned bits) const;

  const ir::Function& f_;
  const ir::Definitions& definitions_;
  std::vector<uint8_t> zeros_;
};

std::string print(const KnownBits& bits, const ir::Function& function);

}  // namespace ordito::simt
