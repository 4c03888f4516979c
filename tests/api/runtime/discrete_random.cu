// Discrete distributions that the host makes and kernels draw from: Poisson's numbers of one thread as an H200 (CUDA
// 13) gave them, the word that comes behind them, and bad arguments.
#include <curand.h>
#include <curand_kernel.h>

#include <initializer_list>

#include "expect.hpp"

constexpr int kSmall = 24, kLarge = 12;

struct Drawn {
  unsigned small[kSmall], behindSmall, large[kLarge], behindLarge;
};

template <class State>
__global__ void draw(curandDiscreteDistribution_t small, curandDiscreteDistribution_t large, Drawn* drawn) {
  State state;
  curand_init(1234, 0, 0, &state);
  for (unsigned& number : drawn->small) number = curand_discrete(&state, small);
  drawn->behindSmall = curand(&state);
  curand_init(1234, 0, 0, &state);
  for (unsigned& number : drawn->large) number = curand_discrete(&state, large);
  drawn->behindLarge = curand(&state);
}

__global__ void drawFours(curandDiscreteDistribution_t distribution, uint4* drawn) {
  curandStatePhilox4_32_10_t state;
  curand_init(1234, 0, 0, &state);
  *drawn = curand_discrete4(&state, distribution);
}

const Drawn kOfXorwow = {
    {26, 21, 16, 21, 16, 19, 25, 17, 23, 22, 19, 18, 20, 18, 17, 19, 26, 22, 28, 19, 17, 25, 22, 14},
    453005781u,
    {5025, 4912, 4928, 5017, 4907, 4962, 4972, 4951, 4919, 4948, 4952, 5124},
    453005781u};
const Drawn kOfMrg = {{17, 19, 12, 22, 20, 13, 22, 17, 23, 20, 21, 20, 22, 25, 21, 17, 21, 18, 24, 18, 21, 14, 15, 27},
                      2257070442u,
                      {4974, 4958, 5124, 4879, 4989, 5080, 4909, 5030, 4985, 4895, 4963, 4919},
                      1722295085u};
const Drawn kOfPhilox = {
    {27, 16, 23, 17, 19, 27, 13, 10, 24, 13, 17, 20, 18, 26, 21, 15, 29, 15, 17, 13, 17, 25, 18, 19},
    4245463582u,
    {4962, 5011, 5071, 5130, 4997, 4988, 4923, 5118, 4995, 5029, 4935, 4891},
    4245463582u};

template <class State>
void testDrawn(curandDiscreteDistribution_t small, curandDiscreteDistribution_t large, const Drawn& expected) {
  Drawn* drawn = nullptr;
  EXPECT_OK(cudaMallocManaged(&drawn, sizeof(Drawn)));
  draw<State><<<1, 1>>>(small, large, drawn);
  EXPECT_OK(cudaDeviceSynchronize());
  for (int i = 0; i < kSmall; ++i) EXPECT(drawn->small[i] == expected.small[i]);
  for (int i = 0; i < kLarge; ++i) EXPECT(drawn->large[i] == expected.large[i]);
  EXPECT(drawn->behindSmall == expected.behindSmall && drawn->behindLarge == expected.behindLarge);
  EXPECT_OK(cudaFree(drawn));
}

int main() {
  curandDiscreteDistribution_t small = nullptr, large = nullptr, none = nullptr;
  EXPECT(curandCreatePoissonDistribution(20, &small) == CURAND_STATUS_SUCCESS);
  EXPECT(curandCreatePoissonDistribution(5000, &large) == CURAND_STATUS_SUCCESS);
  testDrawn<curandStateXORWOW_t>(small, large, kOfXorwow);
  testDrawn<curandStateMRG32k3a_t>(small, large, kOfMrg);
  testDrawn<curandStatePhilox4_32_10_t>(small, large, kOfPhilox);
  uint4* fours = nullptr;
  EXPECT_OK(cudaMallocManaged(&fours, sizeof(uint4)));
  drawFours<<<1, 1>>>(small, fours);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(fours->x == kOfPhilox.small[0] && fours->y == kOfPhilox.small[1] && fours->z == kOfPhilox.small[2] &&
         fours->w == kOfPhilox.small[3]);
  EXPECT_OK(cudaFree(fours));

  EXPECT(curandCreatePoissonDistribution(20, nullptr) == CURAND_STATUS_NOT_INITIALIZED);
  for (const double mean : {0.0, -1.0, 400001.0, 1e9})
    EXPECT(curandCreatePoissonDistribution(mean, &none) == CURAND_STATUS_OUT_OF_RANGE);
  EXPECT(curandCreatePoissonDistribution(400000, &none) == CURAND_STATUS_SUCCESS);
  for (const curandDiscreteDistribution_t made : {small, large, none})
    EXPECT(curandDestroyDistribution(made) == CURAND_STATUS_SUCCESS);
  EXPECT(curandDestroyDistribution(nullptr) == CURAND_STATUS_NOT_INITIALIZED);
  return finish();
}
