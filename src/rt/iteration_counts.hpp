// What a warp counts in a loop whose lanes were run one after the other.
//
// A GPU's counters ask what the lanes of a warp do together: whether an instruction is issued, whether a branch parts
// them, how many sectors they touch. The lanes of an innermost loop begin together and meet in front of each iteration,
// so what a lane does in its iteration k belongs to what the others do in theirs. Each lane leaves 64 iterations at a
// time, and they are put together here, all iterations at once:
//
//   where it was        a bit for each iteration of each branch: whether it was taken. So the blocks of a lane follow,
//                       and words of 64 bits say how often any lane was in a block, or how often a branch parted them
//   walks               an address that grows by a constant: where the lane was last. Two lanes whose addresses are
//                       less than a sector apart share one in iterations that come back, a pattern of bits
//   accesses elsewhere  the sector of each iteration, or the index in an array. The sectors are sorted, those of
//                       several iterations and lists at a time (sector_columns.hpp)
#pragma once

#include <cstddef>
#include <cstdint>

namespace ordito::rt {

/// Of a log, which holds so many iterations of a warp. Offsets are in bytes; compiled code uses them.
struct IterationLog {
  static constexpr uint32_t kIterations = 64, kLanes = 32;
  /// From a lane's list to the next lane's, in numbers: an odd number of cache lines, which lie in different sets then.
  static constexpr uint32_t kListStride = 80;

  uint32_t rows;   // of 64 bits for each lane
  uint32_t lists;  // of sectors or indices for each lane and iteration

  static constexpr size_t row(uint32_t k) { return size_t{k} * kLanes * sizeof(uint64_t); }
  /// From where on the sectors of a list are numbered; 0: nobody has asked yet. Of a list of indices: how many elements
  /// the array's first one lies behind the beginning of its sector.
  constexpr size_t window(uint32_t list) const { return row(rows) + list * sizeof(uint64_t); }
  /// How many accesses lie outside of their list's window. It and the windows are 0 at first.
  constexpr size_t far() const { return window(lists); }
  constexpr size_t list(uint32_t k) const {
    const size_t begin = (far() + sizeof(uint64_t) + 63) / 64 * 64;
    return begin + size_t{k} * kLanes * kListStride * sizeof(uint32_t);
  }
  constexpr size_t bytes() const { return list(lists); }
};

/// A loop and what is counted of it, followed by its blocks, guards and accesses. All of it are numbers of 32 bits.
struct CountedLoop {
  static constexpr uint32_t kMostBlocks = 16, kMostAccesses = 16;
  static constexpr uint32_t kNone = ~0u;

  /// Blocks are in an order in which each comes behind those that lead to it; the first is the loop's header. Edges
  /// that leave the loop or lead back lead to kNone.
  struct Block {
    /// A jump, a branch of whose sides one is the only way out of the loop, or the row that says when it was taken.
    static constexpr uint32_t kJumps = ~0u, kLeavesIfTaken = ~0u - 1, kLeavesElse = ~0u - 2;
    uint32_t decision;
    uint32_t targets[2];
    uint32_t warps, lanes;   // words: how often any lane was here, and lanes together
    uint32_t taken, parted;  // how many lanes took the branch, and how often it parted them; may be kNone
  };
  /// Of an instruction of `block`; `row` says when it held. The word counts lanes.
  struct Guard {
    uint32_t block, row, word;
  };
  enum class Kind : uint32_t { Same, Walk, Anywhere };
  struct Access {
    uint32_t block;
    Kind kind;
    uint32_t place;        // the row of a walk's last address, or a list
    int32_t step, offset;  // of a walk: bytes from iteration to iteration, and beside the address in the row
    uint32_t word;         // counts sectors. No lane touches two
    /// A list of indices: 1 << shift elements fill a sector, and indices are in order when the bits of `flip` are
    /// turned. Both are 0 for a list of sectors.
    uint32_t shift = 0, flip = 0;
  };

  uint32_t rows, lists;
  uint32_t blocks, guards, accesses;
};

inline constexpr uint64_t kSectorBytes = 32;

/// Row 0 of a log: a bit for each iteration that a lane has begun.
inline constexpr uint32_t kBegunRow = 0;

/// Adds what the first `lanes` lanes have left in `log` to `words`: those of a warp that take part, in any order. Those
/// whose bit is set in `unfinished` have not left the loop.
void countIterations(const CountedLoop* loop, std::byte* log, uint64_t* words, uint32_t lanes, uint32_t unfinished);

/// The number that stands for an address outside of the list's window. The first one in a log moves the window.
uint32_t sectorElsewhere(const CountedLoop* loop, std::byte* log, uint32_t list, uint32_t lane, uint32_t iteration,
                         uint64_t address);

/// Numbers of sectors are below this.
inline constexpr uint32_t kSectorsInWindow = 1u << 31;

}  // namespace ordito::rt
