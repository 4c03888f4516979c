// What a launch did with memory, unit by unit, as a trial has seen it: copied out of the trial's cells and marks, which
// the next launch needs, a byte for each unit and less where neighbours are alike. It is spelt out only if somebody
// asks.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "machine/events.hpp"
#include "rt/trial_memory.hpp"

namespace ordito::rt {

class TrialUses {
 public:
  /// An instruction that accesses global memory.
  struct Site {
    const ptx::Function* function;
    uint32_t line, width;
    machine::AccessKind kind;
    bool writes, isStrong;
    uint8_t number;  // as in marks
  };
  TrialUses(std::vector<Site> sites, const std::vector<TrialStorage*>& used, uint32_t since);

  const std::vector<Site>& sites() const { return sites_; }
  /// Calls visit(begin, bytes) for the allocations.
  template <class Visit>
  void forEachAllocation(Visit visit) const {
    for (const Allocation& a : allocations_) visit(a.begin, a.bytes);
  }
  /// Neighbours are told of together. What was written last in a row of memory stands for what else was written there.
  using Visit = std::function<void(uint64_t begin, uint64_t bytes, const Site& site)>;
  void forEach(const Visit& visit) const;
  /// Has values only since the launch has written it.
  void forEachWritten(const Visit& visit) const;
  /// Of memory.
  uint64_t footprint() const { return bytes_.size() + pieces_.size() * sizeof(Piece); }

 private:
  enum How : uint8_t { kNothing, kRead, kWritten, kStrong };
  struct Allocation {
    uint64_t begin, bytes;
    unsigned shift;
    bool wasWritten;
  };
  /// A chunk of an allocation: of marks a byte for each unit; of cells a How for each, and the last writer of each row.
  struct Piece {
    uint64_t begin;
    uint32_t units, allocation;
    bool areMarks, isUniform;  // then there is one byte of each
    size_t at;                 // in bytes_
  };
  struct Run {
    uint64_t begin, end;
    How how;
    uint8_t site;
  };
  void add(const TrialStorage& storage, uint32_t since);
  void addMarks(const TrialStorage& storage, uint64_t chunk);
  void addCells(const TrialStorage& storage, uint64_t chunk, uint32_t since);
  template <class Each>
  void forEachRun(const Piece& piece, Each each) const;
  const Site* siteOf(const Run& run) const;
  void spell(const std::vector<bool>& wanted, const Visit& visit) const;

  std::vector<Site> sites_;
  std::vector<Allocation> allocations_;
  std::vector<Piece> pieces_;
  std::vector<uint8_t> bytes_;
};

}  // namespace ordito::rt
