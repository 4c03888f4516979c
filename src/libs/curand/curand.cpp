// libcurand: generators that fill memory. They run on the host, whose threads reach device memory as well; a generator
// of the device does its work when its turn in the stream comes.
#include "curand.h"

#include <cstdio>
#include <memory>
#include <mutex>

#include "libs/curand/sequences.hpp"
#include "libs/stream_task.hpp"

namespace {

using ordito::curand::Filler;
using ordito::curand::Sequences;

std::unique_ptr<Filler> makeFiller(curandRngType_t type, unsigned long long seed, unsigned long long offset) {
  switch (type) {
    case CURAND_RNG_PSEUDO_MRG32K3A: return std::make_unique<Sequences<curandStateMRG32k3a_t>>(seed, offset);
    case CURAND_RNG_PSEUDO_PHILOX4_32_10: return std::make_unique<Sequences<curandStatePhilox4_32_10_t>>(seed, offset);
    default: return std::make_unique<Sequences<curandStateXORWOW_t>>(seed, offset);
  }
}

bool isKnown(curandRngType_t type) {
  return type == CURAND_RNG_PSEUDO_DEFAULT || type == CURAND_RNG_PSEUDO_XORWOW || type == CURAND_RNG_PSEUDO_MRG32K3A ||
         type == CURAND_RNG_PSEUDO_PHILOX4_32_10;
}

}  // namespace

struct curandGenerator_st {
  curandRngType_t type;
  bool onHost;
  unsigned long long seed = 0, offset = 0;
  cudaStream_t stream = nullptr;
  std::mutex mutex;
  std::shared_ptr<Filler> filler;  // null: to be started
};

namespace {

std::shared_ptr<Filler> fillerOf(curandGenerator_t generator) {
  if (!generator->filler) generator->filler = makeFiller(generator->type, generator->seed, generator->offset);
  return generator->filler;
}

curandStatus_t create(curandGenerator_t* generator, curandRngType_t type, bool onHost) {
  if (!generator) return CURAND_STATUS_TYPE_ERROR;
  if (!isKnown(type)) {
    std::fprintf(stderr, "ordito: curandCreateGenerator: there are XORWOW, MRG32K3A and PHILOX4_32_10, not type %d\n",
                 static_cast<int>(type));
    return CURAND_STATUS_TYPE_ERROR;
  }
  *generator = new curandGenerator_st{.type = type, .onHost = onHost, .mutex = {}, .filler = nullptr};
  return CURAND_STATUS_SUCCESS;
}

/// Generates now or, for a generator of the device, behind what its stream has to do.
template <class Fill>
curandStatus_t generate(curandGenerator_t generator, const Fill& fill) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  const std::scoped_lock lock(generator->mutex);
  auto filler = fillerOf(generator);
  if (generator->onHost) return fill(*filler), CURAND_STATUS_SUCCESS;
  const CUresult result = ordito::libs::enqueue(generator->stream, "curandGenerate", [filler, fill] { fill(*filler); });
  return result == CUDA_SUCCESS ? CURAND_STATUS_SUCCESS : CURAND_STATUS_LAUNCH_FAILURE;
}

template <class Change>
curandStatus_t change(curandGenerator_t generator, const Change& how) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  const std::scoped_lock lock(generator->mutex);
  how();
  return CURAND_STATUS_SUCCESS;
}

template <class Type>
curandStatus_t generateNormal(curandGenerator_t generator, Type* numbers, size_t count, Type mean, Type deviation,
                              bool exponential) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  if (count % 2 && generator->type != CURAND_RNG_PSEUDO_PHILOX4_32_10) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  return generate(generator, [=](Filler& filler) {
    filler.normal(numbers, count);
    for (size_t i = 0; i < count; ++i) {
      numbers[i] = mean + deviation * numbers[i];
      if (exponential) numbers[i] = std::exp(numbers[i]);
    }
  });
}

}  // namespace

extern "C" {

curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t type) {
  return create(generator, type, false);
}
curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator, curandRngType_t type) {
  return create(generator, type, true);
}

curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  delete generator;
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGetVersion(int* version) {
  if (!version) return CURAND_STATUS_OUT_OF_RANGE;
  *version = CURAND_VERSION;
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
  return change(generator, [&] { generator->stream = stream; });
}
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed) {
  return change(generator, [&] { generator->seed = seed, generator->filler = nullptr; });
}
curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
  return change(generator, [&] { generator->offset = offset, generator->filler = nullptr; });
}
/// The orders that there are give the same numbers here.
curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t ordering) {
  if (ordering == CURAND_ORDERING_PSEUDO_SEEDED || ordering == CURAND_ORDERING_QUASI_DEFAULT)
    return CURAND_STATUS_OUT_OF_RANGE;
  return change(generator, [] {});
}
curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
  return change(generator, [&] { fillerOf(generator); });
}

curandStatus_t curandGenerate(curandGenerator_t generator, unsigned int* numbers, size_t count) {
  return generate(generator, [=](Filler& filler) { filler.bits(numbers, count); });
}
curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* numbers, size_t count) {
  return generate(generator, [=](Filler& filler) { filler.uniform(numbers, count); });
}
curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* numbers, size_t count) {
  return generate(generator, [=](Filler& filler) { filler.uniform(numbers, count); });
}
curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* numbers, size_t count, float mean,
                                    float deviation) {
  return generateNormal(generator, numbers, count, mean, deviation, false);
}
curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double* numbers, size_t count, double mean,
                                          double deviation) {
  return generateNormal(generator, numbers, count, mean, deviation, false);
}
curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float* numbers, size_t count, float mean,
                                       float deviation) {
  return generateNormal(generator, numbers, count, mean, deviation, true);
}
curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double* numbers, size_t count, double mean,
                                             double deviation) {
  return generateNormal(generator, numbers, count, mean, deviation, true);
}

}  // extern "C"
