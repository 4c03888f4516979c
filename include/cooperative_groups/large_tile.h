// Tiles of more than one warp: tiled_partition<64> and larger, of a block that this_thread_block() got memory for.
// Included by cooperative_groups.h.
#ifndef _COOPERATIVE_GROUPS_LARGE_TILE_H_
#define _COOPERATIVE_GROUPS_LARGE_TILE_H_

namespace cooperative_groups {
namespace __v1 {

/// What the warps of a block's tiles tell each other. One word at a time is enough for shuffles and votes; reductions
/// and scans have up to eight words of each warp.
template <unsigned int MaxBlockSize = 1024>
struct block_tile_memory {
  static constexpr unsigned int warps = (MaxBlockSize + 31) / 32;
  unsigned int arrivals[16];
  unsigned int words[warps][8];
};

namespace ordito_groups {

/// A block's tile memory, whatever size of block it was declared for.
struct TileMemory {
  unsigned int* arrivals;
  unsigned int (*words)[8];
};

/// A barrier of some warps of a block. The hardware has fifteen beside the block's own: enough for one for each tile of
/// every size, the smallest first, but for tiles of 64 in blocks of more than 512 threads, which count arrivals
/// themselves.
ORDITO_CG void tileBarrier(const TileMemory& memory, unsigned int tile, unsigned int threads) {
  const unsigned int all = blockSize();
  if (threads >= all) return __syncthreads();
  if (all <= 512 || threads > 64) {
    unsigned int number = 1 + tile;
    for (unsigned int smaller = all <= 512 ? 64 : 128; smaller < threads; smaller *= 2)
      number += (all + smaller - 1) / smaller;
    asm volatile("barrier.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
    return;
  }
  // A round is over when all its threads have come.
  __threadfence_block();
  volatile unsigned int* arrivals = memory.arrivals + tile;
  const unsigned int before = atomicAdd((unsigned int*)arrivals, 1u);
  const unsigned int end = before - before % threads + threads;
  while ((int)(*arrivals - end) < 0) {
  }
  __threadfence_block();
}

}  // namespace ordito_groups

/// A tile of two warps or more.
template <unsigned int Size>
class large_tile {
 public:
  ORDITO_CG_MEMBER explicit large_tile(const ordito_groups::TileMemory& memory) : memory_(memory) {}
  ORDITO_CG_MEMBER void sync() const { ordito_groups::tileBarrier(memory_, meta_group_rank(), Size); }
  ORDITO_CG_MEMBER static constexpr unsigned int size() { return Size; }
  ORDITO_CG_MEMBER static constexpr unsigned int num_threads() { return Size; }
  ORDITO_CG_MEMBER static unsigned int thread_rank() { return ordito_groups::rankInBlock() & (Size - 1); }
  ORDITO_CG_MEMBER static unsigned int meta_group_rank() { return ordito_groups::rankInBlock() / Size; }
  ORDITO_CG_MEMBER static unsigned int meta_group_size() { return (ordito_groups::blockSize() + Size - 1) / Size; }

  /// Every thread gets the value of the one with the given rank.
  template <class Type>
  ORDITO_CG_MEMBER Type shfl(Type value, unsigned int rank) const {
    constexpr unsigned int words = (sizeof(Type) + 3) / 4;
    unsigned int bits[words] = {};
    __builtin_memcpy(bits, &value, sizeof(Type));
    for (unsigned int i = 0; i < words; ++i) {
      if (thread_rank() == rank) firstWord() = bits[i];
      sync();
      bits[i] = firstWord();
      sync();
    }
    __builtin_memcpy((void*)&value, bits, sizeof(Type));
    return value;
  }
  ORDITO_CG_MEMBER int any(int predicate) const {
    return combine(__any_sync(0xffffffffu, predicate), [](int a, int b) { return a | b; });
  }
  ORDITO_CG_MEMBER int all(int predicate) const {
    return combine(__all_sync(0xffffffffu, predicate), [](int a, int b) { return a & b; });
  }

  /// Combines one value of each warp, in order; every thread gets the result.
  template <class Type, class Operation>
  ORDITO_CG_MEMBER Type combine(const Type& ofWarp, const Operation& operation) const {
    publish(ofWarp);
    Type result = published<Type>(0);
    for (unsigned int warp = 1; warp < Size / 32; ++warp) result = operation(result, published<Type>(warp));
    sync();
    return result;
  }
  /// The same of the warps before this thread's. False for the first, which has none.
  template <class Type, class Operation>
  ORDITO_CG_MEMBER bool combineBefore(const Type& ofWarp, const Operation& operation, Type& result) const {
    publish(ofWarp);
    const unsigned int here = thread_rank() / 32;
    if (here > 0) result = published<Type>(0);
    for (unsigned int warp = 1; warp < here; ++warp) result = operation(result, published<Type>(warp));
    sync();
    return here > 0;
  }

 private:
  ORDITO_CG_MEMBER unsigned int firstWarp() const { return meta_group_rank() * (Size / 32); }
  ORDITO_CG_MEMBER volatile unsigned int& firstWord() const { return memory_.words[firstWarp()][0]; }
  template <class Type>
  ORDITO_CG_MEMBER void publish(const Type& ofWarp) const {
    static_assert(sizeof(Type) <= 32, "tiles of more than a warp exchange values of up to 32 bytes");
    if (ordito_groups::laneId() == 0)
      __builtin_memcpy(memory_.words[firstWarp() + thread_rank() / 32], &ofWarp, sizeof(Type));
    sync();
  }
  template <class Type>
  ORDITO_CG_MEMBER Type published(unsigned int warp) const {
    Type value;
    __builtin_memcpy((void*)&value, memory_.words[firstWarp() + warp], sizeof(Type));
    return value;
  }

  ordito_groups::TileMemory memory_;
};

#define ORDITO_LARGE_TILE(Size)                                                                                  \
  template <>                                                                                                    \
  class thread_block_tile<Size, void> : public large_tile<Size> {                                                \
   public:                                                                                                       \
    ORDITO_CG_MEMBER explicit thread_block_tile(const ordito_groups::TileMemory& memory) : large_tile(memory) {} \
  };
ORDITO_LARGE_TILE(64)
ORDITO_LARGE_TILE(128)
ORDITO_LARGE_TILE(256)
ORDITO_LARGE_TILE(512)
ORDITO_LARGE_TILE(1024)
#undef ORDITO_LARGE_TILE

}  // namespace __v1
using namespace __v1;
}  // namespace cooperative_groups

#endif
