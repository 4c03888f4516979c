// Exact rounding of conversions and arithmetic, against values derived by hand and against the host's hardware where it
// has the operation.
#include "interp/numeric.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

namespace ordito::interp {
namespace {

using isa::Type;

uint64_t f32(float x) { return std::bit_cast<uint32_t>(x); }
uint64_t f64(double x) { return std::bit_cast<uint64_t>(x); }

TEST(Numeric, ConvertsToHalfInEveryMode) {
  // 1 + 2^-11 lies halfway between 1 and the next half.
  uint64_t half = f32(1 + 0x1p-11f);
  EXPECT_EQ(convertFloat(half, Type::f32, Type::f16, Rounding::NearestEven), 0x3C00u);
  EXPECT_EQ(convertFloat(half, Type::f32, Type::f16, Rounding::NearestAway), 0x3C01u);
  EXPECT_EQ(convertFloat(half, Type::f32, Type::f16, Rounding::Zero), 0x3C00u);
  EXPECT_EQ(convertFloat(half, Type::f32, Type::f16, Rounding::Up), 0x3C01u);
  EXPECT_EQ(convertFloat(half ^ 0x80000000u, Type::f32, Type::f16, Rounding::Down), 0xBC01u);
  EXPECT_EQ(convertFloat(half ^ 0x80000000u, Type::f32, Type::f16, Rounding::Up), 0xBC00u);
}

TEST(Numeric, OverflowsAndUnderflowsByMode) {
  EXPECT_EQ(convertFloat(f32(65520.0f), Type::f32, Type::f16, Rounding::NearestEven), 0x7C00u);
  EXPECT_EQ(convertFloat(f32(65519.996f), Type::f32, Type::f16, Rounding::NearestEven), 0x7BFFu);
  EXPECT_EQ(convertFloat(f32(1e10f), Type::f32, Type::f16, Rounding::Zero), 0x7BFFu);
  EXPECT_EQ(convertFloat(f32(-1e10f), Type::f32, Type::f16, Rounding::Up), 0xFBFFu);
  EXPECT_EQ(convertFloat(f32(1e-10f), Type::f32, Type::f16, Rounding::Up), 0x0001u);
  EXPECT_EQ(convertFloat(f32(0x1p-25f), Type::f32, Type::f16, Rounding::NearestEven), 0x0000u);
  EXPECT_EQ(convertFloat(f32(0x1.8p-25f), Type::f32, Type::f16, Rounding::NearestEven), 0x0001u);
  EXPECT_EQ(convertFloat(f64(0x1p-1074), Type::f64, Type::f32, Rounding::Up), 1u);
  EXPECT_EQ(convertFloat(f32(NAN), Type::f32, Type::f16, Rounding::Zero), 0x7FFFu);
}

TEST(Numeric, AgreesWithTheHostOnDoubleToFloat) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200000; ++i) {
    uint64_t bits = random();
    if (i % 2) bits = (bits & ~(uint64_t{0x7FF} << 52)) | (uint64_t{1023 - 160} + random() % 320) << 52;
    double x = std::bit_cast<double>(bits);
    if (std::isnan(x)) continue;
    ASSERT_EQ(convertFloat(bits, Type::f64, Type::f32, Rounding::NearestEven), f32(float(x))) << x;
    ASSERT_EQ(convertInteger(bits, true, Type::f32, Rounding::NearestEven), f32(float(int64_t(bits))));
    ASSERT_EQ(convertInteger(bits, false, Type::f64, Rounding::NearestEven), f64(double(bits)));
  }
}

TEST(Numeric, ConvertsToIntegers) {
  EXPECT_EQ(convertToInteger(f32(2.5f), Type::f32, Type::s32, Rounding::NearestEven), 2u);
  EXPECT_EQ(convertToInteger(f32(-2.5f), Type::f32, Type::s32, Rounding::Down), uint32_t(-3));
  EXPECT_EQ(convertToInteger(f32(3e9f), Type::f32, Type::s32, Rounding::Zero), 0x7FFFFFFFu);
  EXPECT_EQ(convertToInteger(f32(-3e9f), Type::f32, Type::s32, Rounding::Zero), 0x80000000u);
  EXPECT_EQ(convertToInteger(f32(-1.0f), Type::f32, Type::u32, Rounding::Zero), 0u);
  EXPECT_EQ(convertToInteger(f32(300.0f), Type::f32, Type::u8, Rounding::Zero), 255u);
  EXPECT_EQ(convertToInteger(f32(NAN), Type::f32, Type::s32, Rounding::Zero), 0u);
  EXPECT_EQ(convertToInteger(f64(NAN), Type::f64, Type::s64, Rounding::Zero), uint64_t{1} << 63);
  EXPECT_EQ(convertToInteger(f64(1e30), Type::f64, Type::u64, Rounding::Zero), ~uint64_t{0});
  EXPECT_EQ(convertToInteger(f64(0x1p-1074), Type::f64, Type::s32, Rounding::Up), 1u);
}

TEST(Numeric, RoundsToIntegral) {
  EXPECT_EQ(roundToIntegral(f32(-0.25f), Type::f32, Rounding::NearestEven), f32(-0.0f));
  EXPECT_EQ(roundToIntegral(f32(-0.25f), Type::f32, Rounding::Down), f32(-1.0f));
  EXPECT_EQ(roundToIntegral(f32(1e20f), Type::f32, Rounding::Down), f32(1e20f));
  EXPECT_EQ(roundToIntegral(f64(4503599627370495.5), Type::f64, Rounding::NearestEven), f64(4503599627370496.0));
}

TEST(Numeric, ArithmeticInDirectedModes) {
  auto add = [](Rounding r) { return compute(FloatOp::Add, Type::f32, f32(1), f32(0x1p-30f), 0, r); };
  EXPECT_EQ(add(Rounding::NearestEven), f32(1));
  EXPECT_EQ(add(Rounding::Up), f32(1) + 1);
  EXPECT_EQ(add(Rounding::Zero), f32(1));
  EXPECT_EQ(compute(FloatOp::Sub, Type::f32, f32(1), f32(1), 0, Rounding::Down), f32(-0.0f));
  EXPECT_EQ(compute(FloatOp::Div, Type::f64, f64(1), f64(3), 0, Rounding::Up), f64(1.0 / 3) + 1);
  EXPECT_EQ(compute(FloatOp::Sqrt, Type::f32, f32(2), 0, 0, Rounding::Zero), 0x3FB504F3u);
  EXPECT_EQ(compute(FloatOp::Sqrt, Type::f32, f32(-1), 0, 0, Rounding::Zero), 0x7FFFFFFFu);
  EXPECT_EQ(compute(FloatOp::Fma, Type::f32, f32(1 + 0x1p-23f), f32(1 - 0x1p-23f), f32(-1), Rounding::NearestEven),
            f32(-0x1p-46f));
}

TEST(Numeric, HalfArithmeticRoundsOnce) {
  // 1 + 2^-11 (halfway) + a sticky tail far below a double's last bit must round up: double rounding would give 1.
  EXPECT_EQ(compute(FloatOp::Fma, Type::bf16, 0x3F80, 0x3F80, 0x3B80, Rounding::NearestEven),
            0x3F80u);  // 1 + 2^-8: tie to even
  EXPECT_EQ(compute(FloatOp::Fma, Type::f16, 0x3C01, 0x3C01, 0x0001, Rounding::NearestEven), 0x3C02u);
  EXPECT_EQ(compute(FloatOp::Add, Type::bf16, 0x7F00, 0x0001, 0, Rounding::NearestEven), 0x7F00u);
  EXPECT_EQ(compute(FloatOp::Mul, Type::f16, 0x7BFF, 0x7BFF, 0, Rounding::NearestEven), 0x7C00u);
  EXPECT_EQ(compute(FloatOp::Add, Type::f16, 0x7C00, 0xFC00, 0, Rounding::NearestEven), 0x7FFFu);
}

TEST(Numeric, ImmediatesKeepNanPayloads) {
  EXPECT_EQ(immediateBits(0x7FF8000020000000u, Type::f32), 0x7FC00001u);
  EXPECT_EQ(immediateBits(f64(1.5), Type::f32), f32(1.5f));
  EXPECT_EQ(immediateBits(f64(1.5), Type::f64), f64(1.5));
  EXPECT_EQ(immediateBits(f64(-0.0), Type::b32), 0x80000000u);
}

}  // namespace
}  // namespace ordito::interp
