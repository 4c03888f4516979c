// The rules by which a warp's addresses become transactions, as the courses give them: what must be counted.
//
// Global memory is moved in sectors of 32 bytes, four to a line of 128: a request costs as many as its lanes touch.
// Shared memory has 32 banks of words of 4 bytes: a request takes as many passes as there are different words in the
// bank that has most. The same word is read for all lanes at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <set>
#include <vector>

#include "kernels.cuh"

namespace rules {

constexpr std::size_t kSector = 32;
constexpr std::size_t kLine = 128;
constexpr std::size_t kBanks = 32;

inline std::size_t bankOf(std::size_t address) { return address / 4 % kBanks; }

using Addresses = std::vector<std::size_t>;  // of the active lanes, 4 bytes each

inline std::size_t piecesOf(const Addresses& lanes, std::size_t size) {
  std::set<std::size_t> pieces;
  for (const std::size_t address : lanes) pieces.insert(address / size);
  return pieces.size();
}

inline bool isAligned(const Addresses& lanes) { return lanes.front() % kLine == 0; }

/// All lanes in one piece without gaps, in any order.
inline bool isCoalesced(Addresses lanes) {
  std::sort(lanes.begin(), lanes.end());
  for (std::size_t i = 1; i < lanes.size(); ++i) {
    if (lanes[i] != lanes[i - 1] + 4) return false;
  }
  return true;
}

inline std::size_t passesOf(const Addresses& lanes) {
  std::vector<std::set<std::size_t>> words(kBanks);
  for (const std::size_t address : lanes) words[bankOf(address)].insert(address / 4);
  std::size_t most = 0;
  for (const std::set<std::size_t>& bank : words) most = std::max(most, bank.size());
  return most;
}

/// The sum of a rule over the warps of n threads; `address` gives a thread's.
template <class Address, class Rule>
std::size_t sumOverWarps(std::size_t n, std::size_t lanes, Address address, Rule rule) {
  std::size_t sum = 0;
  for (std::size_t first = 0; first < n; first += kWarp) {
    Addresses warp;
    for (std::size_t i = first; i < std::min(n, first + lanes); ++i) warp.push_back(address(i));
    sum += rule(warp);
  }
  return sum;
}

}  // namespace rules
