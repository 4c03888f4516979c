// The CUDA contender, as cuda_cases.cu has it, of the cases whose accesses nobody knows beforehand: sparse rows,
// graphs, particles.
#include "cuda_array.cuh"

namespace {

/// One thread for each row of a matrix in compressed rows.
__global__ void spmv(const unsigned* rowStart, const unsigned* columns, const float* values, const float* x, float* y,
                     unsigned n) {
  unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  float sum = 0;
  for (unsigned k = rowStart[row]; k < rowStart[row + 1]; ++k) sum += values[k] * x[columns[k]];
  y[row] = sum;
}

/// A warp for each row.
__global__ void spmvWarp(const unsigned* rowStart, const unsigned* columns, const float* values, const float* x,
                         float* y, unsigned n) {
  unsigned row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  float sum = 0;
  for (unsigned k = rowStart[row] + lane; k < rowStart[row + 1]; k += 32) sum += values[k] * x[columns[k]];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (lane == 0) y[row] = sum;
}

/// A level of a breadth-first search: every vertex that was reached in the last reaches its neighbours.
__global__ void searchLevel(const unsigned* rowStart, const unsigned* columns, unsigned* away, unsigned level,
                            unsigned* goesOn, unsigned n) {
  unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || away[v] != level) return;
  for (unsigned k = rowStart[v]; k < rowStart[v + 1]; ++k)
    if (away[columns[k]] == ordito::bench::unreached) {
      away[columns[k]] = level + 1;
      *goesOn = 1;
    }
}

__device__ bool moveAlong(float& place, float& step) {
  place += step;
  if (place >= 0 && place <= ordito::bench::particleBox) return false;
  step = -step;
  return true;
}

__global__ void moveParticles(ordito::bench::Particle* particles, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  ordito::bench::Particle p = particles[i];
  p.wall += moveAlong(p.x, p.vx);
  p.wall += moveAlong(p.y, p.vy);
  p.wall += moveAlong(p.z, p.vz);
  particles[i] = p;
}

/// Across a side of the cube its other side follows.
__device__ float wrap(int& cell) {
  constexpr int side = ordito::bench::cellsPerSide;
  float shift = cell < 0 ? -side : cell >= side ? side : 0;
  cell -= static_cast<int>(shift);
  return shift;
}

__global__ void cellForces(const float4* particles, const unsigned* cellStart, float* out, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  constexpr int side = ordito::bench::cellsPerSide;
  float4 me = particles[i];
  float fx = 0, fy = 0, fz = 0;
  for (int dz = -1; dz <= 1; ++dz)
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx) {
        int cx = static_cast<int>(me.x) + dx, cy = static_cast<int>(me.y) + dy, cz = static_cast<int>(me.z) + dz;
        float atX = me.x - wrap(cx), atY = me.y - wrap(cy), atZ = me.z - wrap(cz);
        int cell = (cz * side + cy) * side + cx;
        for (unsigned k = cellStart[cell]; k < cellStart[cell + 1]; ++k) {
          float4 other = particles[k];
          float x = other.x - atX, y = other.y - atY, z = other.z - atZ;
          float squared = x * x + y * y + z * z;
          if (squared < 1) {
            float inverse = 1 / (squared + ordito::bench::cellForceSoftening), six = inverse * inverse * inverse;
            float strength = other.w * six * (six - 1) * inverse;
            fx += strength * x;
            fy += strength * y;
            fz += strength * z;
          }
        }
      }
  out[i] = fx;
  out[n + i] = fy;
  out[2 * n + i] = fz;
}

}  // namespace

namespace ordito::bench {

namespace {

class Spmv final : public Contender {
 public:
  explicit Spmv(const Problem& p)
      : n_(static_cast<unsigned>(p.n)),
        block_(p.block),
        isByWarp_(p.kernel == Kernel::SpmvWarp),
        rowStart_(p.rowStart, n_ + 1),
        columns_(p.columns, p.rowStart[n_]),
        values_(p.a, p.rowStart[n_]),
        x_(p.b, n_),
        y_(nullptr, n_) {}

  void run() override {
    const unsigned threads = isByWarp_ ? 32 * n_ : n_, blocks = (threads + block_ - 1) / block_;
    const auto kernel = isByWarp_ ? spmvWarp : spmv;
    kernel<<<blocks, block_>>>(rowStart_.data(), columns_.data(), values_.data(), x_.data(), y_.data(), n_);
    finishLaunch();
  }
  void fetch(void* result) override { y_.copyTo(result); }

 private:
  unsigned n_, block_;
  bool isByWarp_;
  DeviceArray<unsigned> rowStart_, columns_;
  DeviceArray<float> values_, x_, y_;
};

class Search final : public Contender {
 public:
  explicit Search(const Problem& p)
      : n_(static_cast<unsigned>(p.n)),
        block_(p.block),
        rowStart_(p.rowStart, n_ + 1),
        columns_(p.columns, p.rowStart[n_]),
        away_(nullptr, n_),
        goesOn_(nullptr, 1) {}

  void run() override {
    check(cudaMemset(away_.data(), 0xff, away_.bytes()));
    check(cudaMemset(away_.data(), 0, sizeof(unsigned)));
    unsigned goesOn = 1;
    for (unsigned level = 0; goesOn != 0; ++level) {
      check(cudaMemset(goesOn_.data(), 0, sizeof(unsigned)));
      searchLevel<<<(n_ + block_ - 1) / block_, block_>>>(rowStart_.data(), columns_.data(), away_.data(), level,
                                                          goesOn_.data(), n_);
      goesOn_.copyTo(&goesOn);
    }
    finishLaunch();
  }
  void fetch(void* result) override { away_.copyTo(result); }

 private:
  unsigned n_, block_;
  DeviceArray<unsigned> rowStart_, columns_, away_, goesOn_;
};

class Particles final : public Contender {
 public:
  explicit Particles(const Problem& p) : n_(static_cast<unsigned>(p.n)), block_(p.block), particles_(p.a, n_) {}

  void run() override {
    moveParticles<<<(n_ + block_ - 1) / block_, block_>>>(particles_.data(), n_);
    finishLaunch();
  }
  void fetch(void* result) override { particles_.copyTo(result); }

 private:
  unsigned n_, block_;
  DeviceArray<Particle> particles_;
};

class CellForces final : public Contender {
 public:
  explicit CellForces(const Problem& p)
      : n_(static_cast<unsigned>(p.n)),
        block_(p.block),
        particles_(p.a, n_),
        cellStart_(p.rowStart, cellCount + 1),
        out_(nullptr, 3 * n_) {}

  void run() override {
    cellForces<<<(n_ + block_ - 1) / block_, block_>>>(particles_.data(), cellStart_.data(), out_.data(), n_);
    finishLaunch();
  }
  void fetch(void* result) override { out_.copyTo(result); }

 private:
  unsigned n_, block_;
  DeviceArray<float4> particles_;
  DeviceArray<unsigned> cellStart_;
  DeviceArray<float> out_;
};

}  // namespace

std::unique_ptr<Contender> makeCudaIrregular(const Problem& problem) {
  switch (problem.kernel) {
    case Kernel::Spmv:
    case Kernel::SpmvWarp: return std::make_unique<Spmv>(problem);
    case Kernel::Search: return std::make_unique<Search>(problem);
    case Kernel::Particles: return std::make_unique<Particles>(problem);
    case Kernel::CellForces: return std::make_unique<CellForces>(problem);
    default: return nullptr;
  }
}

}  // namespace ordito::bench
