// How far a value lies from warp to warp: the number by which each lane of a warp has more than the same lane of the
// warp before, where that is one constant for all warps of the block. threadIdx.y of a block of 32 columns grows by 1,
// and so does the column of a tile that such a warp reads: what a batch of warps reads together are rows after all.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/definitions.hpp"
#include "simt/facts.hpp"

namespace ordito::simt {

class WarpDistances {
 public:
  WarpDistances(const ir::Function& function, const ir::Shapes& shapes);

  /// 0 where all warps have the same; nothing where it is not known.
  std::optional<int64_t> of(ValueId v) const;

 private:
  /// What is known of a value so far; it only gets less.
  struct Distance {
    enum class Kind : uint8_t { Any, Constant, Varying };
    Kind kind = Kind::Any;
    int64_t bytes = 0;
    bool operator==(const Distance&) const = default;
  };
  static Distance meet(const Distance& a, const Distance& b);
  Distance ofSpecial(isa::Special special) const;
  Distance ofOperand(const ptx::Operand& o) const;
  Distance ofInstruction(const Instruction& i, ValueId v) const;
  Distance ofPhi(const ir::Phi& phi) const;
  bool visit(const ir::Block& block);
  bool update(ValueId v, const Distance& d);

  const ir::Function& f_;
  const ir::Shapes& shapes_;
  std::vector<Distance> distances_;
};

std::string print(const WarpDistances& distances, const ir::Function& function);

}  // namespace ordito::simt
