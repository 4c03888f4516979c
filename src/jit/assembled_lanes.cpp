// See assembled_lanes.hpp.
#include "jit/assembled_lanes.hpp"

#include <fmt/format.h>

namespace ordito::jit {
namespace {

std::string low(unsigned operand) { return fmt::format("${{{}:x}}", operand); }

/// The two addresses of the low half of a vector go to the numbers `first` and the next one.
std::string takeAddresses(unsigned vector, unsigned first) {
  return fmt::format("vmovq {}, ${}\nvpextrq $$1, {}, ${}\n", low(vector), first, low(vector), first + 1);
}

std::string highHalf(const char* instruction, unsigned of, unsigned to) {
  return fmt::format("{} $$1, ${{{}:t}}, {}\n", instruction, of, low(to));
}

/// Elements `first` and `first` + 1 of the low half of `to`.
std::string loadPair(unsigned bytes, unsigned numbers, unsigned first, unsigned to) {
  const std::string x = low(to);
  if (bytes == 8) return fmt::format("vmovsd (${}), {}\nvmovhpd (${}), {}, {}\n", numbers, x, numbers + 1, x, x);
  const std::string one = first == 0 ? fmt::format("vmovss (${}), {}\n", numbers, x)
                                     : fmt::format("vinsertps $${}, (${}), {}, {}\n", 16 * first, numbers, x, x);
  return one + fmt::format("vinsertps $${}, (${}), {}, {}\n", 16 * (first + 1), numbers + 1, x, x);
}

std::string storePair(unsigned bytes, unsigned numbers, unsigned first, unsigned from) {
  const std::string x = low(from);
  if (bytes == 8) return fmt::format("vmovsd {}, (${})\nvmovhpd {}, (${})\n", x, numbers, x, numbers + 1);
  const std::string one = first == 0 ? fmt::format("vmovss {}, (${})\n", x, numbers)
                                     : fmt::format("vextractps $${}, {}, (${})\n", first, x, numbers);
  return one + fmt::format("vextractps $${}, {}, (${})\n", first + 1, x, numbers + 1);
}

}  // namespace

std::string AssembledLanes::gather() const {
  constexpr unsigned kResult = 0, kUpper = 1, kTaken = 2, kNumbers = 3, kAddresses = 5;
  std::string text;
  for (unsigned pair = 0; pair < lanes() / 2; ++pair) {
    const unsigned from = kAddresses + pair / 2, perHalf = 8 / bytes;
    if (pair % 2 == 1) text += highHalf("vextracti128", from, kTaken);
    text += takeAddresses(pair % 2 == 1 ? kTaken : from, kNumbers);
    text += loadPair(bytes, kNumbers, pair % perHalf * 2, pair < perHalf ? kResult : kUpper);
  }
  return text + fmt::format("vinsertf128 $$1, {}, ${{{}:t}}, ${{{}:t}}\n", low(kUpper), kResult, kResult);
}

std::string AssembledLanes::scatter() const {
  constexpr unsigned kUpper = 0, kTaken = 1, kNumbers = 2, kValue = 4, kAddresses = 5;
  std::string text = highHalf("vextractf128", kValue, kUpper);
  for (unsigned pair = 0; pair < lanes() / 2; ++pair) {
    const unsigned from = kAddresses + pair / 2, perHalf = 8 / bytes;
    if (pair % 2 == 1) text += highHalf("vextracti128", from, kTaken);
    text += takeAddresses(pair % 2 == 1 ? kTaken : from, kNumbers);
    text += storePair(bytes, kNumbers, pair % perHalf * 2, pair < perHalf ? kValue : kUpper);
  }
  return text;
}

}  // namespace ordito::jit
