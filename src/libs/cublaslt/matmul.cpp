// cublasLtMatmul: operands become matrices by columns in the type that is computed in, OpenBLAS multiplies them, and
// the columns of the product are scaled, finished and rounded once.
//
// What is computed in: double for double and for sums of int8, which are exact so; else float. Without an epilogue and
// in one type nothing is copied.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <mutex>
#include <vector>

#include "libs/cublas/gemm.hpp"
#include "libs/cublaslt/epilogue.hpp"
#include "libs/cublaslt/groups.hpp"
#include "libs/scratch.hpp"

namespace ordito::cublaslt {
namespace {

using cublas::ComplexDouble;
using cublas::ComplexFloat;
using cublas::kIsComplex;
using cublas::kTypeOf;

/// Calls with parts of the columns, side by side if there is much to do and nobody else does.
template <class Body>
void forColumns(int64_t rows, int64_t columns, bool isAlone, const Body& body) {
  const int64_t most = isAlone ? libs::parallelThreads() : 1;
  const auto parts = static_cast<unsigned>(std::clamp<int64_t>(rows * columns >> 14, 1, most));
  if (parts == 1) return body(0, columns);
  libs::parallelFor(parts, [&](unsigned part) { body(columns * part / parts, columns * (part + 1) / parts); });
}

/// The factors of blocks of a matrix: 128 elements along the sum, of one row of the product (or column), or of 128.
///
/// cuBLAS API, "1D and 2D block scaling": with one for each row the rows are side by side in memory; with one for 128
/// rows the sum's blocks are, and there is room for a multiple of four of them.
struct Blocks {
  int mode;
  const float* factors;
  bool areSumsDown;  // a column of the stored matrix is summed over
  int64_t sums, others;

  Blocks(int scaleMode, const void* place, bool isDown, const Matrix& matrix)
      : mode(areBlocks(scaleMode) && place ? scaleMode : CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F),
        factors(static_cast<const float*>(place)),
        areSumsDown(isDown),
        sums(isDown ? matrix.rows : matrix.columns),
        others(isDown ? matrix.columns : matrix.rows) {}
  bool isUsed() const { return areBlocks(mode); }
  float at(int64_t row, int64_t column) const {
    const int64_t sum = (areSumsDown ? row : column) / 128, other = areSumsDown ? column : row;
    if (mode == CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F) return factors[sum * others + other];
    return factors[other / 128 * (((sums + 127) / 128 + 3) / 4 * 4) + sum];
  }
};

/// A factor as BLAS takes it.
template <class I>
struct Factor {
  const I* data;
  int64_t leading;
  cublasOperation_t op;
  libs::Scratch<I> own;

  /// A matrix by rows is its transpose by columns, so what is left of a conjugate transpose is the conjugate.
  Factor(Matrix matrix, int wanted, const Blocks& blocks, bool isAlone) : op(static_cast<cublasOperation_t>(wanted)) {
    bool isConjugate = false;
    if (matrix.order == CUBLASLT_ORDER_ROW) {
      std::swap(matrix.rows, matrix.columns);
      matrix.order = CUBLASLT_ORDER_COL;
      isConjugate = kIsComplex<I> && op == CUBLAS_OP_C;
      op = op == CUBLAS_OP_N ? CUBLAS_OP_T : CUBLAS_OP_N;
    }
    data = static_cast<const I*>(matrix.data);
    leading = matrix.leading;
    const bool isColumns = matrix.order == CUBLASLT_ORDER_COL && matrix.type == kTypeOf<I> && matrix.plane == 0;
    if (isColumns && !isConjugate) return;
    leading = std::max<int64_t>(1, matrix.rows);
    own = libs::scratch<I>(static_cast<size_t>(leading * matrix.columns));
    data = own.get();
    forColumns(matrix.rows, matrix.columns, isAlone, [&](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; ++j) {
        I* column = own.get() + j * leading;
        loadColumn(matrix, j, column);
        if constexpr (kIsComplex<I>)
          if (isConjugate) std::transform(column, column + matrix.rows, column, [](I v) { return std::conj(v); });
        if (blocks.isUsed())
          for (int64_t i = 0; i < matrix.rows; ++i) column[i] *= static_cast<I>(blocks.at(i, j));
      }
    });
  }
  /// Element of the factor as the product takes it, of a real one.
  I at(int64_t row, int64_t column) const {
    return op == CUBLAS_OP_N ? data[row + column * leading] : data[column + row * leading];
  }
};

float factorOf(const void* place) { return place ? *static_cast<const float*>(place) : 1.0f; }

/// The product of one matrix of the batch.
template <class I>
class One {
 public:
  One(const Product& p, const Operands& operands, int64_t matrix, bool isAlone)
      : p_(p),
        operands_(operands),
        matrix_(matrix),
        isAlone_(isAlone),
        c_(matrixOf(p.c, operands.c, matrix)),
        d_(matrixOf(p.d, operands.d, matrix)) {}

  void multiply() const {
    const Matrix storedA = matrixOf(p_.a, operands_.a, matrix_), storedB = matrixOf(p_.b, operands_.b, matrix_);
    const MatmulDesc& desc = p_.desc;
    const Factor<I> a(storedA, desc.opA, {desc.scaleModeA, desc.scaleA, desc.opA != CUBLAS_OP_N, storedA}, isAlone_);
    const Factor<I> b(storedB, desc.opB, {desc.scaleModeB, desc.scaleB, desc.opB == CUBLAS_OP_N, storedB}, isAlone_);
    cublas::Product sizes{a.op, b.op, p_.m(), p_.n(), p_.k(), a.leading, b.leading, p_.m()};
    const auto run = isAlone_ ? cublas::multiplyInTiles<I> : cublas::multiplyHere<I>;
    if (isPlain()) {
      const I beta = operands_.beta.at<I>(0, matrix_);
      if (beta != I(0) && (c_.data != d_.data || p_.c.leading != p_.d.leading || p_.c.order != p_.d.order)) copyC();
      sizes.ldc = d_.leading;
      run(sizes, operands_.alpha.at<I>(0, matrix_), a.data, b.data, beta, static_cast<I*>(d_.data));
    } else {
      const auto product = libs::scratch<I>(static_cast<size_t>(p_.m() * p_.n()));
      run(sizes, I(1), a.data, b.data, I(0), product.get());
      finish(product.get());
    }
    if constexpr (!kIsComplex<I>) storeGradients(a, b);
  }

 private:
  bool isPlain() const {
    const MatmulDesc& desc = p_.desc;
    const bool isColumns = d_.type == kTypeOf<I> && d_.order == CUBLASLT_ORDER_COL && d_.plane == 0;
    return isColumns && desc.epilogue == CUBLASLT_EPILOGUE_DEFAULT && !operands_.alpha.isVector() &&
           !operands_.beta.isVector() && !desc.scaleA && !desc.scaleB && !desc.scaleC && !desc.scaleD && !desc.largestD;
  }
  void copyC() const {
    for (int64_t j = 0; j < p_.n(); ++j) loadColumn(c_, j, static_cast<I*>(d_.data) + j * d_.leading);
  }
  bool hasOuterScales() const { return p_.desc.scaleModeA == CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F; }
  static I outer(const void* scales, int64_t i) {
    return scales ? static_cast<I>(static_cast<const float*>(scales)[i]) : I(1);
  }

  void finish(I* product) const {
    const int64_t m = p_.m();
    std::vector<I> alphas(static_cast<size_t>(m)), betas(static_cast<size_t>(m));
    const bool isOuter = hasOuterScales();
    const bool isWhole = !isOuter && !areBlocks(p_.desc.scaleModeA);
    const I whole = isWhole ? static_cast<I>(factorOf(p_.desc.scaleA) * factorOf(p_.desc.scaleB)) : I(1);
    bool readsC = false;
    for (int64_t i = 0; i < m; ++i) {
      alphas[static_cast<size_t>(i)] =
          operands_.alpha.at<I>(i, matrix_) * whole * (isOuter ? outer(p_.desc.scaleA, i) : I(1));
      betas[static_cast<size_t>(i)] = operands_.beta.at<I>(i, matrix_) * static_cast<I>(factorOf(p_.desc.scaleC));
      readsC |= betas[static_cast<size_t>(i)] != I(0);
    }
    float largest = 0, largestAux = 0;
    std::mutex mutex;
    forColumns(m, p_.n(), isAlone_, [&](int64_t begin, int64_t end) {
      std::vector<I> old(static_cast<size_t>(m));
      float most = 0, mostAux = 0;
      for (int64_t j = begin; j < end; ++j) {
        I* values = product + j * m;
        const I columnScale = isOuter ? outer(p_.desc.scaleB, j) : I(1);
        for (int64_t i = 0; i < m; ++i) values[i] *= alphas[static_cast<size_t>(i)] * columnScale;
        if (readsC) {
          loadColumn(c_, j, old.data());
          for (auto i = 0UL; i < old.size(); ++i)
            if (betas[i] != I(0)) values[i] += betas[i] * old[i];
        }
        finishColumn(j, values, most, mostAux);
      }
      const std::scoped_lock lock(mutex);
      largest = std::max(largest, most), largestAux = std::max(largestAux, mostAux);
    });
    if (p_.desc.largestD) *static_cast<float*>(p_.desc.largestD) = largest;
    if (p_.desc.largestAux) *static_cast<float*>(p_.desc.largestAux) = largestAux;
    if constexpr (!kIsComplex<I>) storeBiasGradient(product);
  }

  void finishColumn(int64_t column, I* values, float& largest, float& largestAux) const {
    if constexpr (!kIsComplex<I>) {
      Epilogue<I>(p_, matrix_).apply(column, values, largestAux);
      if (p_.desc.largestD)
        for (int64_t i = 0; i < p_.m(); ++i) largest = std::max(largest, std::abs(static_cast<float>(values[i])));
    }
    if (!p_.desc.scaleD) return storeColumn(d_, column, values);
    std::vector<I> scaled(values, values + p_.m());
    for (I& value : scaled) value *= static_cast<I>(factorOf(p_.desc.scaleD));
    storeColumn(d_, column, scaled.data());
  }

  /// Of what was finished, before it was rounded.
  void storeBiasGradient(const I* finished) const {
    const Epilogue<I> epilogue(p_, matrix_);
    if (!epilogue.hasBiasGradient()) return;
    std::vector<I> sums(static_cast<size_t>(p_.m()));
    for (int64_t j = 0; j < p_.n(); ++j)
      for (int64_t i = 0; i < p_.m(); ++i) sums[static_cast<size_t>(i)] += finished[i + j * p_.m()];
    for (int64_t i = 0; i < p_.m(); ++i) epilogue.storeBias(i, sums[static_cast<size_t>(i)]);
  }
  /// Sums of A's rows, or of B's columns.
  void storeGradients(const Factor<I>& a, const Factor<I>& b) const {
    const Epilogue<I> epilogue(p_, matrix_);
    const bool isA = p_.desc.epilogue == CUBLASLT_EPILOGUE_BGRADA;
    if (!isA && p_.desc.epilogue != CUBLASLT_EPILOGUE_BGRADB) return;
    for (int64_t i = 0; i < (isA ? p_.m() : p_.n()); ++i) {
      I sum = 0;
      for (int64_t l = 0; l < p_.k(); ++l) sum += isA ? a.at(i, l) : b.at(l, i);
      epilogue.storeBias(i, sum);
    }
  }

  const Product& p_;
  const Operands& operands_;
  int64_t matrix_;
  bool isAlone_;
  Matrix c_, d_;
};

template <class I>
void multiplyAll(const Product& p, const Operands& operands) {
  const cublas::Product sizes{CUBLAS_OP_N, CUBLAS_OP_N, p.m(), p.n(), p.k(), p.m(), p.k(), p.m()};
  cublas::multiplyMany(sizes, p.d.count, [&](int64_t i, bool isAlone) { One<I>(p, operands, i, isAlone).multiply(); });
}

/// Each product of the groups by itself.
template <class I>
void multiplyGroups(const Product& p, const Operands& operands) {
  const bool isAlone = p.d.count < static_cast<int32_t>(libs::parallelThreads());
  const auto multiply = [&](int64_t group) {
    Product one{};
    Operands own;
    if (!takeGroup(p, operands, group, &one, &own))
      std::fprintf(stderr, "ordito: cublasLtMatmul: the sizes of group %lld contradict each other\n",
                   static_cast<long long>(group));
    else if (!one.isEmpty())
      One<I>(one, own, 0, isAlone).multiply();
  };
  if (isAlone)
    for (int64_t i = 0; i < p.d.count; ++i) multiply(i);
  else
    libs::parallelFor(static_cast<unsigned>(p.d.count), multiply);
}

template <class I>
void multiplyInType(const Product& p, const Operands& operands) {
  return p.isGrouped() ? multiplyGroups<I>(p, operands) : multiplyAll<I>(p, operands);
}

void run(const Product& p, const Operands& operands) {
  switch (p.a.type) {
    case CUDA_R_64F: return multiplyInType<double>(p, operands);
    case CUDA_C_8I:
    case CUDA_C_16F:
    case CUDA_C_16BF:
    case CUDA_C_32F: return multiplyInType<ComplexFloat>(p, operands);
    case CUDA_C_64F: return multiplyInType<ComplexDouble>(p, operands);
    case CUDA_R_8I:
      if (p.d.type != CUDA_R_32F) return multiplyInType<double>(p, operands);
      [[fallthrough]];
    default: return multiplyInType<float>(p, operands);
  }
}

/// Alpha and beta as the description's pointer mode says where they are.
void setScalars(const Product& p, const void* alpha, const void* beta, Operands* operands) {
  const auto mode = static_cast<cublasLtPointerMode_t>(p.desc.pointerMode);
  const auto type = static_cast<cudaDataType>(p.desc.scaleType);
  const std::array<std::byte, 16> zero{};
  const bool isVector = mode >= CUBLASLT_POINTER_MODE_DEVICE_VECTOR;
  if (p.isGrouped() && mode == CUBLASLT_POINTER_MODE_DEVICE) {
    const auto places = [&](const void* place, int64_t stride) {
      return stride ? Scalar(type, static_cast<const void* const*>(place)) : Scalar(type, place, false, 0, 0);
    };
    operands->alpha = places(alpha, p.desc.alphaStride), operands->beta = places(beta, p.desc.betaStride);
    return;
  }
  const bool isHostBeta =
      mode == CUBLASLT_POINTER_MODE_HOST || mode == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST;
  operands->alpha = Scalar(type, alpha, mode == CUBLASLT_POINTER_MODE_HOST, isVector ? 1 : 0,
                           isVector ? p.desc.alphaVectorStride : 0);
  if (mode == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO)
    operands->beta = Scalar(type, zero.data(), true, 0, 0);
  else
    operands->beta = Scalar(type, beta, isHostBeta, mode == CUBLASLT_POINTER_MODE_DEVICE_VECTOR ? 1 : 0, 0);
}

constexpr auto kName = "cublasLt Matmul";

/// Integers by words of four; eight-bit floats by 16. Of groups the call knows no addresses.
bool isAlignedFor(const Product& p, const Operands& operands) {
  const auto areAligned = [](uintptr_t to, std::initializer_list<const void*> pointers) {
    return std::ranges::all_of(pointers, [=](auto* place) { return reinterpret_cast<uintptr_t>(place) % to == 0; });
  };
  if (p.isGrouped()) return true;
  if (p.a.type == CUDA_R_8I) return areAligned(4, {operands.a, operands.b});
  return cublas::sizeOf(static_cast<cudaDataType>(p.a.type)) != 1 ||
         areAligned(16, {operands.a, operands.b, operands.d});
}

/// Where the program wants to be told how many bits an emulation of doubles kept.
int32_t* emulatedBitsOf(const Product& p) {
  return p.desc.emulation && p.desc.compute == CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT
             ? stateOf<Emulation>(p.desc.emulation).bitCount
             : nullptr;
}

}  // namespace

extern "C" {

/// The workspace is not needed, whatever the algorithm.
cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void* alpha, const void* a,
                              cublasLtMatrixLayout_t layoutA, const void* b, cublasLtMatrixLayout_t layoutB,
                              const void* beta, const void* c, cublasLtMatrixLayout_t layoutC, void* d,
                              cublasLtMatrixLayout_t layoutD, const cublasLtMatmulAlgo_t* algorithm, void*, size_t,
                              cudaStream_t stream) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  Product p{};
  if (const cublasStatus_t status = productOf(desc, layoutA, layoutB, layoutC, layoutD, &p)) return status;
  const bool hasZeroBeta = p.desc.pointerMode == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO;
  if (!alpha || (!beta && !hasZeroBeta) || (algorithm && !isAlgorithm(stateOf<Algorithm>(algorithm).id)))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (!p.isGrouped() && p.isEmpty()) return CUBLAS_STATUS_SUCCESS;
  Operands operands{{}, {}, a, b, c, d};
  setScalars(p, alpha, beta, &operands);
  const bool hasFactors = (!p.isGrouped() && p.k() == 0) || (a && b);
  if (!d || !hasFactors || (!c && !operands.beta.isHostZero()) || !Epilogue<float>::isComplete(p.desc, p.m()))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (!isAlignedFor(p, operands)) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (p.isGrouped()) return cublas::statusOf(libs::enqueue(stream, kName, [=] { run(p, operands); }));
  const auto sizeA = cublas::sizeOf(static_cast<cudaDataType>(p.a.type));
  const cublas::Product sizes{CUBLAS_OP_N, CUBLAS_OP_N, p.m(), p.n(), p.k(), 1, 1, 1};
  const bool isComplex = p.desc.scaleType == CUDA_C_32F || p.desc.scaleType == CUDA_C_64F;
  const auto work = sizes.work(isComplex, sizeA, cublas::sizeOf(static_cast<cudaDataType>(p.d.type)), p.d.count);
  int32_t* bits = emulatedBitsOf(p);
  return cublas::statusOf(libs::enqueue(
      stream, kName,
      [=] {
        run(p, operands);
        if (bits) *bits = -1;
      },
      work));
}

}  // extern "C"
}  // namespace ordito::cublaslt
