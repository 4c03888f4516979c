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

std::string at(unsigned number) { return fmt::format("(${})", number); }

}  // namespace

std::string loadElement(unsigned bytes, unsigned k, const std::string& from, const std::string& to) {
  if (k == 0) return fmt::format("{} {}, {}\n", bytes == 4 ? "vmovss" : "vmovsd", from, to);
  if (bytes == 4) return fmt::format("vinsertps $${}, {}, {}, {}\n", 16 * k, from, to, to);
  return fmt::format("vmovhpd {}, {}, {}\n", from, to, to);
}

std::string storeElement(unsigned bytes, unsigned k, const std::string& from, const std::string& to) {
  if (k == 0) return fmt::format("{} {}, {}\n", bytes == 4 ? "vmovss" : "vmovsd", from, to);
  if (bytes == 4) return fmt::format("vextractps $${}, {}, {}\n", k, from, to);
  return fmt::format("vmovhpd {}, {}\n", from, to);
}

std::string AssembledLanes::gather() const {
  constexpr unsigned kResult = 0, kUpper = 1, kTaken = 2, kNumbers = 3, kAddresses = 5;
  std::string text;
  for (unsigned pair = 0; pair < lanes() / 2; ++pair) {
    const unsigned from = kAddresses + pair / 2, perHalf = 8 / bytes;
    if (pair % 2 == 1) text += highHalf("vextracti128", from, kTaken);
    text += takeAddresses(pair % 2 == 1 ? kTaken : from, kNumbers);
    for (unsigned k = 0; k < 2; ++k)
      text += loadElement(bytes, pair % perHalf * 2 + k, at(kNumbers + k), low(pair < perHalf ? kResult : kUpper));
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
    for (unsigned k = 0; k < 2; ++k)
      text += storeElement(bytes, pair % perHalf * 2 + k, low(pair < perHalf ? kValue : kUpper), at(kNumbers + k));
  }
  return text;
}

}  // namespace ordito::jit
