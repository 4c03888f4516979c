// Groups larger than a grid's block and smaller or larger than the grid: clusters of blocks, and grids on several
// devices. Included by cooperative_groups.h, inside its namespace.

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define ORDITO_CG_REGISTER(name, special)            \
  ORDITO_CG_MEMBER static unsigned int name() {      \
    unsigned int value;                              \
    asm("mov.u32 %0, %%" special ";" : "=r"(value)); \
    return value;                                    \
  }

/// The blocks of a thread block cluster (compute capability 9.0). Without one a block is a cluster of its own.
class cluster_group : public thread_group {
 public:
  struct arrival_token {};

  ORDITO_CG_MEMBER cluster_group() : thread_group(Cluster, 0, num_threads(), thread_rank()) {}
  ORDITO_CG_MEMBER static arrival_token barrier_arrive() {
    asm volatile("barrier.cluster.arrive;" ::: "memory");
    return arrival_token();
  }
  ORDITO_CG_MEMBER static void barrier_wait() { asm volatile("barrier.cluster.wait;" ::: "memory"); }
  ORDITO_CG_MEMBER static void barrier_wait(arrival_token&&) { barrier_wait(); }
  ORDITO_CG_MEMBER static void sync() {
    barrier_arrive();
    barrier_wait();
  }
  ORDITO_CG_REGISTER(block_rank, "cluster_ctarank")
  ORDITO_CG_REGISTER(num_blocks, "cluster_nctarank")
  ORDITO_CG_MEMBER static dim3 block_index() { return dim3(indexX(), indexY(), indexZ()); }
  ORDITO_CG_MEMBER static dim3 dim_blocks() { return dim3(blocksX(), blocksY(), blocksZ()); }
  ORDITO_CG_MEMBER static unsigned int num_threads() { return num_blocks() * ordito_groups::blockSize(); }
  ORDITO_CG_MEMBER static unsigned int size() { return num_threads(); }
  ORDITO_CG_MEMBER static unsigned int thread_rank() {
    return block_rank() * ordito_groups::blockSize() + ordito_groups::rankInBlock();
  }
  ORDITO_CG_MEMBER static dim3 dim_threads() {
    const dim3 blocks = dim_blocks();
    return dim3(blocks.x * blockDim.x, blocks.y * blockDim.y, blocks.z * blockDim.z);
  }
  ORDITO_CG_MEMBER static dim3 thread_index() {
    const dim3 block = block_index();
    return dim3(block.x * blockDim.x + threadIdx.x, block.y * blockDim.y + threadIdx.y,
                block.z * blockDim.z + threadIdx.z);
  }
  /// The same variable in the shared memory of another block of the cluster.
  template <class Type>
  ORDITO_CG_MEMBER static Type* map_shared_rank(Type* variable, int rank) {
    Type* there;
    asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(variable), "r"(rank));
    return there;
  }
  ORDITO_CG_MEMBER static unsigned int query_shared_rank(const void* variable) {
    unsigned int rank;
    asm("getctarank.u64 %0, %1;" : "=r"(rank) : "l"(variable));
    return rank;
  }

 private:
  ORDITO_CG_REGISTER(indexX, "cluster_ctaid.x")
  ORDITO_CG_REGISTER(indexY, "cluster_ctaid.y")
  ORDITO_CG_REGISTER(indexZ, "cluster_ctaid.z")
  ORDITO_CG_REGISTER(blocksX, "cluster_nctaid.x")
  ORDITO_CG_REGISTER(blocksY, "cluster_nctaid.y")
  ORDITO_CG_REGISTER(blocksZ, "cluster_nctaid.z")
};
#undef ORDITO_CG_REGISTER

ORDITO_CG cluster_group this_cluster() { return cluster_group(); }
#endif

/// Grids that several devices run together (until CUDA 12). A launch of that kind is refused, so no thread is ever in
/// one: is_valid() is false, and waiting for the others ends the kernel.
class multi_grid_group : public thread_group {
 public:
  ORDITO_CG_MEMBER multi_grid_group() : thread_group(Grid, 0, grid_group::size(), grid_group::thread_rank()) {}
  ORDITO_CG_MEMBER static bool is_valid() { return false; }
  ORDITO_CG_MEMBER static void sync() { __trap(); }
  ORDITO_CG_MEMBER static unsigned long long size() { return grid_group::size(); }
  ORDITO_CG_MEMBER static unsigned long long num_threads() { return size(); }
  ORDITO_CG_MEMBER static unsigned long long thread_rank() { return grid_group::thread_rank(); }
  ORDITO_CG_MEMBER static unsigned int grid_rank() { return 0; }
  ORDITO_CG_MEMBER static unsigned int num_grids() { return 1; }
};

ORDITO_CG multi_grid_group this_multi_grid() { return multi_grid_group(); }
