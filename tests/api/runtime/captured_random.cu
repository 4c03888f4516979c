// A captured curandGenerateUniform goes on with its sequence at every launch of the graph, also without its generator.
#include <curand.h>

#include <vector>

#include "expect.hpp"

constexpr int kCount = 100;

std::vector<float> copyOf(const float* device, int count) {
  std::vector<float> copy(count);
  EXPECT_OK(cudaMemcpy(copy.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost));
  return copy;
}

int main() {
  float *numbers = nullptr, *expected = nullptr;
  EXPECT_OK(cudaMalloc(&numbers, kCount * sizeof(float)));
  EXPECT_OK(cudaMalloc(&expected, 3 * kCount * sizeof(float)));
  curandGenerator_t generator = nullptr;
  EXPECT(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT) == CURAND_STATUS_SUCCESS);
  for (int i = 0; i < 3; ++i)
    EXPECT(curandGenerateUniform(generator, expected + i * kCount, kCount) == CURAND_STATUS_SUCCESS);
  const std::vector<float> all = copyOf(expected, 3 * kCount);
  EXPECT(curandSetPseudoRandomGeneratorSeed(generator, 0) == CURAND_STATUS_SUCCESS);

  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  EXPECT_OK(cudaStreamCreate(&stream));
  EXPECT(curandSetStream(generator, stream) == CURAND_STATUS_SUCCESS);
  EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT(curandGenerateUniform(generator, numbers, kCount) == CURAND_STATUS_SUCCESS);
  EXPECT_OK(cudaStreamEndCapture(stream, &graph));
  EXPECT_OK(cudaGraphInstantiate(&executable, graph, 0));
  EXPECT(curandDestroyGenerator(generator) == CURAND_STATUS_SUCCESS);
  for (int i = 0; i < 3; ++i) {
    EXPECT_OK(cudaGraphLaunch(executable, stream));
    EXPECT_OK(cudaStreamSynchronize(stream));
    EXPECT(copyOf(numbers, kCount) == std::vector<float>(all.begin() + i * kCount, all.begin() + (i + 1) * kCount));
  }
  EXPECT_OK(cudaGraphExecDestroy(executable));
  EXPECT_OK(cudaGraphDestroy(graph));
  return finish();
}
