// What is put together of the lanes' iterations is what a warp would count that runs them side by side.
#include "rt/iteration_counts.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <set>
#include <vector>

namespace ordito::rt {
namespace {

constexpr unsigned kLanes = IterationLog::kLanes, kIterations = IterationLog::kIterations;

/// A loop of a header that branches to a block or behind it, and a latch:
///
///   0: @row1 goes to 1, else to 2;  1: a guard, a walk, accesses anywhere;  2: leaves, or goes round
struct Loop {
  CountedLoop loop{4, 2, 3, 1, 5};
  std::array<CountedLoop::Block, 3> blocks{{
      {1, {1, 2}, 0, 1, 2, 3},
      {CountedLoop::Block::kJumps, {2, CountedLoop::kNone}, 4, 5, CountedLoop::kNone, CountedLoop::kNone},
      {CountedLoop::Block::kLeavesElse, {CountedLoop::kNone, CountedLoop::kNone}, 6, 7, 8, 9},
  }};
  CountedLoop::Guard guard{1, 2, 10};
  std::array<CountedLoop::Access, 5> accesses{{
      {1, CountedLoop::Kind::Same, CountedLoop::kNone, 0, 0, 11},
      {1, CountedLoop::Kind::Walk, 3, 4, 0, 12},
      {0, CountedLoop::Kind::Anywhere, 0, 0, 0, 13},
      {1, CountedLoop::Kind::Anywhere, 0, 0, 0, 14},
      {1, CountedLoop::Kind::Anywhere, 1, 0, 0, 15},  // in an array
  }};
};
constexpr size_t kWords = 16;
using Words = std::array<uint64_t, kWords>;

/// What the lanes of a warp did.
struct Execution {
  uint32_t lanes = 0;
  std::array<unsigned, kLanes> iterations{};
  std::array<std::array<bool, 200>, kLanes> taken{}, holds{};
  std::array<uint64_t, kLanes> walk{};  // where it begins
  std::array<std::array<uint64_t, 200>, kLanes> anywhere{};
  std::array<std::array<uint32_t, 200>, kLanes> index{};
};

/// Where an index of 32 bits leads to.
struct Array {
  uint64_t begin = 0;
  uint32_t bytes = 1;  // of an element
  bool isSigned = false;
  uint64_t sectorOf(uint32_t index) const {
    const int64_t number = isSigned ? int64_t{static_cast<int32_t>(index)} : int64_t{index};
    return (begin + static_cast<uint64_t>(number * bytes)) / kSectorBytes;
  }
};

Array someArray(std::mt19937& random, CountedLoop::Access& access) {
  const unsigned log = random() % 4;
  const Array array{(uint64_t{1} << 40) + (random() % 64 << random() % 4), 1u << log, random() % 2 == 0};
  access.shift = 5 - log, access.flip = array.isSigned ? 1u << 31 : 0;
  return array;
}

Execution someRun(std::mt19937& random, int32_t step) {
  Execution run;
  run.lanes = random() % 4 ? random() : random() & random() & random();
  const unsigned longest = 1 + random() % (random() % 3 ? 20 : 199), places = 1u << random() % 20;
  const uint64_t base = (uint64_t{1} << 40) + random() % 64 * 4;
  uint64_t at = base;
  for (unsigned l = 0; l < kLanes; ++l) {
    run.iterations[l] = 1 + random() % longest;
    run.walk[l] = random() % 2 ? at : base + random() % 4096 / 4 * 4;
    at += static_cast<uint64_t>(std::abs(step)) * (random() % 3 ? run.iterations[l] : 1);
    for (unsigned k = 0; k < run.iterations[l]; ++k) {
      run.taken[l][k] = random() % 2, run.holds[l][k] = random() % 2;
      run.anywhere[l][k] = base + random() % places * 8;
      run.index[l][k] = (random() % 4 ? 0u : random() % 2 ? 1u << 31 : 0u - places / 2) + random() % places;
      if (random() % 1000 == 0) run.anywhere[l][k] += uint64_t{1} << (36 + random() % 4);
    }
  }
  return run;
}

Words sideBySide(const Execution& run, int32_t step, const Array& array) {
  Words words{};
  for (unsigned k = 0; k < 200; ++k) {
    std::array<unsigned, 3> in{};
    unsigned leaving = 0, holding = 0;
    std::set<uint64_t> walked, touched, touchedInBlock, touchedInArray;
    for (unsigned l = 0; l < kLanes; ++l) {
      if (!(run.lanes >> l & 1) || k >= run.iterations[l]) continue;
      in[0]++, in[2]++;
      in[1] += run.taken[l][k];
      leaving += k + 1 == run.iterations[l];
      touched.insert(run.anywhere[l][k] / 32);
      if (!run.taken[l][k]) continue;
      holding += run.holds[l][k];
      walked.insert((run.walk[l] + static_cast<uint64_t>(int64_t{step} * k)) / 32);
      touchedInBlock.insert(run.anywhere[l][k] / 32);
      touchedInArray.insert(array.sectorOf(run.index[l][k]));
    }
    for (unsigned b = 0; b < 3; ++b) words[b == 0 ? 0 : 2 + 2 * b] += in[b] > 0, words[b == 0 ? 1 : 3 + 2 * b] += in[b];
    words[2] += in[1], words[3] += in[1] > 0 && in[1] < in[0];
    words[8] += in[2] - leaving, words[9] += leaving > 0 && leaving < in[2];
    words[10] += holding, words[11] += in[1] > 0;
    words[12] += walked.size(), words[13] += touched.size(), words[14] += touchedInBlock.size();
    words[15] += touchedInArray.size();
  }
  return words;
}

/// As compiled code does, 64 iterations at a time.
Words laneByLane(const Execution& run, const Loop& loop, int32_t step, const Array& array) {
  const IterationLog layout{loop.loop.rows, loop.loop.lists};
  std::vector<uint64_t> log(layout.bytes() / 8);
  std::ranges::fill(log, 0xABABABABABABABAB);
  auto* bytes = reinterpret_cast<std::byte*>(log.data());
  std::memset(bytes + layout.window(0), 0, 24);
  const auto word = [&](size_t at) -> uint64_t& { return *reinterpret_cast<uint64_t*>(bytes + at); };
  Words words{};
  uint32_t left = run.lanes;
  for (unsigned begin = 0; left; begin += kIterations) {
    uint32_t unfinished = 0, lanes = 0, next = 0;
    word(layout.window(1)) = array.begin % kSectorBytes / array.bytes;
    for (unsigned l = 0; l < kLanes; ++l) {
      if (!(left >> l & 1)) continue;
      const uint32_t place = lanes++;
      uint64_t begun = 0, taken = 0, holds = 0, last = 0;
      for (unsigned k = 0; k < kIterations && begin + k < run.iterations[l]; ++k) {
        const uint64_t bit = uint64_t{1} << k, address = run.anywhere[l][begin + k];
        begun |= bit;
        const uint64_t within = address - word(layout.window(0));
        const uint32_t sector = within < uint64_t{kSectorsInWindow} * 32
                                    ? static_cast<uint32_t>(within / 32)
                                    : sectorElsewhere(&loop.loop, bytes, 0, place, k, address);
        const auto numberIn = [&](uint32_t list) -> uint32_t& {
          return *reinterpret_cast<uint32_t*>(bytes + layout.list(list) + (place * IterationLog::kListStride + k) * 4);
        };
        numberIn(0) = sector;
        if (!run.taken[l][begin + k]) continue;
        numberIn(1) = run.index[l][begin + k];
        taken |= bit;
        if (run.holds[l][begin + k]) holds |= bit;
        last = run.walk[l] + static_cast<uint64_t>(int64_t{step} * (begin + k));
      }
      if (begin + kIterations < run.iterations[l]) unfinished |= 1u << place, next |= 1u << l;
      const std::array<uint64_t, 4> rows{begun, taken, holds, last};
      for (uint32_t r = 0; r < rows.size(); ++r) word(IterationLog::row(r) + place * 8) = rows[r];
    }
    countIterations(&loop.loop, bytes, words.data(), lanes, unfinished);
    left = next;
  }
  return words;
}

TEST(IterationCounts, AreThoseOfLanesSideBySide) {
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    const std::array<int32_t, 9> steps{4, 8, 16, 12, 0, -4, 1, 64, -36};
    Loop loop;
    const int32_t step = loop.accesses[1].step = steps[random() % steps.size()];
    const Array array = someArray(random, loop.accesses[4]);
    const Execution run = someRun(random, step);
    ASSERT_EQ(laneByLane(run, loop, step, array), sideBySide(run, step, array)) << round;
  }
}

}  // namespace
}  // namespace ordito::rt
