// Device printf prints what C's printf prints.
#include "machine/device_functions.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

using namespace ordito::machine;

namespace {

/// Packs arguments as vprintf's callers do.
class Packed {
 public:
  template <class T>
  Packed& add(T value) {
    size_t at = (data_.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    data_.resize(at + sizeof(T));
    std::memcpy(data_.data() + at, &value, sizeof value);
    return *this;
  }
  const std::byte* data() const { return data_.data(); }

 private:
  std::vector<std::byte> data_;
};

std::string printed(const char* format, const Packed& arguments, int expected) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(devicePrintf(format, arguments.data()), expected);
  fflush(stdout);
  return testing::internal::GetCapturedStdout();
}

TEST(DevicePrintf, Integers) {
  EXPECT_EQ(printed("%d %u %5d|%-5d|%05d %x %#x %o\n",
                    Packed().add(-1).add(4000000000u).add(42).add(42).add(42).add(255).add(255).add(8), 8),
            "-1 4000000000    42|42   |00042 ff 0xff 10\n");
  EXPECT_EQ(
      printed("%lld %llu %ld %hhd %hd\n", Packed().add(-5000000000ll).add(1ull << 63).add(7ll).add(257).add(65537), 5),
      "-5000000000 9223372036854775808 7 1 1\n");
}

TEST(DevicePrintf, FloatingPoint) {
  EXPECT_EQ(printed("%f %.2f %e %g %a", Packed().add(1.5).add(2.345).add(1e10).add(0.1).add(1.0), 5),
            "1.500000 2.35 1.000000e+10 0.1 0x1p+0");
}

TEST(DevicePrintf, AlignsEachArgumentToItsSize) {
  EXPECT_EQ(printed("%d %f %d %s", Packed().add(1).add(2.0).add(3).add("four"), 4), "1 2.000000 3 four");
}

TEST(DevicePrintf, TheRest) {
  EXPECT_EQ(printed("%c%c %% %*d %.*f %s",
                    Packed().add(int('a')).add(int('b')).add(4).add(1).add(1).add(2.25).add((const char*)nullptr), 7),
            "ab %    1 2.2 (null)");
  EXPECT_EQ(printed("%y %", Packed(), 0), "%y %");
  EXPECT_EQ(devicePrintf(nullptr, nullptr), -1);
  std::string longText(1000, 'x');
  EXPECT_EQ(printed("%s", Packed().add(longText.c_str()), 1), longText);
}

}  // namespace
