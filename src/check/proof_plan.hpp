// What of a launch can be said of one block by what another has done: where its accesses to memory lie, and which
// comparisons must come out alike (ir/block_forms.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/block_forms.hpp"
#include "machine/events.hpp"

namespace ordito::check {

using BlockNumber = std::array<uint32_t, 3>;

/// How far a block's values lie from another's.
int64_t distance(const ir::BlockStep& step, const BlockNumber& from, const BlockNumber& to);

/// Lines of the PTX; of code that was inlined, that of the function it comes from.
struct ProofPlan {
  struct Guard {
    ir::GuardOperands what;
    std::vector<ir::BlockStep> a, b;  // by any of which the operands may be shifted
    bool operator==(const Guard& o) const { return what.kind == o.what.kind && a == o.a && b == o.b; }
  };
  std::unordered_map<uint32_t, ir::BlockStep> sites;  // of addresses
  std::unordered_map<uint32_t, Guard> guards;
  /// Lines of accesses whose addresses may be any: of global memory, that only read or are atomic operations, however
  /// often they happen; of shared memory, that happen in all blocks alike.
  std::unordered_map<uint32_t, bool> open;  // is it an atomic operation?
  bool usesGlobalAlone = true;              // and lanes exchange nothing: no other memory, no warp operations
  const ptx::Function* function = nullptr;  // that the open lines lie in

  /// Nothing if some access or synchronisation of a block depends on more than the block's number, the threads'
  /// numbers and the launch: on what the kernel has loaded.
  static std::optional<ProofPlan> of(const machine::LaunchEvent& launch);
};

/// Blocks whose distance along `step` lies in [low, high].
struct Limit {
  ir::BlockStep step;
  int64_t low, high;
};

/// What the operands of a guard were in one block.
class Margin {
 public:
  void add(ir::GuardOperands::Kind kind, int64_t a, int64_t b);
  /// The blocks in which it comes out alike for all threads, and every time: their distance from this one.
  void addLimits(const ProofPlan::Guard& guard, std::vector<Limit>& limits) const;

 private:
  void addLimits(const ir::GuardOperands& what, const ir::BlockStep& a, const ir::BlockStep& b,
                 std::vector<Limit>& limits) const;

  int64_t lowA_ = INT64_MAX, highA_ = INT64_MIN, lowB_ = INT64_MAX, highB_ = INT64_MIN;
  // Of a - b: the greatest below zero, the least above; whether it was zero.
  std::optional<int64_t> below_, above_;
  bool isZero_ = false, overlaps_ = false;
  uint64_t bitsOfA_ = 0, bitsOfB_ = 0;
};

}  // namespace ordito::check
