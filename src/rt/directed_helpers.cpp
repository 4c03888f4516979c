// Arithmetic with directed rounding for hosts without AVX-512's embedded roundings: the processor's mode is switched
// once for all lanes of a warp. The file is compiled with -frounding-math, so that no operation moves across the
// switch.
#include <cfenv>
#include <cmath>
#include <cstdint>

#include "rt/helpers.hpp"

namespace ordito::rt {
namespace {

template <int Mode, class F>
void forLanes(uint32_t lanes, F f) {
  const int before = std::fegetround();
  std::fesetround(Mode);
  for (uint32_t l = 0; l < lanes; ++l) f(l);
  std::fesetround(before);
}

template <int Mode, class T>
struct Directed {
  static void add(uint32_t lanes, const T* a, const T* b, T* out) {
    forLanes<Mode>(lanes, [=](uint32_t l) { out[l] = a[l] + b[l]; });
  }
  static void sub(uint32_t lanes, const T* a, const T* b, T* out) {
    forLanes<Mode>(lanes, [=](uint32_t l) { out[l] = a[l] - b[l]; });
  }
  static void mul(uint32_t lanes, const T* a, const T* b, T* out) {
    forLanes<Mode>(lanes, [=](uint32_t l) { out[l] = a[l] * b[l]; });
  }
  static void div(uint32_t lanes, const T* a, const T* b, T* out) {
    forLanes<Mode>(lanes, [=](uint32_t l) { out[l] = a[l] / b[l]; });
  }
  static void sqrt(uint32_t lanes, const T* a, T* out) {
    forLanes<Mode>(lanes, [=](uint32_t l) { out[l] = std::sqrt(a[l]); });
  }
  static void fma(uint32_t lanes, const T* a, const T* b, const T* c, T* out) {
    forLanes<Mode>(lanes, [=](uint32_t l) { out[l] = std::fma(a[l], b[l], c[l]); });
  }
};

}  // namespace

std::vector<std::pair<std::string_view, void*>> directedHelperTable() {
  std::vector<std::pair<std::string_view, void*>> t;
  auto add = [&](std::string_view name, auto* f) { t.push_back({name, reinterpret_cast<void*>(f)}); };
#define DIRECTED(mode, MODE, type, T)                            \
  add("ordito_add_" #mode "_" #type, &Directed<MODE, T>::add);   \
  add("ordito_sub_" #mode "_" #type, &Directed<MODE, T>::sub);   \
  add("ordito_mul_" #mode "_" #type, &Directed<MODE, T>::mul);   \
  add("ordito_div_" #mode "_" #type, &Directed<MODE, T>::div);   \
  add("ordito_sqrt_" #mode "_" #type, &Directed<MODE, T>::sqrt); \
  add("ordito_fma_" #mode "_" #type, &Directed<MODE, T>::fma);
  DIRECTED(rz, FE_TOWARDZERO, f32, float)
  DIRECTED(rm, FE_DOWNWARD, f32, float)
  DIRECTED(rp, FE_UPWARD, f32, float)
  DIRECTED(rz, FE_TOWARDZERO, f64, double)
  DIRECTED(rm, FE_DOWNWARD, f64, double)
  DIRECTED(rp, FE_UPWARD, f64, double)
#undef DIRECTED
  return t;
}

}  // namespace ordito::rt
