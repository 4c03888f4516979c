// The OpenCL contender of the cases whose accesses nobody knows beforehand.
#include <cstdint>
#include <vector>

#include "opencl_device.hpp"

namespace ordito::bench {

namespace {

class Spmv final : public Contender {
 public:
  explicit Spmv(const Problem& p)
      : n_(p.n),
        block_(p.block),
        rowStart_(p.rowStart, (n_ + 1) * sizeof(cl_uint)),
        columns_(p.columns, p.rowStart[n_] * sizeof(cl_uint)),
        values_(p.a, p.rowStart[n_] * sizeof(float)),
        x_(p.b, n_ * sizeof(float)),
        y_(nullptr, n_ * sizeof(float)),
        items_(p.kernel == Kernel::SpmvWarp ? 32 * n_ : n_),
        function_(p.kernel == Kernel::SpmvWarp ? "spmvWarp" : "spmv", 1) {
    function_.setArguments(rowStart_.memory(), columns_.memory(), values_.memory(), x_.memory(), y_.memory(),
                           static_cast<cl_uint>(n_));
  }
  void run() override { function_.run({roundUp(items_, block_), 1}, {block_, 1}); }
  void fetch(void* result) override { y_.read(result); }

 private:
  std::size_t n_, block_;
  Buffer rowStart_, columns_, values_, x_, y_;
  std::size_t items_;
  Function function_;
};

class Search final : public Contender {
 public:
  explicit Search(const Problem& p)
      : n_(p.n),
        block_(p.block),
        start_(n_, unreached),
        rowStart_(p.rowStart, (n_ + 1) * sizeof(cl_uint)),
        columns_(p.columns, p.rowStart[n_] * sizeof(cl_uint)),
        away_(nullptr, n_ * sizeof(cl_uint)),
        goesOn_(nullptr, sizeof(cl_uint)),
        function_("searchLevel", 1) {
    start_[0] = 0;
  }
  void run() override {
    away_.write(start_.data());
    cl_uint goesOn = 1;
    for (cl_uint level = 0; goesOn != 0; ++level) {
      goesOn = 0;
      goesOn_.write(&goesOn);
      function_.setArguments(rowStart_.memory(), columns_.memory(), away_.memory(), level, goesOn_.memory(),
                             static_cast<cl_uint>(n_));
      function_.run({roundUp(n_, block_), 1}, {block_, 1});
      goesOn_.read(&goesOn);
    }
  }
  void fetch(void* result) override { away_.read(result); }

 private:
  std::size_t n_, block_;
  std::vector<cl_uint> start_;
  Buffer rowStart_, columns_, away_, goesOn_;
  Function function_;
};

class Particles final : public Contender {
 public:
  explicit Particles(const Problem& p)
      : n_(p.n), block_(p.block), particles_(p.a, p.bytes), function_("moveParticles", 1) {
    function_.setArguments(particles_.memory(), static_cast<cl_uint>(n_));
  }
  void run() override { function_.run({roundUp(n_, block_), 1}, {block_, 1}); }
  void fetch(void* result) override { particles_.read(result); }

 private:
  std::size_t n_, block_;
  Buffer particles_;
  Function function_;
};

class CellForces final : public Contender {
 public:
  explicit CellForces(const Problem& p)
      : n_(p.n),
        block_(p.block),
        particles_(p.a, 4 * n_ * sizeof(float)),
        cellStart_(p.rowStart, (cellCount + 1) * sizeof(cl_uint)),
        out_(nullptr, p.bytes),
        function_("cellForces", 1) {
    function_.setArguments(particles_.memory(), cellStart_.memory(), out_.memory(), static_cast<cl_uint>(n_));
  }
  void run() override { function_.run({roundUp(n_, block_), 1}, {block_, 1}); }
  void fetch(void* result) override { out_.read(result); }

 private:
  std::size_t n_, block_;
  Buffer particles_, cellStart_, out_;
  Function function_;
};

}  // namespace

std::unique_ptr<Contender> makeOpenClIrregular(const Problem& problem) {
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
