// cuSPARSE's products with a program's own operators, against loops that do the same.
#include "libs/cusparse/test_sparse.hpp"

using namespace ordito::cublas::test;

namespace {

const std::string kHead = ".version 7.0\n.target sm_52\n.address_size 64\n";

/// Text with .fN for the type.
template <class T>
std::string typed(std::string text) {
  for (size_t at; (at = text.find(".fN")) != std::string::npos;) text.replace(at, 3, sizeof(T) == 8 ? ".f64" : ".f32");
  return text;
}

/// PTX of an operator of two numbers: some instructions on %a and %b, the result in %a.
template <class T>
std::string operation(const std::string& name, const std::string& body) {
  return typed<T>(kHead + ".visible .func (.param .fN r) " + name +
                  "(.param .fN x, .param .fN y)\n{\n  .reg .fN %a, %b;\n  ld.param.fN %a, [x];\n"
                  "  ld.param.fN %b, [y];\n" +
                  body + "  st.param.fN [r], %a;\n  ret;\n}\n");
}

struct Code {
  std::string add, multiply, epilogue;
};
/// Sums are maxima, products differences, and the result is twice the sum less what was there.
template <class T>
Code code() {
  return {operation<T>("add_op", "  max.fN %a, %a, %b;\n"), operation<T>("mul_op", "  sub.fN %a, %a, %b;\n"),
          operation<T>("epilogue", "  add.fN %a, %a, %a;\n  sub.fN %a, %a, %b;\n")};
}

template <class T>
struct Operators : SparseTyped<T> {
  cusparseStatus_t plan(cusparseSpMMOpPlan_t* made, cusparseOperation_t opA, cusparseOperation_t opB,
                        cusparseSpMatDescr_t a, cusparseDnMatDescr_t b, cusparseDnMatDescr_t c, const Code& code,
                        size_t* size) {
    return cusparseSpMMOp_createPlan(this->sparse, made, opA, opB, a, b, c, kType<T>, CUSPARSE_SPMM_OP_ALG_DEFAULT,
                                     code.add.data(), code.add.size(), code.multiply.data(), code.multiply.size(),
                                     code.epilogue.data(), code.epilogue.size(), size);
  }
};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(Operators, Reals);

TYPED_TEST(Operators, ProductsOfMatrices) {
  using T = TypeParam;
  for (int round = 0; round < kRounds / 4; ++round) {
    const int m = random(1, 20), k = random(1, 20), n = random(1, 20);
    const auto opA = random(0, 1) ? CUSPARSE_OPERATION_TRANSPOSE : kPlain;
    const auto opB = random(0, 1) ? CUSPARSE_OPERATION_TRANSPOSE : kPlain;
    const Sparse<T> a(opA == kPlain ? m : k, opA == kPlain ? k : m, this->format());
    const auto b = opB == kPlain ? matrix<T>(k, n) : matrix<T>(n, k), c = matrix<T>(m, n);
    std::vector<Wide> before;
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i) before.push_back(c.get(i, j));
    const auto descriptorB = describe(b), descriptorC = describe(c);
    cusparseSpMMOpPlan_t plan = nullptr;
    size_t size = 0;
    ASSERT_EQ(this->plan(&plan, opA, opB, a.descriptor, descriptorB, descriptorC, code<T>(), &size), kGood);
    std::vector<double> buffer(size / sizeof(double) + 1);
    ASSERT_EQ(cusparseSpMMOp(plan, buffer.data()), kGood);
    ASSERT_EQ(cusparseSpMMOp_destroyPlan(plan), kGood);
    this->wait();
    // An entry that is stored may be 0: which are is what its place in the dense twin does not say.
    std::vector<std::vector<std::pair<int, double>>> rows(static_cast<size_t>(m));
    a.eachStored([&](int i, int j, Wide value) {
      const int row = opA == kPlain ? i : j, column = opA == kPlain ? j : i;
      rows[static_cast<size_t>(row)].emplace_back(column, value.real());
    });
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i) {
        double sum = 0;
        bool isFirst = true;
        for (const auto& [column, value] : rows[static_cast<size_t>(i)]) {
          const double product = value - (opB == kPlain ? b.get(column, j) : b.get(j, column)).real();
          sum = isFirst ? product : std::max(sum, product);
          isFirst = false;
        }
        const double wanted =
            2 * sum - before[static_cast<size_t>(i) + static_cast<size_t>(j) * static_cast<size_t>(m)].real();
        ASSERT_LE(std::abs(c.get(i, j).real() - wanted), tolerance<T>(1)) << i << "," << j;
      }
    cusparseDestroyDnMat(descriptorB), cusparseDestroyDnMat(descriptorC);
  }
}

/// z = the row's number times what it was.
template <class T>
std::string rowCode(int bits) {
  const std::string n = std::to_string(bits);
  return typed<T>(kHead + ".visible .func (.param .fN r) spmvop_epilogue(.param .b" + n +
                  " row, .param .fN x)\n{\n  .reg .fN %a, %b;\n  .reg .b" + n +
                  " %row;\n  ld.param.fN %a, [x];\n  ld.param.b" + n + " %row, [row];\n  cvt.rn.fN.u" + n +
                  " %b, %row;\n  mul.fN %a, %a, %b;\n  st.param.fN [r], %a;\n  ret;\n}\n");
}

TYPED_TEST(Operators, ProductsOfVectors) {
  using T = TypeParam;
  for (int round = 0; round < kRounds / 4; ++round) {
    const int m = random(1, 300), n = random(1, 20), bits = random(0, 2) * 32;
    const Sparse<T> a(m, n, this->format());
    const auto x = matrix<T>(n, 1), y = matrix<T>(m, 1), other = matrix<T>(m, 1);
    const bool isInPlace = random(0, 1);
    const auto& z = isInPlace ? y : other;
    std::vector<Wide> before;
    for (int i = 0; i < m; ++i) before.push_back(y.get(i, 0));
    cusparseDnVecDescr_t vx = nullptr, vy = nullptr, vz = nullptr;
    cusparseCreateDnVec(&vx, n, x.data(), kType<T>), cusparseCreateDnVec(&vy, m, y.data(), kType<T>);
    cusparseCreateDnVec(&vz, m, z.data(), kType<T>);
    size_t size = 0;
    ASSERT_EQ(cusparseSpMVOp_bufferSize(this->sparse, kPlain, a.descriptor, vx, vy, vz, kType<T>,
                                        CUSPARSE_SPMVOP_ALG_DEFAULT, &size),
              kGood);
    cusparseSpMVOpDescr_t descriptor = nullptr;
    ASSERT_EQ(cusparseSpMVOp_createDescr(this->sparse, &descriptor, kPlain, a.descriptor, vx, vy, vz, kType<T>,
                                         CUSPARSE_SPMVOP_ALG_DEFAULT, &this->room),
              kGood);
    cusparseSpMVOpPlan_t plan = nullptr;
    const std::string text = rowCode<T>(bits);
    ASSERT_EQ(cusparseSpMVOp_createPlan(this->sparse, descriptor, &plan, bits ? text.data() : nullptr, text.size()),
              kGood);
    ASSERT_EQ(cusparseSpMVOp_destroyDescr(descriptor), kGood);
    const T alpha = 2, beta = static_cast<T>(random(0, 1) * 3);
    ASSERT_EQ(cusparseSpMVOp(this->sparse, plan, &alpha, &beta, vx, vy, vz), kGood);
    ASSERT_EQ(cusparseSpMVOp_destroyPlan(plan), kGood);
    this->template expectNear<T>(
        z, {}, 2.0 * n * (bits ? m : 1),
        [&](int i, int) {
          Wide sum = 0;
          for (int k = 0; k < n; ++k) sum += a.get(i, k) * x.get(k, 0);
          return (2.0 * sum + Wide(beta) * before[static_cast<size_t>(i)]) * (bits ? double(i) : 1.0);
        },
        always);
    cusparseDestroyDnVec(vx), cusparseDestroyDnVec(vy), cusparseDestroyDnVec(vz);
  }
}

TYPED_TEST(Operators, BadArgumentsAreRefused) {
  using T = TypeParam;
  const Sparse<T> a(4, 3, CUSPARSE_FORMAT_CSR);
  const auto b = matrix<T>(3, 2), c = matrix<T>(4, 2);
  const auto descriptorB = describe(b), descriptorC = describe(c);
  cusparseSpMMOpPlan_t plan = nullptr;
  size_t size = 0;
  const auto call = [&](cusparseOperation_t op, const Code& code) {
    return this->plan(&plan, op, kPlain, a.descriptor, descriptorB, descriptorC, code, &size);
  };
  Code swapped = code<T>(), empty = code<T>();
  std::swap(swapped.add, swapped.multiply), empty.epilogue = "no code";
  EXPECT_EQ(call(CUSPARSE_OPERATION_TRANSPOSE, code<T>()), CUSPARSE_STATUS_INVALID_VALUE);  // sizes do not fit
  EXPECT_EQ(call(kPlain, empty), CUSPARSE_STATUS_INVALID_VALUE);
  EXPECT_EQ(call(kPlain, {code<T>().add, code<T>().add, code<T>().epilogue}), CUSPARSE_STATUS_INVALID_VALUE);
  EXPECT_EQ(call(kPlain, swapped), kGood);  // functions are found by their names
  EXPECT_EQ(cusparseSpMMOp(plan, nullptr), CUSPARSE_STATUS_INVALID_VALUE);
  EXPECT_EQ(cusparseSpMMOp(nullptr, &this->room), CUSPARSE_STATUS_INVALID_VALUE);
  EXPECT_EQ(cusparseSpMMOp_destroyPlan(plan), kGood);
  cusparseDestroyDnMat(descriptorB), cusparseDestroyDnMat(descriptorC);
}

}  // namespace
