// The pieces of a kernel between resume points: what can be reached from one without passing another. The block
// function is a loop over them.
//
// Threads come to a region converged, all of the block at once, or diverged, some lanes of one warp at a time, which
// the lane scheduler brings. A region can be both, and one in which threads may get diverged (*independently
// scheduled*) is handed to the scheduler as a whole.
#pragma once

#include <string>
#include <vector>

#include "ir/definitions.hpp"
#include "ir/graph.hpp"
#include "ir/sync_points.hpp"
#include "simt/facts.hpp"

namespace ordito::simt {

/// What can be reached from some resume points without passing another.
class Region {
 public:
  Region(const ir::Function& function, const ir::SyncPoints& syncPoints, const ir::Graph& graph,
         std::vector<uint32_t> resumePoints);
  const std::vector<uint32_t>& resumePoints() const { return resumePoints_; }
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
  std::vector<uint32_t> resumePoints_;
  std::vector<BlockId> order_;
  std::vector<uint32_t> position_;
  std::vector<char> role_;  // by block
};

struct Regions {
  static constexpr uint32_t kNoResumePoint = ~0u;
  /// How threads come to the region at a resume point.
  struct Entry {
    bool converged = false, diverged = false;
    bool isIndependent = false;  // threads can get diverged in the region
    bool isScheduled() const { return diverged || isIndependent; }
  };
  std::vector<BlockId> resumePoints;  // blocks where regions begin: see ir::Stops
  std::vector<uint32_t> pointOf;      // by block
  std::vector<Entry> entries;         // by point
  ir::Graph graph;                    // of the kernel, without the edges behind synchronisation points
  size_t instructions = 0;            // of the kernel
  bool sharesScheduled = false;       // all regions that the scheduler runs are one piece of code
  std::vector<uint32_t> scheduled;    // points whose regions the scheduler runs

  /// The region that begins at a point, for threads converged; or, where those share no code, for the scheduler's.
  Region at(uint32_t resumePoint) const { return {*function, *syncPoints, graph, {resumePoint}}; }
  /// The one that all the scheduler's entries share.
  Region shared() const { return {*function, *syncPoints, graph, scheduled}; }

  const ir::Function* function = nullptr;
  const ir::SyncPoints* syncPoints = nullptr;
};

Regions findRegions(const ir::Function& function, const ir::SyncPoints& syncPoints, const Facts& facts);

std::string print(const Regions& regions);

}  // namespace ordito::simt
