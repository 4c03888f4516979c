// bench_libraries: cuBLAS, cuBLASLt, cuSPARSE and cuFFT of Ordito against what the same processor does without them:
// OpenBLAS alone with the same threads, plain loops over the same memory, pocketfft, and FFTW where it is installed.
// Both sides of a row run in turn, round after round, so that whatever disturbs the machine disturbs both.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda.h>
#include <cufft.h>
#include <cusparse.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdio>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "measure.hpp"
#include "settings.hpp"
#ifdef BENCH_WITH_POCKETFFT
#include <pocketfft.hpp>
#endif

namespace {

using namespace ordito::bench;
using Work = std::function<void()>;

int threads = 1, rounds = 5;
std::string only;

double seconds(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// OpenBLAS itself, in the copy that cuBLAS has loaded, with threads of its own while it runs.
class OpenBlas {
 public:
  OpenBlas() : handle_(dlopen("/usr/lib/x86_64-linux-gnu/openblas-pthread/libopenblas.so.0", RTLD_NOW | RTLD_LOCAL)) {
    if (!handle_) throw std::runtime_error("OpenBLAS is not installed (Debian: libopenblas0-pthread)");
  }
  template <class T>
  Work gemm(int m, int n, int k, const T* a, const T* b, T* c) const {
    using Gemm = void (*)(const char*, const char*, const int*, const int*, const int*, const T*, const T*, const int*,
                          const T*, const int*, const T*, T*, const int*);
    const auto call = reinterpret_cast<Gemm>(dlsym(handle_, sizeof(T) == 4 ? "sgemm_" : "dgemm_"));
    const auto count = reinterpret_cast<void (*)(int)>(dlsym(handle_, "openblas_set_num_threads"));
    return [=] {
      const T one = 1, zero = 0;
      count(threads);
      call("N", "N", &m, &n, &k, &one, a, &m, b, &k, &zero, c, &m);
      count(1);
    };
  }

 private:
  void* handle_;
};

/// FFTW, which is loaded and not linked, since its licence is the GPL: an opponent here and nowhere a part.
template <class T>
class Fftw {
 public:
  Fftw() {
    const std::string name = sizeof(T) == 4 ? "libfftw3f" : "libfftw3";
    plans_ = dlopen((name + ".so.3").c_str(), RTLD_NOW | RTLD_GLOBAL);
    team_ = dlopen((name + "_threads.so.3").c_str(), RTLD_NOW);
    if (!isThere()) return;
    find<int (*)()>(team_, "init_threads")();
    find<void (*)(int)>(team_, "plan_with_nthreads")(threads);
  }
  bool isThere() const { return plans_ && team_; }

  /// A plan that was chosen by measuring, forwards; it writes to both arrays.
  Work forward(int length, int count, std::complex<T>* in, std::complex<T>* out) const {
    constexpr int kForward = -1;
    constexpr unsigned kMeasure = 0;
    using Make =
        void* (*)(int, const int*, int, void*, const int*, int, int, void*, const int*, int, int, int, unsigned);
    void* const plan = find<Make>(plans_, "plan_many_dft")(1, &length, count, in, nullptr, 1, length, out, nullptr, 1,
                                                           length, kForward, kMeasure);
    return [plan, execute = find<void (*)(void*)>(plans_, "execute")] { execute(plan); };
  }

 private:
  template <class Function>
  static Function find(void* library, const char* name) {
    return reinterpret_cast<Function>(
        dlsym(library, ((sizeof(T) == 4 ? "fftwf_" : "fftw_") + std::string(name)).c_str()));
  }
  void *plans_ = nullptr, *team_ = nullptr;
};

/// Calls body(begin, end) for parts of the elements, on a thread each.
template <class Body>
void inParts(size_t count, const Body& body) {
  std::vector<std::thread> team;
  const auto parts = static_cast<size_t>(threads);
  for (size_t i = 0; i < parts; ++i) team.emplace_back([&, i] { body(count * i / parts, count * (i + 1) / parts); });
  for (auto& member : team) member.join();
}

void require(int status) {
  if (status != 0) throw std::runtime_error(fmt::format("a call answered {}", status));
}
void wait() { require(cuCtxSynchronize()); }

/// One row: what both sides do per second, in `unit`; medians. The goal is the least ratio.
void row(const std::string& name, double amount, const char* unit, const Work& ours, const char* other,
         const Work& theirs, double goal) {
  if (name.find(only) == std::string::npos) return;
  std::vector<double> first, second;
  ours(), theirs();
  for (int round = 0; round < rounds; ++round) {
    first.push_back(seconds(ours));
    second.push_back(seconds(theirs));
  }
  const double own = amount / median(first), reference = amount / median(second);
  fmt::print("| {} | {:.1f} {} | {} {:.1f} | {:.2f} | {} |\n", name, own, unit, other, reference, own / reference,
             goal > 0 ? fmt::format("{:.2f}", goal) : "");
  std::fflush(stdout);
}

/// Memory of the device, as programs have it.
template <class T>
class Array {
 public:
  explicit Array(size_t count) : count_(count) {
    CUdeviceptr memory = 0;
    require(cuMemAlloc(&memory, count * sizeof(T)));
    data_ = reinterpret_cast<T*>(memory);
    std::fill_n(data_, count, T());
  }
  Array(Array&& other) noexcept : data_(std::exchange(other.data_, nullptr)), count_(other.count_) {}
  ~Array() { cuMemFree(reinterpret_cast<CUdeviceptr>(data_)); }
  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return count_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }

 private:
  T* data_ = nullptr;
  size_t count_;
};

template <class T>
Array<T> numbers(size_t count) {
  Array<T> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = static_cast<T>(static_cast<double>(i * 2654435761u % 1000) / 1000 - 0.5);
  return values;
}

template <class T>
cublasStatus_t gemm(cublasHandle_t handle, int m, int n, int k, const T* a, const T* b, T* c) {
  const T one = 1, zero = 0;
  if constexpr (sizeof(T) == 4)
    return cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, a, m, b, k, &zero, c, m);
  else
    return cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, a, m, b, k, &zero, c, m);
}

template <class T>
void products(cublasHandle_t handle, const OpenBlas& blas, int m, int n, int k, double goal) {
  const auto a = numbers<T>(static_cast<size_t>(m) * static_cast<size_t>(k));
  const auto b = numbers<T>(static_cast<size_t>(k) * static_cast<size_t>(n));
  Array<T> c(static_cast<size_t>(m) * static_cast<size_t>(n)), other(c.size());
  row(
      fmt::format("{}gemm {} x {} x {}", sizeof(T) == 4 ? "s" : "d", m, n, k), 2e-9 * m * n * k, "GFLOP/s",
      [&] { require(gemm(handle, m, n, k, a.data(), b.data(), c.data())), wait(); }, "OpenBLAS",
      blas.gemm(m, n, k, a.data(), b.data(), other.data()), goal);
}

/// Many small products, and products of small types, against sgemm of a size that it likes.
void otherProducts(cublasHandle_t handle) {
  constexpr int kSize = 2048, kSmall = 64, kMany = 4096;
  const auto a = numbers<float>(size_t{kSize} * kSize), many = numbers<float>(size_t{kSmall} * kSmall * kMany);
  Array<float> c(a.size()), d(many.size());
  const double large = 2e-9 * kSize * kSize * kSize, small = 2e-9 * kSmall * kSmall * kSmall * kMany;
  const Work single = [&] { require(gemm(handle, kSize, kSize, kSize, a.data(), a.data(), c.data())), wait(); };
  const float one = 1, zero = 0;
  // As much work on both sides.
  const auto repeats = std::lround(large / small);
  row(
      "sgemmStridedBatched 64 x 64 x 64", large, "GFLOP/s",
      [&] {
        for (int64_t i = 0; i < repeats; ++i)
          require(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, kSmall, kSmall, kSmall, &one, many.data(),
                                            kSmall, kSmall * kSmall, many.data(), kSmall, kSmall * kSmall, &zero,
                                            d.data(), kSmall, kSmall * kSmall, kMany));
        wait();
      },
      "sgemm 2048", single, 0.7);
  Array<uint16_t> bits(a.size()), result(a.size());
  std::fill_n(bits.data(), bits.size(), uint16_t{0x3c00});
  for (const auto type : {CUDA_R_16BF, CUDA_R_16F})
    row(
        fmt::format("GemmEx {} 2048", type == CUDA_R_16F ? "half" : "bfloat16"), large, "GFLOP/s",
        [&] {
          require(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, kSize, kSize, kSize, &one, bits.data(), type, kSize,
                               bits.data(), type, kSize, &zero, result.data(), type, kSize, CUBLAS_COMPUTE_32F,
                               CUBLAS_GEMM_DEFAULT));
          wait();
        },
        "sgemm 2048", single, 0.8);
  cublasLtHandle_t lt = nullptr;
  cublasLtMatmulDesc_t desc = nullptr;
  cublasLtMatrixLayout_t layout = nullptr;
  const uint32_t epilogue = CUBLASLT_EPILOGUE_GELU_BIAS;
  const void* bias = bits.data();
  require(cublasLtCreate(&lt));
  require(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  require(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof(epilogue)));
  require(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof(bias)));
  require(cublasLtMatrixLayoutCreate(&layout, CUDA_R_16F, kSize, kSize, kSize));
  row(
      "cublasLtMatmul half, bias and GELU, 2048", large, "GFLOP/s",
      [&] {
        require(cublasLtMatmul(lt, desc, &one, bits.data(), layout, bits.data(), layout, &zero, result.data(), layout,
                               result.data(), layout, nullptr, nullptr, 0, nullptr));
        wait();
      },
      "sgemm 2048", single, 0);
}

/// sum(value(i)) into sums[16 * part]: all of it, since a sum of some elements may be made by gathering them.
template <class Value>
void sumInParts(size_t count, std::vector<float>& sums, const Value& value) {
  inParts(count, [&](size_t begin, size_t end) {
    float total = 0;
    for (size_t i = begin; i < end; ++i) total += value(i);
    sums[begin * static_cast<size_t>(threads) / count * 16] = total;
  });
}

/// What reads and writes memory, against loops that read as much of it, or update it.
void vectors(cublasHandle_t handle) {
  constexpr int kCount = 1 << 26, kRows = 8192;
  const auto x = numbers<float>(kCount);
  Array<float> y(kCount);
  std::vector<float> sums(static_cast<size_t>(threads) * 16);
  const float one = 1, zero = 0;
  float result = 0;
  const Work read = [&] { sumInParts(kCount, sums, [&](size_t i) { return x[i]; }); };
  const Work readBoth = [&] { sumInParts(kCount, sums, [&](size_t i) { return x[i] * y[i]; }); };
  const Work update = [&] {
    inParts(kCount, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) y[i] += 0.5f * x[i];
    });
  };
  const double bytes = 4e-9 * kCount, half = 0.5;
  row(
      "axpy 2^26", 3 * bytes, "GB/s",
      [&] {
        const auto alpha = static_cast<float>(half);
        require(cublasSaxpy(handle, kCount, &alpha, x.data(), 1, y.data(), 1)), wait();
      },
      "loop", update, 0.9);
  row(
      "dot 2^26", 2 * bytes, "GB/s", [&] { require(cublasSdot(handle, kCount, x.data(), 1, y.data(), 1, &result)); },
      "loop", readBoth, 0.9);
  for (const auto op : {CUBLAS_OP_N, CUBLAS_OP_T})
    row(
        fmt::format("gemv 8192 x 8192, {}", op == CUBLAS_OP_N ? "plain" : "transposed"), bytes, "GB/s",
        [&] {
          require(cublasSgemv(handle, op, kRows, kRows, &one, x.data(), kRows, x.data(), 1, &zero, y.data(), 1));
          wait();
        },
        "loop", read, 0.9);
  Array<float> cell(2);
  constexpr int kCalls = 20000;
  row(
      "an axpy of one number, calls", 1e-6 * kCalls, "million/s",
      [&] {
        for (int i = 0; i < kCalls; ++i) cublasSaxpy(handle, 1, &one, cell.data(), 1, cell.data() + 1, 1);
        wait();
      },
      "one in 3 us:", [] { std::this_thread::sleep_for(std::chrono::microseconds(3 * kCalls)); }, 1);
}

/// A matrix with eight entries in each row, within 4096 columns of the diagonal.
void sparse() {
  constexpr int kRows = 1 << 22, kEach = 8, kCount = kRows * kEach;
  Array<int> offsets(kRows + 1), columns(kCount);
  auto values = numbers<float>(kCount), x = numbers<float>(kRows);
  Array<float> y(kRows), other(kRows);
  for (int i = 0; i <= kRows; ++i) offsets[static_cast<size_t>(i)] = i * kEach;
  for (int k = 0; k < kCount; ++k)
    columns[static_cast<size_t>(k)] = std::min(kRows - 1, std::max(0, k / kEach + (k % kEach - 4) * 1021));
  cusparseHandle_t handle = nullptr;
  cusparseSpMatDescr_t a = nullptr;
  cusparseDnVecDescr_t from = nullptr, to = nullptr;
  const float one = 1, zero = 0;
  require(cusparseCreate(&handle));
  require(cusparseCreateCsr(&a, kRows, kRows, kCount, offsets.data(), columns.data(), values.data(), CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
  require(cusparseCreateDnVec(&from, kRows, x.data(), CUDA_R_32F));
  require(cusparseCreateDnVec(&to, kRows, y.data(), CUDA_R_32F));
  // The reference reads the matrix's arrays as they lie, and sums them: the memory's speed.
  row(
      "SpMV, 2^22 rows of 8", 1e-9 * (8.0 * kCount + 12.0 * kRows), "GB/s",
      [&] {
        require(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, from, &zero, to, CUDA_R_32F,
                             CUSPARSE_SPMV_ALG_DEFAULT, nullptr));
        wait();
      },
      "loop",
      [&] {
        inParts(kRows, [&](size_t begin, size_t end) {
          for (size_t i = begin; i < end; ++i) {
            float sum = static_cast<float>(offsets[i]) + x[i];
            for (size_t k = i * kEach; k < (i + 1) * kEach; ++k) sum += values[k] * static_cast<float>(columns[k]);
            other[i] = sum;
          }
        });
      },
      0.9);
}

#ifdef BENCH_WITH_POCKETFFT
template <class T>
void transform(int length, int count, double goal) {
  const auto size = static_cast<size_t>(length) * static_cast<size_t>(count);
  Array<std::complex<T>> in(size), out(size);
  std::fill_n(in.data(), size, std::complex<T>(T(0.5), T(0.25)));
  cufftHandle plan = 0;
  require(cufftPlan1d(&plan, length, sizeof(T) == 4 ? CUFFT_C2C : CUFFT_Z2Z, count));
  const auto lengths = pocketfft::shape_t{static_cast<size_t>(count), static_cast<size_t>(length)};
  const auto step = static_cast<ptrdiff_t>(sizeof(std::complex<T>));
  const pocketfft::stride_t steps{step * length, step};
  const std::string name = fmt::format("FFT {} x {}, {}", count, length, sizeof(T) == 4 ? "single" : "double");
  const double work = 5e-9 * static_cast<double>(size) * std::log2(length);
  const Work ours = [&] {
    if constexpr (sizeof(T) == 4)
      require(cufftExecC2C(plan, reinterpret_cast<cufftComplex*>(in.data()),
                           reinterpret_cast<cufftComplex*>(out.data()), CUFFT_FORWARD));
    else
      require(cufftExecZ2Z(plan, reinterpret_cast<cufftDoubleComplex*>(in.data()),
                           reinterpret_cast<cufftDoubleComplex*>(out.data()), CUFFT_FORWARD));
    wait();
  };
  row(
      name, work, "GFLOP/s", ours, "pocketfft",
      [&] {
        pocketfft::c2c(lengths, steps, steps, {1}, true, in.data(), out.data(), T(1), static_cast<size_t>(threads));
      },
      goal);
  static const Fftw<T> fftw;
  if (std::has_single_bit(static_cast<unsigned>(length)) && fftw.isThere() && name.find(only) != std::string::npos)
    row(name, work, "GFLOP/s", ours, "FFTW", fftw.forward(length, count, in.data(), out.data()), 0.7);
  cufftDestroy(plan);
}
void transforms() {
  for (const auto& [length, count] :
       {std::pair(1024, 4096), {4096, 1024}, {1000, 4096}, {1 << 20, 1}, {1 << 22, 1}, {10007, 256}}) {
    transform<float>(length, count, 1);
    transform<double>(length, count, 1);
  }
}
#else
void transforms() { fmt::print("| FFT | left out: pocketfft.hpp is not installed | | | |\n"); }
#endif

void run() {
  CUdevice device = 0;
  CUcontext context = nullptr;
  require(cuInit(0)), require(cuDeviceGet(&device, 0)), require(cuDevicePrimaryCtxRetain(&context, device));
  require(cuCtxSetCurrent(context));
  cublasHandle_t handle = nullptr;
  require(cublasCreate(&handle));
  const OpenBlas blas;
  fmt::print("{}, {} threads, {} rounds; medians\n\n", cpuModel(), threads, rounds);
  fmt::print("| case | Ordito | reference | ratio | goal |\n|---|--:|--:|--:|--:|\n");
  for (const int n : {512, 1024, 2048, 4096}) {
    products<float>(handle, blas, n, n, n, 0.95);
    products<double>(handle, blas, n, n, n, 0.95);
  }
  products<float>(handle, blas, 8192, 8192, 288, 0.9);
  products<double>(handle, blas, 8192, 8192, 288, 0.9);
  otherProducts(handle);
  vectors(handle);
  sparse();
  transforms();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("The libraries against OpenBLAS, plain loops, pocketfft and FFTW");
  int wanted = 0;
  app.add_option("--rounds", rounds, "rounds of each row")->check(CLI::PositiveNumber);
  app.add_option("--threads", wanted, "threads of both sides; 0: one for each core");
  app.add_option("--only", only, "rows whose name has this in it");
  CLI11_PARSE(app, argc, argv);
  try {
    threads = prepareProcess(wanted, levelOfEnvironment());
    run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_libraries: {}\n", error.what());
    return 1;
  }
}
