// __int128 to and from floating point in kernels, against the host: every power of two, what lies beside it, halves
// that round to even.
#include <cstdio>
#include <vector>

#include "expect.hpp"

typedef __int128 s128;
typedef unsigned __int128 u128;

struct Row {
  u128 bits;
  double fromSigned, fromUnsigned;
  float fromSignedFloat, fromUnsignedFloat;
  s128 backSigned;
  u128 backUnsigned;
  s128 backFloat;
};

__host__ __device__ void fill(Row& row) {
  row.fromSigned = static_cast<double>(static_cast<s128>(row.bits));
  row.fromUnsigned = static_cast<double>(row.bits);
  row.fromSignedFloat = static_cast<float>(static_cast<s128>(row.bits));
  row.fromUnsignedFloat = static_cast<float>(row.bits);
  // What is out of range has no result in C++.
  const bool fits = row.fromSigned < 0x1p127 && row.fromSigned >= -0x1p127;
  row.backSigned = fits ? static_cast<s128>(row.fromSigned) : 0;
  row.backUnsigned = row.fromUnsigned < 0x1p128 ? static_cast<u128>(row.fromUnsigned / 3) : 0;
  row.backFloat = row.fromSignedFloat < 0x1p127f && row.fromSignedFloat >= -0x1p127f
                      ? static_cast<s128>(row.fromSignedFloat / 7)
                      : 0;
}

__global__ void convert(Row* rows, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) fill(rows[i]);
}

int main() {
  std::vector<Row> expected;
  const u128 one = 1;
  for (int bit = 0; bit < 128; ++bit)
    for (int below : {0, 23, 24, 25, 52, 53, 54, 64, 100})
      for (int change : {-1, 0, 1}) {
        const u128 other = below < bit ? one << (bit - below) : 0;
        for (const u128 value :
             {(one << bit) + other + static_cast<u128>(change), 0 - ((one << bit) + other) + static_cast<u128>(change)})
          expected.push_back({value, 0, 0, 0, 0, 0, 0, 0});
      }
  const int n = static_cast<int>(expected.size());
  Row* rows = nullptr;
  EXPECT((cudaMallocManaged(&rows, expected.size() * sizeof(Row))) == cudaSuccess);
  for (int i = 0; i < n; ++i) rows[i] = expected[static_cast<size_t>(i)];
  convert<<<(n + 127) / 128, 128>>>(rows, n);
  EXPECT((cudaDeviceSynchronize()) == cudaSuccess);
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    Row& row = expected[static_cast<size_t>(i)];
    fill(row);
    const bool same = row.fromSigned == rows[i].fromSigned && row.fromUnsigned == rows[i].fromUnsigned &&
                      row.fromSignedFloat == rows[i].fromSignedFloat &&
                      row.fromUnsignedFloat == rows[i].fromUnsignedFloat && row.backSigned == rows[i].backSigned &&
                      row.backUnsigned == rows[i].backUnsigned && row.backFloat == rows[i].backFloat;
    if (!same && ++wrong < 5)
      std::printf("%d: %016llx%016llx: %a %a %a %a, expected %a %a %a %a\n", i,
                  static_cast<unsigned long long>(row.bits >> 64), static_cast<unsigned long long>(row.bits),
                  rows[i].fromSigned, rows[i].fromUnsigned, static_cast<double>(rows[i].fromSignedFloat),
                  static_cast<double>(rows[i].fromUnsignedFloat), row.fromSigned, row.fromUnsigned,
                  static_cast<double>(row.fromSignedFloat), static_cast<double>(row.fromUnsignedFloat));
  }
  EXPECT(wrong == 0);
  return failures();
}
