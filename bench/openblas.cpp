// OpenBLAS's sgemm as the native matrix product. The library is opened at run time, so that its kernels can be chosen
// first (see settings.cpp: it takes recent CPUs for much older ones) and so that a machine without it can still run the
// other cases.
#include "openblas.hpp"

#include <dlfcn.h>

#include <cstring>
#include <stdexcept>
#include <vector>

#include "contender.hpp"

namespace ordito::bench {

namespace {

// The enumerators of the CBLAS interface, which is fixed by its standard.
constexpr int rowMajor = 101;
constexpr int noTranspose = 111;

using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);
using CoreName = char* (*)();
using SetThreads = void (*)(int);

class Library {
 public:
  static Library& get() {
    static Library library;
    return library;
  }

  Sgemm sgemm;
  CoreName coreName;
  SetThreads setThreads;

 private:
  Library() : handle_(dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) throw std::runtime_error("OpenBLAS is not installed (Debian: libopenblas0-pthread)");
    find(sgemm, "cblas_sgemm");
    find(coreName, "openblas_get_corename");
    find(setThreads, "openblas_set_num_threads");
  }

  template <class Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(handle_, name));
    if (function == nullptr) throw std::runtime_error(std::string("libopenblas.so.0 has no ") + name);
  }

  void* handle_;
};

class OpenBlas final : public Contender {
 public:
  explicit OpenBlas(const Problem& problem)
      : n_(static_cast<int>(problem.n)), a_(copy(problem.a)), b_(copy(problem.b)), c_(a_.size()) {}

  void run() override {
    Library::get().sgemm(rowMajor, noTranspose, noTranspose, n_, n_, n_, 1.0F, a_.data(), n_, b_.data(), n_, 0.0F,
                         c_.data(), n_);
  }
  void fetch(void* result) override { std::memcpy(result, c_.data(), c_.size() * sizeof(float)); }

 private:
  std::vector<float> copy(const void* matrix) const {
    const float* begin = static_cast<const float*>(matrix);
    return {begin, begin + static_cast<std::size_t>(n_) * static_cast<std::size_t>(n_)};
  }

  int n_;
  std::vector<float> a_, b_, c_;
};

}  // namespace

std::string openBlasCore() { return Library::get().coreName(); }

void setOpenBlasThreads(int threads) { Library::get().setThreads(threads); }

std::unique_ptr<Contender> makeOpenBlas(const Problem& problem) {
  if (problem.kernel != Kernel::MatmulNaive && problem.kernel != Kernel::MatmulTiled) return nullptr;
  return std::make_unique<OpenBlas>(problem);
}

}  // namespace ordito::bench
