// approximate_functions: compares the special function unit with what a GPU gave for every argument
// (approximate_functions.recorded, made by approximate_functions.cu).
//
//   approximate_functions FILE [--all]
//
// All 2^32 arguments of all functions take minutes; without --all it is every 32nd exponent, those about 1 and those
// where something is special.
#include <CLI/CLI.hpp>
#include <bit>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>
#include <vector>

#include "approximate_checksum.hpp"
#include "machine/multifunction_unit.hpp"

namespace ordito::gpu {
namespace {

using machine::Multifunction;
using Results = std::function<void(uint32_t first, uint32_t step, uint32_t (&results)[16])>;

constexpr const char* kNames[] = {"rcp", "rsqrt", "sqrt", "ex2", "lg2", "sin", "cos", "tanh"};

Multifunction functionOf(const std::string& name) {
  for (size_t k = 0; k < std::size(kNames); ++k)
    if (name == kNames[k]) return static_cast<Multifunction>(k);
  throw std::runtime_error("unknown function " + name);
}

/// Calls the function at `address`, which takes and gives `lanes` floats in a register of its instruction set.
#define CALLER(lanes, instructions)                                                                 \
  __attribute__((target(instructions))) void call##lanes(void* address, const float* x, float* r) { \
    using Vector = float __attribute__((ext_vector_type(lanes)));                                   \
    for (unsigned k = 0; k < 16; k += lanes) {                                                      \
      Vector v;                                                                                     \
      std::memcpy(&v, x + k, sizeof v);                                                             \
      v = reinterpret_cast<Vector (*)(Vector)>(address)(v);                                         \
      std::memcpy(r + k, &v, sizeof v);                                                             \
    }                                                                                               \
  }
CALLER(4, "sse2")
CALLER(8, "avx2")
CALLER(16, "avx512f")
#undef CALLER

struct Width {
  std::string suffix;
  void (*call)(void* address, const float* x, float* r);
  bool isThere;
};

/// The widths that this processor has.
std::vector<Width> widths() {
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  std::vector<Width> all = {
      {"sse2", call4, true}, {"avx2", call8, __builtin_cpu_supports("avx2") != 0}, {"avx512f", call16, wide}};
  std::erase_if(all, [](const Width& w) { return !w.isThere; });
  return all;
}

/// The `unit` functions alternate between the widths, so that all are tried on every function.
Results unit(const std::string& name) {
  std::vector<std::pair<void (*)(void*, const float*, float*), void*>> calls;
  for (const Width& w : widths())
    for (auto [symbol, address] : machine::multifunctionTable())
      if (symbol == "mufu_" + name + "_" + w.suffix) calls.emplace_back(w.call, address);
  if (calls.empty()) throw std::runtime_error("unknown function " + name);
  return [calls](uint32_t first, uint32_t step, uint32_t(&results)[16]) {
    float x[16], r[16];
    for (unsigned k = 0; k < 16; ++k) x[k] = std::bit_cast<float>(first + k * step);
    auto [call, address] = calls[first / (16 * step) % calls.size()];
    call(address, x, r);
    std::memcpy(results, r, sizeof r);
  };
}

Results one(std::function<uint32_t(uint32_t)> f) {
  return [f = std::move(f)](uint32_t first, uint32_t step, uint32_t(&results)[16]) {
    for (unsigned k = 0; k < 16; ++k) results[k] = f(first + k * step);
  };
}

Results implementation(const std::string& kind, const std::string& name) {
  if (kind == "unit") return unit(name);
  if (kind == "scaled") return one([f = functionOf(name)](uint32_t x) { return machine::approximate(f, x, false); });
  if (kind == "upper") return one(name == "rcp" ? machine::reciprocalOfDouble : machine::reciprocalRootOfDouble);
  throw std::runtime_error("unknown kind " + kind);
}

uint64_t checksum(const Results& results, uint32_t first, uint32_t count, uint32_t step) {
  uint64_t sum = 0;
  uint32_t r[16];
  for (uint32_t k = 0; k < count; k += 16) {
    const uint32_t x = first + k * step;
    results(x, step, r);
    for (uint32_t j = 0; j < 16; ++j) sum += contribution(x + j * step, r[j]);
  }
  return sum;
}

bool isChosen(uint32_t chunk) {
  const uint32_t exponent = chunk & 0xFF;
  return chunk % 32 == 7 || exponent == 0 || exponent >= 0xFD || (exponent >= 0x7D && exponent <= 0x80) ||
         exponent == 0x85;
}

uint64_t halves(const std::string& name) {
  const bool isHalf = name.ends_with(".f16");
  const Multifunction f = functionOf(name.substr(0, name.find('.')));
  uint64_t sum = 0;
  for (uint32_t x = 0; x < 65536; ++x) {
    float wide = std::bit_cast<float>(x << 16);
    if (isHalf) wide = static_cast<float>(std::bit_cast<_Float16>(static_cast<uint16_t>(x)));
    const uint32_t r = machine::multifunction(f, std::bit_cast<uint32_t>(wide));
    sum += contribution(x, isHalf ? machine::cutToHalf(r) : machine::cutToBfloat(r));
  }
  return sum;
}

int run(const std::string& file, bool all) {
  std::ifstream in(file);
  std::string line;
  size_t lines = 0, compared = 0, wrong = 0;
  while (std::getline(in, line)) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    std::string kind, name;
    uint32_t step = 0;
    words >> kind >> name >> step >> std::hex;
    ++lines;
    const bool isSmall = kind == "half";
    const Results results = isSmall ? Results{} : implementation(kind, name);
    uint64_t expected = 0;
    for (uint32_t chunk = 0; words >> expected; ++chunk) {
      if (!isSmall && !all && !isChosen(chunk)) continue;
      ++compared;
      const uint64_t sum = isSmall ? halves(name) : checksum(results, chunk << 23, (1U << 23) / step, step);
      if (sum == expected) continue;
      ++wrong;
      std::printf("FAIL %s %s: arguments 0x%08x to 0x%08x differ from the GPU's\n", kind.c_str(), name.c_str(),
                  chunk << 23, (chunk << 23) + 0x7FFFFF);
    }
  }
  std::printf("%zu functions, %zu ranges of arguments compared, %zu wrong\n", lines, compared, wrong);
  return lines < 21 || wrong ? 1 : 0;
}

}  // namespace
}  // namespace ordito::gpu

int main(int argc, char** argv) {
  std::string file;
  bool all = false;
  CLI::App app{"Compares the special function unit with a GPU's"};
  app.add_option("file", file, "what approximate_functions.cu recorded")->required()->check(CLI::ExistingFile);
  app.add_flag("--all", all, "every argument");
  CLI11_PARSE(app, argc, argv);
  try {
    return ordito::gpu::run(file, all);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", file.c_str(), e.what());
    return 1;
  }
}
