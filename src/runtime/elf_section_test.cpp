// A variable in the section of managed variables is told from one beside it.
#include "runtime/elf_section.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace ordito::runtime {
namespace {

__attribute__((section("ordito_managed"), used)) int managed[4] = {1, 2, 3, 4};
int plain[4] = {1, 2, 3, 4};

TEST(ElfSection, HoldsItsVariables) {
  const LoadedSection section = sectionBeside(&managed, kManagedSection);
  EXPECT_EQ(section.bytes(), sizeof managed);
  EXPECT_TRUE(section.contains(&managed[0]));
  EXPECT_TRUE(section.contains(&managed[3]));
  EXPECT_FALSE(section.contains(&plain));
  EXPECT_EQ(sectionBeside(&plain, kManagedSection).begin, section.begin);
}

TEST(ElfSection, LibrariesWithoutTheSectionHaveNone) {
  EXPECT_EQ(sectionBeside(reinterpret_cast<const void*>(&std::malloc), kManagedSection).bytes(), 0U);
  int onTheStack = 0;
  EXPECT_EQ(sectionBeside(&onTheStack, kManagedSection).bytes(), 0U);
}

}  // namespace
}  // namespace ordito::runtime
