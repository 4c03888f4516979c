// Functions of whole numbers in kernels, for any arguments, against what the CUDA Math API says of them, written out.
#include <cstdint>
#include <vector>

#include "expect.hpp"

enum Function {
  kBytePerm,
  kFunnelLeft,
  kFunnelLeftClamped,
  kFunnelRight,
  kFunnelRightClamped,
  kBrev,
  kFfs,
  kClz,
  kPopc,
  kMul24,
  kUmul24,
  kMulhi,
  kUmulhi,
  kSad,
  kUsad,
  kHadd,
  kRhadd,
  kUhadd,
  kUrhadd,
  kDp4a,
  kUdp4a,
  kDp2aLow,
  kDp2aHigh,
  kCount
};

__device__ unsigned onDevice(int function, unsigned a, unsigned b, unsigned c) {
  const int x = static_cast<int>(a), y = static_cast<int>(b), z = static_cast<int>(c);
  switch (function) {
    case kBytePerm: return __byte_perm(a, b, c);
    case kFunnelLeft: return __funnelshift_l(a, b, c);
    case kFunnelLeftClamped: return __funnelshift_lc(a, b, c);
    case kFunnelRight: return __funnelshift_r(a, b, c);
    case kFunnelRightClamped: return __funnelshift_rc(a, b, c);
    case kBrev: return __brev(a);
    case kFfs: return static_cast<unsigned>(__ffs(x));
    case kClz: return static_cast<unsigned>(__clz(x));
    case kPopc: return static_cast<unsigned>(__popc(a));
    case kMul24: return static_cast<unsigned>(__mul24(x, y));
    case kUmul24: return __umul24(a, b);
    case kMulhi: return static_cast<unsigned>(__mulhi(x, y));
    case kUmulhi: return __umulhi(a, b);
    case kSad: return __sad(x, y, c);
    case kUsad: return __usad(a, b, c);
    case kHadd: return static_cast<unsigned>(__hadd(x, y));
    case kRhadd: return static_cast<unsigned>(__rhadd(x, y));
    case kUhadd: return __uhadd(a, b);
    case kUrhadd: return __urhadd(a, b);
    case kDp4a: return static_cast<unsigned>(__dp4a(x, y, z));
    case kUdp4a: return __dp4a(a, b, c);
    case kDp2aLow: return static_cast<unsigned>(__dp2a_lo(x, y, z));
    default: return static_cast<unsigned>(__dp2a_hi(x, y, z));
  }
}

unsigned shifted(uint64_t x, unsigned low) { return static_cast<unsigned>(x >> low); }
template <class Part>
int64_t part(unsigned x, unsigned k) {
  return static_cast<Part>(x >> (k * 8 * sizeof(Part)));
}
unsigned dp2a(unsigned a, unsigned b, unsigned c, unsigned first) {
  return static_cast<unsigned>(part<int16_t>(a, 0) * part<int8_t>(b, first) +
                               part<int16_t>(a, 1) * part<int8_t>(b, first + 1) + c);
}

/// The lower three bits of each of four selectors choose a byte of b and a; the others are not looked at.
unsigned bytePerm(unsigned a, unsigned b, unsigned c) {
  const uint64_t bytes = uint64_t{b} << 32 | a;
  unsigned result = 0;
  for (unsigned k = 0; k < 4; ++k) result |= static_cast<unsigned>(bytes >> (8 * (c >> (4 * k) & 7)) & 255) << (8 * k);
  return result;
}

unsigned written(int function, unsigned a, unsigned b, unsigned c) {
  const auto x = static_cast<int64_t>(static_cast<int>(a)), y = static_cast<int64_t>(static_cast<int>(b));
  const uint64_t both = uint64_t{b} << 32 | a;
  const unsigned clamped = c < 32 ? c : 32;
  unsigned n = 0;
  switch (function) {
    case kBytePerm: return bytePerm(a, b, c);
    case kFunnelLeft: return shifted(both << (c & 31), 32);
    case kFunnelLeftClamped: return clamped == 32 ? a : shifted(both << clamped, 32);
    case kFunnelRight: return shifted(both, c & 31);
    case kFunnelRightClamped: return shifted(both, clamped);
    case kBrev:
      for (unsigned k = 0; k < 32; ++k) n |= (a >> k & 1) << (31 - k);
      return n;
    case kFfs:
      while (n < 32 && !(a >> n & 1)) ++n;
      return n == 32 ? 0 : n + 1;
    case kClz:
      while (n < 32 && !(a << n >> 31)) ++n;
      return n;
    case kPopc:
      for (unsigned k = 0; k < 32; ++k) n += a >> k & 1;
      return n;
    case kMul24:
      return static_cast<unsigned>((static_cast<int64_t>(a << 8 & ~255u) << 32 >> 40) *
                                   (static_cast<int64_t>(b << 8 & ~255u) << 32 >> 40));
    case kUmul24: return static_cast<unsigned>(uint64_t{a & 0xffffff} * (b & 0xffffff));
    case kMulhi: return static_cast<unsigned>(x * y >> 32);
    case kUmulhi: return shifted(uint64_t{a} * b, 32);
    case kSad: return static_cast<unsigned>(x > y ? x - y : y - x) + c;
    case kUsad: return (a > b ? a - b : b - a) + c;
    case kHadd: return static_cast<unsigned>((x + y) >> 1);
    case kRhadd: return static_cast<unsigned>((x + y + 1) >> 1);
    case kUhadd: return shifted(uint64_t{a} + b, 1);
    case kUrhadd: return shifted(uint64_t{a} + b + 1, 1);
    case kDp4a:
      n = c;
      for (unsigned k = 0; k < 4; ++k) n += static_cast<unsigned>(part<int8_t>(a, k) * part<int8_t>(b, k));
      return n;
    case kUdp4a:
      n = c;
      for (unsigned k = 0; k < 4; ++k) n += static_cast<unsigned>(part<uint8_t>(a, k) * part<uint8_t>(b, k));
      return n;
    case kDp2aLow: return dp2a(a, b, c, 0);
    default: return dp2a(a, b, c, 2);
  }
}

__global__ void evaluateAll(const unsigned* in, unsigned* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    for (int f = 0; f < kCount; ++f) out[f * n + i] = onDevice(f, in[3 * i], in[3 * i + 1], in[3 * i + 2]);
}

/// Bytes, small numbers, the ends of the range, and any.
std::vector<unsigned> arguments(int n) {
  std::vector<unsigned> numbers;
  unsigned state = 1;
  for (int i = 0; i < 3 * n; ++i) {
    state = state * 1664525 + 1013904223;
    const unsigned kind = state >> 28, x = state << 4 ^ state >> 13;
    numbers.push_back(kind < 2   ? x & 63
                      : kind < 3 ? 0
                      : kind < 4 ? ~0u - (x & 1)
                      : kind < 5 ? 0x80000000u - (x & 1)
                                 : x);
  }
  return numbers;
}

int main() {
  const int n = 5000;
  const std::vector<unsigned> in = arguments(n);
  std::vector<unsigned> out(n * kCount);
  unsigned *from, *to;
  EXPECT_OK(cudaMalloc(&from, in.size() * sizeof(unsigned)));
  EXPECT_OK(cudaMalloc(&to, out.size() * sizeof(unsigned)));
  EXPECT_OK(cudaMemcpy(from, in.data(), in.size() * sizeof(unsigned), cudaMemcpyHostToDevice));
  evaluateAll<<<(n + 127) / 128, 128>>>(from, to, n);
  EXPECT_OK(cudaMemcpy(out.data(), to, out.size() * sizeof(unsigned), cudaMemcpyDeviceToHost));
  for (int f = 0; f < kCount; ++f)
    for (int i = 0; i < n; ++i) {
      const unsigned* a = &in[3 * i];
      const unsigned wanted = written(f, a[0], a[1], a[2]);
      if (out[f * n + i] != wanted) {
        std::printf("function %d of %08x %08x %08x: %08x for %08x\n", f, a[0], a[1], a[2], out[f * n + i], wanted);
        EXPECT(out[f * n + i] == wanted);
        break;
      }
    }
  return finish();
}
