// See openblas.hpp.
#include "libs/cublas/openblas.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace ordito::cublas {
namespace {

constexpr const char* kPlaces[] = {"/usr/lib/x86_64-linux-gnu/openblas-pthread/libopenblas.so.0", "libopenblas.so.0"};

/// A variable of the environment for as long as this lives, unless the user has set it.
class Setting {
 public:
  Setting(const char* name, const std::string& value) : name_(name), isOurs_(!std::getenv(name) && !value.empty()) {
    if (isOurs_) setenv(name, value.c_str(), 1);
  }
  ~Setting() {
    if (isOurs_) unsetenv(name_);
  }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* name_;
  bool isOurs_;
};

void* open() {
  const Setting kernel("OPENBLAS_CORETYPE", openBlasKernel()), threads("OPENBLAS_NUM_THREADS", "1");
  for (const char* place : kPlaces)
    if (void* library = dlopen(place, RTLD_NOW | RTLD_LOCAL)) return library;
  return nullptr;
}

void* library() {
  static void* const loaded = [] {
    void* opened = open();
    if (!opened)
      std::fprintf(stderr,
                   "ordito: cuBLAS and cuSOLVER need OpenBLAS, which is not installed (on Debian: apt install "
                   "libopenblas0-pthread)\n");
    return opened;
  }();
  return loaded;
}

template <class T>
constexpr char kLetter = 's';
template <>
constexpr char kLetter<Double> = 'd';
template <>
constexpr char kLetter<ComplexFloat> = 'c';
template <>
constexpr char kLetter<ComplexDouble> = 'z';

/// What a library of another build may lack stays null.
template <class T, class Function>
void find(Function& function, const std::string& name) {
  function = reinterpret_cast<Function>(dlsym(library(), (kLetter<T> + name + "_").c_str()));
}

/// What Hermitian routines are called if the type is real.
template <class T>
std::string named(const char* real, const char* complex) {
  return kIsComplex<T> ? complex : real;
}

template <class T>
Routines<T> routines() {
  Routines<T> r{};
  find<T>(r.gbmv, "gbmv");
  find<T>(r.ger, named<T>("ger", "geru")), find<T>(r.gerc, named<T>("ger", "gerc"));
  find<T>(r.hbmv, named<T>("sbmv", "hbmv"));
  find<T>(r.hpmv, named<T>("spmv", "hpmv")), find<T>(r.her, named<T>("syr", "her"));
  find<T>(r.hpr, named<T>("spr", "hpr")), find<T>(r.her2, named<T>("syr2", "her2"));
  find<T>(r.hpr2, named<T>("spr2", "hpr2"));
  find<T>(r.trmv, "trmv"), find<T>(r.trsv, "trsv"), find<T>(r.tbmv, "tbmv");
  find<T>(r.tbsv, "tbsv"), find<T>(r.tpmv, "tpmv"), find<T>(r.tpsv, "tpsv");
  find<T>(r.gemm, "gemm"), find<T>(r.symm, "symm"), find<T>(r.hemm, named<T>("symm", "hemm"));
  find<T>(r.syrk, "syrk"), find<T>(r.herk, named<T>("syrk", "herk"));
  find<T>(r.syr2k, "syr2k"), find<T>(r.her2k, named<T>("syr2k", "her2k"));
  find<T>(r.trmm, "trmm"), find<T>(r.trsm, "trsm");
  find<T>(r.getrf, "getrf"), find<T>(r.getrs, "getrs"), find<T>(r.getri, "getri");
  find<T>(r.geqrf, "geqrf"), find<T>(r.gels, "gels");
  return r;
}

}  // namespace

bool loadOpenBlas() { return library() != nullptr; }

void* openBlasRoutine(const std::string& name) { return library() ? dlsym(library(), name.c_str()) : nullptr; }

template <class T>
const Routines<T>& openBlas() {
  static const Routines<T> all = routines<T>();
  return all;
}
template const Routines<Float>& openBlas();
template const Routines<Double>& openBlas();
template const Routines<ComplexFloat>& openBlas();
template const Routines<ComplexDouble>& openBlas();

std::string openBlasKernel() {
  __builtin_cpu_init();
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (wide) return "SkylakeX";
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return "";
  return __builtin_cpu_is("amd") ? "Zen" : "Haswell";
}

}  // namespace ordito::cublas
