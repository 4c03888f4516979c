// cuRAND: statuses of bad arguments, and the numbers that its generators give on the device (cases.hpp).
#include <curand.h>

#include "cases.hpp"

namespace {

struct Kind {
  const char* name;
  curandRngType_t type;
};

const Kind kPseudo[] = {{"xorwow", CURAND_RNG_PSEUDO_XORWOW},
                        {"mrg32k3a", CURAND_RNG_PSEUDO_MRG32K3A},
                        {"mtgp32", CURAND_RNG_PSEUDO_MTGP32},
                        {"mt19937", CURAND_RNG_PSEUDO_MT19937},
                        {"philox", CURAND_RNG_PSEUDO_PHILOX4_32_10}};

curandGenerator_t generator(curandRngType_t type) {
  curandGenerator_t made = nullptr;
  curandCreateGenerator(&made, type);
  return made;
}

curandGenerator_t seeded(curandRngType_t type, unsigned long long seed = 1234) {
  const curandGenerator_t made = generator(type);
  curandSetPseudoRandomGeneratorSeed(made, seed);
  return made;
}

/// Of `count` numbers those from each place on, `length` of each.
template <class T>
std::string places(const T* numbers, std::initializer_list<size_t> where, size_t length) {
  std::string text;
  for (const size_t place : where) text = joined(text, shown(numbers + place, length));
  return text;
}

/// A sum over all words that depends on their order (FNV).
std::string digest(const unsigned* numbers, size_t count) {
  std::vector<unsigned> copy(count);
  cudaMemcpy(copy.data(), numbers, count * sizeof(unsigned), cudaMemcpyDefault);
  uint64_t sum = 0xcbf29ce484222325u;
  for (const unsigned word : copy) sum = (sum ^ word) * 0x100000001b3u;
  return shown(sum);
}

void badArguments(Cases& cases) {
  curandGenerator_t g = generator(CURAND_RNG_PSEUDO_XORWOW), q = generator(CURAND_RNG_QUASI_SOBOL32), made = nullptr;
  const curandGenerator_t wide = generator(CURAND_RNG_QUASI_SOBOL64), mt = generator(CURAND_RNG_PSEUDO_MT19937);
  unsigned* out = zeros<unsigned>(4096);
  auto* real = reinterpret_cast<float*>(out);
  auto* doubles = reinterpret_cast<double*>(out);
  int version = 0;
  CASE("create: null", curandCreateGenerator(nullptr, CURAND_RNG_PSEUDO_XORWOW));
  CASE("create: type 9999", curandCreateGenerator(&made, curandRngType_t(9999)));
  CASE("create: type test", curandCreateGenerator(&made, CURAND_RNG_TEST));
  CASE("destroy: null", curandDestroyGenerator(nullptr));
  CASE("version: null", curandGetVersion(nullptr));
  CASE("property: 9", curandGetProperty(libraryPropertyType(9), &version));
  CASE("stream: no generator", curandSetStream(nullptr, nullptr));
  CASE("seed: no generator", curandSetPseudoRandomGeneratorSeed(nullptr, 1));
  CASE("seed: of Sobol", curandSetPseudoRandomGeneratorSeed(q, 1));
  CASE("offset: no generator", curandSetGeneratorOffset(nullptr, 1));
  CASE("offset: of MT19937", curandSetGeneratorOffset(mt, 1));
  CASE("offset: of MTGP32", curandSetGeneratorOffset(generator(CURAND_RNG_PSEUDO_MTGP32), 1));
  CASE("offset: of Sobol", curandSetGeneratorOffset(q, 0));
  CASE("ordering: quasi for XORWOW", curandSetGeneratorOrdering(g, CURAND_ORDERING_QUASI_DEFAULT));
  CASE("ordering: pseudo for Sobol", curandSetGeneratorOrdering(q, CURAND_ORDERING_PSEUDO_DEFAULT));
  CASE("ordering: 9", curandSetGeneratorOrdering(g, curandOrdering_t(9)));
  CASE("dimensions: 0", curandSetQuasiRandomGeneratorDimensions(q, 0));
  CASE("dimensions: 20000", curandSetQuasiRandomGeneratorDimensions(q, 20000));
  CASE("dimensions: 20001", curandSetQuasiRandomGeneratorDimensions(q, 20001));
  CASE("dimensions: of XORWOW", curandSetQuasiRandomGeneratorDimensions(g, 2));
  CASE("dimensions: no generator", curandSetQuasiRandomGeneratorDimensions(nullptr, 2));
  CASE("dimensions: 3", curandSetQuasiRandomGeneratorDimensions(q, 3));
  CASE("generate: 10 numbers of 3 dimensions", curandGenerate(q, out, 10));
  CASE("generate: 9 numbers of 3 dimensions", curandGenerate(q, out, 9));
  CASE("generate: no generator", curandGenerate(nullptr, out, 4));
  CASE("generate: no numbers", curandGenerate(g, out, 0));
  CASE("generate: nothing to nowhere", curandGenerate(g, nullptr, 0));
  CASE("generate: of Sobol 64", curandGenerate(wide, out, 4));
  CASE("generate long: of XORWOW", curandGenerateLongLong(g, reinterpret_cast<unsigned long long*>(out), 4));
  CASE("generate long: of Sobol 32", curandGenerateLongLong(q, reinterpret_cast<unsigned long long*>(out), 3));
  CASE("generate long: of Sobol 64", curandGenerateLongLong(wide, reinterpret_cast<unsigned long long*>(out), 4));
  CASE("uniform: of Sobol 64", curandGenerateUniform(wide, real, 4), shown(real, 4));
  CASE("normal: odd", curandGenerateNormal(g, real, 3, 0, 1));
  CASE("normal: odd, MT19937", curandGenerateNormal(mt, real, 3, 0, 1));
  CASE("normal: odd, Sobol", curandGenerateNormal(q, real, 3, 0, 1));
  CASE("normal: odd, Philox", curandGenerateNormal(generator(CURAND_RNG_PSEUDO_PHILOX4_32_10), real, 3, 0, 1));
  CASE("normal: odd, MRG", curandGenerateNormal(generator(CURAND_RNG_PSEUDO_MRG32K3A), real, 3, 0, 1));
  CASE("normal: odd, MTGP32", curandGenerateNormal(generator(CURAND_RNG_PSEUDO_MTGP32), real, 3, 0, 1));
  CASE("normal: no numbers", curandGenerateNormal(g, real, 0, 0, 1));
  CASE("normal: deviation 0", curandGenerateNormal(g, real, 4, 5, 0), shown(real, 4));
  CASE("normal: deviation -1", curandGenerateNormal(g, real, 4, 0, -1));
  CASE("normal: deviation NaN", curandGenerateNormal(g, real, 4, 0, NAN));
  CASE("normal: odd doubles", curandGenerateNormalDouble(g, doubles, 3, 0, 1));
  CASE("log-normal: odd", curandGenerateLogNormal(g, real, 3, 0, 1));
  CASE("log-normal: odd doubles", curandGenerateLogNormalDouble(g, doubles, 3, 0, 1));
  CASE("poisson: mean 0", curandGeneratePoisson(g, out, 4, 0));
  CASE("poisson: mean -1", curandGeneratePoisson(g, out, 4, -1));
  CASE("poisson: mean NaN", curandGeneratePoisson(g, out, 4, NAN));
  CASE("poisson: mean 1e-30", curandGeneratePoisson(g, out, 4, 1e-30), shown(out, 4));
  CASE("poisson: mean 400000", curandGeneratePoisson(g, out, 4, 400000));
  CASE("poisson: mean 1e9", curandGeneratePoisson(g, out, 4, 1e9));
  CASE("poisson: no generator", curandGeneratePoisson(nullptr, out, 4, 1));
  CASE("poisson: odd", curandGeneratePoisson(g, out, 3, 10));
  CASE("poisson: Sobol", curandGeneratePoisson(q, out, 3, 10));
  CASE("poisson: Sobol 64", curandGeneratePoisson(wide, out, 3, 10));
  CASE("seeds: no generator", curandGenerateSeeds(nullptr));
  CASE("seeds: of Sobol", curandGenerateSeeds(q));
  curandDirectionVectors32_t* vectors = nullptr;
  curandDirectionVectors64_t* wideVectors = nullptr;
  unsigned* constants = nullptr;
  CASE("vectors: set 9", curandGetDirectionVectors32(&vectors, curandDirectionVectorSet_t(9)));
  CASE("vectors: set of 64 bits", curandGetDirectionVectors32(&vectors, CURAND_DIRECTION_VECTORS_64_JOEKUO6));
  CASE("vectors: of 64 bits, set of 32",
       curandGetDirectionVectors64(&wideVectors, CURAND_DIRECTION_VECTORS_32_JOEKUO6));
  CASE("constants", curandGetScrambleConstants32(&constants));
}

/// The first numbers, and some behind them, in each order.
void orders(Cases& cases) {
  const struct {
    const char* name;
    curandOrdering_t order;
  } kOrders[] = {{"best", CURAND_ORDERING_PSEUDO_BEST},
                 {"default", CURAND_ORDERING_PSEUDO_DEFAULT},
                 {"legacy", CURAND_ORDERING_PSEUDO_LEGACY},
                 {"seeded", CURAND_ORDERING_PSEUDO_SEEDED},
                 {"dynamic", CURAND_ORDERING_PSEUDO_DYNAMIC}};
  const size_t count = 1 << 22;
  unsigned* out = zeros<unsigned>(count);
  for (const Kind& kind : kPseudo) {
    for (const auto& order : kOrders) {
      const std::string name = std::string(kind.name) + " " + order.name;
      const curandGenerator_t g = generator(kind.type);
      CASE((name + ": order").c_str(), curandSetGeneratorOrdering(g, order.order));
      curandSetPseudoRandomGeneratorSeed(g, 1234);
      CASE((name + ": numbers").c_str(), curandGenerate(g, out, count),
           places(out, {0, 4096, 8192, 65536, 262144, 2097152}, 16), digest(out, count));
      CASE((name + ": the next ones").c_str(), curandGenerate(g, out, 64), shown(out, 16));
      curandDestroyGenerator(g);
    }
  }
}

/// MT19937: what stands at every 8192nd place, 640 times, is enough to know the state of one of the parts that its
/// order puts side by side.
void mersenne(Cases& cases) {
  const size_t lanes = 8192, rounds = 640;
  unsigned* out = zeros<unsigned>(lanes * rounds);
  for (const unsigned long long seed : {1234ull, 0ull, 0x123456789abcdefull}) {
    const curandGenerator_t g = seeded(CURAND_RNG_PSEUDO_MT19937, seed);
    const std::string name = "mt19937 seed " + std::to_string(seed);
    CASE((name + ": first").c_str(), curandGenerate(g, out, lanes * rounds), shown(out, 64));
    for (const size_t lane : {0, 1, 2}) {
      if (seed != 1234 && lane > 0) continue;
      const auto column = [&] {
        std::vector<unsigned> all(lanes * rounds), words;
        cudaMemcpy(all.data(), out, all.size() * sizeof(unsigned), cudaMemcpyDefault);
        for (size_t i = 0; i < rounds; ++i) words.push_back(all[i * lanes + lane]);
        return shown(words.data(), rounds);
      };
      CASE((name + ": part " + std::to_string(lane)).c_str(), 0, column());
    }
    curandDestroyGenerator(g);
  }
  for (const size_t count : {100, 10000, 1000000}) {
    const curandGenerator_t g = seeded(CURAND_RNG_PSEUDO_MT19937);
    CASE(("mt19937: " + std::to_string(count) + " numbers, then 16").c_str(), curandGenerate(g, out, count),
         shown(out, 8), std::to_string(curandGenerate(g, out, 16)), shown(out, 16));
    curandDestroyGenerator(g);
  }
}

/// Points of Sobol's sequences: `points` of each dimension, of which these are shown.
template <class Word, class Generate>
void quasi(Cases& cases, const char* kind, curandRngType_t type, unsigned dimensions,
           std::initializer_list<unsigned> which, Generate&& generate) {
  const size_t points = 64;
  Word* out = zeros<Word>(points * dimensions);
  const curandGenerator_t g = generator(type);
  const std::string name = std::string(kind) + " of " + std::to_string(dimensions);
  CASE((name + ": dimensions").c_str(), curandSetQuasiRandomGeneratorDimensions(g, dimensions));
  CASE((name + ": points").c_str(), generate(g, out, points * dimensions));
  for (const unsigned dimension : which)
    CASE((name + ": dimension " + std::to_string(dimension)).c_str(), 0, shown(out + dimension * points, points));
  curandDestroyGenerator(g);
}

void quasis(Cases& cases) {
  const auto words = [](curandGenerator_t g, unsigned* out, size_t count) { return curandGenerate(g, out, count); };
  const auto longs = [](curandGenerator_t g, unsigned long long* out, size_t count) {
    return curandGenerateLongLong(g, out, count);
  };
  const std::initializer_list<unsigned> first = {0, 1, 2, 3, 4, 5, 6, 7};
  quasi<unsigned>(cases, "sobol32", CURAND_RNG_QUASI_SOBOL32, 8, first, words);
  quasi<unsigned>(cases, "scrambled sobol32", CURAND_RNG_QUASI_SCRAMBLED_SOBOL32, 8, first, words);
  quasi<unsigned long long>(cases, "sobol64", CURAND_RNG_QUASI_SOBOL64, 8, first, longs);
  quasi<unsigned long long>(cases, "scrambled sobol64", CURAND_RNG_QUASI_SCRAMBLED_SOBOL64, 8, first, longs);
  quasi<unsigned>(cases, "sobol32", CURAND_RNG_QUASI_SOBOL32, 3667, {8, 100, 999, 1110, 1111, 2000, 3665, 3666}, words);
  quasi<unsigned>(cases, "sobol32", CURAND_RNG_QUASI_SOBOL32, 20000, {3666, 3667, 5000, 10000, 15000, 19999}, words);
  quasi<unsigned long long>(cases, "sobol64", CURAND_RNG_QUASI_SOBOL64, 20000, {1000, 3666, 3667, 10000, 19999}, longs);
}

void distributions(Cases& cases) {
  const size_t count = 64;
  unsigned* out = zeros<unsigned>(count * 2);
  auto* reals = reinterpret_cast<float*>(out);
  auto* doubles = reinterpret_cast<double*>(out);
  for (const Kind& kind : kPseudo) {
    const std::string name = kind.name;
    CASE((name + ": uniform").c_str(), curandGenerateUniform(seeded(kind.type), reals, count), shown(reals, count));
    CASE((name + ": uniform doubles").c_str(), curandGenerateUniformDouble(seeded(kind.type), doubles, count),
         shown(doubles, 32));
    CASE((name + ": normal").c_str(), curandGenerateNormal(seeded(kind.type), reals, count, 1, 2), shown(reals, count));
    CASE((name + ": normal doubles").c_str(), curandGenerateNormalDouble(seeded(kind.type), doubles, count, 1, 2),
         shown(doubles, 32));
    CASE((name + ": log-normal").c_str(), curandGenerateLogNormal(seeded(kind.type), reals, count, 1, 0.5f),
         shown(reals, count));
    CASE((name + ": log-normal doubles").c_str(),
         curandGenerateLogNormalDouble(seeded(kind.type), doubles, count, 1, 0.5), shown(doubles, 32));
    for (const char* mean : {"0.5", "4", "20", "63", "64", "100", "1000", "3999", "4001", "100000"})
      CASE((name + ": poisson " + mean).c_str(), curandGeneratePoisson(seeded(kind.type), out, count, std::atof(mean)),
           shown(out, count));
  }
  const Kind kinds[] = {{"sobol32", CURAND_RNG_QUASI_SOBOL32}, {"sobol64", CURAND_RNG_QUASI_SOBOL64}};
  for (const Kind& kind : kinds) {
    const std::string name = kind.name;
    CASE((name + ": uniform").c_str(), curandGenerateUniform(generator(kind.type), reals, count), shown(reals, count));
    CASE((name + ": uniform doubles").c_str(), curandGenerateUniformDouble(generator(kind.type), doubles, count),
         shown(doubles, 32));
    CASE((name + ": normal").c_str(), curandGenerateNormal(generator(kind.type), reals, count, 0, 1),
         shown(reals, count));
    CASE((name + ": poisson 20").c_str(), curandGeneratePoisson(generator(kind.type), out, count, 20),
         shown(out, count));
  }
}

}  // namespace

int main(int count, char** arguments) {
  Cases cases(count, arguments);
  if (generator(CURAND_RNG_PSEUDO_XORWOW) == nullptr) return 2;
  badArguments(cases);
  orders(cases);
  mersenne(cases);
  quasis(cases);
  distributions(cases);
}
