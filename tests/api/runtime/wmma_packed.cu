// mma.h's experimental types: products of integers of 4 bits and of single bits, against sums one by one.
#include <mma.h>

#include "expect.hpp"

using namespace nvcuda;
namespace packed = nvcuda::wmma::experimental;

template <class Type>
__global__ void multiplyNibbles(int* c, const unsigned* a, const unsigned* b, bool saturates) {
  wmma::fragment<wmma::matrix_a, 8, 8, 32, Type, wmma::row_major> x;
  wmma::fragment<wmma::matrix_b, 8, 8, 32, Type, wmma::col_major> y;
  wmma::fragment<wmma::accumulator, 8, 8, 32, int> sum;
  static_assert(x.num_elements == 8 && x.num_storage_elements == 1, "eight numbers in a word");
  wmma::load_matrix_sync(sum, c, 8, wmma::mem_row_major);
  wmma::load_matrix_sync(x, reinterpret_cast<const Type*>(a), 32);
  wmma::load_matrix_sync(y, reinterpret_cast<const Type*>(b), 32);
  wmma::mma_sync(sum, x, y, sum, saturates);
  wmma::store_matrix_sync(c, sum, 8, wmma::mem_row_major);
}

__global__ void combineBits(int* c, const unsigned* a, const unsigned* b, packed::bmmaBitOp combine) {
  wmma::fragment<wmma::matrix_a, 8, 8, 128, packed::precision::b1, wmma::row_major> x;
  wmma::fragment<wmma::matrix_b, 8, 8, 128, packed::precision::b1, wmma::col_major> y;
  wmma::fragment<wmma::accumulator, 8, 8, 128, int> sum;
  wmma::fill_fragment(sum, 3);
  wmma::load_matrix_sync(x, reinterpret_cast<const packed::precision::b1*>(a), 128);
  wmma::load_matrix_sync(y, reinterpret_cast<const packed::precision::b1*>(b), 128);
  // The operation is a constant for the compiler of a GPU, so both are spelt out.
  if (combine == packed::bmmaBitOpAND)
    wmma::bmma_sync(sum, x, y, sum, packed::bmmaBitOpAND);
  else
    wmma::bmma_sync(sum, x, y, sum);
  wmma::store_matrix_sync(c, sum, 8, wmma::mem_row_major);
}

static unsigned *a, *b;
static int* c;

static int nibble(const unsigned* words, int i, bool is_signed) {
  const int bits = words[i / 8] >> i % 8 * 4 & 15;
  return is_signed && bits > 7 ? bits - 16 : bits;
}

static void checkNibbles(bool is_signed) {
  for (int i = 0; i < 64; ++i) c[i] = i - 32;
  if (is_signed)
    multiplyNibbles<packed::precision::s4><<<1, 32>>>(c, a, b, false);
  else
    multiplyNibbles<packed::precision::u4><<<1, 32>>>(c, a, b, false);
  EXPECT_OK(cudaDeviceSynchronize());
  int wrong = 0;
  for (int i = 0; i < 64; ++i) {
    int sum = i - 32;
    for (int k = 0; k < 32; ++k) sum += nibble(a, i / 8 * 32 + k, is_signed) * nibble(b, i % 8 * 32 + k, is_signed);
    wrong += c[i] != sum;
  }
  EXPECT(wrong == 0);
}

static void checkSaturation() {
  for (int i = 0; i < 64; ++i) c[i] = 0x7fffffff;
  for (int i = 0; i < 32; ++i) a[i] = b[i] = 0x77777777u;
  multiplyNibbles<packed::precision::s4><<<1, 32>>>(c, a, b, true);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(c[0] == 0x7fffffff && c[63] == 0x7fffffff);
}

static void checkBits(packed::bmmaBitOp combine) {
  combineBits<<<1, 32>>>(c, a, b, combine);
  EXPECT_OK(cudaDeviceSynchronize());
  int wrong = 0;
  for (int i = 0; i < 64; ++i) {
    int sum = 3;
    for (int w = 0; w < 4; ++w) {
      const unsigned x = a[i / 8 * 4 + w], y = b[i % 8 * 4 + w];
      sum += __builtin_popcount(combine == packed::bmmaBitOpAND ? x & y : x ^ y);
    }
    wrong += c[i] != sum;
  }
  EXPECT(wrong == 0);
}

int main() {
  EXPECT_OK(cudaMallocManaged(&a, 32 * sizeof(unsigned)));
  EXPECT_OK(cudaMallocManaged(&b, 32 * sizeof(unsigned)));
  EXPECT_OK(cudaMallocManaged(&c, 64 * sizeof(int)));
  unsigned random = 12345;
  for (int i = 0; i < 32; ++i) {
    a[i] = random = random * 1664525u + 1013904223u;
    b[i] = random = random * 1664525u + 1013904223u;
  }
  checkNibbles(true);
  checkNibbles(false);
  checkBits(packed::bmmaBitOpXOR);
  checkBits(packed::bmmaBitOpAND);
  checkSaturation();
  return finish();
}
