// Shapes: how a value varies between the lanes of a warp and between the warps of a block; and from them, which
// branches diverge.
//
// A value is *segmented* when value(lane) = base[lane / (32 / segments)] + pattern[lane], with a pattern known at
// compile time. One segment and no pattern is a uniform value; one segment and the pattern 0,1,2… is affine
// (threadIdx.x); a 16×16 block makes threadIdx.y a pattern of sixteen 0s and sixteen 1s, and threadIdx.y * n two
// segments without a pattern. Only the bases exist at run time, as scalars: an address of consecutive lanes becomes one
// vector load, and a vector of 64-bit addresses is never made for it. Anything else is *general*: one vector of 32
// elements.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ir/analyses.hpp"
#include "ir/ir.hpp"

namespace ordito::ir {

inline constexpr unsigned kLanes = 32;
/// More segments than this cost more scalar work than a vector would.
inline constexpr unsigned kMaxSegments = 4;

using Pattern = std::array<int64_t, kLanes>;
using PatternId = uint32_t;  // 0 is the pattern of zeros

struct Shape {
  enum class Kind : uint8_t { Unknown, Segmented, General };
  Kind kind = Kind::Unknown;
  uint8_t segments = 1;      // 1, 2 or 4
  uint8_t alignment = 0;     // every base is a multiple of 2^alignment
  uint8_t width = 64;        // every lane's value, read as unsigned, is below 2^width
  bool warpVarying = false;  // bases differ between the warps of a block
  bool inexact =
      false;  // went through a 32-to-64-bit widening with a pattern: exact as an address of active lanes only
  PatternId pattern = 0;

  bool operator==(const Shape&) const = default;
  bool isSegmented() const { return kind == Kind::Segmented; }
  bool isGeneral() const { return kind == Kind::General; }
  /// The same value in all lanes of a warp.
  bool isUniform() const { return isSegmented() && segments == 1 && pattern == 0; }
};

/// What the analysis may assume about the launch.
struct LaunchShape {
  std::array<uint32_t, 3> block = {1, 1, 1};
  bool isExact = false;   // an index of 32 bits may wrap around between lanes, and shapes must hold all the same
  bool byThread = false;  // one thread at a time: a warp is one lane, and has one value of everything
  unsigned warps() const {
    return static_cast<unsigned>((uint64_t{block[0]} * block[1] * block[2] + kLanes - 1) / kLanes);
  }
};

struct SyncPoints;

class Shapes {
 public:
  /// With `syncPoints`, values that live across them are as their threads may be diverged there. `coarsened`: by block,
  /// whether several warps advance together there, so that a branch on which they can differ is divergent; empty:
  /// nowhere.
  Shapes(const Analyses& analyses, const LaunchShape& launch, const SyncPoints* syncPoints = nullptr,
         std::vector<char> coarsened = {});

  const Shape& operator[](ValueId v) const { return shapes_[v]; }
  const Pattern& pattern(PatternId id) const { return patterns_[id]; }
  /// The shape of an operand: a value's, a special register's, or a constant's.
  Shape shapeOf(const ptx::Operand& operand) const;
  Shape shapeOf(isa::Special special) const;

  /// Can lanes that execute block `b` leave it on different edges?
  bool isDivergent(BlockId b) const { return divergent_[b]; }
  /// Uniform within a warp, but not the same for all warps of the block.
  bool isWarpVarying(BlockId b) const { return varying_[b]; }
  /// Where lanes that part in block `b` are all together again, or kNoBlock if only at the end of the kernel.
  BlockId joinOf(BlockId b) const { return join_[b]; }
  /// Blocks between the branch that ends `b` and its join.
  std::vector<BlockId> influence(BlockId b) const;

  /// The least number of segments in which `shape` has no pattern, or 0 if that is more than kMaxSegments.
  unsigned segmentsWithoutPattern(const Shape& shape) const;
  /// Is the value read only as (part of) an address?
  bool isAddressOnly(ValueId v) const { return addressOnly_[v]; }

  const LaunchShape& launch() const { return launch_; }

 private:
  friend class ShapeTransfer;
  PatternId intern(const Pattern& p);
  void findJoins();
  void findAddressOnly();
  void iterate();
  void giveUp();
  bool updateBranch(BlockId b);
  void markJoins(BlockId b, std::vector<char>& marks);
  Shape transferPhi(BlockId b, const Phi& phi) const;
  Shape meet(const Shape& a, const Shape& b) const;

  Shape acrossSyncPoints(ValueId v, Shape s) const;
  Shape unlike() const;

  const Function& f_;
  LaunchShape launch_;
  const SyncPoints* syncPoints_;
  const std::vector<char> coarsened_;  // by block
  std::vector<Shape> shapes_;
  std::vector<Pattern> patterns_;
  std::vector<char> divergent_, varying_, divergentJoin_, varyingJoin_, addressOnly_;
  std::vector<BlockId> join_;
  std::vector<BlockId> order_;
  const LoopNest& loops_;
};

}  // namespace ordito::ir
