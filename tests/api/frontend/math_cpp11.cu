// Math functions of C++11 by their plain names, for float, and NaNs: each leads to libdevice or to a number, none to a
// function that nobody defines.
#include <cmath>
// CHECK-LABEL: .entry _Z5plainPfPi
// CHECK-NOT: _ZL
// CHECK-DAG: __nv_log2f
// CHECK-DAG: __nv_tgammaf
// CHECK-DAG: __nv_remquof
__global__ void plain(float* x, int* i) {
  x[0] = acosh(x[0]) + asinh(x[1]) + atanh(x[2]) + cbrt(x[3]) + erf(x[4]) + erfc(x[5]) + exp2(x[6]) + expm1(x[7]);
  x[1] = lgamma(x[0]) + log1p(x[1]) + log2(x[2]) + logb(x[3]) + nearbyint(x[4]) + rint(x[5]) + round(x[6]);
  x[2] = tgamma(x[0]) + trunc(x[1]) + copysign(x[2], x[3]) + fdim(x[4], x[5]) + fmax(x[6], x[7]) + fmin(x[0], x[1]);
  x[3] = hypot(x[0], x[1]) + nextafter(x[2], x[3]) + remainder(x[4], x[5]) + fma(x[6], x[7], x[0]);
  x[4] = remquo(x[0], x[1], i) + scalbn(x[2], 3) + scalbln(x[3], 4L);
  i[1] = ilogb(x[0]) + static_cast<int>(lrint(x[1]) + lround(x[2]) + llrint(x[3]) + llround(x[4]));
}

// CHECK-LABEL: .entry _Z7no_numbPfPd
// CHECK-NOT: _ZL
// CHECK-DAG: 2143289344
// CHECK-DAG: 9221120237041090560
__global__ void no_numb(float* x, double* y) {
  x[0] = nanf("");
  y[0] = nan("");
}
