// Device memory as a GPU's: alignment, guards, limits, and the map that messages and copies ask.
#include "machine/memory.hpp"

#include <gtest/gtest.h>

#include <cstring>

using namespace ordito::machine;

namespace {

char* at(uint64_t address) { return reinterpret_cast<char*>(address); }

TEST(DeviceMemory, IsAlignedZeroedAndEndsAtAGuard) {
  DeviceMemory memory(0, 64 << 20);
  for (uint64_t bytes : {1ull, 511ull, 512ull, 4096ull, 5000ull, 3ull << 20}) {
    auto address = memory.allocate(bytes);
    ASSERT_TRUE(address) << bytes;
    EXPECT_EQ(*address % 512, 0u);
    EXPECT_EQ(at(*address)[bytes - 1], 0);
    std::memset(at(*address), 1, bytes);
    EXPECT_DEATH(at(*address)[(bytes + 511) / 512 * 512] = 1, "") << "behind " << bytes << " bytes";
  }
}

TEST(DeviceMemory, FreedMemoryFaults) {
  DeviceMemory memory(0, 64 << 20);
  uint64_t address = memory.allocate(4096).value();
  ASSERT_TRUE(memory.free(address));
  EXPECT_FALSE(memory.free(address));
  EXPECT_DEATH(at(address)[0] = 1, "");
}

TEST(DeviceMemory, HasTheSizeOfItsGpu) {
  DeviceMemory memory(0, 1 << 20);
  EXPECT_EQ(memory.freeBytes(), 1u << 20);
  uint64_t address = memory.allocate(1 << 19).value();
  EXPECT_EQ(memory.freeBytes(), 1u << 19);
  auto more = memory.allocate((1 << 19) + 512);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, 2);
  EXPECT_TRUE(memory.free(address));
  EXPECT_TRUE(memory.allocate(1 << 20));
}

TEST(DeviceMemory, MoreThanTheHostHasIsRefused) {
  DeviceMemory memory(0, uint64_t{1} << 42);
  auto absurd = memory.allocate(uint64_t{1} << 41);
  ASSERT_FALSE(absurd);
  EXPECT_EQ(absurd.error().code, 2);
}

TEST(DeviceMemory, ReusesAddressesInTheEnd) {
  DeviceMemory memory(0, 1 << 20);
  for (int i = 0; i < 100000; ++i) {
    auto address = memory.allocate(1 << 19);
    ASSERT_TRUE(address) << i;
    ASSERT_TRUE(memory.free(*address));
  }
}

TEST(AllocationMap, FindsWhatContainsAPointer) {
  DeviceMemory memory(0, 64 << 20);
  uint64_t address = memory.allocate(1000).value();
  EXPECT_EQ(allocations().find(address + 999)->address, address);
  EXPECT_FALSE(allocations().find(address + 1000));
  EXPECT_EQ(describeAddress(address + 1000 + 4096),
            fmt::format("4096 bytes past the end of the 1000-byte device allocation at {:#x}", address));
  EXPECT_EQ(describeAddress(0), "a null pointer");
  EXPECT_EQ(describeAddress(8), "a null pointer plus 8");
}

TEST(HostMemory, IsRegisteredWithItsKind) {
  uint64_t address = allocateHost(100, MemoryKind::Managed, 1).value();
  EXPECT_EQ(allocations().find(address)->kind, MemoryKind::Managed);
  EXPECT_FALSE(freeHost(address, MemoryKind::Host));
  EXPECT_TRUE(freeHost(address, MemoryKind::Managed));
  EXPECT_FALSE(allocations().find(address));
}

}  // namespace
