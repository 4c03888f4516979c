#include "driver/visible_devices.hpp"

#include <gtest/gtest.h>

namespace ordito::driver {
namespace {

using Numbers = std::vector<size_t>;
const std::vector<std::string> kThree = {"GPU-6f72-0", "GPU-6f72-1", "GPU-7abc-2"};

TEST(VisibleDevices, AreAllUnlessTheVariableIsSet) {
  EXPECT_EQ(visibleDevices(std::nullopt, kThree), (Numbers{0, 1, 2}));
  EXPECT_EQ(visibleDevices("", kThree), Numbers{});
  EXPECT_EQ(visibleDevices(" ", kThree), Numbers{});
}

TEST(VisibleDevices, AreInTheOrderOfTheList) {
  EXPECT_EQ(visibleDevices("2,0", kThree), (Numbers{2, 0}));
  EXPECT_EQ(visibleDevices(" 1 , 2", kThree), (Numbers{1, 2}));
  EXPECT_EQ(visibleDevices("GPU-7,GPU-6f72-1", kThree), (Numbers{2, 1}));
}

TEST(VisibleDevices, EndBeforeTheFirstThatThereIsNot) {
  EXPECT_EQ(visibleDevices("-1", kThree), Numbers{});
  EXPECT_EQ(visibleDevices("1,3,0", kThree), Numbers{1});
  EXPECT_EQ(visibleDevices("1,-1,0", kThree), Numbers{1});
  EXPECT_EQ(visibleDevices("0,all", kThree), Numbers{0});
  EXPECT_EQ(visibleDevices("GPU-8", kThree), Numbers{});
}

TEST(VisibleDevices, AreNoneIfOneIsNamedTwice) { EXPECT_EQ(visibleDevices("0,1,0", kThree), Numbers{}); }

}  // namespace
}  // namespace ordito::driver
