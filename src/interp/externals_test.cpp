// The table of external functions: names are unique, and the functions that libm lacks have the values of published
// tables.
#include "interp/externals.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "machine/special_functions.hpp"

namespace ordito::interp {
namespace {

uint64_t call(const char* name, std::initializer_list<uint64_t> arguments) {
  static const machine::BlockFrame frame{};
  const uint32_t tid[3] = {};
  const External* external = findExternal(name);
  EXPECT_NE(external, nullptr) << name;
  EXPECT_EQ(external->arguments, arguments.size());
  ExternalCall c{arguments.begin(), 0, frame, tid};
  external->run(c);
  return c.result;
}

uint64_t bits(float x) { return std::bit_cast<uint32_t>(x); }
uint64_t bits(double x) { return std::bit_cast<uint64_t>(x); }

TEST(Externals, ConvertArgumentsAndResults) {
  EXPECT_EQ(call("__nv_sqrtf", {bits(2.25f)}), bits(1.5f));
  EXPECT_EQ(call("__nv_pow", {bits(2.0), bits(10.0)}), bits(1024.0));
  EXPECT_EQ(call("__nv_ldexpf", {bits(1.0f), uint32_t(-3)}), bits(0.125f));
  EXPECT_EQ(call("__nv_logf", {bits(-1.0f)}), 0x7FFFFFFFu);
  EXPECT_EQ(call("__nv_llround", {bits(-2.5)}), uint64_t(-3));
  float s, c;
  call("__nv_sincospif", {bits(0.5f), reinterpret_cast<uint64_t>(&s), reinterpret_cast<uint64_t>(&c)});
  EXPECT_EQ(s, 1);
  EXPECT_EQ(c, 0);
}

TEST(Externals, UnknownNamesAreNotFound) { EXPECT_EQ(findExternal("__nv_nosuch"), nullptr); }

TEST(SpecialFunctions, InversesInvert) {
  for (double x : {1e-300, 1e-20, 1e-5, 0.1, 0.3, 0.49, 0.51, 0.9, 0.999999, 1.5, 1.999})
    EXPECT_NEAR(std::erfc(machine::inverseErfc(x)) / x, 1, 1e-12) << x;
  for (double x : {-0.999, -0.5, -1e-10, 1e-10, 0.2, 0.7, 0.99999})
    EXPECT_NEAR(std::erf(machine::inverseErf(x)), x, 4e-16) << x;
}

TEST(SpecialFunctions, KnownValues) {
  EXPECT_NEAR(machine::scaledErfc(1), 0.427583576155807, 1e-15);
  EXPECT_NEAR(machine::scaledErfc(50), 0.0112815362653238, 1e-16);
  EXPECT_EQ(machine::sinPi(0.5), 1);
  EXPECT_EQ(machine::cosPi(1), -1);
  EXPECT_EQ(machine::sinPi(1e15 + 0.5), 1);
  const double v[] = {3e200, 4e200};
  EXPECT_NEAR(machine::norm(2, v) / 5e200, 1, 1e-15);
}

}  // namespace
}  // namespace ordito::interp
