// The OpenCL contender on PoCL, the CPU implementation that Debian ships. The platform is chosen by name: a machine may
// have others. The ICD loader is opened at run time, so that a machine without OpenCL can run the other contenders.
#include "opencl.hpp"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "contender.hpp"
#include "kernels_cl.hpp"

namespace ordito::bench {

namespace {

void check(cl_int status, const char* call) {
  if (status != CL_SUCCESS) throw std::runtime_error(fmt::format("OpenCL: {} failed with error {}", call, status));
}

/// The functions of the ICD loader that the benchmark calls, each with the type that CL/cl.h declares.
class Loader {
 public:
  static Loader& get() {
    static Loader loader;
    return loader;
  }

  template <class Function>
  Function* find(Function*, const char* name) const {
    void* symbol = dlsym(handle_, name);
    if (symbol == nullptr) throw std::runtime_error(fmt::format("libOpenCL.so.1 has no {}", name));
    return reinterpret_cast<Function*>(symbol);
  }

 private:
  Loader() : handle_(dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) throw std::runtime_error("no OpenCL loader (Debian: ocl-icd-libopencl1)");
  }

  void* handle_;
};

#define OPENCL(function) Loader::get().find(static_cast<decltype(&function)>(nullptr), #function)

cl_platform_id findPocl() {
  cl_uint count = 0;
  std::array<cl_platform_id, 16> platforms{};
  if (OPENCL(clGetPlatformIDs)(platforms.size(), platforms.data(), &count) != CL_SUCCESS) count = 0;
  for (cl_uint i = 0; i < std::min<cl_uint>(count, platforms.size()); ++i) {
    std::array<char, 256> name{};
    check(OPENCL(clGetPlatformInfo)(platforms[i], CL_PLATFORM_NAME, name.size() - 1, name.data(), nullptr),
          "clGetPlatformInfo");
    if (std::strcmp(name.data(), "Portable Computing Language") == 0) return platforms[i];
  }
  throw std::runtime_error("PoCL is not installed (Debian: pocl-opencl-icd)");
}

/// Device, context and queue, which all cases share.
class Device {
 public:
  static Device& get() {
    static Device device;
    return device;
  }

  cl_device_id id = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  std::string description;

 private:
  Device() {
    const cl_platform_id platform = findPocl();
    check(OPENCL(clGetDeviceIDs)(platform, CL_DEVICE_TYPE_CPU, 1, &id, nullptr), "clGetDeviceIDs");
    cl_int status = CL_SUCCESS;
    context = OPENCL(clCreateContext)(nullptr, 1, &id, nullptr, nullptr, &status);
    check(status, "clCreateContext");
    queue = OPENCL(clCreateCommandQueue)(context, id, 0, &status);
    check(status, "clCreateCommandQueue");
    std::array<char, 256> version{};
    cl_uint units = 0;
    check(OPENCL(clGetPlatformInfo)(platform, CL_PLATFORM_VERSION, version.size() - 1, version.data(), nullptr),
          "clGetPlatformInfo");
    check(OPENCL(clGetDeviceInfo)(id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(units), &units, nullptr), "clGetDeviceInfo");
    description = fmt::format("{}, {} compute units", version.data(), units);
  }
};

class Buffer {
 public:
  Buffer(const void* source, std::size_t bytes) : bytes_(bytes) {
    cl_int status = CL_SUCCESS;
    memory_ = OPENCL(clCreateBuffer)(Device::get().context, CL_MEM_READ_WRITE, bytes, nullptr, &status);
    check(status, "clCreateBuffer");
    if (source != nullptr) write(source);
  }
  ~Buffer() { OPENCL(clReleaseMemObject)(memory_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  const cl_mem& memory() const { return memory_; }
  void write(const void* source) {
    check(OPENCL(clEnqueueWriteBuffer)(Device::get().queue, memory_, CL_TRUE, 0, bytes_, source, 0, nullptr, nullptr),
          "clEnqueueWriteBuffer");
  }
  void read(void* target) const {
    check(OPENCL(clEnqueueReadBuffer)(Device::get().queue, memory_, CL_TRUE, 0, bytes_, target, 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
  }

 private:
  cl_mem memory_ = nullptr;
  std::size_t bytes_;
};

/// One kernel of kernels.cl, built for its own case only.
class Function {
 public:
  Function(const char* name, int tile) {
    cl_int status = CL_SUCCESS;
    const char* source = kernelsCl;
    program_ = OPENCL(clCreateProgramWithSource)(Device::get().context, 1, &source, nullptr, &status);
    check(status, "clCreateProgramWithSource");
    const std::string options = fmt::format("-DTILE={} -DLIMIT={} -DLEFT={:.1f}f -DTOP={:.1f}f -DSOFTENING={}", tile,
                                            mandelbrotLimit, mandelbrotLeft, mandelbrotTop, nbodySoftening);
    check(OPENCL(clBuildProgram)(program_, 1, &Device::get().id, options.c_str(), nullptr, nullptr), "clBuildProgram");
    kernel_ = OPENCL(clCreateKernel)(program_, name, &status);
    check(status, "clCreateKernel");
  }
  ~Function() {
    OPENCL(clReleaseKernel)(kernel_);
    OPENCL(clReleaseProgram)(program_);
  }
  Function(const Function&) = delete;
  Function& operator=(const Function&) = delete;

  template <class... Args>
  void setArguments(const Args&... args) {
    cl_uint index = 0;
    (check(OPENCL(clSetKernelArg)(kernel_, index++, sizeof(args), &args), "clSetKernelArg"), ...);
  }

  void enqueue(std::array<std::size_t, 2> global, std::array<std::size_t, 2> local) {
    check(OPENCL(clEnqueueNDRangeKernel)(Device::get().queue, kernel_, 2, nullptr, global.data(), local.data(), 0,
                                         nullptr, nullptr),
          "clEnqueueNDRangeKernel");
  }
  void run(std::array<std::size_t, 2> global, std::array<std::size_t, 2> local) {
    enqueue(global, local);
    finish();
  }
  static void finish() { check(OPENCL(clFinish)(Device::get().queue), "clFinish"); }

 private:
  cl_program program_ = nullptr;
  cl_kernel kernel_ = nullptr;
};

std::size_t roundUp(std::size_t n, std::size_t block) { return (n + block - 1) / block * block; }

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
        function_("spmv", 1) {
    function_.setArguments(rowStart_.memory(), columns_.memory(), values_.memory(), x_.memory(), y_.memory(),
                           static_cast<cl_uint>(n_));
  }
  void run() override { function_.run({roundUp(n_, block_), 1}, {block_, 1}); }
  void fetch(void* result) override { y_.read(result); }

 private:
  std::size_t n_, block_;
  Buffer rowStart_, columns_, values_, x_, y_;
  Function function_;
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
    case Kernel::Spmv: return std::make_unique<Spmv>(problem);
    case Kernel::Nbody: return std::make_unique<Nbody>(problem);
  }
  return nullptr;
}

}  // namespace ordito::bench
