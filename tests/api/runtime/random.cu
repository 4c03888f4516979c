// Random numbers of kernels and of the library: the sequences are those that NVIDIA's library makes, whose numbers for
// the seed 1234 stand below.
#include <curand.h>
#include <curand_kernel.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "expect.hpp"

struct Expected {
  curandRngType_t type;
  size_t sequences;   // in the library's output
  unsigned first[4];  // of the library; for all but Philox the first numbers of four sequences
  unsigned second;    // of the first sequence
  float uniform;
  double uniformDouble;
  double normalDouble[2];
  unsigned normal[2], logNormal[2];  // an H100's bits: of mean 1 and deviation 2, and of 1 and 0.5
};

const Expected kXorwow = {CURAND_RNG_PSEUDO_XORWOW,
                          4096,
                          {0x253d5e15, 0xd1f7605a, 0x8ce6f6f8, 0x4b79ff67},
                          0x6f558604,
                          0.145467639f,
                          0.43489880438841294,
                          {0.35873979852445503, -1.239592503223552},
                          {0x4023f6f2, 0xc0269a1b},
                          {0x408089ab, 0x3f8d59ae}};
const Expected kMrg = {CURAND_RNG_PSEUDO_MRG32K3A,
                       81920,
                       {0xc96891f0, 0x26f0d612, 0xef269080, 0xfc8fa50e},
                       0x9650c684,
                       0.786751866f,
                       0.78675186271572939,
                       {-0.36065364611174472, -0.59128140374174409},
                       {0x3e8eb0d6, 0xbe3af1b8},
                       {0x401143b7, 0x40017177}};
const Expected kPhilox = {CURAND_RNG_PSEUDO_PHILOX4_32_10,
                          1,
                          {0x2090b348, 0xda7cf0ab, 0x4401906f, 0xcbca470e},
                          0xda7cf0ab,
                          0.12720795f,
                          0.85346899543001431,
                          {-0.53952669590731883, 0.16063334644202293},
                          {0xc00ee929, 0x405d54f1},
                          {0x3f9b0e49, 0x40a0d30d}};

bool isExact(const float* numbers, const unsigned* bits) { return std::memcmp(numbers, bits, 2 * sizeof *bits) == 0; }
bool isNear(double a, double b, double error) { return std::fabs(a - b) <= error * std::fabs(b); }

/// The device's numbers have a GPU's bits, the host's are those of the C library's functions.
void testNormalBits(curandGenerator_t device, curandGenerator_t host, const Expected& expected) {
  const size_t n = 1000;
  std::vector<float> got(n), hosts(n);
  float* numbers = nullptr;
  EXPECT_OK(cudaMalloc(&numbers, n * sizeof *numbers));
  for (const bool isLog : {false, true}) {
    const auto make = [&](curandGenerator_t g, float* to) {
      EXPECT(curandSetGeneratorOffset(g, 0) == CURAND_STATUS_SUCCESS);
      return isLog ? curandGenerateLogNormal(g, to, n, 1, 0.5f) : curandGenerateNormal(g, to, n, 1, 2);
    };
    EXPECT(make(device, numbers) == CURAND_STATUS_SUCCESS && make(host, hosts.data()) == CURAND_STATUS_SUCCESS);
    EXPECT_OK(cudaMemcpy(got.data(), numbers, n * sizeof *numbers, cudaMemcpyDeviceToHost));
    EXPECT(isExact(got.data(), isLog ? expected.logNormal : expected.normal));
    for (size_t i = 0; i < n; ++i) EXPECT(std::fabs(got[i] - hosts[i]) < 1e-4f);
    EXPECT(got != hosts);
  }
  EXPECT_OK(cudaFree(numbers));
}

void testLibrary(const Expected& expected) {
  const size_t n = 100000;
  curandGenerator_t device, host;
  EXPECT(curandCreateGenerator(&device, expected.type) == CURAND_STATUS_SUCCESS);
  EXPECT(curandCreateGeneratorHost(&host, expected.type) == CURAND_STATUS_SUCCESS);
  for (curandGenerator_t g : {device, host}) {
    EXPECT(curandSetPseudoRandomGeneratorSeed(g, 1234) == CURAND_STATUS_SUCCESS);
    unsigned* bits = nullptr;
    EXPECT_OK(cudaMalloc(&bits, n * sizeof *bits));
    std::vector<unsigned> got(n);
    unsigned* to = g == device ? bits : got.data();
    EXPECT(curandGenerate(g, to, 3) == CURAND_STATUS_SUCCESS);  // in two parts
    EXPECT(curandGenerate(g, to + 3, n - 3) == CURAND_STATUS_SUCCESS);
    if (g == device) EXPECT_OK(cudaMemcpy(got.data(), bits, n * sizeof *bits, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 4; ++i) EXPECT(got[i] == expected.first[i]);
    EXPECT(got[expected.sequences] == expected.second);
    EXPECT(curandSetGeneratorOffset(g, 50001) == CURAND_STATUS_SUCCESS);
    unsigned later = 0;
    EXPECT(curandGenerate(g, to, 1) == CURAND_STATUS_SUCCESS);
    EXPECT_OK(cudaMemcpy(&later, to, sizeof later, cudaMemcpyDefault));
    EXPECT(later == got[50001]);
    EXPECT_OK(cudaFree(bits));
  }
  std::vector<float> uniform(n), normal(n);
  std::vector<double> doubles(n);
  auto again = [&] { EXPECT(curandSetGeneratorOffset(host, 0) == CURAND_STATUS_SUCCESS); };
  again();
  EXPECT(curandGenerateUniform(host, uniform.data(), n) == CURAND_STATUS_SUCCESS);
  EXPECT(isNear(uniform[0], expected.uniform, 1e-7));
  again();
  EXPECT(curandGenerateUniformDouble(host, doubles.data(), n) == CURAND_STATUS_SUCCESS);
  EXPECT(isNear(doubles[0], expected.uniformDouble, 1e-15));
  again();
  EXPECT(curandGenerateNormalDouble(host, doubles.data(), n, 0, 1) == CURAND_STATUS_SUCCESS);
  for (int i = 0; i < 2; ++i) EXPECT(isNear(doubles[i], expected.normalDouble[i], 1e-12));
  again();
  EXPECT(curandGenerateNormal(host, normal.data(), n, 10, 2) == CURAND_STATUS_SUCCESS);
  double mean = 0, square = 0;
  for (float x : normal) mean += x / n, square += (x - 10.0) * (x - 10.0) / n;
  EXPECT(isNear(mean, 10, 0.01) && isNear(square, 4, 0.03));
  testNormalBits(device, host, expected);
  EXPECT(curandDestroyGenerator(device) == CURAND_STATUS_SUCCESS);
  EXPECT(curandDestroyGenerator(host) == CURAND_STATUS_SUCCESS);
}

struct Drawn {
  unsigned first, second, skipped, third;
  float uniform;
  double uniformDouble, normalDouble[2];
  float normal[2], logNormal[2];
};

template <class State>
__global__ void draw(Drawn* drawn) {
  State state;
  curand_init(1234, threadIdx.x, 0, &state);
  Drawn& out = drawn[threadIdx.x];
  out.first = curand(&state);
  out.second = curand(&state);
  out.third = curand(&state);
  curand_init(1234, threadIdx.x, 1, &state);
  skipahead(1, &state);
  out.skipped = curand(&state);
  curand_init(1234, threadIdx.x, 0, &state);
  out.uniform = curand_uniform(&state);
  curand_init(1234, threadIdx.x, 0, &state);
  out.uniformDouble = curand_uniform_double(&state);
  curand_init(1234, threadIdx.x, 0, &state);
  out.normalDouble[0] = curand_normal_double(&state);
  out.normalDouble[1] = curand_normal_double(&state);
  curand_init(1234, threadIdx.x, 0, &state);
  for (float& number : out.normal) number = fmaf(2, curand_normal(&state), 1);
  curand_init(1234, threadIdx.x, 0, &state);
  for (float& number : out.logNormal) number = curand_log_normal(&state, 1, 0.5f);
}

template <class State>
void testKernel(const Expected& expected) {
  Drawn *device = nullptr, drawn[4];
  EXPECT_OK(cudaMalloc(&device, sizeof drawn));
  draw<State><<<1, 4>>>(device);
  EXPECT_OK(cudaMemcpy(drawn, device, sizeof drawn, cudaMemcpyDeviceToHost));
  EXPECT(drawn[0].first == expected.first[0] && drawn[0].second == expected.second);
  if (expected.type == CURAND_RNG_PSEUDO_PHILOX4_32_10)
    EXPECT(drawn[0].third == expected.first[2] && drawn[1].first == 0xd115a128);
  else
    for (int i = 0; i < 4; ++i) EXPECT(drawn[i].first == expected.first[i]);
  for (const Drawn& d : drawn) EXPECT(d.skipped == d.third);
  EXPECT(isNear(drawn[0].uniform, expected.uniform, 1e-7) || expected.type == CURAND_RNG_PSEUDO_PHILOX4_32_10);
  EXPECT(isNear(drawn[0].uniformDouble, expected.uniformDouble, 1e-15));
  for (int i = 0; i < 2; ++i) EXPECT(isNear(drawn[0].normalDouble[i], expected.normalDouble[i], 1e-12));
  EXPECT(isExact(drawn[0].normal, expected.normal) && isExact(drawn[0].logNormal, expected.logNormal));
  EXPECT_OK(cudaFree(device));
}

int main() {
  for (const Expected& expected : {kXorwow, kMrg, kPhilox}) testLibrary(expected);
  testKernel<curandState>(kXorwow);
  testKernel<curandStateMRG32k3a>(kMrg);
  testKernel<curandStatePhilox4_32_10_t>(kPhilox);
  curandGenerator_t generator;
  EXPECT(curandCreateGenerator(&generator, static_cast<curandRngType_t>(123)) == CURAND_STATUS_TYPE_ERROR);
  EXPECT(curandGenerateUniform(nullptr, nullptr, 1) == CURAND_STATUS_NOT_INITIALIZED);
  return finish();
}
