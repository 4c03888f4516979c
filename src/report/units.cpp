// See units.hpp.
#include "report/units.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace ordito::report {
namespace {

struct Unit {
  double size;
  const char* name;
};

/// `value` in the largest unit of the descending list that it reaches, else in the last.
template <std::size_t N>
std::string inUnit(double value, const Unit (&units)[N], int digits) {
  for (const Unit& unit : units) {
    if (std::fabs(value) >= unit.size) return fmt::format("{:.{}f} {}", value / unit.size, digits, unit.name);
  }
  const Unit& last = units[N - 1];
  return fmt::format("{:.{}f} {}", value / last.size, digits, last.name);
}

constexpr double kKibi = 1024;

}  // namespace

std::string grouped(std::int64_t value) {
  std::string digits = fmt::format("{}", value);
  const std::size_t first = value < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string count(double value) {
  if (std::fabs(value) < 1000) return fmt::format("{:g}", value);
  constexpr Unit kUnits[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  return inUnit(value, kUnits, 2);
}

std::string bytes(double value) {
  if (std::fabs(value) < kKibi) return fmt::format("{:g} B", value);
  constexpr Unit kUnits[] = {
      {kKibi * kKibi * kKibi * kKibi, "TiB"}, {kKibi * kKibi * kKibi, "GiB"}, {kKibi * kKibi, "MiB"}, {kKibi, "KiB"}};
  return inUnit(value, kUnits, 2);
}

std::string seconds(double value) {
  constexpr Unit kUnits[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
  return inUnit(value, kUnits, 3);
}

std::size_t displayWidth(std::string_view text) {
  std::size_t width = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) ++width;  // count the bytes that begin a code point
  }
  return width;
}

}  // namespace ordito::report
