// The CUDA contender: the kernels as the courses write them (no rewriting for a CPU), and the host code that a course
// program has. The same file builds with nvcc, so that a GPU can be put in Ordito's place.
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "cuda_array.cuh"

namespace {

__global__ void saxpy(const float* x, float* y, float a, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

/// The sum over the block, in its first thread.
__device__ int sumOfBlock(int sum) {
  __shared__ int warpSums[32];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (lane == 0) warpSums[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    sum = lane < blockDim.x / 32 ? warpSums[lane] : 0;
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  }
  return sum;
}

__global__ void reduceBest(const int* in, int* out, unsigned n) {
  unsigned first = blockIdx.x * blockDim.x * ordito::bench::reductionUnroll + threadIdx.x;
  int sum = 0;
#pragma unroll
  for (unsigned k = 0; k < ordito::bench::reductionUnroll; ++k)
    if (first + k * blockDim.x < n) sum += in[first + k * blockDim.x];
  sum = sumOfBlock(sum);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

__global__ void reduceGridStride(const int4* in, int* out, unsigned quads) {
  int sum = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
    int4 v = in[i];
    sum += v.x + v.y + v.z + v.w;
  }
  sum = sumOfBlock(sum);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

__global__ void reduceNeighbored(int* in, int* out, unsigned n) {
  unsigned tid = threadIdx.x;
  unsigned idx = blockIdx.x * blockDim.x + threadIdx.x;
  int* data = in + blockIdx.x * blockDim.x;
  if (idx >= n) return;
  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    if (tid % (2 * stride) == 0) data[tid] += data[tid + stride];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = data[0];
}

__global__ void matmulNaive(const float* a, const float* b, float* c, int n) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < n && column < n) {
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
  }
}

template <int Tile>
__global__ void matmulTiled(const float* a, const float* b, float* c, int n) {
  __shared__ float tileA[Tile][Tile];
  __shared__ float tileB[Tile][Tile];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * Tile + ty, column = blockIdx.x * Tile + tx;
  float sum = 0;
  for (int step = 0; step < n / Tile; ++step) {
    tileA[ty][tx] = a[row * n + step * Tile + tx];
    tileB[ty][tx] = b[(step * Tile + ty) * n + column];
    __syncthreads();
    for (int k = 0; k < Tile; ++k) sum += tileA[ty][k] * tileB[k][tx];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

__global__ void transpose(const float* in, float* out, int n) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void histogram(const unsigned char* text, unsigned n, unsigned* bins) {
  __shared__ unsigned mine[256];
  mine[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&mine[text[i]], 1u);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

/// Without a table of its own for each block: every letter is an atomic on one of few words of global memory.
__global__ void histogramGlobal(const unsigned char* text, unsigned n, unsigned* bins) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[text[i]], 1u);
}

__global__ void mandelbrot(unsigned* counts, int n, float step) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  if (column >= n) return;
  float cx = fmaf(column, step, ordito::bench::mandelbrotLeft), cy = fmaf(row, step, ordito::bench::mandelbrotTop);
  float x = 0, y = 0;
  unsigned count = 0;
  while (count < ordito::bench::mandelbrotLimit && fmaf(x, x, __fmul_rn(y, y)) <= 4.0f) {
    float next = fmaf(x, x, fmaf(-y, y, cx));
    y = fmaf(x + x, y, cy);
    x = next;
    ++count;
  }
  counts[row * n + column] = count;
}

__global__ void collatz(unsigned* steps, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned count = 0;
  for (unsigned long long x = i + 1; x != 1; ++count) x = x % 2 ? 3 * x + 1 : x / 2;
  steps[i] = count;
}

__global__ void xorshift(unsigned* numbers, int steps) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = i + 1;
  for (int step = 0; step < steps; ++step) {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
  }
  numbers[i] = x;
}

/// An inclusive sum within each block by warp shuffles; the block's total goes to `sums`.
__global__ void scanBlocks(const unsigned* in, unsigned* out, unsigned* sums, unsigned n) {
  __shared__ unsigned warpSums[32];
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned sum = i < n ? in[i] : 0;
  for (int offset = 1; offset < 32; offset *= 2) {
    unsigned before = __shfl_up_sync(0xffffffffu, sum, offset);
    if (lane >= offset) sum += before;
  }
  if (lane == 31) warpSums[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    unsigned total = lane < blockDim.x / 32 ? warpSums[lane] : 0;
    for (int offset = 1; offset < 32; offset *= 2) {
      unsigned before = __shfl_up_sync(0xffffffffu, total, offset);
      if (lane >= offset) total += before;
    }
    warpSums[lane] = total;
  }
  __syncthreads();
  if (warp > 0) sum += warpSums[warp - 1];
  if (i < n) out[i] = sum;
  if (threadIdx.x == blockDim.x - 1) sums[blockIdx.x] = sum;
}

__global__ void addOffsets(unsigned* out, const unsigned* sums, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (blockIdx.x > 0 && i < n) out[i] += sums[blockIdx.x - 1];
}

__device__ void compareAndSwap(unsigned& a, unsigned& b, bool rises) {
  if ((a > b) == rises) {
    unsigned t = a;
    a = b;
    b = t;
  }
}

/// The steps of the stages from `firstStage` to `lastStage` whose partners lie in one block's 2 * blockDim.x keys.
__global__ void bitonicShared(const unsigned* in, unsigned* keys, unsigned firstStage, unsigned lastStage) {
  extern __shared__ unsigned mine[];
  unsigned t = threadIdx.x, base = blockIdx.x * blockDim.x * 2;
  mine[t] = in[base + t];
  mine[t + blockDim.x] = in[base + t + blockDim.x];
  for (unsigned stage = firstStage; stage <= lastStage; stage *= 2)
    for (unsigned distance = min(stage / 2, blockDim.x); distance > 0; distance /= 2) {
      __syncthreads();
      unsigned low = 2 * t - (t & (distance - 1));
      compareAndSwap(mine[low], mine[low + distance], ((base + low) & stage) == 0);
    }
  __syncthreads();
  keys[base + t] = mine[t];
  keys[base + t + blockDim.x] = mine[t + blockDim.x];
}

__global__ void bitonicGlobal(unsigned* keys, unsigned stage, unsigned distance) {
  unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned low = 2 * t - (t & (distance - 1));
  compareAndSwap(keys[low], keys[low + distance], (low & stage) == 0);
}

/// All pairs, a block's worth of bodies at a time through shared memory. n is a multiple of the block.
__global__ void nbody(const double4* bodies, double* out, unsigned n) {
  extern __shared__ double4 tile[];
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  double4 me = bodies[i];
  double ax = 0, ay = 0, az = 0;
  for (unsigned first = 0; first < n; first += blockDim.x) {
    tile[threadIdx.x] = bodies[first + threadIdx.x];
    __syncthreads();
    for (unsigned j = 0; j < blockDim.x; ++j) {
      double dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
      double inverse = 1 / sqrt(dx * dx + dy * dy + dz * dz + ordito::bench::nbodySoftening);
      double force = tile[j].w * inverse * inverse * inverse;
      ax += force * dx;
      ay += force * dy;
      az += force * dz;
    }
    __syncthreads();
  }
  out[i] = ax;
  out[n + i] = ay;
  out[2 * n + i] = az;
}

/// A point and its four neighbours, in blocks of two dimensions. The border is left alone.
__global__ void stencil(const float* in, float* out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x == 0 || y == 0 || x >= n - 1 || y >= n - 1) return;
  int i = y * n + x;
  out[i] = ordito::bench::stencilCentre * in[i] +
           ordito::bench::stencilSide * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
}

}  // namespace

namespace ordito::bench {

namespace {

class Saxpy final : public Contender {
 public:
  explicit Saxpy(const Problem& problem) : p_(problem), x_(p_.a, p_.n), y_(p_.b, p_.n) {}

  void run() override {
    unsigned n = static_cast<unsigned>(p_.n);
    saxpy<<<(n + p_.block - 1) / p_.block, p_.block>>>(x_.data(), y_.data(), saxpyFactor, n);
    finishLaunch();
  }
  void fetch(void* result) override { y_.copyTo(result); }

 private:
  Problem p_;
  DeviceArray<float> x_, y_;
};

/// One partial sum per block comes back to the host, which adds them: both inside the timed run, as in the courses.
class Reduction final : public Contender {
 public:
  explicit Reduction(const Problem& problem)
      : p_(problem),
        grid_(static_cast<unsigned>(reductionBlocks(problem))),
        in_(p_.a, p_.n),
        out_(nullptr, grid_),
        partial_(grid_) {}

  void run() override {
    unsigned n = static_cast<unsigned>(p_.n);
    if (p_.kernel == Kernel::ReduceBest) {
      reduceBest<<<grid_, p_.block>>>(in_.data(), out_.data(), n);
    } else if (p_.kernel == Kernel::ReduceGridStride) {
      reduceGridStride<<<grid_, p_.block>>>(reinterpret_cast<const int4*>(in_.data()), out_.data(), n / 4);
    } else {
      reduceNeighbored<<<grid_, p_.block>>>(in_.data(), out_.data(), n);
    }
    finishLaunch();
    out_.copyTo(partial_.data());
    sum_ = std::accumulate(partial_.begin(), partial_.end(), std::uint32_t{0});
  }
  void fetch(void* result) override { std::memcpy(result, &sum_, sizeof(sum_)); }

 private:
  Problem p_;
  unsigned grid_;
  DeviceArray<int> in_, out_;
  std::vector<std::uint32_t> partial_;
  std::uint32_t sum_ = 0;
};

class Matmul final : public Contender {
 public:
  explicit Matmul(const Problem& problem)
      : p_(problem), a_(p_.a, p_.n * p_.n), b_(p_.b, p_.n * p_.n), c_(nullptr, p_.n * p_.n) {}

  void run() override {
    int n = static_cast<int>(p_.n);
    dim3 block(p_.block, p_.block);
    dim3 grid((n + p_.block - 1) / p_.block, (n + p_.block - 1) / p_.block);
    if (p_.kernel == Kernel::MatmulNaive) {
      matmulNaive<<<grid, block>>>(a_.data(), b_.data(), c_.data(), n);
    } else if (p_.block == 32) {
      matmulTiled<32><<<grid, block>>>(a_.data(), b_.data(), c_.data(), n);
    } else {
      matmulTiled<16><<<grid, block>>>(a_.data(), b_.data(), c_.data(), n);
    }
    finishLaunch();
  }
  void fetch(void* result) override { c_.copyTo(result); }

 private:
  Problem p_;
  DeviceArray<float> a_, b_, c_;
};

class Transpose final : public Contender {
 public:
  explicit Transpose(const Problem& problem)
      : n_(static_cast<int>(problem.n)), in_(problem.a, problem.n * problem.n), out_(nullptr, problem.n * problem.n) {}

  void run() override {
    transpose<<<dim3(n_ / 32, n_ / 32), dim3(32, 8)>>>(in_.data(), out_.data(), n_);
    finishLaunch();
  }
  void fetch(void* result) override { out_.copyTo(result); }

 private:
  int n_;
  DeviceArray<float> in_, out_;
};

class Histogram final : public Contender {
 public:
  explicit Histogram(const Problem& problem) : p_(problem), text_(p_.a, p_.n), bins_(nullptr, 256) {}

  void run() override {
    check(cudaMemset(bins_.data(), 0, bins_.bytes()));
    const auto n = static_cast<unsigned>(p_.n);
    if (p_.kernel == Kernel::Histogram)
      histogram<<<1024, p_.block>>>(text_.data(), n, bins_.data());
    else
      histogramGlobal<<<(n + p_.block - 1) / p_.block, p_.block>>>(text_.data(), n, bins_.data());
    finishLaunch();
  }
  void fetch(void* result) override { bins_.copyTo(result); }

 private:
  Problem p_;
  DeviceArray<unsigned char> text_;
  DeviceArray<unsigned> bins_;
};

/// Kernels that read no arrays.
class Numbers final : public Contender {
 public:
  explicit Numbers(const Problem& problem) : p_(problem), out_(nullptr, p_.bytes / sizeof(unsigned)) {}

  void run() override {
    const int n = static_cast<int>(p_.n);
    const unsigned blocks = (n + p_.block - 1) / p_.block;
    if (p_.kernel == Kernel::Mandelbrot)
      mandelbrot<<<dim3(blocks, n), p_.block>>>(out_.data(), n, mandelbrotWidth / n);
    else if (p_.kernel == Kernel::Collatz)
      collatz<<<blocks, p_.block>>>(out_.data(), n);
    else
      xorshift<<<blocks, p_.block>>>(out_.data(), xorshiftSteps);
    finishLaunch();
  }
  void fetch(void* result) override { out_.copyTo(result); }

 private:
  Problem p_;
  DeviceArray<unsigned> out_;
};

/// 2^24 numbers, 2^16 sums of blocks, 2^8 of those, and back.
class Scan final : public Contender {
 public:
  explicit Scan(const Problem& p) : n_(static_cast<unsigned>(p.n)), block_(p.block), in_(p.a, n_), out_(nullptr, n_) {
    for (unsigned n = n_; n > 1; n = blocks(n))
      levels_.push_back(std::make_unique<DeviceArray<unsigned>>(nullptr, blocks(n)));
  }

  void run() override {
    scan(in_.data(), out_.data(), n_, 0);
    finishLaunch();
  }
  void fetch(void* result) override { out_.copyTo(result); }

 private:
  unsigned blocks(unsigned n) const { return (n + block_ - 1) / block_; }

  void scan(const unsigned* in, unsigned* out, unsigned n, std::size_t level) {
    unsigned* sums = levels_[level]->data();
    scanBlocks<<<blocks(n), block_>>>(in, out, sums, n);
    if (blocks(n) == 1) return;
    scan(sums, sums, blocks(n), level + 1);
    addOffsets<<<blocks(n), block_>>>(out, sums, n);
  }

  unsigned n_, block_;
  DeviceArray<unsigned> in_, out_;
  std::vector<std::unique_ptr<DeviceArray<unsigned>>> levels_;
};

class BitonicSort final : public Contender {
 public:
  explicit BitonicSort(const Problem& p)
      : n_(static_cast<unsigned>(p.n)), block_(p.block), in_(p.a, n_), keys_(nullptr, n_) {}

  void run() override {
    const unsigned piece = 2 * block_, grid = n_ / piece, bytes = piece * sizeof(unsigned);
    bitonicShared<<<grid, block_, bytes>>>(in_.data(), keys_.data(), 2, piece);
    for (unsigned stage = 2 * piece; stage <= n_; stage *= 2) {
      for (unsigned distance = stage / 2; distance >= piece; distance /= 2)
        bitonicGlobal<<<grid, block_>>>(keys_.data(), stage, distance);
      bitonicShared<<<grid, block_, bytes>>>(keys_.data(), keys_.data(), stage, stage);
    }
    finishLaunch();
  }
  void fetch(void* result) override { keys_.copyTo(result); }

 private:
  unsigned n_, block_;
  DeviceArray<unsigned> in_, keys_;
};

class Nbody final : public Contender {
 public:
  explicit Nbody(const Problem& p)
      : n_(static_cast<unsigned>(p.n)), block_(p.block), bodies_(p.a, n_), out_(nullptr, 3 * n_) {}

  void run() override {
    nbody<<<n_ / block_, block_, block_ * sizeof(double4)>>>(bodies_.data(), out_.data(), n_);
    finishLaunch();
  }
  void fetch(void* result) override { out_.copyTo(result); }

 private:
  unsigned n_, block_;
  DeviceArray<double4> bodies_;
  DeviceArray<double> out_;
};

class Stencil final : public Contender {
 public:
  explicit Stencil(const Problem& p) : n_(static_cast<int>(p.n)), in_(p.a, p.n * p.n), out_(p.a, p.n * p.n) {}

  void run() override {
    const dim3 block(32, 8);
    stencil<<<dim3((n_ + block.x - 1) / block.x, (n_ + block.y - 1) / block.y), block>>>(in_.data(), out_.data(), n_);
    finishLaunch();
  }
  void fetch(void* result) override { out_.copyTo(result); }

 private:
  int n_;
  DeviceArray<float> in_, out_;
};

}  // namespace

std::unique_ptr<Contender> makeCuda(const Problem& problem) {
  switch (problem.kernel) {
    case Kernel::Saxpy: return std::make_unique<Saxpy>(problem);
    case Kernel::ReduceBest:
    case Kernel::ReduceGridStride:
    case Kernel::ReduceNeighbored: return std::make_unique<Reduction>(problem);
    case Kernel::MatmulNaive:
    case Kernel::MatmulTiled: return std::make_unique<Matmul>(problem);
    case Kernel::Transpose: return std::make_unique<Transpose>(problem);
    case Kernel::Histogram:
    case Kernel::HistogramGlobal: return std::make_unique<Histogram>(problem);
    case Kernel::Mandelbrot:
    case Kernel::Collatz:
    case Kernel::Xorshift: return std::make_unique<Numbers>(problem);
    case Kernel::Scan: return std::make_unique<Scan>(problem);
    case Kernel::BitonicSort: return std::make_unique<BitonicSort>(problem);
    case Kernel::Spmv:
    case Kernel::SpmvWarp:
    case Kernel::Search:
    case Kernel::Particles:
    case Kernel::CellForces: return makeCudaIrregular(problem);
    case Kernel::Nbody: return std::make_unique<Nbody>(problem);
    case Kernel::Stencil: return std::make_unique<Stencil>(problem);
  }
  return nullptr;
}

}  // namespace ordito::bench
