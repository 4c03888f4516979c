// Cooperative groups: the block, tiles of a warp, the threads that are active together, and the grid.
#ifndef _COOPERATIVE_GROUPS_H_
#define _COOPERATIVE_GROUPS_H_

#include "cuda_runtime.h"

// NVIDIA's header brings libcu++'s atomics where they are found, and programs use them without a word.
#if defined(__cplusplus) && !defined(_CG_LIMIT_INCLUDED_DEPENDENCIES)
// They need sm_70, and groups do not.
#if __cplusplus >= 201703L && __has_include(<cuda/atomic>) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700)
#include <cuda/atomic>
#endif
#endif

#if defined(__cplusplus) && defined(__CUDA__)

#define ORDITO_CG static __device__ __inline__
#define ORDITO_CG_MEMBER __device__ __inline__

namespace cooperative_groups {
namespace __v1 {

namespace ordito_groups {

ORDITO_CG unsigned int laneId() {
  unsigned int lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}
ORDITO_CG unsigned int lanesBelow() { return (1u << laneId()) - 1u; }
ORDITO_CG unsigned int rankInBlock() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
ORDITO_CG unsigned int blockSize() { return blockDim.x * blockDim.y * blockDim.z; }
ORDITO_CG unsigned int gridBlocks() { return gridDim.x * gridDim.y * gridDim.z; }
ORDITO_CG unsigned int blockRank() { return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x; }
/// `count` lanes from the one at which the tile of `count` lanes around this lane begins.
ORDITO_CG unsigned int tileMask(unsigned int count) {
  return count >= 32 ? 0xffffffffu : ((1u << count) - 1u) << (laneId() & ~(count - 1u));
}

/// The arrival counter of grid barriers: a cooperative launch has one in its workspace, which two registers point to.
/// Null in another launch, where not all blocks need be there at once.
ORDITO_CG unsigned int* arrivalCounter() {
  unsigned int high, low;
  asm("mov.u32 %0, %%envreg1;" : "=r"(high));
  asm("mov.u32 %0, %%envreg2;" : "=r"(low));
  return (high | low) != 0 ? (unsigned int*)((unsigned long long)high << 32 | low) + 1 : 0;
}

/// Every block adds one and block 0 adds what is missing to 2^31, so when all have come the top bit has flipped and the
/// rest of the counter is back where it was: no reset, and any number of blocks can follow.
ORDITO_CG void gridBarrier() {
  __syncthreads();
  if (rankInBlock() == 0) {
    unsigned int* const arrivals = arrivalCounter();
    if (!arrivals)  // not assert(): NDEBUG takes that away
      __assertfail("grid.sync() in a launch that is not cooperative", __FILE__, __LINE__, "grid.sync()", 1);
    const unsigned int step = blockRank() == 0 ? 0x80000000u - (gridBlocks() - 1u) : 1u;
    __threadfence();
    const unsigned int before = atomicAdd(arrivals, step);
    while (((before ^ *(volatile unsigned int*)arrivals) & 0x80000000u) == 0) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
      __nanosleep(100);
#endif
    }
    __threadfence();
  }
  __syncthreads();
}

template <bool Condition, class Type>
struct EnableIf {
  typedef Type type;
};
template <class Type>
struct EnableIf<false, Type> {};

/// Groups shuffle values of any type that can be copied as bytes: word by word.
struct FromLane {
  unsigned int mask;
  int lane, width;
  ORDITO_CG_MEMBER unsigned int operator()(unsigned int word) const { return __shfl_sync(mask, word, lane, width); }
};
struct FromAbove {
  unsigned int mask, delta;
  int width;
  ORDITO_CG_MEMBER unsigned int operator()(unsigned int word) const {
    return __shfl_down_sync(mask, word, delta, width);
  }
};
struct FromBelow {
  unsigned int mask, delta;
  int width;
  ORDITO_CG_MEMBER unsigned int operator()(unsigned int word) const { return __shfl_up_sync(mask, word, delta, width); }
};
struct FromPartner {
  unsigned int mask;
  int lanes, width;
  ORDITO_CG_MEMBER unsigned int operator()(unsigned int word) const {
    return __shfl_xor_sync(mask, word, lanes, width);
  }
};
template <class Type, class Shuffle>
ORDITO_CG Type shuffled(const Type& value, const Shuffle& shuffle) {
  constexpr unsigned int words = (sizeof(Type) + 3) / 4;
  unsigned int bits[words] = {};
  __builtin_memcpy(bits, &value, sizeof(Type));
  for (unsigned int i = 0; i < words; ++i) bits[i] = shuffle(bits[i]);
  Type result;
  __builtin_memcpy((void*)&result, bits, sizeof(Type));
  return result;
}
}  // namespace ordito_groups

/// Any group by value: what functions take that do not care which it is.
class thread_group {
 public:
  ORDITO_CG_MEMBER void sync() const {
    if (kind_ == Block) {
      __syncthreads();
    } else if (kind_ == Grid) {
      ordito_groups::gridBarrier();
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    } else if (kind_ == Cluster) {
      asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
#endif
    } else {
      __syncwarp(mask_);
    }
  }
  ORDITO_CG_MEMBER unsigned long long size() const { return size_; }
  ORDITO_CG_MEMBER unsigned long long num_threads() const { return size_; }
  ORDITO_CG_MEMBER unsigned long long thread_rank() const { return rank_; }
  ORDITO_CG_MEMBER bool is_valid() const { return true; }

 protected:
  enum Kind { Block, Warp, Grid, Cluster };
  ORDITO_CG_MEMBER thread_group(Kind kind, unsigned int mask, unsigned long long size, unsigned long long rank)
      : kind_(kind), mask_(mask), size_(size), rank_(rank) {}

  Kind kind_;
  unsigned int mask_;  // lanes of the warp, for a group within one
  unsigned long long size_;
  unsigned long long rank_;

  friend __device__ thread_group tiled_partition(const thread_group& parent, unsigned int size);
};

template <unsigned int MaxBlockSize>
struct block_tile_memory;

namespace ordito_groups {
struct TileMemory;
}

class thread_block : public thread_group {
 public:
  ORDITO_CG_MEMBER thread_block() : thread_group(Block, 0, ordito_groups::blockSize(), ordito_groups::rankInBlock()) {}
  /// With memory for tiles of more than a warp.
  ORDITO_CG_MEMBER thread_block(unsigned int* arrivals, unsigned int (*words)[8])
      : thread_group(Block, 0, ordito_groups::blockSize(), ordito_groups::rankInBlock()),
        arrivals_(arrivals),
        words_(words) {}
  ORDITO_CG_MEMBER ordito_groups::TileMemory tileMemory() const;
  ORDITO_CG_MEMBER static void sync() { __syncthreads(); }
  ORDITO_CG_MEMBER static unsigned int thread_rank() { return ordito_groups::rankInBlock(); }
  ORDITO_CG_MEMBER static unsigned int size() { return ordito_groups::blockSize(); }
  ORDITO_CG_MEMBER static unsigned int num_threads() { return size(); }
  ORDITO_CG_MEMBER static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  ORDITO_CG_MEMBER static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  ORDITO_CG_MEMBER static dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  ORDITO_CG_MEMBER static dim3 dim_threads() { return group_dim(); }

 private:
  unsigned int* arrivals_ = nullptr;
  unsigned int (*words_)[8] = nullptr;
};

class grid_group : public thread_group {
 public:
  ORDITO_CG_MEMBER grid_group() : thread_group(Grid, 0, size(), thread_rank()) {}
  ORDITO_CG_MEMBER static void sync() { ordito_groups::gridBarrier(); }
  ORDITO_CG_MEMBER static bool is_valid() { return ordito_groups::arrivalCounter() != 0; }
  ORDITO_CG_MEMBER static unsigned long long size() {
    return (unsigned long long)ordito_groups::gridBlocks() * ordito_groups::blockSize();
  }
  ORDITO_CG_MEMBER static unsigned long long num_threads() { return size(); }
  ORDITO_CG_MEMBER static unsigned long long thread_rank() {
    return (unsigned long long)ordito_groups::blockRank() * ordito_groups::blockSize() + ordito_groups::rankInBlock();
  }
  ORDITO_CG_MEMBER static unsigned long long num_blocks() { return ordito_groups::gridBlocks(); }
  ORDITO_CG_MEMBER static unsigned long long block_rank() { return ordito_groups::blockRank(); }
  ORDITO_CG_MEMBER static dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  ORDITO_CG_MEMBER static dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  ORDITO_CG_MEMBER static dim3 dim_blocks() { return group_dim(); }
};

#include "cooperative_groups/clusters.h"

/// The lanes of one warp that came here together, numbered without gaps.
class coalesced_group : public thread_group {
 public:
  ORDITO_CG_MEMBER explicit coalesced_group(unsigned int mask)
      : thread_group(Warp, mask, (unsigned int)__popc(mask), (unsigned int)__popc(mask & ordito_groups::lanesBelow())) {
  }
  ORDITO_CG_MEMBER unsigned int size() const { return (unsigned int)size_; }
  ORDITO_CG_MEMBER unsigned int num_threads() const { return (unsigned int)size_; }
  ORDITO_CG_MEMBER unsigned int thread_rank() const { return (unsigned int)rank_; }
  /// A part of a larger group: which of how many.
  ORDITO_CG_MEMBER coalesced_group(unsigned int mask, unsigned int rank, unsigned int count) : coalesced_group(mask) {
    meta_rank_ = rank;
    meta_size_ = count;
  }
  ORDITO_CG_MEMBER unsigned int meta_group_size() const { return meta_size_; }
  ORDITO_CG_MEMBER unsigned int meta_group_rank() const { return meta_rank_; }
  /// The lanes in the group.
  ORDITO_CG_MEMBER unsigned int lanes() const { return mask_; }
  ORDITO_CG_MEMBER void sync() const { __syncwarp(mask_); }

  template <class Type>
  ORDITO_CG_MEMBER Type shfl(Type value, unsigned int rank) const {
    return ordito_groups::shuffled(value, ordito_groups::FromLane{mask_, laneOf(rank), 32});
  }
  template <class Type>
  ORDITO_CG_MEMBER Type shfl_up(Type value, unsigned int delta) const {
    const unsigned int rank = thread_rank();
    const int from = laneOf(rank >= delta ? rank - delta : rank);
    return ordito_groups::shuffled(value, ordito_groups::FromLane{mask_, from, 32});
  }
  template <class Type>
  ORDITO_CG_MEMBER Type shfl_down(Type value, unsigned int delta) const {
    const unsigned int rank = thread_rank();
    const int from = laneOf(rank + delta < size() ? rank + delta : rank);
    return ordito_groups::shuffled(value, ordito_groups::FromLane{mask_, from, 32});
  }
  ORDITO_CG_MEMBER int any(int predicate) const { return __any_sync(mask_, predicate); }
  ORDITO_CG_MEMBER int all(int predicate) const { return __all_sync(mask_, predicate); }
  ORDITO_CG_MEMBER unsigned int ballot(int predicate) const { return pack(__ballot_sync(mask_, predicate)); }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
  template <class Type>
  ORDITO_CG_MEMBER unsigned int match_any(Type value) const {
    return pack(__match_any_sync(mask_, value));
  }
  template <class Type>
  ORDITO_CG_MEMBER unsigned int match_all(Type value, int& equal) const {
    return pack(__match_all_sync(mask_, value, &equal));
  }
#endif

 private:
  /// The lane with the given rank: the rank-th set bit.
  ORDITO_CG_MEMBER int laneOf(unsigned int rank) const {
    if (mask_ == 0xffffffffu) return (int)rank;
    unsigned int left = mask_;
    for (; rank > 0; --rank) left &= left - 1;
    return __ffs((int)left) - 1;
  }
  /// A set of lanes as a set of ranks.
  ORDITO_CG_MEMBER unsigned int pack(unsigned int lanes) const {
    if (mask_ == 0xffffffffu) return lanes;
    unsigned int ranks = 0;
    unsigned int rank = 0;
    for (unsigned int left = mask_; left != 0; left &= left - 1, ++rank) {
      if (lanes & left & (0u - left)) ranks |= 1u << rank;
    }
    return ranks;
  }

  unsigned int meta_rank_ = 0, meta_size_ = 1;
};

/// `Size` neighbouring lanes of a warp; `Size` is a power of two up to 32. The type with `void` is what functions take
/// that do not care which group was partitioned; the others convert to it.
template <unsigned int Size, class Parent = void>
class thread_block_tile;

template <unsigned int Size>
class thread_block_tile<Size, void> : public thread_group {
  static_assert(Size > 0 && Size <= 32 && (Size & (Size - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads");

 public:
  ORDITO_CG_MEMBER thread_block_tile() : thread_group(Warp, ordito_groups::tileMask(Size), Size, thread_rank()) {}
  ORDITO_CG_MEMBER void sync() const { __syncwarp(mask_); }
  ORDITO_CG_MEMBER static constexpr unsigned int size() { return Size; }
  ORDITO_CG_MEMBER static constexpr unsigned int num_threads() { return Size; }
  ORDITO_CG_MEMBER static unsigned int thread_rank() { return ordito_groups::rankInBlock() & (Size - 1); }
  ORDITO_CG_MEMBER static unsigned int meta_group_rank() { return ordito_groups::rankInBlock() / Size; }
  ORDITO_CG_MEMBER static unsigned int meta_group_size() { return (ordito_groups::blockSize() + Size - 1) / Size; }

  template <class Type>
  ORDITO_CG_MEMBER Type shfl(Type value, int rank) const {
    return ordito_groups::shuffled(value, ordito_groups::FromLane{mask_, rank, (int)Size});
  }
  template <class Type>
  ORDITO_CG_MEMBER Type shfl_up(Type value, unsigned int delta) const {
    return ordito_groups::shuffled(value, ordito_groups::FromBelow{mask_, delta, (int)Size});
  }
  template <class Type>
  ORDITO_CG_MEMBER Type shfl_down(Type value, unsigned int delta) const {
    return ordito_groups::shuffled(value, ordito_groups::FromAbove{mask_, delta, (int)Size});
  }
  template <class Type>
  ORDITO_CG_MEMBER Type shfl_xor(Type value, unsigned int lanes) const {
    return ordito_groups::shuffled(value, ordito_groups::FromPartner{mask_, (int)lanes, (int)Size});
  }
  ORDITO_CG_MEMBER int any(int predicate) const { return __any_sync(mask_, predicate); }
  ORDITO_CG_MEMBER int all(int predicate) const { return __all_sync(mask_, predicate); }
  ORDITO_CG_MEMBER unsigned int ballot(int predicate) const { return ranks(__ballot_sync(mask_, predicate)); }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
  template <class Type>
  ORDITO_CG_MEMBER unsigned int match_any(Type value) const {
    return ranks(__match_any_sync(mask_, value));
  }
  template <class Type>
  ORDITO_CG_MEMBER unsigned int match_all(Type value, int& equal) const {
    return ranks(__match_all_sync(mask_, value, &equal));
  }
#endif

 private:
  ORDITO_CG_MEMBER unsigned int ranks(unsigned int lanes) const {
    return (lanes & mask_) >> (ordito_groups::laneId() & ~(Size - 1));
  }
};

template <unsigned int Size, class Parent>
class thread_block_tile : public thread_block_tile<Size, void> {
 public:
  using thread_block_tile<Size, void>::thread_block_tile;
};

/// A tile of a tile counts its neighbours in that.
template <unsigned int Size, unsigned int ParentSize, class Grandparent>
class thread_block_tile<Size, thread_block_tile<ParentSize, Grandparent>> : public thread_block_tile<Size, void> {
 public:
  using thread_block_tile<Size, void>::thread_block_tile;
  ORDITO_CG_MEMBER static unsigned int meta_group_rank() {
    return (ordito_groups::rankInBlock() & (ParentSize - 1)) / Size;
  }
  ORDITO_CG_MEMBER static constexpr unsigned int meta_group_size() { return ParentSize / Size; }
};

}  // namespace __v1
using namespace __v1;
}  // namespace cooperative_groups

#include "cooperative_groups/large_tile.h"

namespace cooperative_groups {
namespace __v1 {

ORDITO_CG_MEMBER ordito_groups::TileMemory thread_block::tileMemory() const { return {arrivals_, words_}; }

// --- making groups
// -----------------------------------------------------------------------------------------------------------
ORDITO_CG thread_block this_thread_block() { return thread_block(); }
/// All threads of the block have to call this: it clears the memory.
template <unsigned int MaxBlockSize>
ORDITO_CG thread_block this_thread_block(block_tile_memory<MaxBlockSize>& memory) {
  for (unsigned int i = ordito_groups::rankInBlock(); i < 16; i += ordito_groups::blockSize()) memory.arrivals[i] = 0;
  __syncthreads();
  return thread_block(memory.arrivals, memory.words);
}
ORDITO_CG thread_block_tile<1> this_thread() { return thread_block_tile<1>(); }
ORDITO_CG grid_group this_grid() { return grid_group(); }
ORDITO_CG coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

template <unsigned int Size, class Parent>
ORDITO_CG typename ordito_groups::EnableIf<(Size <= 32), thread_block_tile<Size, Parent>>::type tiled_partition(
    const Parent&) {
  return thread_block_tile<Size, Parent>();
}
template <unsigned int Size>
ORDITO_CG typename ordito_groups::EnableIf<(Size > 32), thread_block_tile<Size, thread_block>>::type tiled_partition(
    const thread_block& block) {
  return thread_block_tile<Size, thread_block>(block.tileMemory());
}
/// Runs of `size` ranks of the group; as for every tile, a power of two.
__device__ inline coalesced_group tiled_partition(const coalesced_group& parent, unsigned int size) {
  if (size == 0 || (size & (size - 1)) != 0) __trap();
  const unsigned int rank = parent.thread_rank() / size;
  unsigned int lanes = 0, number = 0;
  for (unsigned int left = parent.lanes(); left != 0; left &= left - 1, ++number)
    if (number / size == rank) lanes |= left & (0u - left);
  return coalesced_group(lanes, rank, (parent.size() + size - 1) / size);
}
/// The size may be known only at run time; for a tile within a warp the masks are those of the static form.
__device__ inline thread_group tiled_partition(const thread_group&, unsigned int size) {
  const unsigned int rank = ordito_groups::rankInBlock() & (size - 1);
  return thread_group(thread_group::Warp, ordito_groups::tileMask(size), size, rank);
}
/// Those of the group whose predicate, or label, is the same as this thread's.
ORDITO_CG coalesced_group binary_partition(const coalesced_group& parent, bool predicate) {
  const unsigned int all = parent.lanes();
  const unsigned int with = __ballot_sync(all, predicate);
  return coalesced_group(predicate ? with : all & ~with, predicate ? 1 : 0, 2);
}
template <unsigned int Size, class Parent>
ORDITO_CG coalesced_group binary_partition(const thread_block_tile<Size, Parent>&, bool predicate) {
  const unsigned int all = ordito_groups::tileMask(Size);
  const unsigned int with = __ballot_sync(all, predicate) & all;
  return coalesced_group(predicate ? with : all & ~with, predicate ? 1 : 0, 2);
}
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
namespace ordito_groups {
/// The part of a group whose lanes are `part`; parts are numbered by their first lanes.
ORDITO_CG coalesced_group partOf(unsigned int all, unsigned int part) {
  const unsigned int first = part & (0u - part);
  const unsigned int firsts = __ballot_sync(all, (1u << laneId()) == first) & all;
  return coalesced_group(part, (unsigned int)__popc(firsts & (first - 1u)), (unsigned int)__popc(firsts));
}
}  // namespace ordito_groups
template <class Label>
ORDITO_CG coalesced_group labeled_partition(const coalesced_group& parent, Label label) {
  return ordito_groups::partOf(parent.lanes(), __match_any_sync(parent.lanes(), label));
}
template <unsigned int Size, class Parent, class Label>
ORDITO_CG coalesced_group labeled_partition(const thread_block_tile<Size, Parent>&, Label label) {
  const unsigned int all = ordito_groups::tileMask(Size);
  return ordito_groups::partOf(all, __match_any_sync(all, label) & all);
}
#endif

/// One thread of the group does it.
template <class Group, class Function, class... Arguments>
ORDITO_CG void invoke_one(const Group& group, Function&& function, Arguments&&... arguments) {
  if (group.thread_rank() == 0) function(static_cast<Arguments&&>(arguments)...);
}
/// The same, and all get the result.
template <class Group, class Function, class... Arguments>
ORDITO_CG auto invoke_one_broadcast(const Group& group, Function&& function, Arguments&&... arguments)
    -> decltype(function(static_cast<Arguments&&>(arguments)...)) {
  decltype(function(static_cast<Arguments&&>(arguments)...)) result{};
  if (group.thread_rank() == 0) result = function(static_cast<Arguments&&>(arguments)...);
  return group.shfl(result, 0);
}

template <class Group>
ORDITO_CG void sync(const Group& group) {
  group.sync();
}
template <class Group>
ORDITO_CG auto thread_rank(const Group& group) -> decltype(group.thread_rank()) {
  return group.thread_rank();
}
template <class Group>
ORDITO_CG auto group_size(const Group& group) -> decltype(group.size()) {
  return group.size();
}

}  // namespace __v1
using namespace __v1;
}  // namespace cooperative_groups

#include "cooperative_groups/reduce.h"
#include "cooperative_groups/scan.h"
#include "cooperative_groups/memcpy_async.h"

#endif
#endif
