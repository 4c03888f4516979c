// The functions of C's mathematics library in kernels, in both precisions, within the bounds that the CUDA C++ guide
// prints (appendix "Mathematical Functions"), against the host's in the next larger precision.
#include <cfloat>
#include <cmath>
#include <vector>

#include "expect.hpp"

enum Function { kSqrt, kExp, kExp2, kLog, kLog2, kSin, kCos, kSinh, kCosh, kCeil, kFloor, kPow, kCount };
static const char* const kNames[kCount] = {"sqrt", "exp",  "exp2", "log",  "log2",  "sin",
                                           "cos",  "sinh", "cosh", "ceil", "floor", "pow"};
// In units of the last place.
static const double kFloatBounds[kCount] = {0, 2, 2, 1, 1, 2, 2, 3, 2, 0, 0, 4};
static const double kDoubleBounds[kCount] = {0, 1, 1, 1, 1, 2, 2, 2, 1, 0, 0, 2};

template <class T>
__host__ __device__ T evaluate(int function, T x) {
  using namespace std;
  switch (function) {
    case kSqrt: return sqrt(x);
    case kExp: return exp(x);
    case kExp2: return exp2(x);
    case kLog: return log(x);
    case kLog2: return log2(x);
    case kSin: return sin(x);
    case kCos: return cos(x);
    case kSinh: return sinh(x);
    case kCosh: return cosh(x);
    case kCeil: return ceil(x);
    case kFloor: return floor(x);
    default: return pow(x, static_cast<T>(1.5));
  }
}

template <class T>
__global__ void evaluateAll(const T* in, T* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int f = 0; f < kCount; ++f) out[f * n + i] = evaluate(f, in[i]);
}

/// How far `got` is from what it should be, in units of the last place of T.
template <class T, class Wide>
double distance(T got, Wide wanted) {
  const T rounded = static_cast<T>(wanted);
  if (got == rounded) return 0;
  const T unit = std::nextafter(std::fabs(rounded), static_cast<T>(INFINITY)) - std::fabs(rounded);
  return static_cast<double>(std::fabs(static_cast<Wide>(got) - wanted) / static_cast<Wide>(unit));
}

template <class T, class Wide>
void hold(const char* type, const double* bounds) {
  const int n = 4000;
  std::vector<T> in(n), out(n * kCount);
  for (int i = 0; i < n; ++i) in[i] = static_cast<T>(0.0005) + static_cast<T>(i) * static_cast<T>(0.00731);
  T *from, *to;
  EXPECT_OK(cudaMalloc(&from, n * sizeof(T)));
  EXPECT_OK(cudaMalloc(&to, n * kCount * sizeof(T)));
  EXPECT_OK(cudaMemcpy(from, in.data(), n * sizeof(T), cudaMemcpyHostToDevice));
  evaluateAll<<<(n + 127) / 128, 128>>>(from, to, n);
  EXPECT_OK(cudaMemcpy(out.data(), to, n * kCount * sizeof(T), cudaMemcpyDeviceToHost));
  for (int f = 0; f < kCount; ++f) {
    double worst = 0;
    for (int i = 0; i < n; ++i)
      worst = std::fmax(worst, distance<T, Wide>(out[f * n + i], evaluate(f, static_cast<Wide>(in[i]))));
    // Half a unit more: the bound is on the distance from the rounded result.
    if (worst > bounds[f] + 0.5) std::printf("%s of %s: %.2f units\n", kNames[f], type, worst);
    EXPECT(worst <= bounds[f] + 0.5);
  }
  EXPECT_OK(cudaFree(from));
  EXPECT_OK(cudaFree(to));
}

int main() {
  hold<float, double>("float", kFloatBounds);
  hold<double, long double>("double", kDoubleBounds);
  return finish();
}
