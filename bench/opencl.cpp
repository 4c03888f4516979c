// The OpenCL contender on PoCL, the CPU implementation that Debian ships.
#include "opencl.hpp"

#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "opencl_device.hpp"

namespace ordito::bench {

namespace {

class Saxpy final : public Contender {
 public:
  explicit Saxpy(const Problem& p)
      : x_(p.a, p.n * sizeof(float)), y_(p.b, p.n * sizeof(float)), function_("saxpy", 1), n_(p.n), block_(p.block) {
    function_.setArguments(x_.memory(), y_.memory(), saxpyFactor, static_cast<cl_uint>(n_));
  }
  void run() override { function_.run({roundUp(n_, block_), 1}, {block_, 1}); }
  void fetch(void* result) override { y_.read(result); }

 private:
  Buffer x_, y_;
  Function function_;
  std::size_t n_, block_;
};

class Reduction final : public Contender {
 public:
  explicit Reduction(const Problem& p)
      : block_(p.block),
        groups_(reductionBlocks(p)),
        in_(p.a, p.n * sizeof(cl_int)),
        out_(nullptr, groups_ * sizeof(cl_int)),
        function_(p.kernel == Kernel::ReduceBest         ? "reduceBest"
                  : p.kernel == Kernel::ReduceGridStride ? "reduceGridStride"
                                                         : "reduceNeighbored",
                  1),
        partial_(groups_) {
    function_.setArguments(in_.memory(), out_.memory(),
                           static_cast<cl_uint>(p.kernel == Kernel::ReduceGridStride ? p.n / 4 : p.n));
  }
  void run() override {
    function_.run({groups_ * block_, 1}, {block_, 1});
    out_.read(partial_.data());
    sum_ = std::accumulate(partial_.begin(), partial_.end(), std::uint32_t{0});
  }
  void fetch(void* result) override { std::memcpy(result, &sum_, sizeof(sum_)); }

 private:
  std::size_t block_, groups_;
  Buffer in_, out_;
  Function function_;
  std::vector<std::uint32_t> partial_;
  std::uint32_t sum_ = 0;
};

class Matmul final : public Contender {
 public:
  explicit Matmul(const Problem& p)
      : n_(p.n),
        block_(p.block),
        a_(p.a, bytes()),
        b_(p.b, bytes()),
        c_(nullptr, bytes()),
        function_(p.kernel == Kernel::MatmulNaive ? "matmulNaive" : "matmulTiled", p.block) {
    function_.setArguments(a_.memory(), b_.memory(), c_.memory(), static_cast<cl_int>(n_));
  }
  void run() override { function_.run({roundUp(n_, block_), roundUp(n_, block_)}, {block_, block_}); }
  void fetch(void* result) override { c_.read(result); }

 private:
  std::size_t bytes() const { return n_ * n_ * sizeof(float); }

  std::size_t n_, block_;
  Buffer a_, b_, c_;
  Function function_;
};

class Transpose final : public Contender {
 public:
  explicit Transpose(const Problem& p)
      : n_(p.n), in_(p.a, n_ * n_ * sizeof(float)), out_(nullptr, n_ * n_ * sizeof(float)), function_("transpose", 1) {
    function_.setArguments(in_.memory(), out_.memory(), static_cast<cl_int>(n_));
  }
  void run() override { function_.run({n_, n_ / 4}, {32, 8}); }
  void fetch(void* result) override { out_.read(result); }

 private:
  std::size_t n_;
  Buffer in_, out_;
  Function function_;
};

class Histogram final : public Contender {
 public:
  explicit Histogram(const Problem& p)
      : text_(p.a, p.n),
        bins_(nullptr, sizeof(zero_)),
        function_(p.kernel == Kernel::Histogram ? "histogram" : "histogram_global", 1),
        global_(p.kernel == Kernel::Histogram ? 1024 * p.block : roundUp(p.n, p.block)),
        block_(p.block) {
    function_.setArguments(text_.memory(), static_cast<cl_uint>(p.n), bins_.memory());
  }
  void run() override {
    bins_.write(zero_.data());
    function_.run({global_, 1}, {block_, 1});
  }
  void fetch(void* result) override { bins_.read(result); }

 private:
  static constexpr std::array<cl_uint, 256> zero_{};
  Buffer text_, bins_;
  Function function_;
  std::size_t global_, block_;
};

/// Kernels that read no arrays.
class Numbers final : public Contender {
 public:
  Numbers(const Problem& p, const char* kernel)
      : out_(nullptr, p.bytes), function_(kernel, 1), global_{roundUp(p.n, p.block), 1}, block_(p.block) {
    const auto n = static_cast<cl_int>(p.n);
    if (p.kernel == Kernel::Mandelbrot) {
      global_[1] = p.n;
      function_.setArguments(out_.memory(), n, mandelbrotWidth / static_cast<float>(p.n));
    } else {
      function_.setArguments(out_.memory(), p.kernel == Kernel::Collatz ? n : cl_int{xorshiftSteps});
    }
  }
  void run() override { function_.run(global_, {block_, 1}); }
  void fetch(void* result) override { out_.read(result); }

 private:
  Buffer out_;
  Function function_;
  std::array<std::size_t, 2> global_;
  std::size_t block_;
};

class Scan final : public Contender {
 public:
  explicit Scan(const Problem& p)
      : n_(p.n),
        block_(p.block),
        in_(p.a, p.bytes),
        out_(nullptr, p.bytes),
        scanBlocks_("scanBlocks", 1),
        addOffsets_("addOffsets", 1) {
    for (std::size_t n = n_; n > 1; n = blocks(n))
      levels_.push_back(std::make_unique<Buffer>(nullptr, blocks(n) * sizeof(cl_uint)));
  }
  void run() override {
    scan(in_, out_, n_, 0);
    Function::finish();
  }
  void fetch(void* result) override { out_.read(result); }

 private:
  std::size_t blocks(std::size_t n) const { return (n + block_ - 1) / block_; }

  void scan(const Buffer& in, const Buffer& out, std::size_t n, std::size_t level) {
    const Buffer& sums = *levels_[level];
    scanBlocks_.setArguments(in.memory(), out.memory(), sums.memory(), static_cast<cl_uint>(n));
    scanBlocks_.enqueue({roundUp(n, block_), 1}, {block_, 1});
    if (blocks(n) == 1) return;
    scan(sums, sums, blocks(n), level + 1);
    addOffsets_.setArguments(out.memory(), sums.memory(), static_cast<cl_uint>(n));
    addOffsets_.enqueue({roundUp(n, block_), 1}, {block_, 1});
  }

  std::size_t n_, block_;
  Buffer in_, out_;
  Function scanBlocks_, addOffsets_;
  std::vector<std::unique_ptr<Buffer>> levels_;
};

class BitonicSort final : public Contender {
 public:
  explicit BitonicSort(const Problem& p)
      : n_(p.n),
        block_(p.block),
        in_(p.a, p.bytes),
        keys_(nullptr, p.bytes),
        shared_("bitonicShared", 1),
        global_("bitonicGlobal", 1) {}
  void run() override {
    const auto n = static_cast<cl_uint>(n_), piece = static_cast<cl_uint>(2 * block_);
    inPieces(in_, 2, piece);
    for (cl_uint stage = 2 * piece; stage <= n; stage *= 2) {
      for (cl_uint distance = stage / 2; distance >= piece; distance /= 2) {
        global_.setArguments(keys_.memory(), stage, distance);
        global_.enqueue({n_ / 2, 1}, {block_, 1});
      }
      inPieces(keys_, stage, stage);
    }
    Function::finish();
  }
  void fetch(void* result) override { keys_.read(result); }

 private:
  void inPieces(const Buffer& from, cl_uint firstStage, cl_uint lastStage) {
    shared_.setArguments(from.memory(), keys_.memory(), firstStage, lastStage);
    shared_.enqueue({n_ / 2, 1}, {block_, 1});
  }

  std::size_t n_, block_;
  Buffer in_, keys_;
  Function shared_, global_;
};

class Nbody final : public Contender {
 public:
  explicit Nbody(const Problem& p)
      : n_(p.n), block_(p.block), bodies_(p.a, 4 * n_ * sizeof(double)), out_(nullptr, p.bytes), function_("nbody", 1) {
    function_.setArguments(bodies_.memory(), out_.memory(), static_cast<cl_uint>(n_));
  }
  void run() override { function_.run({n_, 1}, {block_, 1}); }
  void fetch(void* result) override { out_.read(result); }

 private:
  std::size_t n_, block_;
  Buffer bodies_, out_;
  Function function_;
};

class Stencil final : public Contender {
 public:
  explicit Stencil(const Problem& p) : n_(p.n), in_(p.a, p.bytes), out_(p.a, p.bytes), function_("stencil", 1) {
    function_.setArguments(in_.memory(), out_.memory(), static_cast<cl_int>(n_));
  }
  void run() override { function_.run({roundUp(n_, 32), roundUp(n_, 8)}, {32, 8}); }
  void fetch(void* result) override { out_.read(result); }

 private:
  std::size_t n_;
  Buffer in_, out_;
  Function function_;
};

}  // namespace

std::string openClDevice() { return Device::get().description; }

std::unique_ptr<Contender> makeOpenCl(const Problem& problem) {
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
    case Kernel::Mandelbrot: return std::make_unique<Numbers>(problem, "mandelbrot");
    case Kernel::Collatz: return std::make_unique<Numbers>(problem, "collatz");
    case Kernel::Xorshift: return std::make_unique<Numbers>(problem, "xorshift");
    case Kernel::Scan: return std::make_unique<Scan>(problem);
    case Kernel::BitonicSort: return std::make_unique<BitonicSort>(problem);
    case Kernel::Spmv:
    case Kernel::SpmvWarp:
    case Kernel::Search:
    case Kernel::Particles:
    case Kernel::CellForces: return makeOpenClIrregular(problem);
    case Kernel::Nbody: return std::make_unique<Nbody>(problem);
    case Kernel::Stencil: return std::make_unique<Stencil>(problem);
  }
  return nullptr;
}

}  // namespace ordito::bench
