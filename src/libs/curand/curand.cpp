// libcurand: generators that fill memory. They run on the host, whose threads reach device memory as well; a generator
// of the device does its work when its turn in the stream comes.
#include "curand.h"

#include <limits>
#include <memory>
#include <mutex>

#include "libs/curand/directions.hpp"
#include "libs/curand/mersenne.hpp"
#include "libs/curand/poisson.hpp"
#include "libs/curand/quasi.hpp"
#include "libs/curand/sequences.hpp"
#include "libs/curand/twister.hpp"
#include "libs/stream_task.hpp"
#include "libs/version_part.hpp"

namespace {

using namespace ordito::curand;

bool isQuasi(curandRngType_t type) { return type >= CURAND_RNG_QUASI_DEFAULT; }
/// Sobol's numbers of 64 bits.
bool isLong(curandRngType_t type) {
  return type == CURAND_RNG_QUASI_SOBOL64 || type == CURAND_RNG_QUASI_SCRAMBLED_SOBOL64;
}

bool isTwister(curandRngType_t type) { return type == CURAND_RNG_PSEUDO_MT19937 || type == CURAND_RNG_PSEUDO_MTGP32; }

/// Of MTGP32 it is known that the table ends between means of 20 and 63.
PoissonSteps poissonSteps(curandRngType_t type) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  if (isQuasi(type)) return {.table = 0, .normal = isLong(type) ? kLargePoisson : kNever};
  if (type == CURAND_RNG_PSEUDO_MTGP32) return {.table = 63, .normal = kNever};
  if (type == CURAND_RNG_PSEUDO_MT19937) return {.table = kLargePoisson, .normal = kNever};
  return {.table = kLargePoisson, .normal = kLargePoisson};
}

bool isKnown(curandRngType_t type) {
  switch (type) {
    case CURAND_RNG_PSEUDO_DEFAULT:
    case CURAND_RNG_PSEUDO_XORWOW:
    case CURAND_RNG_PSEUDO_MRG32K3A:
    case CURAND_RNG_PSEUDO_MTGP32:
    case CURAND_RNG_PSEUDO_MT19937:
    case CURAND_RNG_PSEUDO_PHILOX4_32_10:
    case CURAND_RNG_QUASI_DEFAULT:
    case CURAND_RNG_QUASI_SOBOL32:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL32:
    case CURAND_RNG_QUASI_SOBOL64:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL64: return true;
    default: return false;
  }
}

}  // namespace

struct curandGenerator_st {
  curandRngType_t type;
  bool onHost;
  unsigned long long seed = 0, offset = 0;
  unsigned int dimensions = 1;
  curandOrdering_t ordering = CURAND_ORDERING_PSEUDO_DEFAULT;
  cudaStream_t stream = nullptr;
  std::mutex mutex;
  std::shared_ptr<Filler> filler;  // null: to be started
};

namespace {

const unsigned long long* asLongs(const uint64_t* words) { return reinterpret_cast<const unsigned long long*>(words); }

template <class State>
std::shared_ptr<Filler> makeSequences(const curandGenerator_st& g) {
  const size_t count = g.ordering == CURAND_ORDERING_PSEUDO_LEGACY    ? Shape<State>::kLegacy
                       : g.ordering == CURAND_ORDERING_PSEUDO_DYNAMIC ? Shape<State>::kDynamic
                                                                      : Shape<State>::kSequences;
  const Start start = g.ordering == CURAND_ORDERING_PSEUDO_SEEDED ? Start::Seeds : Start::Parts;
  return std::make_shared<Sequences<State>>(g.seed, g.offset, count, start, g.onHost);
}

std::shared_ptr<Filler> makeFiller(const curandGenerator_st& g) {
  switch (g.type) {
    case CURAND_RNG_PSEUDO_MRG32K3A: return makeSequences<curandStateMRG32k3a_t>(g);
    case CURAND_RNG_PSEUDO_PHILOX4_32_10: return makeSequences<curandStatePhilox4_32_10_t>(g);
    case CURAND_RNG_PSEUDO_MT19937: return std::make_shared<Words<Mt19937>>(g.seed);
    case CURAND_RNG_PSEUDO_MTGP32:
      return std::make_shared<Words<Mtgp>>(
          g.seed, g.ordering == CURAND_ORDERING_PSEUDO_LEGACY ? Mtgp::kLegacy : Mtgp::kSequences);
    case CURAND_RNG_QUASI_DEFAULT:
    case CURAND_RNG_QUASI_SOBOL32:
      return std::make_shared<Quasi<curandStateSobol32_t>>(directions32(false), nullptr, g.dimensions, g.offset);
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL32:
      return std::make_shared<Quasi<curandStateScrambledSobol32_t>>(directions32(true), constants32(), g.dimensions,
                                                                    g.offset);
    case CURAND_RNG_QUASI_SOBOL64:
      return std::make_shared<Quasi<curandStateSobol64_t>>(asLongs(directions64(false)), nullptr, g.dimensions,
                                                           g.offset);
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL64:
      return std::make_shared<Quasi<curandStateScrambledSobol64_t>>(asLongs(directions64(true)), asLongs(constants64()),
                                                                    g.dimensions, g.offset);
    default: return makeSequences<curandStateXORWOW_t>(g);
  }
}

std::shared_ptr<Filler> fillerOf(curandGenerator_t generator) {
  if (!generator->filler) generator->filler = makeFiller(*generator);
  return generator->filler;
}

curandStatus_t create(curandGenerator_t* generator, curandRngType_t type, bool onHost) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  if (!isKnown(type)) return CURAND_STATUS_TYPE_ERROR;
  *generator = new curandGenerator_st{.type = type, .onHost = onHost, .mutex = {}, .filler = nullptr};
  return CURAND_STATUS_SUCCESS;
}

/// Generates now or, for a generator of the device, behind what its stream has to do.
template <class Fill>
curandStatus_t generate(curandGenerator_t generator, const char* name, size_t count, const Fill& fill) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  if (count % generator->dimensions != 0) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  const std::scoped_lock lock(generator->mutex);
  auto filler = fillerOf(generator);
  if (generator->onHost) return fill(*filler), CURAND_STATUS_SUCCESS;
  const CUresult result = ordito::libs::enqueue(generator->stream, name, [filler, fill] { fill(*filler); });
  return result == CUDA_SUCCESS ? CURAND_STATUS_SUCCESS : CURAND_STATUS_LAUNCH_FAILURE;
}

template <class Change>
curandStatus_t change(curandGenerator_t generator, const Change& how) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  const std::scoped_lock lock(generator->mutex);
  how();
  return CURAND_STATUS_SUCCESS;
}

using ordito::curand::scaleNormal;  // of floats
void scaleNormal(double* numbers, size_t count, double mean, double deviation, bool isExponent) {
  for (size_t i = 0; i < count; ++i) {
    numbers[i] = std::fma(deviation, numbers[i], mean);
    if (isExponent) numbers[i] = std::exp(numbers[i]);
  }
}

/// As the host does it for generators of its own.
template <class Type>
void scaleOnHost(Type* numbers, size_t count, Type mean, Type deviation, bool isExponent) {
  for (size_t i = 0; i < count; ++i) {
    numbers[i] = mean + deviation * numbers[i];
    if (isExponent) numbers[i] = std::exp(numbers[i]);
  }
}

template <class Type>
curandStatus_t generateNormal(curandGenerator_t generator, const char* name, Type* numbers, size_t count, Type mean,
                              Type deviation, bool exponential) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  const bool isInPairs =
      generator->type != CURAND_RNG_PSEUDO_PHILOX4_32_10 && !isQuasi(generator->type) && !isTwister(generator->type);
  if (count % 2 && isInPairs) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  return generate(generator, name, count, [=, isHosts = generator->onHost](Filler& filler) {
    filler.normal(numbers, count);
    if (isHosts)
      scaleOnHost(numbers, count, mean, deviation, exponential);
    else
      scaleNormal(numbers, count, mean, deviation, exponential);
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

curandStatus_t curandGetProperty(libraryPropertyType type, int* value) {
  const bool isTold = ordito::libs::tellVersionPart(type, CURAND_VER_MAJOR, CURAND_VER_MINOR, CURAND_VER_PATCH, value);
  return isTold ? CURAND_STATUS_SUCCESS : CURAND_STATUS_OUT_OF_RANGE;
}

curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
  return change(generator, [&] { generator->stream = stream; });
}
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed) {
  if (generator && isQuasi(generator->type)) return CURAND_STATUS_TYPE_ERROR;
  return change(generator, [&] { generator->seed = seed, generator->filler = nullptr; });
}
curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
  if (generator && isTwister(generator->type)) return CURAND_STATUS_TYPE_ERROR;
  return change(generator, [&] { generator->offset = offset, generator->filler = nullptr; });
}
/// Some generators have not all orders.
curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t ordering) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  const curandRngType_t type = generator->type;
  bool isThere = false;
  switch (ordering) {
    case CURAND_ORDERING_PSEUDO_BEST:
    case CURAND_ORDERING_PSEUDO_DEFAULT:
    case CURAND_ORDERING_PSEUDO_LEGACY: isThere = !isQuasi(type); break;
    case CURAND_ORDERING_PSEUDO_DYNAMIC: isThere = !isQuasi(type) && type != CURAND_RNG_PSEUDO_MT19937; break;
    case CURAND_ORDERING_PSEUDO_SEEDED:
      isThere = type == CURAND_RNG_PSEUDO_XORWOW || type == CURAND_RNG_PSEUDO_DEFAULT;
      break;
    case CURAND_ORDERING_QUASI_DEFAULT: isThere = isQuasi(type); break;
  }
  if (!isThere) return CURAND_STATUS_OUT_OF_RANGE;
  return change(generator, [&] { generator->ordering = ordering, generator->filler = nullptr; });
}
curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t generator, unsigned int dimensions) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  if (!isQuasi(generator->type)) return CURAND_STATUS_TYPE_ERROR;
  if (dimensions == 0 || dimensions > kDimensions) return CURAND_STATUS_OUT_OF_RANGE;
  return change(generator, [&] { generator->dimensions = dimensions, generator->filler = nullptr; });
}
curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
  return change(generator, [&] { fillerOf(generator); });
}

curandStatus_t curandGenerate(curandGenerator_t generator, unsigned int* numbers, size_t count) {
  if (generator && isLong(generator->type)) return CURAND_STATUS_TYPE_ERROR;
  return generate(generator, "curandGenerate", count, [=](Filler& filler) { filler.bits(numbers, count); });
}
curandStatus_t curandGenerateLongLong(curandGenerator_t generator, unsigned long long* numbers, size_t count) {
  if (generator && !isLong(generator->type)) return CURAND_STATUS_TYPE_ERROR;
  return generate(generator, "curandGenerateLongLong", count,
                  [=](Filler& filler) { filler.longs(reinterpret_cast<uint64_t*>(numbers), count); });
}
curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* numbers, size_t count) {
  return generate(generator, "curandGenerateUniform", count, [=](Filler& filler) { filler.uniform(numbers, count); });
}
curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* numbers, size_t count) {
  return generate(generator, "curandGenerateUniformDouble", count,
                  [=](Filler& filler) { filler.uniform(numbers, count); });
}
curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* numbers, size_t count, float mean,
                                    float deviation) {
  return generateNormal(generator, "curandGenerateNormal", numbers, count, mean, deviation, false);
}
curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double* numbers, size_t count, double mean,
                                          double deviation) {
  return generateNormal(generator, "curandGenerateNormalDouble", numbers, count, mean, deviation, false);
}
curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float* numbers, size_t count, float mean,
                                       float deviation) {
  return generateNormal(generator, "curandGenerateLogNormal", numbers, count, mean, deviation, true);
}
curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double* numbers, size_t count, double mean,
                                             double deviation) {
  return generateNormal(generator, "curandGenerateLogNormalDouble", numbers, count, mean, deviation, true);
}
curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned int* numbers, size_t count, double lambda) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  if (isNoPoissonMean(lambda)) return CURAND_STATUS_OUT_OF_RANGE;
  return generate(
      generator, "curandGeneratePoisson", count,
      [numbers, count, distribution = std::make_shared<const Poisson>(lambda, poissonSteps(generator->type))](
          Filler& filler) { distribution->fill(filler, numbers, count); });
}

curandStatus_t curandGetDirectionVectors32(curandDirectionVectors32_t* vectors[], curandDirectionVectorSet_t set) {
  const bool isScrambled = set == CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6;
  if (!vectors || (set != CURAND_DIRECTION_VECTORS_32_JOEKUO6 && !isScrambled)) return CURAND_STATUS_OUT_OF_RANGE;
  *vectors = reinterpret_cast<curandDirectionVectors32_t*>(const_cast<uint32_t*>(directions32(isScrambled)));
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGetDirectionVectors64(curandDirectionVectors64_t* vectors[], curandDirectionVectorSet_t set) {
  const bool isScrambled = set == CURAND_SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6;
  if (!vectors || (set != CURAND_DIRECTION_VECTORS_64_JOEKUO6 && !isScrambled)) return CURAND_STATUS_OUT_OF_RANGE;
  *vectors = reinterpret_cast<curandDirectionVectors64_t*>(const_cast<uint64_t*>(directions64(isScrambled)));
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGetScrambleConstants32(unsigned int** constants) {
  if (!constants) return CURAND_STATUS_OUT_OF_RANGE;
  *constants = const_cast<uint32_t*>(constants32());
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGetScrambleConstants64(unsigned long long** constants) {
  if (!constants) return CURAND_STATUS_OUT_OF_RANGE;
  *constants = const_cast<unsigned long long*>(asLongs(constants64()));
  return CURAND_STATUS_SUCCESS;
}

}  // extern "C"
