// A variable in the section of managed variables is told from one beside it.
#include "runtime/managed_section.hpp"

#include <gtest/gtest.h>

namespace ordito::runtime {
namespace {

__attribute__((section("ordito_managed"), used)) int managed[4] = {1, 2, 3, 4};
int plain[4] = {1, 2, 3, 4};

TEST(ManagedSection, KnowsItsVariables) {
  EXPECT_TRUE(isManagedShadow(&managed[0]));
  EXPECT_TRUE(isManagedShadow(&managed[3]));
  EXPECT_FALSE(isManagedShadow(&managed[4]));
  EXPECT_FALSE(isManagedShadow(&plain));
}

TEST(ManagedSection, LibrariesWithoutTheSectionHaveNone) {
  EXPECT_FALSE(isManagedShadow(reinterpret_cast<const void*>(&std::malloc)));
  int local = 0;
  EXPECT_FALSE(isManagedShadow(&local));
}

}  // namespace
}  // namespace ordito::runtime
