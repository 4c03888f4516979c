// The pieces of a kernel between resume points: what can be reached from one without passing another. The block
// function is a loop over them.
//
// Threads come to a region in step, all of the block at once, or out of step, some lanes of one warp at a time, which
// the lane scheduler brings. A region can be both, and one in which threads may get out of step (*independently
// scheduled*) is handed to the scheduler as a whole.
#pragma once

#include <string>
#include <vector>

#include "ir/definitions.hpp"
#include "ir/graph.hpp"
#include "ir/stops.hpp"
#include "simt/facts.hpp"

namespace ordito::simt {

/// What can be reached from some resume points without passing another.
class Region {
 public:
  Region(const ir::Function& function, const ir::Stops& stops, const ir::Graph& graph, std::vector<uint32_t> points);
  const std::vector<uint32_t>& points() const { return points_; }
  /// Its blocks. For one point: in reverse post-order from there; for several that share code: in the kernel's order,
  /// so that loops have their own headers.
  const std::vector<BlockId>& order() const { return order_; }
  bool contains(BlockId b) const { return role_[b] & kInside; }
  /// Of a block of the region in `order`.
  uint32_t position(BlockId b) const { return position_[b]; }
  /// Does the region give the value that its definition says, by its blocks or on its way into or out of them?
  bool defines(const ir::Definition& d) const;

 private:
  static constexpr char kInside = 1, kPhisAssigned = 2, kResultReceived = 4;
  std::vector<uint32_t> points_;
  std::vector<BlockId> order_;
  std::vector<uint32_t> position_;
  std::vector<char> role_;  // by block
};

struct Regions {
  static constexpr uint32_t kNoPoint = ~0u;
  /// How threads come to the region at a resume point.
  struct Entry {
    bool inStep = false, outOfStep = false;
    bool isIndependent = false;  // threads can get out of step in the region
    bool isScheduled() const { return outOfStep || isIndependent; }
  };
  std::vector<BlockId> points;      // blocks where regions begin: see ir::Stops
  std::vector<uint32_t> pointOf;    // by block
  std::vector<Entry> entries;       // by point
  ir::Graph graph;                  // of the kernel, without the edges behind synchronisation points
  size_t instructions = 0;          // of the kernel
  bool sharesScheduled = false;     // all regions that the scheduler runs are one piece of code
  std::vector<uint32_t> scheduled;  // points whose regions the scheduler runs

  /// The region that begins at a point, for threads in step; or, where those share no code, for the scheduler's.
  Region at(uint32_t point) const { return {*function, *stops, graph, {point}}; }
  /// The one that all the scheduler's entries share.
  Region shared() const { return {*function, *stops, graph, scheduled}; }

  const ir::Function* function = nullptr;
  const ir::Stops* stops = nullptr;
};

Regions findRegions(const ir::Function& function, const ir::Stops& stops, const Facts& facts);

std::string print(const Regions& regions);

}  // namespace ordito::simt
