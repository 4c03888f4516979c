// What a buffer of atomics stands for, and that memory gets all that has come together in it.
#include "machine/combining_buffer.hpp"

#include <gtest/gtest.h>

#include <array>

#include "machine/memory.hpp"
#include "simt/cost.hpp"

namespace ordito::machine {
namespace {

namespace cost = simt::cost;
using Operation = simt::Combination::Operation;
constexpr simt::Combination kAdd{Operation::Add, 4};

/// Memory of the device.
class Array {
 public:
  explicit Array(size_t words, MemoryKind kind = MemoryKind::Device) : words_(words + 32), kind_(kind) {
    allocations().add({.address = address(), .bytes = 4 * words, .kind = kind});
  }
  ~Array() { allocations().remove(address(), kind_); }
  uint64_t address(size_t word = 0) { return (reinterpret_cast<uint64_t>(words_.data()) + 63) / 64 * 64 + 4 * word; }
  uint32_t& operator[](size_t word) { return *reinterpret_cast<uint32_t*>(address(word)); }

 private:
  std::vector<uint32_t> words_;
  MemoryKind kind_;
};

/// Asks until it has been patient enough.
bool admits(CombiningBuffer& buffer, uint64_t low, uint64_t high, simt::Combination combination = kAdd) {
  for (unsigned k = 0; k < cost::kFewTimesLittle; ++k)
    if (buffer.admit(low, high, combination)) return true;
  return buffer.admit(low, high, combination);
}

/// What compiled code does for one lane.
template <class Word>
Word& wordOf(CombiningBuffer& buffer, uint64_t address, unsigned lane) {
  buffer.uses++;
  return *reinterpret_cast<Word*>(buffer.words + buffer.turns[lane] + (address - buffer.first));
}

TEST(CombiningBuffer, BringsTogetherWhatLanesAdd) {
  Array array(256);
  CombiningBuffer buffer;
  EXPECT_FALSE(buffer.admit(array.address(), array.address(7), kAdd));  // a small grid does not pay for it
  ASSERT_TRUE(admits(buffer, array.address(), array.address(7)));
  array[3] = 100;
  for (unsigned lane = 0; lane < 32; ++lane) wordOf<uint32_t>(buffer, array.address(3), lane) += 2;
  EXPECT_EQ(array[3], 100u);
  buffer.empty();
  EXPECT_EQ(array[3], 164u);
  buffer.empty();
  EXPECT_EQ(array[3], 164u);
}

TEST(CombiningBuffer, CombinesByEveryOperation) {
  struct Row {
    Operation operation;
    uint64_t stands, a, b, result;
  };
  const uint64_t minus = static_cast<uint64_t>(-5);
  for (const Row& row : std::to_array<Row>({{Operation::Add, 10, 3, minus, 8},
                                            {Operation::And, 14, 6, 11, 2},
                                            {Operation::Or, 1, 2, 4, 7},
                                            {Operation::Xor, 1, 3, 4, 6},
                                            {Operation::Min, 10, 3, minus, minus},
                                            {Operation::Max, 1, 3, minus, 3},
                                            {Operation::UMin, 10, 3, minus, 3},
                                            {Operation::UMax, 10, 3, minus, minus}})) {
    Array array(8);
    CombiningBuffer buffer;
    auto& place = reinterpret_cast<uint64_t&>(array[2]);
    place = row.stands;
    array[6] = 77;
    ASSERT_TRUE(admits(buffer, array.address(), array.address(6), {row.operation, 8}));
    wordOf<uint64_t>(buffer, array.address(2), 0) = row.a;
    wordOf<uint64_t>(buffer, array.address(2), 1) = row.b;
    buffer.reset();
    EXPECT_EQ(place, row.result) << static_cast<int>(row.operation);
    EXPECT_EQ(array[6], 77u);
  }
}

TEST(CombiningBuffer, StandsForTheDevicesMemoryAlone) {
  CombiningBuffer buffer;
  Array pinned(64, MemoryKind::Host), device(64);
  EXPECT_FALSE(admits(buffer, pinned.address(), pinned.address(1)));
  EXPECT_FALSE(admits(buffer, 64, 64));
  EXPECT_FALSE(admits(buffer, device.address(), device.address(64)));  // past its end
}

TEST(CombiningBuffer, StandsForAPieceOfWhatIsLarge) {
  Array array(1 << 20);
  CombiningBuffer buffer;
  ASSERT_TRUE(admits(buffer, array.address(500'000), array.address(500'010)));
  EXPECT_EQ(buffer.bytes, cost::kCombinedPiece);
  EXPECT_LE(buffer.first, array.address(500'000));
  EXPECT_GT(buffer.first + buffer.bytes, array.address(500'010));
  for (unsigned k = 0; k < 100; ++k) wordOf<uint32_t>(buffer, array.address(500'000), k % 32) += 1;
  ASSERT_TRUE(buffer.admit(array.address(10), array.address(20), kAdd));  // it was worth while, and moves
  EXPECT_EQ(array[500'000], 100u);
  EXPECT_EQ(buffer.first, array.address());
}

TEST(CombiningBuffer, StandsAsideWhereLittleComesTogether) {
  Array array(1 << 20);
  CombiningBuffer buffer;
  for (unsigned k = 0; k <= cost::kMostTimesLittle; ++k)
    buffer.admit(array.address(k << 14), array.address(k << 14), kAdd);
  EXPECT_TRUE(buffer.standsAside);
  EXPECT_EQ(buffer.bytes, 0u);
  buffer.reset();
  EXPECT_FALSE(buffer.standsAside);
  ASSERT_TRUE(admits(buffer, array.address(), array.address()));
  for (unsigned k = 0; k <= cost::kMostTimesLittle; ++k) {
    wordOf<uint32_t>(buffer, array.address(), 0) += 1;
    buffer.emptyForAccess();
  }
  EXPECT_TRUE(buffer.standsAside);
  EXPECT_GT(array[0], 0u);
}

}  // namespace
}  // namespace ordito::machine
