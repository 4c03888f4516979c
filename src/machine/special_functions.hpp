// The functions of CUDA's mathematical library that the C library lacks, in double.
#pragma once

namespace ordito::machine {

double sinPi(double x);
double cosPi(double x);
/// exp(x²)·erfc(x).
double scaledErfc(double x);
double inverseErf(double x);
double inverseErfc(double x);
/// log|Γ(x)|; unlike std::lgamma it touches no global.
double logGamma(double x);

template <class T>
double norm(int n, const T* v);
extern template double norm(int, const float*);
extern template double norm(int, const double*);

}  // namespace ordito::machine
