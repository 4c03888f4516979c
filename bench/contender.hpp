// What the benchmark needs to know of a contender (native C++, OpenBLAS, OpenCL, CUDA): it prepares its own buffers
// once, runs as often as it is told, and hands out its result. Plain virtual functions and nothing heavy included, so
// that the CUDA file can include it whichever front end compiles it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace ordito::bench {

enum class Kernel {
  Saxpy,
  ReduceBest,
  ReduceGridStride,
  ReduceNeighbored,
  MatmulNaive,
  MatmulTiled,
  Transpose,
  Histogram,
  HistogramGlobal,
  Mandelbrot,
  Collatz,
  Xorshift,
  Scan,
  BitonicSort,
  Spmv,
  SpmvWarp,
  Search,
  Particles,
  CellForces,
  Nbody,
  Stencil
};

/// One case's input, which all contenders share and none may write to.
struct Problem {
  Kernel kernel;
  int block;          ///< threads per block; the edge of the block for the matrix products
  std::size_t n;      ///< elements; the edge for the matrices
  const void* a;      ///< first input: float, int or char as the kernel has it; bodies as x, y, z, mass
  const void* b;      ///< second input, or null
  std::size_t bytes;  ///< size of the result
  /// Of a sparse matrix or a graph: n + 1 places in `columns` (and `a`); of cells: cellCount + 1 places in `a`.
  const std::uint32_t* rowStart = nullptr;
  const std::uint32_t* columns = nullptr;
};

constexpr float saxpyFactor = 2.0F;

// The reductions: elements that each thread of the best one adds up, and the blocks of the one that strides.
constexpr int reductionUnroll = 8, reductionStridingBlocks = 1024;
constexpr std::size_t reductionBlocks(const Problem& p) {
  if (p.kernel == Kernel::ReduceGridStride) return reductionStridingBlocks;
  const std::size_t each = static_cast<std::size_t>(p.block) * (p.kernel == Kernel::ReduceBest ? reductionUnroll : 1);
  return (p.n + each - 1) / each;
}

// The Mandelbrot set on [-2, 1] x [-1.5, 1.5]: Problem::n points in x and in y.
constexpr int mandelbrotLimit = 256;
constexpr float mandelbrotLeft = -2.0F, mandelbrotTop = -1.5F, mandelbrotWidth = 3.0F;
// Marsaglia's generator with 32 bits, as many steps for each thread: arithmetic and nothing else.
constexpr int xorshiftSteps = 4096;
// The stencil: what a point keeps of itself; each of its four neighbours adds an eighth.
constexpr float stencilCentre = 0.5F, stencilSide = 0.125F;
// Added to squared distances, so that bodies may meet.
constexpr double nbodySoftening = 1e-3;
constexpr double nbodyFlops = 20;  // of one interaction, as is usual

/// A particle in a box: an array of structures is updated in place. `wall` counts how often it was thrown back.
struct Particle {
  float x, y, z;     // place, between 0 and particleBox
  float vx, vy, vz;  // step of each run
  float mass;
  std::uint32_t wall;
};
constexpr float particleBox = 1000;

// Forces of particles on those in the same cell of a cube of cells and the 26 cells around it, as far as they are
// nearer than 1, a cell's edge; the cube's sides are joined. A particle is x, y, z and charge.
constexpr unsigned cellsPerSide = 24, cellCount = cellsPerSide * cellsPerSide * cellsPerSide;
constexpr float cellForceSoftening = 0.5F;  // added to squared distances
constexpr double cellForceFlops = 17;       // of a pair of particles that is looked at

/// What no vertex of a graph is away from the first: it cannot be reached.
constexpr std::uint32_t unreached = 0xffffffffu;

class Contender {
 public:
  Contender() = default;
  Contender(const Contender&) = delete;
  Contender& operator=(const Contender&) = delete;
  virtual ~Contender() = default;

  /// The work that is timed, from the host's call until the result is complete (in device memory where there is one).
  virtual void run() = 0;

  /// Copies the last run's result, Problem::bytes of it, to the host. Not timed.
  virtual void fetch(void* result) = 0;
};

/// Each returns null if that contender does not take part in the kernel; a failure of the platform is an exception.
std::unique_ptr<Contender> makeNative(const Problem& problem);
std::unique_ptr<Contender> makeNativeAvx2(const Problem& problem);  // compiled for hosts without AVX-512
std::unique_ptr<Contender> makeOpenBlas(const Problem& problem);
std::unique_ptr<Contender> makeOpenCl(const Problem& problem);
std::unique_ptr<Contender> makeCuda(const Problem& problem);

}  // namespace ordito::bench
