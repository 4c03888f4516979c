// Which images a registered wrapper asks to link, and how large an image says it is.
#include "runtime/fat_binary.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "driver/fatbin.hpp"

namespace ordito::runtime {
namespace {

TEST(FatBinary, OneWholeProgramHasNothingToLink) {
  const char image[16] = {};
  const FatBinaryWrapper wrapper{driver::kWrapperMagic, 1, image, nullptr};
  EXPECT_TRUE(linkedImages({&wrapper}).empty());
}

TEST(FatBinary, SeveralObjectsAreLinkedWithOneAnother) {
  const char a[16] = {}, b[16] = {};
  const FatBinaryWrapper first{driver::kWrapperMagic, 1, a, nullptr}, second{driver::kWrapperMagic, 1, b, nullptr};
  EXPECT_EQ(linkedImages({&first, &second}), (std::vector<const void*>{a, b}));
}

TEST(FatBinary, NvccListsItsObjectsBehindVersionTwo) {
  const char linked[16] = {}, a[16] = {}, b[16] = {};
  const void* const objects[] = {a, b, nullptr};
  const FatBinaryWrapper wrapper{driver::kWrapperMagic, 2, linked, objects};
  EXPECT_EQ(linkedImages({&wrapper}), (std::vector<const void*>{a, b}));
}

TEST(FatBinary, SizeIsHeaderAndPayload) {
  unsigned char image[64] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0, 48};
  EXPECT_EQ(fatBinarySize(image), 64U);
  image[0] = 0;
  EXPECT_EQ(fatBinarySize(image), 0U);
}

}  // namespace
}  // namespace ordito::runtime
