// Atomic operations on global memory that are combined in a buffer of the host thread (machine/combining_buffer.hpp)
// before memory sees them.
//
// PTX gives a relaxed atomic operation whose old value nobody reads no time: it must reach memory in the end, before
// whatever is ordered behind it, and the thread itself must find it there (PTX ISA, "Memory Consistency Model":
// causality order, coherence). So it may wait in a buffer while no instruction that could tell comes behind it. These
// are of two kinds. Some always empty the buffer first: fences, accesses that are ordered or volatile, atomics that
// give the old value, calls. Plain accesses, by any thread of the block behind a barrier, read or write what an earlier
// atomic has changed only where they go to the same place: they look whether the buffer stands for it.
//
// Nothing waits in kernels whose threads spin or wait for other blocks, and nothing that the host could watch: the
// buffer takes operations of less than system scope, on device memory.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "ir/analyses.hpp"
#include "ir/sync_points.hpp"
#include "simt/combination.hpp"
#include "simt/facts.hpp"

namespace ordito::simt {

/// The combination that `i`, an atomic instruction whose old value is not read, asks for.
std::optional<Combination> combinationOf(const Instruction& i);

/// A place that is a pointer all lanes share plus an index of 32 bits times 2^shift: `bins[letter]`.
struct IndexedPlace {
  ValueId pointer, index;
  unsigned shift;
};

struct CombinedAtomics {
  Combination combination;                             // of all of them
  std::set<const Instruction*> members;                // go to the buffer
  std::map<const Instruction*, IndexedPlace> indexed;  // those of them with such places
  std::set<const Instruction*> looking;                // may touch what the buffer stands for: then it is emptied first
  std::set<const Instruction*> ending;                 // it is emptied first in any case

  bool any() const { return !members.empty(); }
  /// Null if its place is an address like any other.
  const IndexedPlace* placeOf(const Instruction& i) const {
    const auto found = indexed.find(&i);
    return found == indexed.end() ? nullptr : &found->second;
  }
};

CombinedAtomics findCombinedAtomics(const ir::Analyses& analyses, const ir::SyncPoints& syncPoints,
                                    const ir::Shapes& shapes, const Facts& facts);

std::string print(const CombinedAtomics& combined, const ir::Function& function);

}  // namespace ordito::simt
