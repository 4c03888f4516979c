// MTGP32: the numbers of its authors' own program (mtgp32-ref.c, github.com/MersenneTwister-Lab/MTGP) with the first
// and the 64th set of parameters and the seeds 1 and 64, from the library and from kernels; and that kernels' numbers
// of other kinds are made of these.
#include <curand.h>
#include <curand_kernel.h>
#include <curand_mtgp32_host.h>
#include <curand_mtgp32dc_p_11213.h>

#include <cmath>
#include <vector>

#include "expect.hpp"

constexpr unsigned kThreads = 256, kSets = 64, kTurn = kThreads * kSets, kTurns = 4;

struct Known {
  unsigned set, number, value;
};
constexpr Known kKnown[] = {{0, 0, 360948779u},     {0, 1, 1200908298u},   {0, 2, 2313932395u},
                            {0, 255, 39615257u},    {0, 256, 1798968667u}, {0, 999, 1214294347u},
                            {63, 0, 2578697425u},   {63, 1, 1895632634u},  {63, 2, 3128309269u},
                            {63, 255, 1470912286u}, {63, 256, 380352545u}, {63, 999, 362149714u}};

void expectKnown(const unsigned* numbers) {
  for (const Known& known : kKnown) {
    const unsigned at = known.number / kThreads * kTurn + known.set * kThreads + known.number % kThreads;
    EXPECT(numbers[at] == known.value);
  }
}

__global__ void draw(curandStateMtgp32* states, unsigned* numbers) {
  for (unsigned turn = 0; turn < kTurns; ++turn)
    numbers[turn * kTurn + blockIdx.x * kThreads + threadIdx.x] = curand(&states[blockIdx.x]);
}

/// Two threads of four draw: the others look on.
__global__ void drawSome(curandStateMtgp32* state, unsigned* numbers) {
  for (unsigned turn = 0; turn < 2; ++turn)
    numbers[2 * turn + threadIdx.x] = curand_mtgp32_specific(state, threadIdx.x, 2);
}

__global__ void drawKinds(curandStateMtgp32* state, float* uniform, float* normal, double* normalDouble,
                          unsigned* poisson) {
  uniform[threadIdx.x] = curand_uniform(state);
  normal[threadIdx.x] = curand_normal(state);
  normalDouble[threadIdx.x] = curand_normal_double(state);
  poisson[threadIdx.x] = curand_poisson(state, 10);
}

template <class T>
T* managed(size_t count) {
  T* memory = nullptr;
  EXPECT_OK(cudaMallocManaged(&memory, count * sizeof(T)));
  return memory;
}

void testLibrary() {
  unsigned* numbers = managed<unsigned>(kTurns * kTurn);
  for (const bool isHost : {true, false}) {
    curandGenerator_t generator = nullptr;
    EXPECT((isHost ? curandCreateGeneratorHost : curandCreateGenerator)(&generator, CURAND_RNG_PSEUDO_MTGP32) ==
           CURAND_STATUS_SUCCESS);
    EXPECT(curandSetPseudoRandomGeneratorSeed(generator, 0) == CURAND_STATUS_SUCCESS);
    EXPECT(curandSetGeneratorOrdering(generator, CURAND_ORDERING_PSEUDO_LEGACY) == CURAND_STATUS_SUCCESS);
    // In pieces that end where no turn does.
    const size_t first = 1000;
    EXPECT(curandGenerate(generator, numbers, first) == CURAND_STATUS_SUCCESS);
    EXPECT(curandGenerate(generator, numbers + first, kTurns * kTurn - first) == CURAND_STATUS_SUCCESS);
    EXPECT_OK(cudaDeviceSynchronize());
    expectKnown(numbers);
    EXPECT(curandDestroyGenerator(generator) == CURAND_STATUS_SUCCESS);
  }
  curandGenerator_t generator = nullptr;
  std::vector<float> normal(10001);
  EXPECT(curandCreateGeneratorHost(&generator, CURAND_RNG_PSEUDO_MTGP32) == CURAND_STATUS_SUCCESS);
  EXPECT(curandGenerateNormal(generator, normal.data(), 10000, 5, 2) == CURAND_STATUS_SUCCESS);
  double sum = 0, squares = 0;
  for (int i = 0; i < 10000; ++i) sum += normal[i], squares += (normal[i] - 5) * (normal[i] - 5);
  EXPECT(std::abs(sum / 10000 - 5) < 0.08 && std::abs(squares / 10000 - 4) < 0.2);
  EXPECT(curandDestroyGenerator(generator) == CURAND_STATUS_SUCCESS);
  EXPECT_OK(cudaFree(numbers));
}

void testKernels() {
  curandStateMtgp32* states = managed<curandStateMtgp32>(kSets);
  mtgp32_kernel_params* parameters = managed<mtgp32_kernel_params>(1);
  unsigned* numbers = managed<unsigned>(kTurns * kTurn);
  EXPECT(curandMakeMTGP32Constants(mtgp32dc_params_fast_11213, parameters) == CURAND_STATUS_SUCCESS);
  auto start = [&](int count) {
    return curandMakeMTGP32KernelState(states, mtgp32dc_params_fast_11213, parameters, count, 0);
  };
  EXPECT(start(201) == CURAND_STATUS_OUT_OF_RANGE);
  EXPECT(start(kSets) == CURAND_STATUS_SUCCESS);
  draw<<<kSets, kThreads>>>(states, numbers);
  EXPECT_OK(cudaDeviceSynchronize());
  expectKnown(numbers);
  EXPECT(start(1) == CURAND_STATUS_SUCCESS);
  drawSome<<<1, 2>>>(states, numbers + kTurn);
  EXPECT_OK(cudaDeviceSynchronize());
  for (unsigned i = 0; i < 4; ++i) EXPECT(numbers[kTurn + i] == numbers[i]);
  // Each kind takes the next 256 numbers.
  EXPECT(start(1) == CURAND_STATUS_SUCCESS);
  float *uniform = managed<float>(kThreads), *normal = managed<float>(kThreads);
  double* normalDouble = managed<double>(kThreads);
  unsigned* poisson = managed<unsigned>(kThreads);
  drawKinds<<<1, kThreads>>>(states, uniform, normal, normalDouble, poisson);
  EXPECT_OK(cudaDeviceSynchronize());
  double sum = 0;
  for (unsigned i = 0; i < kThreads; ++i) {
    EXPECT(std::abs(uniform[i] - numbers[i] / 4294967296.0) < 1e-6);
    const double probability = 0.5 * std::erfc(-normal[i] / std::sqrt(2.0));
    EXPECT(std::abs(probability - numbers[kTurn + i] / 4294967296.0) < 1e-5 || i < 4);  // those were drawn over
    EXPECT(std::abs(0.5 * std::erfc(-normalDouble[i] / std::sqrt(2.0)) - numbers[2 * kTurn + i] / 4294967296.0) < 1e-9);
    sum += poisson[i];
  }
  EXPECT(std::abs(sum / kThreads - 10) < 1);
  EXPECT_OK(cudaFree(states));
  EXPECT_OK(cudaFree(parameters));
}

int main() {
  testLibrary();
  testKernels();
  return finish();
}
