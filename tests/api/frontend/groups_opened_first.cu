// OPTIONS: -arch=sm_90
// Names of Ordito's own in the other headers stay clear where a program has opened cooperative_groups before them.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
using namespace cooperative_groups;
#include <cuda_awbarrier_primitives.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>
#include <cuda_pipeline.h>
#include <curand_kernel.h>
#include <mma.h>

// CHECK: .visible .entry _Z6kernelPi
// CHECK: mbarrier.init
__global__ void kernel(int* sum) {
  __shared__ __mbarrier_t barrier;
  if (this_thread_block().thread_rank() == 0) __mbarrier_init(&barrier, 1);
  auto tile = tiled_partition<32>(this_thread_block());
  sum[tile.thread_rank()] = reduce(tile, inclusive_scan(tile, sum[0]), plus<int>());
}
