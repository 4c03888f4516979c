// The routines of OpenBLAS that cuBLAS's are made of, for the four types: BLAS levels 2 and 3 and a little LAPACK, by
// their Fortran names, under which everything is passed by pointer.
//
// OpenBLAS is loaded when it is first needed, by the path of Debian's package, and keeps its names to itself: a program
// may have another BLAS. It chooses its kernels by a list of processors that ends in 2022, so the choice is made here,
// from what the processor can do, and it is told to use no threads of its own.
#pragma once

#include <complex>
#include <string>

namespace ordito::cublas {

using Float = float;
using Double = double;
using ComplexFloat = std::complex<float>;
using ComplexDouble = std::complex<double>;

template <class T>
struct RealOf {
  using Type = T;
  static constexpr bool kIsComplex = false;
};
template <class T>
struct RealOf<std::complex<T>> {
  using Type = T;
  static constexpr bool kIsComplex = true;
};
template <class T>
using Real = typename RealOf<T>::Type;
template <class T>
inline constexpr bool kIsComplex = RealOf<T>::kIsComplex;

using Word = const char*;  // one letter
using Count = const int*;

/// The routines for one type. `ger` is the one without a conjugate, `gerc`, `he...` are the symmetric ones if T is
/// real.
template <class T>
struct Routines {
  void (*gbmv)(Word, Count, Count, Count, Count, const T*, const T*, Count, const T*, Count, const T*, T*, Count);
  void (*ger)(Count, Count, const T*, const T*, Count, const T*, Count, T*, Count);
  void (*gerc)(Count, Count, const T*, const T*, Count, const T*, Count, T*, Count);
  void (*hbmv)(Word, Count, Count, const T*, const T*, Count, const T*, Count, const T*, T*, Count);
  void (*hpmv)(Word, Count, const T*, const T*, const T*, Count, const T*, T*, Count);
  void (*her)(Word, Count, const Real<T>*, const T*, Count, T*, Count);
  void (*hpr)(Word, Count, const Real<T>*, const T*, Count, T*);
  void (*her2)(Word, Count, const T*, const T*, Count, const T*, Count, T*, Count);
  void (*hpr2)(Word, Count, const T*, const T*, Count, const T*, Count, T*);
  void (*trmv)(Word, Word, Word, Count, const T*, Count, T*, Count);
  void (*trsv)(Word, Word, Word, Count, const T*, Count, T*, Count);
  void (*tbmv)(Word, Word, Word, Count, Count, const T*, Count, T*, Count);
  void (*tbsv)(Word, Word, Word, Count, Count, const T*, Count, T*, Count);
  void (*tpmv)(Word, Word, Word, Count, const T*, T*, Count);
  void (*tpsv)(Word, Word, Word, Count, const T*, T*, Count);
  void (*gemm)(Word, Word, Count, Count, Count, const T*, const T*, Count, const T*, Count, const T*, T*, Count);
  void (*symm)(Word, Word, Count, Count, const T*, const T*, Count, const T*, Count, const T*, T*, Count);
  void (*hemm)(Word, Word, Count, Count, const T*, const T*, Count, const T*, Count, const T*, T*, Count);
  void (*syrk)(Word, Word, Count, Count, const T*, const T*, Count, const T*, T*, Count);
  void (*herk)(Word, Word, Count, Count, const Real<T>*, const T*, Count, const Real<T>*, T*, Count);
  void (*syr2k)(Word, Word, Count, Count, const T*, const T*, Count, const T*, Count, const T*, T*, Count);
  void (*her2k)(Word, Word, Count, Count, const T*, const T*, Count, const T*, Count, const Real<T>*, T*, Count);
  void (*trmm)(Word, Word, Word, Word, Count, Count, const T*, const T*, Count, T*, Count);
  void (*trsm)(Word, Word, Word, Word, Count, Count, const T*, const T*, Count, T*, Count);
  void (*getrf)(Count, Count, T*, Count, int*, int*);
  void (*getrs)(Word, Count, Count, const T*, Count, Count, T*, Count, int*);
  void (*getri)(Count, T*, Count, Count, T*, Count, int*);
  void (*geqrf)(Count, Count, T*, Count, T*, T*, Count, int*);
  /// The last is what Fortran passes of the word: its length.
  void (*gels)(Word, Count, Count, Count, T*, Count, T*, Count, T*, Count, int*, size_t);
};

/// Loads OpenBLAS if it is not loaded yet; false if there is none, and stderr has been told once what to install.
bool loadOpenBlas();

/// Another routine of OpenBLAS or of the LAPACK in it, by its Fortran name; null if it has none.
void* openBlasRoutine(const std::string& name);

/// After loadOpenBlas().
template <class T>
const Routines<T>& openBlas();

/// The name of the processor that OpenBLAS is told to work for; empty where its own guess is as good.
std::string openBlasKernel();

}  // namespace ordito::cublas
