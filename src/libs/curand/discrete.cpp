// Discrete distributions for kernels: tables in memory of the device, one block each.
#include <cmath>
#include <cstring>
#include <new>
#include <optional>
#include <vector>

#include "cuda.h"
#include "curand.h"
#include "libs/curand/poisson.hpp"
#include "libs/stream_task.hpp"
#include "ordito/curand_discrete.h"

namespace {

using ordito::curand::SquareHistogram;

/// The distribution, the edges of its columns, and whose the rest of each is.
std::vector<char> laidOut(CUdeviceptr at, double mean, const std::optional<SquareHistogram>& table) {
  const size_t count = table ? table->edges.size() : 0;
  const size_t edges = sizeof(curandDiscreteDistribution_st), others = edges + count * sizeof(double);
  std::vector<char> bytes(others + count * sizeof(unsigned));
  curandDiscreteDistribution_st head{.mean = mean,
                                     .deviation = std::sqrt(mean),
                                     .first = table ? table->first : 0,
                                     .columns = static_cast<unsigned>(count),
                                     .edges = reinterpret_cast<const double*>(at + edges),
                                     .others = reinterpret_cast<const unsigned*>(at + others)};
  std::memcpy(bytes.data(), &head, sizeof head);
  if (count != 0) {
    std::memcpy(bytes.data() + edges, table->edges.data(), count * sizeof(double));
    std::memcpy(bytes.data() + others, table->others.data(), count * sizeof(unsigned));
  }
  return bytes;
}

}  // namespace

extern "C" {

curandStatus_t curandCreatePoissonDistribution(double lambda, curandDiscreteDistribution_t* distribution) {
  if (!distribution) return CURAND_STATUS_NOT_INITIALIZED;
  if (ordito::curand::isNoPoissonMean(lambda)) return CURAND_STATUS_OUT_OF_RANGE;
  if (!ordito::libs::hasContext()) return CURAND_STATUS_INITIALIZATION_FAILED;
  std::optional<SquareHistogram> table;
  if (lambda < ordito::curand::kLargePoisson) table.emplace(lambda);
  CUdeviceptr memory = 0;
  if (cuMemAlloc(&memory, laidOut(0, lambda, table).size()) != CUDA_SUCCESS) return CURAND_STATUS_ALLOCATION_FAILED;
  const std::vector<char> bytes = laidOut(memory, lambda, table);
  if (cuMemcpyHtoD(memory, bytes.data(), bytes.size()) != CUDA_SUCCESS) {
    cuMemFree(memory);
    return CURAND_STATUS_INITIALIZATION_FAILED;
  }
  *distribution = reinterpret_cast<curandDiscreteDistribution_t>(memory);
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandDestroyDistribution(curandDiscreteDistribution_t distribution) {
  if (!distribution) return CURAND_STATUS_NOT_INITIALIZED;
  const bool isFreed = cuMemFree(reinterpret_cast<CUdeviceptr>(distribution)) == CUDA_SUCCESS;
  return isFreed ? CURAND_STATUS_SUCCESS : CURAND_STATUS_INTERNAL_ERROR;
}

}  // extern "C"
