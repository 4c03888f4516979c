// nvcuda::wmma: matrix multiplication by a whole warp, on fragments whose layout only the compiler knows. Clang has a
// builtin for each PTX instruction; this header gives them CUDA's names and types.
#ifndef __CUDA_MMA_H__
#define __CUDA_MMA_H__

#include "cuda_bf16.h"
#include "cuda_fp16.h"

#if defined(__CUDA__) && defined(__cplusplus)

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };

namespace precision {
struct tf32;
}
namespace experimental {
namespace precision {
struct u4;
struct s4;
struct b1;
}  // namespace precision
enum bmmaBitOp { bmmaBitOpXOR = 1, bmmaBitOpAND = 2 };
enum bmmaAccumulateOp { bmmaAccumulateOpPOPC = 1 };
}  // namespace experimental

namespace detail {

template <class Element, int count>
struct Elements {
  using element_type = Element;
  using storage_element_type = Element;
  static constexpr int num_elements = count;
  static constexpr int num_storage_elements = count;
  Element x[count];
};

/// Elements of less than a byte: a word holds several, and only words can be reached.
template <class Element, class Word, int count>
struct PackedElements {
  using element_type = Element;
  using storage_element_type = Word;
  static constexpr int num_elements = count;
  static constexpr int num_storage_elements = 1;
  Word x[1];
};

template <class Layout>
struct IsColumns {};
template <>
struct IsColumns<row_major> {
  static constexpr int value = 0;
};
template <>
struct IsColumns<col_major> {
  static constexpr int value = 1;
};

template <class Fragment>
static __device__ __inline__ int* words(Fragment& f) {
  return reinterpret_cast<int*>(f.x);
}
template <class Fragment>
static __device__ __inline__ const int* words(const Fragment& f) {
  return reinterpret_cast<const int*>(f.x);
}

}  // namespace detail

template <class Use, int m, int n, int k, class Type, class Layout = void>
struct fragment;

// One fragment type; how many elements of which kind a lane has of it.
#define ORDITO_INPUT(use, m, n, k, type, element, count) \
  template <class Layout>                                \
  struct fragment<use, m, n, k, type, Layout> : detail::Elements<element, count> {};
#define ORDITO_SUM(m, n, k, type, count) \
  template <>                            \
  struct fragment<accumulator, m, n, k, type, void> : detail::Elements<type, count> {};

// Loads of a and b. The builtins want constants for layouts, so each call of one is written out.
#define ORDITO_LOAD(use, m, n, k, type, memory, pointer, builtin)                                                 \
  template <class Layout>                                                                                         \
  static __device__ __inline__ void load_matrix_sync(fragment<use, m, n, k, type, Layout>& a, const memory* from, \
                                                     unsigned stride) {                                           \
    if (detail::IsColumns<Layout>::value)                                                                         \
      builtin(reinterpret_cast<pointer*>(a.x), reinterpret_cast<const pointer*>(from), stride, 1);                \
    else                                                                                                          \
      builtin(reinterpret_cast<pointer*>(a.x), reinterpret_cast<const pointer*>(from), stride, 0);                \
  }

#define ORDITO_MOVE_SUM(m, n, k, type, pointer, load, store)                                                    \
  static __device__ __inline__ void load_matrix_sync(fragment<accumulator, m, n, k, type>& c, const type* from, \
                                                     unsigned stride, layout_t layout) {                        \
    if (layout == mem_row_major)                                                                                \
      load(reinterpret_cast<pointer*>(c.x), reinterpret_cast<const pointer*>(from), stride, 0);                 \
    else                                                                                                        \
      load(reinterpret_cast<pointer*>(c.x), reinterpret_cast<const pointer*>(from), stride, 1);                 \
  }                                                                                                             \
  static __device__ __inline__ void store_matrix_sync(type* to, const fragment<accumulator, m, n, k, type>& c,  \
                                                      unsigned stride, layout_t layout) {                       \
    if (layout == mem_row_major)                                                                                \
      store(reinterpret_cast<pointer*>(to), reinterpret_cast<const pointer*>(c.x), stride, 0);                  \
    else                                                                                                        \
      store(reinterpret_cast<pointer*>(to), reinterpret_cast<const pointer*>(c.x), stride, 1);                  \
  }

// The builtins number the layouts of a and b: 2 · (a is by columns) + (b is by columns).
#define ORDITO_MULTIPLY(m, n, k, type, to, toPointer, from, fromPointer, inPointer, builtin)                \
  template <class LayoutA, class LayoutB>                                                                   \
  static __device__ __inline__ void mma_sync(                                                               \
      fragment<accumulator, m, n, k, to>& d, const fragment<matrix_a, m, n, k, type, LayoutA>& a,           \
      const fragment<matrix_b, m, n, k, type, LayoutB>& b, const fragment<accumulator, m, n, k, from>& c) { \
    auto* out = reinterpret_cast<toPointer*>(d.x);                                                          \
    const auto* x = reinterpret_cast<const inPointer*>(a.x);                                                \
    const auto* y = reinterpret_cast<const inPointer*>(b.x);                                                \
    const auto* start = reinterpret_cast<const fromPointer*>(c.x);                                          \
    switch (2 * detail::IsColumns<LayoutA>::value + detail::IsColumns<LayoutB>::value) {                    \
      case 0: return builtin(out, x, y, start, 0, 0);                                                       \
      case 1: return builtin(out, x, y, start, 1, 0);                                                       \
      case 2: return builtin(out, x, y, start, 2, 0);                                                       \
      default: return builtin(out, x, y, start, 3, 0);                                                      \
    }                                                                                                       \
  }

// Integers may saturate.
#define ORDITO_MULTIPLY_INTEGERS(m, n, k, type, builtin)                                                             \
  template <class LayoutA, class LayoutB>                                                                            \
  static __device__ __inline__ void mma_sync(fragment<accumulator, m, n, k, int>& d,                                 \
                                             const fragment<matrix_a, m, n, k, type, LayoutA>& a,                    \
                                             const fragment<matrix_b, m, n, k, type, LayoutB>& b,                    \
                                             const fragment<accumulator, m, n, k, int>& c, bool saturates = false) { \
    const int* x = detail::words(a);                                                                                 \
    const int* y = detail::words(b);                                                                                 \
    switch (2 * detail::IsColumns<LayoutA>::value + detail::IsColumns<LayoutB>::value + (saturates ? 4 : 0)) {       \
      case 0: return builtin(d.x, x, y, c.x, 0, 0);                                                                  \
      case 1: return builtin(d.x, x, y, c.x, 1, 0);                                                                  \
      case 2: return builtin(d.x, x, y, c.x, 2, 0);                                                                  \
      case 3: return builtin(d.x, x, y, c.x, 3, 0);                                                                  \
      case 4: return builtin(d.x, x, y, c.x, 0, 1);                                                                  \
      case 5: return builtin(d.x, x, y, c.x, 1, 1);                                                                  \
      case 6: return builtin(d.x, x, y, c.x, 2, 1);                                                                  \
      default: return builtin(d.x, x, y, c.x, 3, 1);                                                                 \
    }                                                                                                                \
  }

#define ORDITO_SHAPE(m, n, k, shape, elementsA, elementsB)                                               \
  ORDITO_SUM(m, n, k, __half, 8)                                                                         \
  ORDITO_SUM(m, n, k, float, 8)                                                                          \
  ORDITO_SUM(m, n, k, int, 8)                                                                            \
  ORDITO_MOVE_SUM(m, n, k, __half, int, __hmma_##shape##_ld_c_f16, __hmma_##shape##_st_c_f16)            \
  ORDITO_MOVE_SUM(m, n, k, float, float, __hmma_##shape##_ld_c_f32, __hmma_##shape##_st_c_f32)           \
  ORDITO_MOVE_SUM(m, n, k, int, int, __imma_##shape##_ld_c, __imma_##shape##_st_c_i32)                   \
  ORDITO_INPUT(matrix_a, m, n, k, __half, __half, 16)                                                    \
  ORDITO_INPUT(matrix_b, m, n, k, __half, __half, 16)                                                    \
  ORDITO_LOAD(matrix_a, m, n, k, __half, __half, int, __hmma_##shape##_ld_a)                             \
  ORDITO_LOAD(matrix_b, m, n, k, __half, __half, int, __hmma_##shape##_ld_b)                             \
  ORDITO_MULTIPLY(m, n, k, __half, __half, int, __half, int, int, __hmma_##shape##_mma_f16f16)           \
  ORDITO_MULTIPLY(m, n, k, __half, float, float, __half, int, int, __hmma_##shape##_mma_f32f16)          \
  ORDITO_MULTIPLY(m, n, k, __half, __half, int, float, float, int, __hmma_##shape##_mma_f16f32)          \
  ORDITO_MULTIPLY(m, n, k, __half, float, float, float, float, int, __hmma_##shape##_mma_f32f32)         \
  ORDITO_INPUT(matrix_a, m, n, k, __nv_bfloat16, __nv_bfloat16, elementsA)                               \
  ORDITO_INPUT(matrix_b, m, n, k, __nv_bfloat16, __nv_bfloat16, elementsB)                               \
  ORDITO_LOAD(matrix_a, m, n, k, __nv_bfloat16, __nv_bfloat16, int, __mma_bf16_##shape##_ld_a)           \
  ORDITO_LOAD(matrix_b, m, n, k, __nv_bfloat16, __nv_bfloat16, int, __mma_bf16_##shape##_ld_b)           \
  ORDITO_MULTIPLY(m, n, k, __nv_bfloat16, float, float, float, float, int, __mma_bf16_##shape##_mma_f32) \
  ORDITO_INPUT(matrix_a, m, n, k, signed char, signed char, elementsA)                                   \
  ORDITO_INPUT(matrix_b, m, n, k, signed char, signed char, elementsB)                                   \
  ORDITO_LOAD(matrix_a, m, n, k, signed char, signed char, int, __imma_##shape##_ld_a_s8)                \
  ORDITO_LOAD(matrix_b, m, n, k, signed char, signed char, int, __imma_##shape##_ld_b_s8)                \
  ORDITO_MULTIPLY_INTEGERS(m, n, k, signed char, __imma_##shape##_mma_s8)                                \
  ORDITO_INPUT(matrix_a, m, n, k, unsigned char, unsigned char, elementsA)                               \
  ORDITO_INPUT(matrix_b, m, n, k, unsigned char, unsigned char, elementsB)                               \
  ORDITO_LOAD(matrix_a, m, n, k, unsigned char, unsigned char, int, __imma_##shape##_ld_a_u8)            \
  ORDITO_LOAD(matrix_b, m, n, k, unsigned char, unsigned char, int, __imma_##shape##_ld_b_u8)            \
  ORDITO_MULTIPLY_INTEGERS(m, n, k, unsigned char, __imma_##shape##_mma_u8)
ORDITO_SHAPE(16, 16, 16, m16n16k16, 8, 8)
ORDITO_SHAPE(32, 8, 16, m32n8k16, 16, 4)
ORDITO_SHAPE(8, 32, 16, m8n32k16, 4, 16)
#undef ORDITO_SHAPE

// tf32: floats of which a multiplication reads the upper 19 bits.
ORDITO_SUM(16, 16, 8, float, 8)
ORDITO_MOVE_SUM(16, 16, 8, float, float, __mma_tf32_m16n16k8_ld_c, __mma_m16n16k8_st_c_f32)
ORDITO_INPUT(matrix_a, 16, 16, 8, precision::tf32, float, 4)
ORDITO_INPUT(matrix_b, 16, 16, 8, precision::tf32, float, 4)
ORDITO_LOAD(matrix_a, 16, 16, 8, precision::tf32, float, int, __mma_tf32_m16n16k8_ld_a)
ORDITO_LOAD(matrix_b, 16, 16, 8, precision::tf32, float, int, __mma_tf32_m16n16k8_ld_b)
ORDITO_MULTIPLY(16, 16, 8, precision::tf32, float, float, float, float, int, __mma_tf32_m16n16k8_mma_f32)

ORDITO_SUM(8, 8, 4, double, 2)
ORDITO_MOVE_SUM(8, 8, 4, double, double, __dmma_m8n8k4_ld_c, __dmma_m8n8k4_st_c_f64)
ORDITO_INPUT(matrix_a, 8, 8, 4, double, double, 1)
ORDITO_INPUT(matrix_b, 8, 8, 4, double, double, 1)
ORDITO_LOAD(matrix_a, 8, 8, 4, double, double, double, __dmma_m8n8k4_ld_a)
ORDITO_LOAD(matrix_b, 8, 8, 4, double, double, double, __dmma_m8n8k4_ld_b)
ORDITO_MULTIPLY(8, 8, 4, double, double, double, double, double, double, __dmma_m8n8k4_mma_f64)

// Integers of 4 bits and single bits. a lies by rows and b by columns, as the instructions want it.
#define ORDITO_PACKED_INPUTS(k, type, word, count, loadA, loadB)                                      \
  template <>                                                                                         \
  struct fragment<matrix_a, 8, 8, k, type, row_major> : detail::PackedElements<type, word, count> {}; \
  template <>                                                                                         \
  struct fragment<matrix_b, 8, 8, k, type, col_major> : detail::PackedElements<type, word, count> {}; \
  static __device__ __inline__ void load_matrix_sync(fragment<matrix_a, 8, 8, k, type, row_major>& a, \
                                                     const void* from, unsigned stride) {             \
    loadA(detail::words(a), static_cast<const int*>(from), stride, 0);                                \
  }                                                                                                   \
  static __device__ __inline__ void load_matrix_sync(fragment<matrix_b, 8, 8, k, type, col_major>& b, \
                                                     const void* from, unsigned stride) {             \
    loadB(detail::words(b), static_cast<const int*>(from), stride, 1);                                \
  }
#define ORDITO_MULTIPLY_PACKED(type, builtin)                                                                         \
  static __device__ __inline__ void mma_sync(fragment<accumulator, 8, 8, 32, int>& d,                                 \
                                             const fragment<matrix_a, 8, 8, 32, type, row_major>& a,                  \
                                             const fragment<matrix_b, 8, 8, 32, type, col_major>& b,                  \
                                             const fragment<accumulator, 8, 8, 32, int>& c, bool saturates = false) { \
    if (saturates)                                                                                                    \
      builtin(d.x, detail::words(a), detail::words(b), c.x, 1, 1);                                                    \
    else                                                                                                              \
      builtin(d.x, detail::words(a), detail::words(b), c.x, 1, 0);                                                    \
  }

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 750
ORDITO_SUM(8, 8, 32, int, 2)
ORDITO_MOVE_SUM(8, 8, 32, int, int, __imma_m8n8k32_ld_c, __imma_m8n8k32_st_c_i32)
ORDITO_PACKED_INPUTS(32, experimental::precision::s4, int, 8, __imma_m8n8k32_ld_a_s4, __imma_m8n8k32_ld_b_s4)
ORDITO_PACKED_INPUTS(32, experimental::precision::u4, unsigned, 8, __imma_m8n8k32_ld_a_u4, __imma_m8n8k32_ld_b_u4)
ORDITO_MULTIPLY_PACKED(experimental::precision::s4, __imma_m8n8k32_mma_s4)
ORDITO_MULTIPLY_PACKED(experimental::precision::u4, __imma_m8n8k32_mma_u4)

ORDITO_SUM(8, 8, 128, int, 2)
ORDITO_MOVE_SUM(8, 8, 128, int, int, __bmma_m8n8k128_ld_c, __bmma_m8n8k128_st_c_i32)
ORDITO_PACKED_INPUTS(128, experimental::precision::b1, unsigned, 32, __bmma_m8n8k128_ld_a_b1, __bmma_m8n8k128_ld_b_b1)

/// d = c + the number of bits set in a row of a combined with a column of b. AND wants compute capability 8.0.
static __device__ __inline__ void bmma_sync(
    fragment<accumulator, 8, 8, 128, int>& d,
    const fragment<matrix_a, 8, 8, 128, experimental::precision::b1, row_major>& a,
    const fragment<matrix_b, 8, 8, 128, experimental::precision::b1, col_major>& b,
    const fragment<accumulator, 8, 8, 128, int>& c, experimental::bmmaBitOp combine = experimental::bmmaBitOpXOR,
    experimental::bmmaAccumulateOp = experimental::bmmaAccumulateOpPOPC) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  if (combine == experimental::bmmaBitOpAND)
    return __bmma_m8n8k128_mma_and_popc_b1(d.x, detail::words(a), detail::words(b), c.x, 1);
#else
  if (combine == experimental::bmmaBitOpAND) __trap();
#endif
  __bmma_m8n8k128_mma_xor_popc_b1(d.x, detail::words(a), detail::words(b), c.x, 1);
}
#endif

#undef ORDITO_MULTIPLY_PACKED
#undef ORDITO_PACKED_INPUTS
#undef ORDITO_MULTIPLY_INTEGERS
#undef ORDITO_MULTIPLY
#undef ORDITO_MOVE_SUM
#undef ORDITO_LOAD
#undef ORDITO_SUM
#undef ORDITO_INPUT

template <class Use, int m, int n, int k, class Type, class Layout, class Value>
static __device__ __inline__ void fill_fragment(fragment<Use, m, n, k, Type, Layout>& f, const Value& value) {
  for (int i = 0; i < f.num_storage_elements; ++i)
    f.x[i] = static_cast<typename fragment<Use, m, n, k, Type, Layout>::storage_element_type>(value);
}

/// A float rounded to tf32, ties away from zero.
static __device__ __inline__ float __float_to_tf32(float value) {
  int bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
  return __int_as_float(bits);
}

}  // namespace wmma
}  // namespace nvcuda

#endif
#endif
