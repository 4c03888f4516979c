// Sobol's sequences and Poisson's numbers of the library and of kernels, and MT19937: published numbers, and what makes
// a sequence quasirandom: of 2^k numbers each of 2^k equal parts of the interval has one.
#include <curand.h>
#include <curand_kernel.h>

#include <cmath>
#include <vector>

#include "expect.hpp"

constexpr unsigned kDimensions = 500, kNumbers = 256, kStart = 1000;

curandGenerator_t create(curandRngType_t type, unsigned dimensions = 1) {
  curandGenerator_t generator = nullptr;
  EXPECT(curandCreateGeneratorHost(&generator, type) == CURAND_STATUS_SUCCESS);
  if (type >= CURAND_RNG_QUASI_DEFAULT)
    EXPECT(curandSetQuasiRandomGeneratorDimensions(generator, dimensions) == CURAND_STATUS_SUCCESS);
  return generator;
}

// The first points in three dimensions, as Joe and Kuo print them.
void testPublishedPoints() {
  const double points[9][3] = {{0, 0, 0},
                               {0.5, 0.5, 0.5},
                               {0.75, 0.25, 0.25},
                               {0.25, 0.75, 0.75},
                               {0.375, 0.375, 0.625},
                               {0.875, 0.875, 0.125},
                               {0.625, 0.125, 0.875},
                               {0.125, 0.625, 0.375},
                               {0.1875, 0.3125, 0.9375}};
  curandGenerator_t generator = create(CURAND_RNG_QUASI_SOBOL32, 3), longs = create(CURAND_RNG_QUASI_SOBOL64, 3);
  unsigned bits[27];
  unsigned long long words[27];
  EXPECT(curandGenerate(generator, bits, 27) == CURAND_STATUS_SUCCESS);
  EXPECT(curandGenerateLongLong(longs, words, 27) == CURAND_STATUS_SUCCESS);
  for (int d = 0; d < 3; ++d)
    for (int i = 0; i < 9; ++i) {
      EXPECT(bits[9 * d + i] == points[i][d] * 4294967296.0);
      EXPECT(words[9 * d + i] == points[i][d] * 18446744073709551616.0);
    }
  EXPECT(curandGenerate(generator, bits, 26) == CURAND_STATUS_LENGTH_NOT_MULTIPLE);
  EXPECT(curandGenerate(longs, bits, 27) == CURAND_STATUS_TYPE_ERROR);
  EXPECT(curandGenerateLongLong(generator, words, 27) == CURAND_STATUS_TYPE_ERROR);
  EXPECT(curandSetQuasiRandomGeneratorDimensions(generator, 0) == CURAND_STATUS_OUT_OF_RANGE);
  EXPECT(curandSetPseudoRandomGeneratorSeed(generator, 1) == CURAND_STATUS_TYPE_ERROR);
  EXPECT(curandDestroyGenerator(generator) == CURAND_STATUS_SUCCESS);
  EXPECT(curandDestroyGenerator(longs) == CURAND_STATUS_SUCCESS);
}

void testParts(curandRngType_t type) {
  curandGenerator_t generator = create(type, kDimensions);
  std::vector<double> numbers(kDimensions * kNumbers);
  EXPECT(curandGenerateUniformDouble(generator, numbers.data(), numbers.size()) == CURAND_STATUS_SUCCESS);
  for (unsigned d = 0; d < kDimensions; ++d) {
    std::vector<int> hits(kNumbers);
    for (unsigned i = 0; i < kNumbers; ++i)
      ++hits[static_cast<size_t>(numbers[d * kNumbers + i] * kNumbers) % kNumbers];
    bool isEven = true;
    for (const int count : hits) isEven = isEven && count == 1;
    EXPECT(isEven);
  }
  EXPECT(curandDestroyGenerator(generator) == CURAND_STATUS_SUCCESS);
}

struct Drawn {
  unsigned bits, scrambled;
  unsigned long long longs;
  float uniform, normal;
};

__global__ void draw(curandDirectionVectors32_t* vectors, curandDirectionVectors32_t* scrambled, unsigned* constants,
                     curandDirectionVectors64_t* longs, Drawn* drawn) {
  const unsigned d = threadIdx.x;
  curandStateSobol32_t state;
  curandStateScrambledSobol32_t other;
  curandStateSobol64_t wide;
  curand_init(vectors[d], kStart, &state);
  curand_init(scrambled[d], constants[d], kStart, &other);
  curand_init(longs[d], kStart - 7, &wide);
  skipahead(7ull, &wide);
  Drawn& out = drawn[d];
  out.bits = curand(&state);
  out.uniform = curand_uniform(&state);
  out.normal = curand_normal(&state);
  out.scrambled = curand(&other);
  out.longs = curand(&wide);
}

template <class Vectors>
Vectors* copied(const Vectors* host, unsigned count) {
  Vectors* device = nullptr;
  EXPECT_OK(cudaMalloc(&device, count * sizeof(Vectors)));
  EXPECT_OK(cudaMemcpy(device, host, count * sizeof(Vectors), cudaMemcpyHostToDevice));
  return device;
}

/// Number `at` of every dimension, drawn by the library.
template <class Type, class Generate>
std::vector<Type> ofLibrary(curandRngType_t type, unsigned dimensions, unsigned at, const Generate& generate) {
  curandGenerator_t generator = create(type, dimensions);
  std::vector<Type> numbers(dimensions);
  EXPECT(curandSetGeneratorOffset(generator, at) == CURAND_STATUS_SUCCESS);
  EXPECT(generate(generator, numbers.data(), dimensions) == CURAND_STATUS_SUCCESS);
  EXPECT(curandDestroyGenerator(generator) == CURAND_STATUS_SUCCESS);
  return numbers;
}

void testKernel() {
  constexpr unsigned kThreads = 64;
  curandDirectionVectors32_t *vectors = nullptr, *scrambled = nullptr;
  curandDirectionVectors64_t* longs = nullptr;
  unsigned* constants = nullptr;
  EXPECT(curandGetDirectionVectors32(&vectors, CURAND_DIRECTION_VECTORS_32_JOEKUO6) == CURAND_STATUS_SUCCESS);
  EXPECT(curandGetDirectionVectors32(&scrambled, CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6) ==
         CURAND_STATUS_SUCCESS);
  EXPECT(curandGetDirectionVectors64(&longs, CURAND_DIRECTION_VECTORS_64_JOEKUO6) == CURAND_STATUS_SUCCESS);
  EXPECT(curandGetScrambleConstants32(&constants) == CURAND_STATUS_SUCCESS);
  Drawn *device = nullptr, drawn[kThreads];
  EXPECT_OK(cudaMalloc(&device, sizeof drawn));
  draw<<<1, kThreads>>>(copied(vectors, kThreads), copied(scrambled, kThreads), copied(constants, kThreads),
                        copied(longs, kThreads), device);
  EXPECT_OK(cudaMemcpy(drawn, device, sizeof drawn, cudaMemcpyDeviceToHost));
  const auto bits = ofLibrary<unsigned>(CURAND_RNG_QUASI_SOBOL32, kThreads, kStart, curandGenerate);
  const auto mixed = ofLibrary<unsigned>(CURAND_RNG_QUASI_SCRAMBLED_SOBOL32, kThreads, kStart, curandGenerate);
  const auto wide = ofLibrary<unsigned long long>(CURAND_RNG_QUASI_SOBOL64, kThreads, kStart, curandGenerateLongLong);
  const auto uniform = ofLibrary<float>(CURAND_RNG_QUASI_SOBOL32, kThreads, kStart + 1, curandGenerateUniform);
  const auto normal = ofLibrary<float>(CURAND_RNG_QUASI_SOBOL32, kThreads, kStart + 2,
                                       [](curandGenerator_t generator, float* numbers, size_t count) {
                                         return curandGenerateNormal(generator, numbers, count, 0, 1);
                                       });
  for (unsigned d = 0; d < kThreads; ++d) {
    EXPECT(drawn[d].bits == bits[d] && drawn[d].scrambled == mixed[d] && drawn[d].longs == wide[d]);
    EXPECT(drawn[d].uniform == uniform[d] && std::fabs(drawn[d].normal - normal[d]) < 1e-5);
  }
}

template <class State>
__global__ void drawPoisson(double lambda, unsigned* numbers) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  State state;
  curand_init(99, i, 0, &state);
  numbers[i] = curand_poisson(&state, lambda);
}

void expectPoisson(const std::vector<unsigned>& numbers, double lambda) {
  double sum = 0, squares = 0;
  for (const unsigned number : numbers) sum += number;
  const double mean = sum / numbers.size();
  for (const unsigned number : numbers) squares += (number - mean) * (number - mean);
  EXPECT(std::fabs(mean - lambda) < 5 * std::sqrt(lambda / numbers.size()));
  EXPECT(std::fabs(squares / numbers.size() / lambda - 1) < 0.06);
}

void testPoisson() {
  constexpr unsigned kCount = 1 << 14;
  std::vector<unsigned> numbers(kCount);
  unsigned* device = nullptr;
  EXPECT_OK(cudaMalloc(&device, kCount * sizeof(unsigned)));
  for (const double lambda : {0.5, 10.0, 300.0, 4e5}) {
    for (const curandRngType_t type :
         {CURAND_RNG_PSEUDO_DEFAULT, CURAND_RNG_PSEUDO_MT19937, CURAND_RNG_QUASI_SOBOL32}) {
      curandGenerator_t generator = create(type);
      EXPECT(curandGeneratePoisson(generator, numbers.data(), kCount, lambda) == CURAND_STATUS_SUCCESS);
      expectPoisson(numbers, lambda);
      EXPECT(curandDestroyGenerator(generator) == CURAND_STATUS_SUCCESS);
    }
    drawPoisson<curandStatePhilox4_32_10_t><<<kCount / 256, 256>>>(lambda, device);
    EXPECT_OK(cudaMemcpy(numbers.data(), device, kCount * sizeof(unsigned), cudaMemcpyDeviceToHost));
    expectPoisson(numbers, lambda);
  }
  curandGenerator_t generator = create(CURAND_RNG_PSEUDO_DEFAULT);
  EXPECT(curandGeneratePoisson(generator, numbers.data(), kCount, 0) == CURAND_STATUS_OUT_OF_RANGE);
  EXPECT(curandSetQuasiRandomGeneratorDimensions(generator, 2) == CURAND_STATUS_TYPE_ERROR);
  EXPECT(curandDestroyGenerator(generator) == CURAND_STATUS_SUCCESS);
}

int main() {
  testPublishedPoints();
  for (const curandRngType_t type : {CURAND_RNG_QUASI_SOBOL32, CURAND_RNG_QUASI_SCRAMBLED_SOBOL32,
                                     CURAND_RNG_QUASI_SOBOL64, CURAND_RNG_QUASI_SCRAMBLED_SOBOL64})
    testParts(type);
  testKernel();
  testPoisson();
  // The first number of the authors' own program.
  curandGenerator_t mersenne = create(CURAND_RNG_PSEUDO_MT19937);
  unsigned first = 0;
  EXPECT(curandSetPseudoRandomGeneratorSeed(mersenne, 5489) == CURAND_STATUS_SUCCESS);
  EXPECT(curandGenerate(mersenne, &first, 1) == CURAND_STATUS_SUCCESS && first == 3499211612u);
  EXPECT(curandDestroyGenerator(mersenne) == CURAND_STATUS_SUCCESS);
  return finish();
}
