// Floating point on the device: formats, special values, subnormal numbers, rounding, and how far functions are off.
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "expect.hpp"

static uint32_t bitsOf(float f) {
  uint32_t bits;
  std::memcpy(&bits, &f, sizeof bits);
  return bits;
}
static float fromBits(uint32_t bits) {
  float f;
  std::memcpy(&f, &bits, sizeof f);
  return f;
}

/// How many numbers lie between two: the distance in units of the last place.
static long distance(float a, float b) {
  auto place = [](float f) {
    const auto bits = static_cast<int32_t>(bitsOf(f));
    return bits < 0 ? -static_cast<long>(bits & 0x7fffffff) : static_cast<long>(bits);
  };
  return std::labs(place(a) - place(b));
}

enum Operation {
  kAdd,
  kMul,
  kDiv,
  kFastDiv,
  kAddDown,
  kAddUp,
  kAddZero,
  kExp,
  kFastExp,
  kTan,
  kFastTan,
  kLog,
  kSin,
  kOperations
};

__global__ void compute(const float* a, const float* b, float* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  float* mine = out + i * kOperations;
  mine[kAdd] = a[i] + b[i];
  mine[kMul] = a[i] * b[i];
  mine[kDiv] = a[i] / b[i];
  mine[kFastDiv] = __fdividef(a[i], b[i]);
  mine[kAddDown] = __fadd_rd(a[i], b[i]);
  mine[kAddUp] = __fadd_ru(a[i], b[i]);
  mine[kAddZero] = __fadd_rz(a[i], b[i]);
  mine[kExp] = expf(b[i]);
  mine[kFastExp] = __expf(b[i]);
  mine[kTan] = tanf(b[i]);
  mine[kFastTan] = __tanf(b[i]);
  mine[kLog] = logf(fabsf(b[i]));
  mine[kSin] = sinf(b[i]);
}

static std::vector<float> computed(const std::vector<float>& a, const std::vector<float>& b) {
  const size_t n = a.size();
  float* device;
  EXPECT_OK(cudaMalloc(&device, (2 + kOperations) * n * sizeof(float)));
  EXPECT_OK(cudaMemcpy(device, a.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  EXPECT_OK(cudaMemcpy(device + n, b.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  compute<<<static_cast<unsigned>((n + 127) / 128), 128>>>(device, device + n, device + 2 * n, static_cast<int>(n));
  std::vector<float> out(kOperations * n);
  EXPECT_OK(cudaMemcpy(out.data(), device + 2 * n, out.size() * sizeof(float), cudaMemcpyDeviceToHost));
  EXPECT_OK(cudaFree(device));
  return out;
}

/// Against the same in double, which holds sums and products of these exactly or nearly so.
static void arithmetic() {
  std::vector<float> a, b;
  uint64_t state = 1;
  auto random = [&] {
    return state = state * 6364136223846793005u + 1442695040888963407u, static_cast<uint32_t>(state >> 33);
  };
  for (int k = 0; k < 4096; ++k) {
    a.push_back(static_cast<float>(static_cast<double>(random()) / (1 << 20) - 1024));
    b.push_back(static_cast<float>(static_cast<double>(random()) / (1 << 28) - 4));
  }
  const std::vector<float> out = computed(a, b);
  long div = 0, fastDiv = 0, exp = 0, fastExp = 0, tan = 0, fastTan = 0;
  for (size_t k = 0; k < a.size(); ++k) {
    const float* got = &out[k * kOperations];
    const double sum = static_cast<double>(a[k]) + b[k];
    EXPECT(got[kAdd] == static_cast<float>(sum));
    EXPECT(got[kMul] == static_cast<float>(static_cast<double>(a[k]) * b[k]));
    // Four ways to round: down and up enclose the sum, and to zero is one of them.
    EXPECT(got[kAddDown] <= sum && got[kAddUp] >= sum && distance(got[kAddDown], got[kAddUp]) <= 1);
    EXPECT(got[kAddZero] == (sum < 0 ? got[kAddUp] : got[kAddDown]));
    EXPECT(got[kDiv] == static_cast<float>(static_cast<double>(a[k]) / b[k]));
    div = std::max(div, distance(got[kDiv], static_cast<float>(static_cast<double>(a[k]) / b[k])));
    fastDiv = std::max(fastDiv, distance(got[kFastDiv], got[kDiv]));
    exp = std::max(exp, distance(got[kExp], static_cast<float>(std::exp(static_cast<double>(b[k])))));
    fastExp = std::max(fastExp, distance(got[kFastExp], static_cast<float>(std::exp(static_cast<double>(b[k])))));
    tan = std::max(tan, distance(got[kTan], static_cast<float>(std::tan(static_cast<double>(b[k])))));
    fastTan = std::max(fastTan, distance(got[kFastTan], static_cast<float>(std::tan(static_cast<double>(b[k])))));
    EXPECT(distance(got[kSin], static_cast<float>(std::sin(static_cast<double>(b[k])))) <= 2);
    EXPECT(std::fabs(got[kLog] - std::log(std::fabs(static_cast<double>(b[k])))) <=
           2e-7 * std::max(1.0, std::fabs(std::log(std::fabs(static_cast<double>(b[k]))))));
  }
  std::printf("ulp: division %ld, fast %ld; expf %ld, fast %ld; tanf %ld, fast %ld\n", div, fastDiv, exp, fastExp, tan,
              fastTan);
  EXPECT(div == 0 && fastDiv <= 2 && exp <= 1 && tan <= 4);
  EXPECT(fastExp >= exp && fastTan >= tan);
}

/// e^x where it ends: at zero, through the subnormal numbers, and at infinity.
static void exponentials() {
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> x = {0.0f,  -0.0f,    1e-45f,  88.72283f, 88.722839f, 89.0f,
                          1e30f, infinity, -104.0f, -1e30f,    -infinity};
  for (int k = 0; k < 200; ++k) x.push_back(-87.0f - static_cast<float>(k) * 0.0917f);
  x.push_back(std::numeric_limits<float>::quiet_NaN());
  const std::vector<float> out = computed(x, x);
  for (size_t k = 0; k + 1 < x.size(); ++k)
    EXPECT(distance(out[k * kOperations + kExp], static_cast<float>(std::exp(static_cast<double>(x[k])))) <= 1);
  EXPECT(std::isnan(out[(x.size() - 1) * kOperations + kExp]));
}

/// Formats: sign, exponent with bias, fraction behind a hidden one; taken apart and put together again.
static void formats() {
  for (float f : {1.0f, -2.5f, FLT_MIN, FLT_MAX, 0.1f}) {
    const uint32_t bits = bitsOf(f);
    const double value = std::ldexp(1 + (bits & 0x7fffff) / 8388608.0, static_cast<int>(bits >> 23 & 255) - 127);
    EXPECT((bits >> 31 ? -value : value) == f);
  }
  for (double d : {1.0, -2.5, DBL_MIN, DBL_MAX, 0.1}) {
    uint64_t bits;
    std::memcpy(&bits, &d, sizeof bits);
    const double value = std::ldexp(1 + static_cast<double>(bits & 0xfffffffffffffu) / 4503599627370496.0,
                                    static_cast<int>(bits >> 52 & 2047) - 1023);
    EXPECT((bits >> 63 ? -value : value) == d);
  }
  EXPECT(fromBits(1) == std::ldexp(1.0f, -149) && std::nextafter(0.0, 1.0) == std::ldexp(1.0, -1074));
}

/// Zeros, infinities and NaNs come out of operations as they should, and nothing traps.
static void specialValues() {
  const float inf = INFINITY, nan = NAN;
  const std::vector<float> a = {0, inf, inf, 1, -1, inf, inf, nan, 3e38f, 1},
                           b = {0, 0, inf, 0, 0, inf, -inf, 1, 3e38f, inf};
  const std::vector<float> out = computed(a, b);
  auto at = [&](size_t k, Operation o) { return out[k * kOperations + o]; };
  EXPECT(std::isnan(at(0, kDiv)) && std::isnan(at(1, kMul)) && std::isnan(at(2, kDiv)) && std::isnan(at(6, kAdd)) &&
         std::isnan(at(7, kAdd)));
  EXPECT(at(3, kDiv) == inf && at(4, kDiv) == -inf && at(5, kMul) == inf && at(5, kAdd) == inf);
  EXPECT(at(8, kAdd) == inf && at(8, kMul) == inf && at(9, kDiv) == 0);
  EXPECT_OK(cudaDeviceSynchronize());
}

__global__ void subtract(const float* x, float* out) {
  out[0] = x[0] - x[1];
  asm("sub.ftz.f32 %0, %1, %2;" : "=f"(out[1]) : "f"(x[0]), "f"(x[1]));
  double d = x[2];
  for (int k = 0; k < 1074; ++k) d *= 0.5;
  out[2] = d > 0 && d * 0.5 == 0;
}

/// Near zero numbers thin out evenly; flushed to zero, two that differ have no difference.
static void subnormalNumbers() {
  const float x[3] = {1.5f * FLT_MIN, FLT_MIN, 1};
  float *device, out[3];
  EXPECT_OK(cudaMalloc(&device, 6 * sizeof(float)));
  EXPECT_OK(cudaMemcpy(device, x, sizeof x, cudaMemcpyHostToDevice));
  subtract<<<1, 1>>>(device, device + 3);
  EXPECT_OK(cudaMemcpy(out, device + 3, sizeof out, cudaMemcpyDeviceToHost));
  EXPECT(x[0] != x[1] && out[0] == 0.5f * FLT_MIN && out[1] == 0);
  EXPECT(out[2] == 1);
  EXPECT_OK(cudaFree(device));
}

/// Rounding to an integer takes the product as it was rounded: half of an odd number here, a little less before.
__global__ void roundProducts(const float* x, float* out, const double* y, double* out2) {
  const int i = static_cast<int>(threadIdx.x);
  out[i] = roundf(x[i] * x[i + 32]);
  out2[i] = round(y[i] * y[i + 32]);
}

static void roundedProducts() {
  std::vector<float> x(64), got(32);
  std::vector<double> y(64), got2(32);
  const float edges[] = {0.49999997f, -0.49999997f, 0.5f, -0.5f, 2.5f, -2.5f, 8388609.0f, -8388609.0f, INFINITY, -0.0f};
  for (size_t i = 0; i < 32; ++i) {
    x[i] = i < 10 ? edges[i] : static_cast<float>(2 * i + 1) / 255.0f * 0.5f;
    x[i + 32] = i < 10 ? 1.0f : 255.0f;
    y[i] = i < 10 ? static_cast<double>(edges[i]) : static_cast<double>(2 * i + 1) / 255.0 * 0.5;
    y[i + 32] = static_cast<double>(x[i + 32]);
  }
  float* device;
  double* device2;
  EXPECT_OK(cudaMalloc(&device, 96 * sizeof(float)));
  EXPECT_OK(cudaMalloc(&device2, 96 * sizeof(double)));
  EXPECT_OK(cudaMemcpy(device, x.data(), 64 * sizeof(float), cudaMemcpyHostToDevice));
  EXPECT_OK(cudaMemcpy(device2, y.data(), 64 * sizeof(double), cudaMemcpyHostToDevice));
  roundProducts<<<1, 32>>>(device, device + 64, device2, device2 + 64);
  EXPECT_OK(cudaMemcpy(got.data(), device + 64, 32 * sizeof(float), cudaMemcpyDeviceToHost));
  EXPECT_OK(cudaMemcpy(got2.data(), device2 + 64, 32 * sizeof(double), cudaMemcpyDeviceToHost));
  for (size_t i = 0; i < 32; ++i) {
    const volatile float product = x[i] * x[i + 32];
    const volatile double product2 = y[i] * y[i + 32];
    EXPECT(bitsOf(got[i]) == bitsOf(std::round(product)));
    EXPECT(got2[i] == std::round(product2) && std::signbit(got2[i]) == std::signbit(product2));
  }
  EXPECT_OK(cudaFree(device));
  EXPECT_OK(cudaFree(device2));
}

/// A toy format with two bits of fraction, rounded to nearest even: the order of a sum matters.
static double toy(double v) {
  if (v == 0) return 0;
  int exponent;
  std::frexp(v, &exponent);
  const double unit = std::ldexp(1.0, exponent - 3);
  return std::nearbyint(v / unit) * unit;
}

static void orderMatters() {
  const double v[4] = {1, 1, 0.25, 0.25};
  const double sequential = toy(toy(toy(v[0] + v[1]) + v[2]) + v[3]), tree = toy(toy(v[0] + v[1]) + toy(v[2] + v[3]));
  EXPECT(sequential == 2.0 && tree == 2.5);
}

int main() {
  formats();
  arithmetic();
  exponentials();
  specialValues();
  subnormalNumbers();
  orderMatters();
  roundedProducts();
  return finish();
}
