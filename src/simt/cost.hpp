// What the plan knows of the processor, and every limit at which it decides one way or the other, each with its reason.
// No other file of this folder has a threshold. `ordito opt --passes=cost` prints them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ordito::simt {

/// The processor that the code is for, as far as a plan depends on it.
struct Processor {
  bool avx2 = false;              // 16 registers of 32 bytes, gathers, masked accesses of 4 and 8 bytes
  bool avx512 = false;            // 32 registers of 64 bytes, mask registers, scatters
  bool slowMaskedStores = false;  // by microcode; no level of the psABI says so
  unsigned cacheWays = 8;         // of the first data cache: lines of one set; the levels do not say
};

/// One of the levels that the x86-64 psABI defines ("x86-64-v3"), which say all that a plan depends on; null for other
/// names.
const Processor* processorNamed(std::string_view level);
/// The names that it knows.
std::string processorNames();

namespace cost {

/// Bytes that memory and caches move at once.
inline constexpr unsigned kCacheLine = 64;
/// Two places whose addresses agree in the bits below this look like one to a load that waits for a store.
inline constexpr size_t kPage = 4096;

// ---- how much code a kernel may become

/// A kernel this short may be copied as it likes.
inline constexpr size_t kSmallKernel = 300;
/// Versions multiply with every divergent branch, and the regions of lanes diverged run to the kernel's end: so many
/// times the whole kernel in all, not more.
inline constexpr size_t kMostCopies = 3;
/// Code under a divergent branch up to this length is worth a second copy without masks.
inline constexpr size_t kLongestVersion = 500;
/// Masks cost little where a divergent branch has no more blocks than this under it, and no memory accesses.
inline constexpr size_t kFewBlocks = 2;
/// Divergent branches on which a version assumes that all lanes agree.
inline constexpr size_t kMostAssumptions = 3;
/// In a kernel this long, what a block runs once is not compiled for full warps besides.
inline constexpr size_t kLargeKernel = 2000;
/// Tests whether the lanes' addresses turn out to be contiguous. Each makes two accesses of one, and kernels compiled
/// without optimisation, which keep all they have in local memory, would take seconds to compile.
inline constexpr unsigned kMostContiguityTests = 64;

/// Definitions that are followed from an address back to where it comes from, on each path.
inline constexpr unsigned kTracedDefinitions = 12;

// ---- coarsening

/// Warps that advance together at most: LLVM's time grows with the code, and the gain ends where registers do.
inline constexpr unsigned kMostWarps = 8;
/// Vector registers that hold what a loop carries; the other half is left to operands.
inline constexpr unsigned carriedRegisters(const Processor& p) { return p.avx512 ? 16 : 8; }
/// Warps that go together where a barrier in the loop has them keep their vectors in memory: the sums of four hide what
/// an addition takes (matmul_tiled_32: 31 ms with eight, 28 with four).
inline constexpr unsigned kMostKeptWarps = 4;
/// Registers that a warp's 32-bit value takes.
inline constexpr unsigned registersPerWarp(const Processor& p) { return p.avx512 ? 2 : 4; }
/// Rows of a matrix from which the warps of a batch read a word each. Where rows lie a power of two apart, all their
/// lines fall into one set of the first cache (matmul_naive_16 with 16 and 8 rows: 52 and 25 ms on a Zen 4, whose sets
/// hold 8 lines, 30 and 44 ms on a Xeon with 12).
inline constexpr unsigned mostRows(const Processor& p) { return std::bit_ceil(p.cacheWays); }
/// Contiguous loads in straight code from which warps are read side by side: that many streams are more than the host's
/// prefetchers follow (ORDITO_COARSENING=1 bench_kernels --only reduce_best: 19 against 9 ms). The tiles of a
/// transposition read four, and are slower together.
inline constexpr unsigned kManyStreams = 6;
/// Warps that go together through a divergent loop to share its cache lines (bench_kernels --only histogram, 1.5 times;
/// with twice as many the same), or so that they read longer pieces in each iteration (reduce_grid_stride: 14 ms, with
/// one 19 and with eight 18).
inline constexpr unsigned kSharingWarps = 4;
/// Instructions at most of a loop whose warps read longer pieces together.
inline constexpr unsigned kShortLoop = 40;
/// Warps whose columns of a tile are read together: so many words are 16 bytes (bench_kernels --only transpose: 6.4 ms,
/// with 8 warps 6.2 to 7.5 and twice the code, with one 6.7 to 8.0).
inline constexpr unsigned kColumnWarps = 4;
/// Instructions of a kernel at most that is worth so much more code for its columns.
inline constexpr size_t kLongestTile = 128;

// ---- thread by thread (thread_cost.hpp): quarters of a cycle, of a warp for vectors and of a thread for scalars

/// A gather or scatter of 32 words, whoever does it (bench/host_limits: 9.5 to 12 ns).
inline constexpr unsigned kScatteredAccess = 128;
inline constexpr unsigned kVectorAccess = 8, kScalarAccess = 2;
inline constexpr unsigned kVectorOperation = 8, kScalarOperation = 1;
/// Operations that a division or root is as long as, or a call.
inline constexpr unsigned kLongOperation = 8;
/// What masks cost at a branch that lanes do not take alike; what a thread that was expected elsewhere, which happens
/// once in so many times (a graph's neighbours are new in some levels and old in others, loops end once).
inline constexpr unsigned kMaskedBranch = 12, kWrongGuess = 60, kGuesses = 8;
/// Iterations of a loop in each iteration of the one around it, and the percentage of lanes that have not left one
/// which they leave at different times. Nobody knows; rows of sparse matrices are like that.
inline constexpr unsigned kInnerIterations = 8, kBusyLanes = 50;
/// What it takes to hand the lanes of a warp over to a stretch and back, for all of them.
inline constexpr unsigned kStretchCall = 800;
/// Estimates of which the larger is at most so many times the other: what is faster is found out on the launch.
inline constexpr unsigned kCloseCall = 2;
/// Blocks and accesses of a loop that is run thread by thread and counted. What is left of each access can take 10 KB.
inline constexpr size_t kMostCountedBlocks = 16, kMostCountedAccesses = 12;
/// A loop with fewer accesses whose lanes lie apart is counted sooner as vectors.
inline constexpr unsigned kLeastCountedAccesses = 3;
/// Bytes that a thread may skip in each iteration and still be reading on.
inline constexpr int64_t kWalkedBytes = 64;

// ---- memory

/// Iterations of a loop ahead of which its next line is asked for (bench_kernels --only histogram: 1.8 to 2.4 times).
inline constexpr unsigned kPrefetchedIterations = 4;
/// The cache that it is asked into. Into the first, which has room for few lines on their way and where rows 4 KB apart
/// push each other out, it comes late (bench_kernels --only transpose,reduce_grid_stride: 10.9 against 7.7 and 23
/// against 15 ms on a Zen 4; on a Zen 5 2.7 against 2.4 and 5.2 against 5.6, and matmul_naive_32 10 against 8.3).
inline constexpr unsigned kPrefetchedCache = 2;
/// Bytes of a pattern that one access may touch ahead, so that no instruction fetches pages.
inline constexpr int64_t kPrefetchedBytes = 1024;
/// From a block to the next, where the pieces that it reads lie apart: what all of them take of the first caches.
inline constexpr int64_t kNextBlockBytes = 16384;
/// Bits of a run of lanes from which it is a vector access of its own, and vectors that a window of lanes may cover.
inline constexpr unsigned kLongRun = 256, kWindowVectors = 4;
/// Words that one merged load brings: 16 bytes, a register's width that every host has.
inline constexpr unsigned kMergedWords = 4;
/// Bytes at most of a structure whose members are sorted out together: a larger one has cache lines to itself, and
/// words of it that nobody reads would be brought too.
inline constexpr unsigned kStructureBytes = 64;
/// Members at most of a structure of bytes or halves.
inline constexpr unsigned kSmallMembers = 4;

// ---- what lives across resume points

/// Scalar instructions that cost less than a spill and a reload of a value for each batch of warps.
inline constexpr unsigned kRematerialisedSteps = 4;
/// Bytes of a batch's copy from which it begins a cache line of its own. Shorter ones are packed: a line for each batch
/// would fill the store buffer (bench_kernels --only reduce_neighboured: 28 against 24 ms).
inline constexpr size_t kPackedSpill = 32;

// ---- privatised counters

/// Bytes of shared memory at most that are worth copies, which are cleared and added up once for each region and block.
inline constexpr uint32_t kMostPrivatised = 4096;
/// Bytes that all copies take of the first cache.
inline constexpr uint32_t kPrivatisedRoom = 16384;
/// Copies at least and at most (bench_kernels --only histogram: 4 give 14 to 16 ms, 8 13.9, 16 10.4, 32 the same).
inline constexpr uint32_t kFewestPrivatised = 4, kMostPrivatisedCopies = 16;

// ---- combined atomics

/// Bytes of memory at most for which a host thread's buffer stands, a part of the second cache. It stands for so much
/// of an allocation that is larger.
inline constexpr uint32_t kMostCombined = 65536, kCombinedPiece = 16384;
/// Operations of warps that must have come together in it to be worth the words that it then looks through.
inline constexpr uint64_t kWorthCombining = 64;
/// How often less may come together until it stands for anything at all, since a small grid is done by then, and until
/// it stands aside for the rest of the grid.
inline constexpr unsigned kFewTimesLittle = 3, kMostTimesLittle = 8;

}  // namespace cost

/// A limit as the plan shows it.
struct Limit {
  std::string_view name;
  uint64_t value;
};
std::span<const Limit> limits();

/// The processor's properties and the limits, a line each.
std::string printCost(const Processor& processor);

}  // namespace ordito::simt
