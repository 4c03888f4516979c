// cuSPARSE's systems with three and five diagonals, alone and in batches: solutions put back into their systems.
#include "libs/cusparse/test_sparse.hpp"

namespace ordito::cublas::test {
namespace {

/// The place of element i of what begins at `first`.
size_t index(int first, int i, int step) {
  return static_cast<size_t>(first) + static_cast<size_t>(i) * static_cast<size_t>(step);
}

/// Systems with `2 half + 1` diagonals, element i of each at [i * step].
template <class T>
struct Banded {
  Banded(int size, int half, int steps, int count, bool isDominant)
      : m(size),
        halfWidth(half),
        step(steps),
        diagonals(2 * static_cast<size_t>(half) + 1,
                  std::vector<T>(static_cast<size_t>(size) * static_cast<size_t>(count))) {
    for (size_t d = 0; d < diagonals.size(); ++d)
      for (T& cell : diagonals[d])
        cell = narrow<T>(randomWide(kComplex<T>) + (isDominant && static_cast<int>(d) == half ? 6.0 : 0.0));
  }
  const T* diagonal(int d) const { return diagonals[static_cast<size_t>(d)].data(); }
  T* diagonal(int d) { return diagonals[static_cast<size_t>(d)].data(); }
  /// Element i of A x, of the system that begins at `first`.
  template <class X>
  Wide times(int i, int first, const X& x) const {
    Wide sum = 0;
    for (int d = -halfWidth; d <= halfWidth; ++d)
      if (i + d >= 0 && i + d < m) sum += widen(diagonals[index(d, halfWidth, 1)][index(first, i, step)]) * x(i + d);
    return sum;
  }
  int m, halfWidth, step;
  std::vector<std::vector<T>> diagonals;
};

TYPED_TEST(SparseTyped, TridiagonalSystems) {
  using T = TypeParam;
  for (int round = 0; round < kRounds; ++round) {
    const int m = 2 * random(2, 30), n = random(0, 5);
    const bool hasPivots = random(0, 1) == 1;
    Banded<T> a(m, 1, 1, 1, true);
    // With 0 on the diagonal and an even size only pivots help.
    if (hasPivots && random(0, 1))
      for (int i = 0; i < m; ++i)
        a.diagonal(1)[i] = narrow<T>(0.0), a.diagonal(0)[i] = a.diagonal(2)[i] = narrow<T>(1.0 + i % 3);
    const Array<T> b(m, n, m + 3);
    const auto before = b.values();
    size_t size = 0;
    ASSERT_EQ((hasPivots ? PICK(T, gtsv2_bufferSizeExt) : PICK(T, gtsv2_nopivot_bufferSizeExt))(
                  this->sparse, m, n, a.diagonal(0), a.diagonal(1), a.diagonal(2), b.data(), m + 3, &size),
              kGood);
    const auto isOld = round % 2 == 1;  // the calls of CUDA 10
    ASSERT_EQ(isOld ? (hasPivots ? PICK(T, gtsv) : PICK(T, gtsv_nopivot))(this->sparse, m, n, a.diagonal(0),
                                                                          a.diagonal(1), a.diagonal(2), b.data(), m + 3)
                    : (hasPivots ? PICK(T, gtsv2) : PICK(T, gtsv2_nopivot))(
                          this->sparse, m, n, a.diagonal(0), a.diagonal(1), a.diagonal(2), b.data(), m + 3, nullptr),
              kGood);
    this->wait();
    EXPECT_TRUE(b.isIntactBetween());
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i)
        ASSERT_LE(std::abs(a.times(i, 0, [&](int k) { return b.get(k, j); }) -
                           before[static_cast<size_t>(i) + static_cast<size_t>(j) * static_cast<size_t>(m)]),
                  tolerance<T>(m) * 100);
  }
  const Array<T> none(2, 1, 2);
  EXPECT_EQ(PICK(T, gtsv2)(this->sparse, 2, 1, none.data(), none.data(), none.data(), none.data(), 2, nullptr),
            CUSPARSE_STATUS_INVALID_VALUE);
}

TYPED_TEST(SparseTyped, BatchesOfBandedSystems) {
  using T = TypeParam;
  for (int round = 0; round < kRounds; ++round) {
    const int m = random(3, 40), count = random(1, 9), kind = random(0, 2);  // strided, three, five diagonals
    const int step = kind == 0 ? 1 : count, stride = m + 2;
    const int cells = kind == 0 ? stride : m;
    Banded<T> a(cells, kind == 2 ? 2 : 1, step, count, true);
    a.m = m;
    std::vector<T> x(static_cast<size_t>(cells) * static_cast<size_t>(count));
    for (T& cell : x) cell = narrow<T>(randomWide(kComplex<T>));
    const std::vector<T> before = x;
    cusparseStatus_t status = kGood;
    if (kind == 0 && round % 2)
      status = PICK(T, gtsvStridedBatch)(this->sparse, m, a.diagonal(0), a.diagonal(1), a.diagonal(2), x.data(), count,
                                         stride);
    else if (kind == 0)
      status = PICK(T, gtsv2StridedBatch)(this->sparse, m, a.diagonal(0), a.diagonal(1), a.diagonal(2), x.data(), count,
                                          stride, nullptr);
    else if (kind == 1)
      status = PICK(T, gtsvInterleavedBatch)(this->sparse, random(0, 2), m, a.diagonal(0), a.diagonal(1), a.diagonal(2),
                                             x.data(), count, nullptr);
    else
      status = PICK(T, gpsvInterleavedBatch)(this->sparse, 0, m, a.diagonal(0), a.diagonal(1), a.diagonal(2),
                                             a.diagonal(3), a.diagonal(4), x.data(), count, nullptr);
    ASSERT_EQ(status, kGood);
    this->wait();
    for (int system = 0; system < count; ++system) {
      const int first = kind == 0 ? system * stride : system;
      for (int i = 0; i < m; ++i) {
        const Wide wanted = widen(before[index(first, i, step)]);
        const Wide got = a.times(i, first, [&](int k) { return widen(x[index(first, k, step)]); });
        ASSERT_LE(std::abs(got - wanted), tolerance<T>(m) * 10) << "system " << system << ", row " << i;
      }
    }
  }
}

}  // namespace
}  // namespace ordito::cublas::test
