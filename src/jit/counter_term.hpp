// How the words that compiled code counts in become counters of sites.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/counters.hpp"

namespace ordito::jit {

/// A word stands for one or more counters of sites. One that counts how often a block of code runs stands for all
/// instructions in it, and for all else that is the same each time.
struct CounterTerm {
  uint32_t word, line;
  uint32_t factor;
  machine::Counter counter;
};

struct CounterTerms {
  uint32_t words = 0;
  std::vector<CounterTerm> terms;
  void addTo(const uint64_t* values, machine::SiteCounters& sites) const {
    for (const CounterTerm& t : terms)
      sites.try_emplace(t.line).first->second[static_cast<size_t>(t.counter)] += values[t.word] * t.factor;
  }
};

}  // namespace ordito::jit
