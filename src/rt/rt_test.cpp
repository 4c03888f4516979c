// The runtime of compiled code stands alone: this test links all of it, and no LLVM. What it does is tested with the
// engine that calls it; here are the functions that need no compiled code.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "machine/kernel.hpp"
#include "rt/access_counts.hpp"
#include "rt/helpers.hpp"
#include "rt/math_functions.hpp"
#include "rt/mbarrier.hpp"
#include "rt/sector_rows.hpp"

namespace ordito::rt {
namespace {

TEST(Runtime, IsLinkedWithoutLlvm) { EXPECT_EQ(dlsym(RTLD_DEFAULT, "LLVMContextCreate"), nullptr); }

TEST(Runtime, NamesEachHelperOnce) {
  std::set<std::string_view> names;
  for (const auto& [name, address] : helperTable()) {
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_NE(address, nullptr) << name;
  }
  for (const ScalarFunction& f : scalarFunctions()) EXPECT_EQ(names.count(f.name), 1u) << f.name;
}

/// Neighbours of 4 bytes fill four sectors; a stride of 32 bytes takes one for each lane.
TEST(Runtime, CountsSectors) {
  int64_t addresses[32];
  for (int64_t lane = 0; lane < 32; ++lane) addresses[lane] = 1024 + 4 * lane;
  EXPECT_EQ(countSectors(addresses, ~0u, 4), 4u);
  for (int64_t lane = 0; lane < 32; ++lane) addresses[lane] = 1024 + 32 * lane;
  EXPECT_EQ(countSectors(addresses, ~0u, 4), 32u);
  EXPECT_EQ(countSectors(addresses, 0xFFu, 4), 8u);
}

/// Words of one bank take a pass each, and one word that all lanes read takes one.
TEST(Runtime, CountsWavefronts) {
  int64_t addresses[32];
  for (int64_t lane = 0; lane < 32; ++lane) addresses[lane] = 128 * lane;
  EXPECT_EQ(countShared(addresses, ~0u, 4, machine::AccessKind::Load).wavefronts, 32u);
  for (int64_t& address : addresses) address = 64;
  EXPECT_EQ(countShared(addresses, ~0u, 4, machine::AccessKind::Load).wavefronts, 1u);
}

/// Addresses as kernels have them: anywhere, in a few lines, in order, one for all, at strides that meet in banks.
std::array<int64_t, 32> someAddresses(std::mt19937& random) {
  const int64_t base = 0x7F0000000000 + 4 * (random() % 64), places = int64_t{1} << random() % 24;
  const int64_t stride = int64_t{4} << random() % 8;
  const unsigned kind = random() % 3;
  std::array<int64_t, 32> addresses;
  for (int64_t lane = 0; lane < 32; ++lane)
    addresses[static_cast<size_t>(lane)] = base + (kind == 0   ? 4 * static_cast<int64_t>(random() % places)
                                                   : kind == 1 ? stride * lane
                                                               : stride * (lane ^ places));
  return addresses;
}

uint32_t sectorsOneByOne(const std::array<int64_t, 32>& addresses, uint32_t lanes) {
  std::set<int64_t> sectors;
  for (unsigned lane = 0; lane < 32; ++lane)
    if (lanes >> lane & 1) sectors.insert(addresses[lane] >> 5);
  return static_cast<uint32_t>(sectors.size());
}

/// Rows that are counted together give what each gives alone, also where some of the rows are empty.
TEST(Runtime, CountsRowsOfSectors) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    SectorRows rows{};
    rows.count = random() % (SectorRows::kRows + 1);
    std::array<uint64_t, 5> words{}, expected{};
    for (uint32_t r = 0; r < rows.count; ++r) {
      std::set<uint32_t> sectors;
      const uint32_t places = 1u << random() % 32, off = random() % 5;
      for (uint32_t& sector : rows.sectors[r]) {
        sector = off && random() % off == 0 ? SectorRows::kOff : random() % places;
        if (sector != SectorRows::kOff) sectors.insert(sector);
      }
      rows.word[r] = random() % words.size();
      expected[rows.word[r]] += sectors.size();
    }
    countRows(&rows, words.data());
    EXPECT_EQ(words, expected);
    EXPECT_EQ(rows.count, 0u);
  }
}

/// What vectors tell of all lanes is what a look at each lane tells, also of a pattern that comes back.
TEST(Runtime, CountsLanesTogetherAsOneByOne) {
  std::mt19937 random(1);
  SharedPattern last{};
  std::array<int64_t, 32> addresses = someAddresses(random);
  for (int round = 0; round < 20000; ++round) {
    if (random() % 3 == 0) addresses = someAddresses(random);
    const uint32_t lanes =
        random() % 3 == 0 ? ~0u : static_cast<uint32_t>(random() & (random() % 2 ? ~0u : random() & random()));
    ASSERT_EQ(countSectors(addresses.data(), lanes, 4), sectorsOneByOne(addresses, lanes)) << round;
    const auto kind = machine::AccessKind::Store;
    ASSERT_EQ(countShared(addresses.data(), lanes, 4, kind, last).packed(),
              countShared(addresses.data(), lanes, 4, kind).packed())
        << round;
  }
}

/// What compiled code sees from a pattern that is told (SharedPattern) is what a look at each lane tells, for any
/// lanes.
TEST(Runtime, TellsPatternsOfSharedMemory) {
  std::mt19937 random(2);
  const auto kind = machine::AccessKind::Load;
  unsigned told = 0, withPairs = 0;
  for (int round = 0; round < 5000; ++round) {
    const std::array<int64_t, 32> addresses = someAddresses(random);
    SharedPattern last{};
    countShared(addresses.data(), ~0u, 4, kind, last);
    if (!last.isTold) continue;
    ++told, withPairs += last.halves != 0;
    const uint32_t lanes = static_cast<uint32_t>(random()) | 1;
    const uint32_t wavefronts = 1 + ((lanes & lanes >> 16 & last.halves) != 0);
    ASSERT_EQ(countShared(addresses.data(), lanes, 4, kind).wavefronts, wavefronts) << round;
  }
  EXPECT_GT(told, 1000u);
  EXPECT_GT(withPairs, 100u);
}

/// PTX ISA, "mbarrier": a phase is over when as many arrived as were announced, and the next one begins.
TEST(Runtime, EndsThePhaseOfAnMbarrier) {
  alignas(8) std::byte shared[64]{};
  machine::BlockFrame frame{};
  frame.shared = shared;
  frame.totalSharedBytes = sizeof shared;
  const auto at = reinterpret_cast<uint64_t>(shared);
  auto work = [&](MbarrierWork what, uint64_t operand) {
    return workOnMbarrier(&frame, 1, static_cast<uint32_t>(what), at, operand);
  };
  work(MbarrierWork::Init, 2);
  const uint64_t state = work(MbarrierWork::Arrive, 1);
  EXPECT_EQ(work(MbarrierWork::Test, state), 0u);
  work(MbarrierWork::Arrive, 1);
  EXPECT_EQ(work(MbarrierWork::Test, state), 1u);
  EXPECT_EQ(work(MbarrierWork::TestParity, 0), 1u);
  EXPECT_EQ(work(MbarrierWork::TestParity, 1), 0u);
}

/// A random number of a matrix: of a few neighbouring magnitudes, of any, or none that is finite.
float someNumber(std::mt19937& random, unsigned kind) {
  const auto below = [&](uint32_t most) { return static_cast<uint32_t>(random() % most); };
  const uint32_t significand = below(1024) << 13, sign = below(2) << 31;
  const uint32_t exponents[] = {120 + below(12), 60 + below(140), below(256)};
  return std::bit_cast<float>(below(16) == 0 ? sign : sign | exponents[kind] << 23 | significand);
}

/// A product of matrices is the sums of all lanes, whatever exponents are there: two helpers that compute differently.
TEST(Runtime, MultipliesMatricesAsItSumsLanes) {
  std::map<std::string_view, void*> helpers;
  for (const auto& [name, address] : helperTable()) helpers[name] = address;
  const auto sum = reinterpret_cast<void (*)(const float*, const float*, float*, uint32_t, uint32_t, uint32_t)>(
      helpers.at("ordito_matrix_sum"));
  const auto product =
      reinterpret_cast<void (*)(const float*, const float*, float*, uint32_t, uint32_t, uint32_t, uint32_t)>(
          helpers.at("ordito_matrix_product"));
  std::mt19937 random(1);
  alignas(64) float a[16 * 16], b[16 * 32], sums[32 * 16], x[16 * 32], y[16 * 32], wanted[32];
  for (unsigned round = 0; round < 3000; ++round) {
    const unsigned kind = round % 3, count = 4u << random() % 3, columns = 8u << random() % 3;
    const bool half = random() % 2 != 0;
    const unsigned least = random() % 2 ? 113 | 113 << 8 : 1 | 1 << 8;
    for (float* matrix : {a, b, sums})
      for (unsigned n = 0; n < (matrix == a ? 256u : 512u); ++n) matrix[n] = someNumber(random, kind);
    float before[32 * 16];
    std::copy(std::begin(sums), std::end(sums), before);
    product(a, b, sums, columns, count, least, half);
    for (unsigned column = 0; column < columns; column += 2) {
      for (unsigned k = 0; k < count; ++k)
        for (unsigned lane = 0; lane < 32; ++lane) {
          x[k * 32 + lane] = a[k * 16 + lane % 16];
          y[k * 32 + lane] = b[k * columns + column + lane / 16];
        }
      std::copy_n(before + column * 16, 32, wanted);
      sum(x, y, wanted, count, least, half);
      for (unsigned lane = 0; lane < 32; ++lane) {
        const float got = sums[column * 16 + lane];
        if (std::isnan(got) && std::isnan(wanted[lane])) continue;
        ASSERT_EQ(std::bit_cast<uint32_t>(got), std::bit_cast<uint32_t>(wanted[lane]))
            << round << ' ' << column << ' ' << lane;
      }
    }
  }
}

}  // namespace
}  // namespace ordito::rt
