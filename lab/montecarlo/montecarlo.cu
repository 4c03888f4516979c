// Random numbers and what they are for: pi, as the share of points of the unit square that lie within a quarter of a
// circle. The numbers come from a loop of the host, from the library into memory (cuRAND's host interface), or inside
// the kernel that uses them (its device interface), each thread with a state of its own that is kept from one kernel to
// the next. Points that fill the square evenly (quasi-random ones) come closer to pi than random ones do.
//
//   montecarlo [--size N] [--variant NAME] [--rounds R] [--json]        N: points
//
// Build it with -lcurand.
#include <curand.h>
#include <curand_kernel.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "../common/output.hpp"

namespace {

constexpr std::size_t kLargestSize = std::size_t{1} << 26;
constexpr std::size_t kEnoughPoints = 4096;  // from which on it shows that quasi-random ones are better
constexpr unsigned kBlock = 256;
constexpr unsigned kThreads = 2048;  // of the device interface, each with a state
constexpr unsigned long long kSeed = 2026;
constexpr double kPi = 3.14159265358979323846;
constexpr double kSigmas = 5;  // how far chance may lead astray; seeds are fixed, so it never leads elsewhere

void checkRandom(curandStatus_t status, const char* call, int line) {
  if (status == CURAND_STATUS_SUCCESS) return;
  std::fprintf(stderr, "%s:%d: %s: status %d\n", __FILE__, line, call, static_cast<int>(status));
  std::exit(1);
}
#define RANDOM_CHECK(call) checkRandom((call), #call, __LINE__)

struct Context {
  explicit Context(const lab::Options& given) : options(given), n(given.size) {}
  const lab::Options& options;
  std::size_t n;
};

/// A generator of the host interface: created, seeded where it is a pseudo-random one, and destroyed.
class Generator {
 public:
  explicit Generator(curandRngType_t type, unsigned long long seed = kSeed) {
    RANDOM_CHECK(curandCreateGenerator(&generator_, type));
    if (type < CURAND_RNG_QUASI_DEFAULT) RANDOM_CHECK(curandSetPseudoRandomGeneratorSeed(generator_, seed));
  }
  ~Generator() { RANDOM_CHECK(curandDestroyGenerator(generator_)); }
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;
  curandGenerator_t get() const { return generator_; }

 private:
  curandGenerator_t generator_ = nullptr;
};

__host__ __device__ bool isInside(float x, float y) { return x * x + y * y <= 1.0f; }

/// Points whose x are the first n numbers and whose y are the next n.
__global__ void randomCountInside(const float* numbers, std::size_t n, unsigned long long* inside) {
  unsigned mine = 0;
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    mine += isInside(numbers[i], numbers[n + i]);
  }
  atomicAdd(inside, mine);
}

__global__ void randomInitStates(curandState* states, unsigned long long seed) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  curand_init(seed, thread, 0, &states[thread]);  // one seed, a subsequence for each thread, no offset
}

/// `each` points for every thread, with the state that it has and keeps.
__global__ void randomDrawPoints(curandState* states, unsigned each, unsigned long long* inside) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  curandState state = states[thread];
  unsigned mine = 0;
  for (unsigned i = 0; i < each; ++i) {
    const float x = curand_uniform(&state);
    const float y = curand_uniform(&state);
    mine += isInside(x, y);
  }
  states[thread] = state;
  atomicAdd(inside, mine);
}

__global__ void randomFirstWords(curandState* states, unsigned* words) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  words[thread] = curand(&states[thread]);
}

double shareTimesFour(unsigned long long inside, std::size_t points) {
  return points == 0 ? 0 : 4.0 * static_cast<double>(inside) / static_cast<double>(points);
}

/// Is it pi, as far as so many random points can tell? A point is inside with chance p = pi / 4.
bool isPi(double estimate, std::size_t points) {
  if (points == 0) return true;
  return std::abs(estimate - kPi) <= kSigmas * 4 * std::sqrt(kPi / 4 * (1 - kPi / 4) / static_cast<double>(points));
}

void report(lab::Measurement& row, double estimate, bool isRight) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6f", estimate);
  row.result = row.note = text;
  row.verified = isRight ? lab::Verified::yes : lab::Verified::no;
}

void runLoop(Context& c, lab::Measurement& row) {
  unsigned long long inside = 0;
  lab::timeCpuRounds(
      c.options.rounds, row, [&] { inside = 0; },
      [&] {
        std::mt19937 random(kSeed);
        std::uniform_real_distribution<float> uniform(0, 1);
        for (std::size_t i = 0; i < c.n; ++i) {
          const float x = uniform(random);
          inside += isInside(x, uniform(random));
        }
      });
  const double estimate = shareTimesFour(inside, c.n);
  report(row, estimate, isPi(estimate, c.n));
}

unsigned long long insideOf(const std::vector<float>& numbers) {
  unsigned long long inside = 0;
  const std::size_t n = numbers.size() / 2;
  for (std::size_t i = 0; i < n; ++i) inside += isInside(numbers[i], numbers[n + i]);
  return inside;
}

/// Numbers into memory of the device, and a kernel that counts; the host counts the same numbers.
unsigned long long countGenerated(Context& c, lab::Measurement& row, const Generator& generator,
                                  lab::DeviceArray<float>& numbers, bool& isRight) {
  const lab::DeviceArray<unsigned long long> counter(1);
  unsigned long long inside = 0;
  row.kernel = "random";  // what the names of all kernels begin with
  row.grid = dim3(std::max(1u, std::min(1024u, lab::ceilDiv(c.n, kBlock))));
  row.block = dim3(kBlock);
  lab::timeRounds(
      c.options.rounds, row, [&] { RANDOM_CHECK(curandSetGeneratorOffset(generator.get(), 0)); },
      [&] {
        LAB_CHECK(cudaMemsetAsync(counter.get(), 0, sizeof(unsigned long long), nullptr));
        if (c.n != 0) RANDOM_CHECK(curandGenerateUniform(generator.get(), numbers.get(), 2 * c.n));
        randomCountInside<<<row.grid, row.block>>>(numbers.get(), c.n, counter.get());
        lab::launched("randomCountInside");
      },
      [&] { counter.download(&inside, 1); });
  std::vector<float> copy(2 * c.n);
  numbers.download(copy.data(), copy.size());
  isRight = inside == insideOf(copy);
  return inside;
}

void runHostInterface(Context& c, lab::Measurement& row) {
  const Generator generator(CURAND_RNG_PSEUDO_DEFAULT);
  lab::DeviceArray<float> numbers(2 * c.n);
  bool isRight = false;
  const double estimate = shareTimesFour(countGenerated(c, row, generator, numbers, isRight), c.n);
  report(row, estimate, isRight && isPi(estimate, c.n));
}

/// Half of the points by each of two kernels; one kernel that draws them all must find the same.
void runDeviceInterface(Context& c, lab::Measurement& row) {
  const unsigned half = static_cast<unsigned>((c.n / 2 + kThreads - 1) / kThreads);
  const lab::DeviceArray<curandState> states(kThreads);
  const lab::DeviceArray<unsigned long long> counter(1);
  unsigned long long inTwo = 0, inOne = 0;
  row.kernel = "random";  // what the names of all kernels begin with
  row.grid = dim3(kThreads / kBlock);
  row.block = dim3(kBlock);
  auto init = [&] {
    LAB_CHECK(cudaMemset(counter.get(), 0, sizeof(unsigned long long)));
    randomInitStates<<<row.grid, row.block>>>(states.get(), kSeed);
    lab::launched("randomInitStates");
  };
  auto draw = [&](unsigned each) {
    randomDrawPoints<<<row.grid, row.block>>>(states.get(), each, counter.get());
    lab::launched("randomDrawPoints");
  };
  lab::timeRounds(
      c.options.rounds, row, init,
      [&] {
        draw(half);
        draw(half);
      },
      [&] { counter.download(&inTwo, 1); });
  init();
  draw(2 * half);
  counter.download(&inOne, 1);
  const std::size_t points = std::size_t{2} * half * kThreads;
  const double estimate = shareTimesFour(inTwo, points);
  report(row, estimate, inOne == inTwo && isPi(estimate, points));
}

/// Threads of one seed draw from subsequences of their own: no two begin with the same number.
void runSubsequences(Context& c, lab::Measurement& row) {
  const lab::DeviceArray<curandState> states(kThreads);
  const lab::DeviceArray<unsigned> device(kThreads);
  std::vector<unsigned> words(kThreads);
  row.kernel = "random";  // what the names of all kernels begin with
  row.grid = dim3(kThreads / kBlock);
  row.block = dim3(kBlock);
  lab::timeRounds(
      c.options.rounds, row, [] {},
      [&] {
        randomInitStates<<<row.grid, row.block>>>(states.get(), kSeed);
        lab::launched("randomInitStates");
        randomFirstWords<<<row.grid, row.block>>>(states.get(), device.get());
        lab::launched("randomFirstWords");
      },
      [&] { device.download(words.data(), kThreads); });
  std::sort(words.begin(), words.end());
  const auto differing = std::unique(words.begin(), words.end()) - words.begin();
  row.note = std::to_string(differing) + " differ";
  row.verified = differing == kThreads ? lab::Verified::yes : lab::Verified::no;
}

/// Sobol's points, against the mean error of as many random ones from eight seeds.
void runQuasi(Context& c, lab::Measurement& row) {
  lab::DeviceArray<float> numbers(2 * c.n);
  bool isRight = false;
  const Generator sobol(CURAND_RNG_QUASI_SOBOL32);
  RANDOM_CHECK(curandSetQuasiRandomGeneratorDimensions(sobol.get(), 2));
  const double estimate = shareTimesFour(countGenerated(c, row, sobol, numbers, isRight), c.n);
  double error = 0;
  std::vector<float> copy(2 * c.n);
  for (unsigned long long seed = 1; seed <= 8; ++seed) {
    if (c.n == 0) break;
    const Generator generator(CURAND_RNG_PSEUDO_DEFAULT, seed);
    RANDOM_CHECK(curandGenerateUniform(generator.get(), numbers.get(), 2 * c.n));
    numbers.download(copy.data(), copy.size());
    error += std::abs(shareTimesFour(insideOf(copy), c.n) - kPi) / 8;
  }
  report(row, estimate, isRight && (c.n < kEnoughPoints || std::abs(estimate - kPi) < error / 2));
  char note[96];
  std::snprintf(note, sizeof note, "off by %.6f; random points by %.6f on average", std::abs(estimate - kPi), error);
  if (c.n != 0) row.note += std::string(", ") + note;
}

std::vector<unsigned> someWords(std::size_t n, curandRngType_t type, unsigned long long seed) {
  lab::DeviceArray<unsigned> device(n);
  const Generator generator(type, seed);
  if (n != 0) RANDOM_CHECK(curandGenerate(generator.get(), device.get(), n));
  std::vector<unsigned> words(n);
  device.download(words.data(), n);
  return words;
}

/// What a seed is for: the same sequence again; another seed gives another one. And the default generator is XORWOW.
void runSeeds(Context& c, lab::Measurement& row) {
  const std::vector<unsigned> words = someWords(c.n, CURAND_RNG_PSEUDO_DEFAULT, kSeed);
  const bool again = words == someWords(c.n, CURAND_RNG_PSEUDO_DEFAULT, kSeed);
  const bool named = words == someWords(c.n, CURAND_RNG_PSEUDO_XORWOW, kSeed);
  const bool other = c.n == 0 || words != someWords(c.n, CURAND_RNG_PSEUDO_DEFAULT, kSeed + 1);
  row.verified = again && named && other ? lab::Verified::yes : lab::Verified::no;
}

bool isNear(double found, double expected, double sigma, std::size_t n) {
  return n == 0 || std::abs(found - expected) <= kSigmas * sigma / std::sqrt(static_cast<double>(n));
}

/// 32 bits, each set in half of the words.
void runWords(Context& c, lab::Measurement& row) {
  const std::vector<unsigned> words = someWords(c.n, CURAND_RNG_PSEUDO_DEFAULT, kSeed);
  bool isRight = true;
  for (unsigned bit = 0; bit < 32; ++bit) {
    std::size_t set = 0;
    for (const unsigned word : words) set += word >> bit & 1;
    isRight =
        isRight && isNear(static_cast<double>(set) / static_cast<double>(std::max<std::size_t>(c.n, 1)), 0.5, 0.5, c.n);
  }
  row.verified = isRight ? lab::Verified::yes : lab::Verified::no;
}

struct Moments {
  double mean = 0, variance = 0, skew = 0, kurtosis = 0;
};

Moments momentsOf(const std::vector<float>& numbers) {
  Moments m;
  const double n = static_cast<double>(std::max<std::size_t>(numbers.size(), 1));
  for (const float x : numbers) m.mean += x / n;
  for (const float x : numbers) {
    const double d = x - m.mean;
    m.variance += d * d / n;
    m.skew += d * d * d / n;
    m.kurtosis += d * d * d * d / n;
  }
  return m;
}

/// Above 0 and at most 1; mean 1/2, variance 1/12, and as many in each of 64 parts (chi-square).
void runUniform(Context& c, lab::Measurement& row) {
  lab::DeviceArray<float> device(c.n);
  const Generator generator(CURAND_RNG_PSEUDO_DEFAULT);
  if (c.n != 0) RANDOM_CHECK(curandGenerateUniform(generator.get(), device.get(), c.n));
  std::vector<float> numbers(c.n);
  device.download(numbers.data(), c.n);
  constexpr std::size_t kParts = 64;
  std::size_t parts[kParts] = {};
  bool isRight = true;
  for (const float x : numbers) {
    isRight = isRight && x > 0 && x <= 1;
    ++parts[std::min(kParts - 1, static_cast<std::size_t>(x * kParts))];
  }
  const Moments m = momentsOf(numbers);
  isRight = isRight && isNear(m.mean, 0.5, std::sqrt(1.0 / 12), c.n);
  isRight = isRight && (c.n < kParts || isNear(m.variance, 1.0 / 12, std::sqrt(1.0 / 180), c.n));
  double chiSquare = 0;
  const double each = static_cast<double>(c.n) / kParts;
  for (const std::size_t part : parts) {
    if (c.n >= kEnoughPoints)
      chiSquare += (static_cast<double>(part) - each) * (static_cast<double>(part) - each) / each;
  }
  // Its mean is the number of parts less one, its variance twice that.
  isRight = isRight && chiSquare <= kParts - 1 + kSigmas * std::sqrt(2.0 * (kParts - 1));
  char text[64];
  std::snprintf(text, sizeof text, "mean %.4f, variance %.4f", m.mean, m.variance);
  row.note = text;
  row.verified = isRight ? lab::Verified::yes : lab::Verified::no;
}

/// Mean 10 and deviation 2, symmetric, with the tails of a normal distribution. An odd count is refused, for numbers
/// are made in pairs.
void runNormal(Context& c, lab::Measurement& row) {
  const std::size_t n = c.n + c.n % 2;
  lab::DeviceArray<float> device(n + 1);
  const Generator generator(CURAND_RNG_PSEUDO_DEFAULT);
  if (n != 0) RANDOM_CHECK(curandGenerateNormal(generator.get(), device.get(), n, 10, 2));
  std::vector<float> numbers(n);
  device.download(numbers.data(), n);
  const Moments m = momentsOf(numbers);
  bool isRight = isNear(m.mean, 10, 2, n);
  if (n >= kEnoughPoints) {
    isRight = isRight && isNear(m.variance, 4, 4 * std::sqrt(2.0), n);
    isRight = isRight && isNear(m.skew / std::pow(m.variance, 1.5), 0, std::sqrt(6.0), n);
    isRight = isRight && isNear(m.kurtosis / (m.variance * m.variance), 3, std::sqrt(24.0), n);
  }
  isRight =
      isRight && curandGenerateNormal(generator.get(), device.get(), n + 1, 10, 2) == CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  char text[64];
  std::snprintf(text, sizeof text, "mean %.3f, variance %.3f", m.mean, m.variance);
  row.note = text;
  row.verified = isRight ? lab::Verified::yes : lab::Verified::no;
}

const std::vector<lab::Variant<Context>> kVariants = {
    {"loop", "rand.host_workflow", "Pi: a loop of the host", true, runLoop},
    {"host", "rand.host_workflow", "Pi: numbers made by the library, counted by a kernel", true, runHostInterface},
    {"device", "rand.device", "Pi: numbers made where they are used, by two kernels", true, runDeviceInterface},
    {"quasi", "rand.kinds", "Pi: points that fill the square evenly", true, runQuasi},
    {"subsequences", "rand.device", "The first numbers of 2048 threads", true, runSubsequences},
    {"seeds", "rand.host_seed", "The same seed, the same sequence", true, runSeeds},
    {"words", "rand.host_generate", "Words: every bit is set half of the time", true, runWords},
    {"uniform", "rand.host_uniform", "Uniform numbers", true, runUniform},
    {"normal", "rand.host_normal", "Normal numbers", true, runNormal},
};

}  // namespace

int main(int argc, char** argv) {
  lab::Options options;
  options.size = std::size_t{1} << 20;
  options.block = kBlock;
  options = lab::parse(argc, argv, options);
  if (options.size > kLargestSize) lab::usageError("--size: at most 2^26 points");
  lab::mustFit(options.size, 2 * sizeof(float), 2 * sizeof(float));
  lab::Output output("montecarlo", options);
  Context context(options);
  lab::runVariants(kVariants, options, context, output);
  return output.finish("loop");
}
