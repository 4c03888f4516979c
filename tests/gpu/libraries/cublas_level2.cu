// cuBLAS of the second level beyond gemv: products and solutions with symmetric, Hermitian, triangular, banded and
// packed matrices and their updates, in four types, and bad arguments of each (cases.hpp). All numbers are small whole
// ones, whose sums are exact in any order; what a function must not read is NaN. Of each result a hash, for which NaNs
// are all alike.
#include <cublas_v2.h>

#include "cases.hpp"

namespace {

template <class T>
struct Parts {
  static constexpr bool isComplex = false;
  static T number(double real, double) { return static_cast<T>(real); }
};
template <>
struct Parts<cuComplex> {
  static constexpr bool isComplex = true;
  static cuComplex number(double real, double imaginary) {
    return make_cuComplex(static_cast<float>(real), static_cast<float>(imaginary));
  }
};
template <>
struct Parts<cuDoubleComplex> {
  static constexpr bool isComplex = true;
  static cuDoubleComplex number(double real, double imaginary) { return make_cuDoubleComplex(real, imaginary); }
};

template <class T>
T number(double real, double imaginary = 0) {
  return Parts<T>::number(real, imaginary);
}

unsigned state = 1;

int random(int least, int most) {
  state = state * 1664525U + 1013904223U;
  return least + static_cast<int>((state >> 16) % static_cast<unsigned>(most - least + 1));
}

/// A case of the same random numbers whichever cases were before it.
template <class Call>
void repeatable(Cases& cases, const std::string& name, Call&& call) {
  cases(name.c_str(), [&] {
    state = 1;
    return call();
  });
}

template <class T>
T randomNumber() {
  const int real = random(-3, 3), imaginary = random(-3, 3);
  return number<T>(real, imaginary);
}

/// Numbers on the device, all NaN at first on the host.
template <class T>
struct Array {
  explicit Array(size_t count) : host(count, number<T>(NAN, NAN)) {}
  T* onDevice() {
    cudaMalloc(&device, host.size() * sizeof(T) + 1);
    cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
    return device;
  }
  Answer answer(cublasStatus_t status) {
    cudaDeviceSynchronize();
    cudaMemcpy(host.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost);
    uint32_t hash = 2166136261U;
    const auto add = [&hash](double part) {
      const float single = std::isnan(part) ? 12345.0F : static_cast<float>(part) + 0.0F;  // and no -0
      for (const unsigned char byte : shown(single)) hash = (hash ^ byte) * 16777619U;
    };
    const size_t parts = host.size() * (Parts<T>::isComplex ? 2 : 1);
    const void* const bytes = host.data();
    for (size_t i = 0; i < parts; ++i) {
      if (sizeof(T) / (Parts<T>::isComplex ? 2 : 1) == sizeof(float))
        add(static_cast<const float*>(bytes)[i]);
      else
        add(static_cast<const double*>(bytes)[i]);
    }
    return Answer{status, shown(hash)};
  }
  std::vector<T> host;
  T* device = nullptr;
};

template <class T>
Array<T> vector(int n, int step, bool isNan = false) {
  Array<T> result(static_cast<size_t>(n) * static_cast<size_t>(std::abs(step)));
  for (int i = 0; i < n && !isNan; ++i) result.host[static_cast<size_t>(i * std::abs(step))] = randomNumber<T>();
  return result;
}

enum class Storage { Full, Banded, Packed };
struct Shape {
  Storage storage;
  cublasFillMode_t fill;
  int n, below;  // `below`: diagonals beside the main one
  bool isLower() const { return fill == CUBLAS_FILL_MODE_LOWER; }
  int step() const { return storage == Storage::Banded ? below + 2 : n + 1; }
  bool has(int row, int column) const {
    const int distance = isLower() ? row - column : column - row;
    return distance >= 0 && (storage != Storage::Banded || distance <= below);
  }
  size_t count() const { return static_cast<size_t>(storage == Storage::Packed ? n * (n + 1) / 2 : step() * n); }
  size_t place(int row, int column) const {
    switch (storage) {
      case Storage::Banded:
        return static_cast<size_t>(column * step() + (isLower() ? row - column : below + row - column));
      case Storage::Packed:
        return static_cast<size_t>(isLower() ? row + (2 * n - column - 1) * column / 2
                                             : row + column * (column + 1) / 2);
      default: return static_cast<size_t>(column * step() + row);
    }
  }
};

/// `of(row, column)` where the shape has an element.
template <class T, class Of>
Array<T> matrix(const Shape& shape, Of of) {
  Array<T> result(shape.count());
  for (int column = 0; column < shape.n; ++column)
    for (int row = 0; row < shape.n; ++row)
      if (shape.has(row, column)) result.host[shape.place(row, column)] = of(row, column);
  return result;
}
template <class T>
Array<T> matrix(const Shape& shape) {
  return matrix<T>(shape, [](int, int) { return randomNumber<T>(); });
}
/// Whose solutions stay whole: a few twos and otherwise ones on the diagonal, and little beside it.
template <class T>
Array<T> triangle(const Shape& shape, bool isUnit) {
  return matrix<T>(shape, [&](int row, int column) {
    if (row == column) return isUnit ? number<T>(NAN) : number<T>(row % 16 == 3 ? 2 : random(0, 1) ? 1 : -1);
    return std::abs(row - column) == 1 ? number<T>(random(-1, 1)) : number<T>(0);
  });
}

struct Row {
  int n, stepX, stepY;
  double alpha, beta;
  bool areNans;  // what needs not be read: y for a beta of 0, the matrix for an alpha of 0
};
constexpr Row kRows[] = {{1, 1, 1, 1, 0, false},   {5, 1, 1, 2, 0, true}, {5, -1, 2, 2, -1, false},
                         {37, 2, -1, 1, 1, false}, {5, 1, 1, 0, 2, true}, {37, 1, 1, -1, 3, false}};
constexpr cublasFillMode_t kFills[] = {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER};

std::string named(const char* what, const Row& row, const char* detail) {
  char text[160];
  std::snprintf(text, sizeof text, "%s %s: n %d, steps %d %d, factors %g %g%s", what, detail, row.n, row.stepX,
                row.stepY, row.alpha, row.beta, row.areNans ? ", NaN" : "");
  return text;
}

const char* name(cublasFillMode_t fill) { return fill == CUBLAS_FILL_MODE_LOWER ? "lower" : "upper"; }

/// y = alpha A x + beta y
template <class T, class Call>
void product(Cases& cases, const char* what, Storage storage, Call call) {
  for (const cublasFillMode_t fill : kFills)
    for (const Row& row : kRows)
      repeatable(cases, named(what, row, name(fill)), [&] {
        const Shape shape{storage, fill, row.n, 2};
        Array<T> a = row.alpha == 0 ? Array<T>(shape.count()) : matrix<T>(shape), x = vector<T>(row.n, row.stepX),
                 y = vector<T>(row.n, row.stepY, row.areNans && row.beta == 0);
        const T alpha = number<T>(row.alpha), beta = number<T>(row.beta);
        const cublasStatus_t status =
            call(shape, &alpha, a.onDevice(), x.onDevice(), row.stepX, &beta, y.onDevice(), row.stepY);
        return y.answer(status);
      });
}

/// A = alpha x y' + A, of which an element's imaginary part on the diagonal is no 0 before.
template <class T, class Call>
void update(Cases& cases, const char* what, Storage storage, Call call) {
  for (const cublasFillMode_t fill : kFills)
    for (const Row& row : kRows)
      repeatable(cases, named(what, row, name(fill)), [&] {
        const Shape shape{storage, fill, row.n, 2};
        Array<T> a = matrix<T>(shape), x = vector<T>(row.n, row.stepX), y = vector<T>(row.n, row.stepY);
        const cublasStatus_t status =
            call(shape, row.alpha, x.onDevice(), row.stepX, y.onDevice(), row.stepY, a.onDevice());
        return a.answer(status);
      });
}

/// x = A x, or x with A x = b
template <class T, class Call>
void triangular(Cases& cases, const char* what, Storage storage, Call call) {
  for (const cublasFillMode_t fill : kFills)
    for (const cublasOperation_t operation : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C})
      for (const cublasDiagType_t diagonal : {CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT})
        for (const Row& row : {kRows[0], kRows[2], kRows[3]}) {
          char detail[40];
          std::snprintf(detail, sizeof detail, "%s, operation %d, %s", name(fill), static_cast<int>(operation),
                        diagonal == CUBLAS_DIAG_UNIT ? "unit" : "not unit");
          repeatable(cases, named(what, row, detail), [&] {
            const Shape shape{storage, fill, row.n, 2};
            Array<T> a = triangle<T>(shape, diagonal == CUBLAS_DIAG_UNIT), x = vector<T>(row.n, row.stepX);
            const cublasStatus_t status = call(shape, operation, diagonal, a.onDevice(), x.onDevice(), row.stepX);
            return x.answer(status);
          });
        }
}

/// The rectangles: of a band, and updates of all elements.
template <class T, class Band, class Ger>
void rectangles(Cases& cases, const char* letter, Band band, Ger ger) {
  for (const cublasOperation_t operation : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C})
    for (const Row& row : kRows) {
      char detail[30];
      std::snprintf(detail, sizeof detail, "operation %d", static_cast<int>(operation));
      const int m = row.n, n = row.n + 3, below = 2, above = 1, step = below + above + 2;
      repeatable(cases, named(joined(letter, "gbmv").c_str(), row, detail), [&] {
        Array<T> a(static_cast<size_t>(step * n));
        for (int j = 0; j < n; ++j)
          for (int i = std::max(0, j - above); i < std::min(m, j + below + 1); ++i)
            a.host[static_cast<size_t>(j * step + above + i - j)] = randomNumber<T>();
        const bool isPlain = operation == CUBLAS_OP_N;
        Array<T> x = vector<T>(isPlain ? n : m, row.stepX),
                 y = vector<T>(isPlain ? m : n, row.stepY, row.areNans && row.beta == 0);
        const T alpha = number<T>(row.alpha), beta = number<T>(row.beta);
        const cublasStatus_t status = band(operation, m, n, below, above, &alpha, a.onDevice(), step, x.onDevice(),
                                           row.stepX, &beta, y.onDevice(), row.stepY);
        return y.answer(status);
      });
    }
  for (const Row& row : kRows)
    for (const bool isConjugate : {false, true}) {
      if (isConjugate && !Parts<T>::isComplex) continue;
      repeatable(cases, named(joined(letter, "ger").c_str(), row, isConjugate ? "conjugate" : "plain"), [&] {
        const int m = row.n, n = row.n + 3;
        Array<T> a(static_cast<size_t>((m + 1) * n)), x = vector<T>(m, row.stepX), y = vector<T>(n, row.stepY);
        for (int j = 0; j < n; ++j)
          for (int i = 0; i < m; ++i) a.host[static_cast<size_t>(j * (m + 1) + i)] = randomNumber<T>();
        const T alpha = number<T>(row.alpha);
        const cublasStatus_t status =
            ger(isConjugate, m, n, &alpha, x.onDevice(), row.stepX, y.onDevice(), row.stepY, a.onDevice(), m + 1);
        return a.answer(status);
      });
    }
}

// X: the type's letter. What all four types have.
#define TRIANGULAR(X, T)                                                                                      \
  const auto full = [h](auto call) {                                                                          \
    return [h, call](const Shape& s, cublasOperation_t op, cublasDiagType_t diagonal, T* a, T* x, int step) { \
      return call(h, s.fill, op, diagonal, s.n, a, s.step(), x, step);                                        \
    };                                                                                                        \
  };                                                                                                          \
  const auto banded = [h](auto call) {                                                                        \
    return [h, call](const Shape& s, cublasOperation_t op, cublasDiagType_t diagonal, T* a, T* x, int step) { \
      return call(h, s.fill, op, diagonal, s.n, s.below, a, s.step(), x, step);                               \
    };                                                                                                        \
  };                                                                                                          \
  const auto packed = [h](auto call) {                                                                        \
    return [h, call](const Shape& s, cublasOperation_t op, cublasDiagType_t diagonal, T* a, T* x, int step) { \
      return call(h, s.fill, op, diagonal, s.n, a, x, step);                                                  \
    };                                                                                                        \
  };                                                                                                          \
  triangular<T>(cases, #X " trmv", Storage::Full, full(cublas##X##trmv));                                     \
  triangular<T>(cases, #X " trsv", Storage::Full, full(cublas##X##trsv));                                     \
  triangular<T>(cases, #X " tbmv", Storage::Banded, banded(cublas##X##tbmv));                                 \
  triangular<T>(cases, #X " tbsv", Storage::Banded, banded(cublas##X##tbsv));                                 \
  triangular<T>(cases, #X " tpmv", Storage::Packed, packed(cublas##X##tpmv));                                 \
  triangular<T>(cases, #X " tpsv", Storage::Packed, packed(cublas##X##tpsv))

#define PRODUCT(X, T, name, storage, ...)                                                                 \
  product<T>(cases, #X " " #name, Storage::storage,                                                       \
             [h](const Shape& s, const T* alpha, T* a, T* x, int stepX, const T* beta, T* y, int stepY) { \
               return cublas##X##name(h, s.fill, s.n, __VA_ARGS__, x, stepX, beta, y, stepY);             \
             })
// With one vector, and with two. F: the type of alpha.
#define UPDATE(X, T, F, name, storage, ...)                                          \
  update<T>(cases, #X " " #name, Storage::storage,                                   \
            [h](const Shape& s, double factor, T* x, int stepX, T*, int, T* a) {     \
              const F alpha = number<F>(factor);                                     \
              return cublas##X##name(h, s.fill, s.n, &alpha, x, stepX, __VA_ARGS__); \
            })
#define UPDATE2(X, T, name, storage, ...)                                                      \
  update<T>(cases, #X " " #name, Storage::storage,                                             \
            [h](const Shape& s, double factor, T* x, int stepX, T* y, int stepY, T* a) {       \
              const T alpha = number<T>(factor, Parts<T>::isComplex ? 1 : 0);                  \
              return cublas##X##name(h, s.fill, s.n, &alpha, x, stepX, y, stepY, __VA_ARGS__); \
            })
#define RECTANGLES(X, T, plain, conjugate)                                            \
  rectangles<T>(                                                                      \
      cases, #X, [h](auto... arguments) { return cublas##X##gbmv(h, arguments...); }, \
      [h](bool isConjugate, auto... arguments) {                                      \
        return isConjugate ? conjugate(h, arguments...) : plain(h, arguments...);     \
      })

#define REAL(X, T)                                            \
  void numbers##X(Cases& cases, cublasHandle_t h) {           \
    RECTANGLES(X, T, cublas##X##ger, cublas##X##ger);         \
    PRODUCT(X, T, symv, Full, alpha, a, s.step());            \
    PRODUCT(X, T, sbmv, Banded, s.below, alpha, a, s.step()); \
    PRODUCT(X, T, spmv, Packed, alpha, a);                    \
    UPDATE(X, T, T, syr, Full, a, s.step());                  \
    UPDATE2(X, T, syr2, Full, a, s.step());                   \
    UPDATE(X, T, T, spr, Packed, a);                          \
    UPDATE2(X, T, spr2, Packed, a);                           \
    TRIANGULAR(X, T);                                         \
  }
#define COMPLEX(X, T, F)                                      \
  void numbers##X(Cases& cases, cublasHandle_t h) {           \
    RECTANGLES(X, T, cublas##X##geru, cublas##X##gerc);       \
    PRODUCT(X, T, symv, Full, alpha, a, s.step());            \
    PRODUCT(X, T, hemv, Full, alpha, a, s.step());            \
    PRODUCT(X, T, hbmv, Banded, s.below, alpha, a, s.step()); \
    PRODUCT(X, T, hpmv, Packed, alpha, a);                    \
    UPDATE(X, T, T, syr, Full, a, s.step());                  \
    UPDATE2(X, T, syr2, Full, a, s.step());                   \
    UPDATE(X, T, F, her, Full, a, s.step());                  \
    UPDATE2(X, T, her2, Full, a, s.step());                   \
    UPDATE(X, T, F, hpr, Packed, a);                          \
    UPDATE2(X, T, hpr2, Packed, a);                           \
    TRIANGULAR(X, T);                                         \
  }
REAL(S, float)
REAL(D, double)
COMPLEX(C, cuComplex, float)
COMPLEX(Z, cuDoubleComplex, double)

// `call` is a call with these arguments, of which one is bad at a time.
#define BAD(name, call)                                                                          \
  {                                                                                              \
    cublasHandle_t handle = h;                                                                   \
    cublasFillMode_t fill = CUBLAS_FILL_MODE_LOWER;                                              \
    cublasOperation_t op = CUBLAS_OP_N;                                                          \
    cublasDiagType_t diagonal = CUBLAS_DIAG_UNIT;                                                \
    int n = 3, k = 1, lda = 3, stepX = 1, stepY = 1;                                             \
    const float *alpha = &one, *beta = &one;                                                     \
    float *a = matrix, *x = first, *y = second;                                                  \
    (void)op, (void)diagonal, (void)k, (void)lda, (void)stepY, (void)alpha, (void)beta, (void)y; \
    CASE(name ": good", call);                                                                   \
    CASE(name ": no handle", (handle = nullptr, call));                                          \
    handle = h;                                                                                  \
    CASE(name ": fill 9", (fill = cublasFillMode_t(9), call));                                   \
    CASE(name ": fill full", (fill = CUBLAS_FILL_MODE_FULL, call));                              \
    fill = CUBLAS_FILL_MODE_LOWER;                                                               \
    CASE(name ": operation 9", (op = cublasOperation_t(9), call));                               \
    op = CUBLAS_OP_N;                                                                            \
    CASE(name ": diagonal 9", (diagonal = cublasDiagType_t(9), call));                           \
    diagonal = CUBLAS_DIAG_UNIT;                                                                 \
    CASE(name ": n -1", (n = -1, call));                                                         \
    CASE(name ": n 0, no pointers", (n = 0, a = x = y = nullptr, call));                         \
    n = 3, a = matrix, x = first, y = second;                                                    \
    CASE(name ": k -1", (k = -1, call));                                                         \
    k = 1;                                                                                       \
    CASE(name ": lda 1", (lda = 1, call));                                                       \
    CASE(name ": n 0, lda 0", (n = 0, lda = 0, call));                                           \
    n = 3, lda = 3;                                                                              \
    CASE(name ": incx 0", (stepX = 0, call));                                                    \
    stepX = 1;                                                                                   \
    CASE(name ": incy 0", (stepY = 0, call));                                                    \
    stepY = 1;                                                                                   \
    CASE(name ": no alpha", (alpha = nullptr, call));                                            \
    alpha = &one;                                                                                \
    CASE(name ": no beta", (beta = nullptr, call));                                              \
  }

void badArguments(Cases& cases, cublasHandle_t h) {
  const float one = 1;
  float *matrix = on<float>({1, 2, 3, 4, 5, 6, 7, 8, 9}), *first = on<float>({1, 2, 3}), *second = on<float>({4, 5, 6});
  BAD("symv", cublasSsymv(handle, fill, n, alpha, a, lda, x, stepX, beta, y, stepY));
  BAD("sbmv", cublasSsbmv(handle, fill, n, k, alpha, a, lda, x, stepX, beta, y, stepY));
  BAD("spmv", cublasSspmv(handle, fill, n, alpha, a, x, stepX, beta, y, stepY));
  BAD("syr", cublasSsyr(handle, fill, n, alpha, x, stepX, a, lda));
  BAD("syr2", cublasSsyr2(handle, fill, n, alpha, x, stepX, y, stepY, a, lda));
  BAD("spr", cublasSspr(handle, fill, n, alpha, x, stepX, a));
  BAD("spr2", cublasSspr2(handle, fill, n, alpha, x, stepX, y, stepY, a));
  BAD("trmv", cublasStrmv(handle, fill, op, diagonal, n, a, lda, x, stepX));
  BAD("trsv", cublasStrsv(handle, fill, op, diagonal, n, a, lda, x, stepX));
  BAD("tbmv", cublasStbmv(handle, fill, op, diagonal, n, k, a, lda, x, stepX));
  BAD("tbsv", cublasStbsv(handle, fill, op, diagonal, n, k, a, lda, x, stepX));
  BAD("tpmv", cublasStpmv(handle, fill, op, diagonal, n, a, x, stepX));
  BAD("tpsv", cublasStpsv(handle, fill, op, diagonal, n, a, x, stepX));
  BAD("gbmv", cublasSgbmv(handle, op, n, n, k, k, alpha, a, lda, x, stepX, beta, y, stepY));
  BAD("ger", cublasSger(handle, n, n, alpha, x, stepX, y, stepY, a, lda));
}

// `call` without anything: of n 0, and where factors of 0 and 1 leave nothing to do. F: the type of the factors.
#define NOTHING(F, name, call)                                                             \
  {                                                                                        \
    int n = 0;                                                                             \
    const F zero = number<F>(0), one = number<F>(1), *alpha = nullptr, *beta = nullptr;    \
    (void)one, (void)beta;                                                                 \
    CASE(name ": n 0, nothing", call);                                                     \
    CASE(name ": alpha 0 and beta 1, nothing", (n = 3, alpha = &zero, beta = &one, call)); \
  }

void nothingToDo(Cases& cases, cublasHandle_t h) {
  const cublasFillMode_t lower = CUBLAS_FILL_MODE_LOWER;
  const cublasOperation_t plain = CUBLAS_OP_N;
  NOTHING(float, "symv", cublasSsymv(h, lower, n, alpha, nullptr, 3, nullptr, 1, beta, nullptr, 1));
  NOTHING(float, "sbmv", cublasSsbmv(h, lower, n, 1, alpha, nullptr, 3, nullptr, 1, beta, nullptr, 1));
  NOTHING(float, "spmv", cublasSspmv(h, lower, n, alpha, nullptr, nullptr, 1, beta, nullptr, 1));
  NOTHING(float, "gbmv", cublasSgbmv(h, plain, n, n, 1, 1, alpha, nullptr, 3, nullptr, 1, beta, nullptr, 1));
  NOTHING(float, "syr", cublasSsyr(h, lower, n, alpha, nullptr, 1, nullptr, 3));
  NOTHING(float, "syr2", cublasSsyr2(h, lower, n, alpha, nullptr, 1, nullptr, 1, nullptr, 3));
  NOTHING(float, "spr", cublasSspr(h, lower, n, alpha, nullptr, 1, nullptr));
  NOTHING(float, "spr2", cublasSspr2(h, lower, n, alpha, nullptr, 1, nullptr, 1, nullptr));
  NOTHING(float, "ger", cublasSger(h, n, n, alpha, nullptr, 1, nullptr, 1, nullptr, 3));
  NOTHING(cuComplex, "C symv", cublasCsymv(h, lower, n, alpha, nullptr, 3, nullptr, 1, beta, nullptr, 1));
  NOTHING(cuComplex, "C hemv", cublasChemv(h, lower, n, alpha, nullptr, 3, nullptr, 1, beta, nullptr, 1));
  NOTHING(cuComplex, "C hbmv", cublasChbmv(h, lower, n, 1, alpha, nullptr, 3, nullptr, 1, beta, nullptr, 1));
  NOTHING(cuComplex, "C hpmv", cublasChpmv(h, lower, n, alpha, nullptr, nullptr, 1, beta, nullptr, 1));
  NOTHING(float, "C her", cublasCher(h, lower, n, alpha, nullptr, 1, nullptr, 3));
  NOTHING(cuComplex, "C syr", cublasCsyr(h, lower, n, alpha, nullptr, 1, nullptr, 3));
  NOTHING(cuComplex, "C her2", cublasCher2(h, lower, n, alpha, nullptr, 1, nullptr, 1, nullptr, 3));
}

/// An axpy whose factor of 0 lies on the device, without vectors or with NaNs.
void factorsOfTheDevice(Cases& cases, cublasHandle_t h) {
  cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE);
  float *zero = on<float>({0}), *x = on<float>({NAN, NAN, NAN}), *y = nullptr;
  double* zeroD = on<double>({0});
  CASE("axpy, alpha 0 of the device: no vectors", cublasSaxpy(h, 3, zero, nullptr, 1, nullptr, 1));
  CASE("axpy, alpha 0 of the device: no x", cublasSaxpy(h, 3, zero, nullptr, 1, y = on<float>({1, 2, 3}), 1),
       shown(y, 3));
  CASE("axpy, alpha 0 of the device: no y", cublasSaxpy(h, 3, zero, x, 1, nullptr, 1));
  CASE("axpy, alpha 0 of the device: x NaN", cublasSaxpy(h, 3, zero, x, 1, y = on<float>({1, 2, 3}), 1), shown(y, 3));
  CASE("axpy, alpha 0 of the device: doubles, no vectors", cublasDaxpy(h, 3, zeroD, nullptr, 1, nullptr, 1));
  CASE("scal, alpha 0 of the device: NaN", cublasSscal(h, 3, zero, x = on<float>({NAN, 1, 2}), 1), shown(x, 3));
  CASE("symv, factors 0 of the device: NaN",
       cublasSsymv(h, CUBLAS_FILL_MODE_LOWER, 2, zero, on<float>({NAN, NAN, NAN, NAN}), 2, on<float>({1, 2}), 1, zero,
                   y = on<float>({NAN, NAN}), 1),
       shown(y, 2));
  cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST);
}

}  // namespace

int main(int count, char** arguments) {
  Cases cases(count, arguments);
  cublasHandle_t h = nullptr;
  if (cublasCreate(&h) != CUBLAS_STATUS_SUCCESS) return 2;
  factorsOfTheDevice(cases, h);
  badArguments(cases, h);
  nothingToDo(cases, h);
  numbersS(cases, h);
  numbersD(cases, h);
  numbersC(cases, h);
  numbersZ(cases, h);
}
