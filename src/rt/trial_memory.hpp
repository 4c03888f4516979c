// What trials keep of the memory that launches use: of each allocation cells, marks where it is only read, and what was
// there before the launch. It lies in pages that the host provides when they are first touched, and goes from one trial
// to the next, with the time: cells of earlier launches are merely old.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "rt/trial_cells.hpp"

namespace ordito::rt {

/// Zeros, as many as are touched.
template <class T>
class SparseArray {
 public:
  explicit SparseArray(uint64_t count) : bytes_(std::max<uint64_t>(count * sizeof(T), 1)) {
    void* made = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    data_ = made == MAP_FAILED ? nullptr : static_cast<T*>(made);
    constexpr uint64_t kHugePage = 2u << 20;
    if (data_ && bytes_ >= kHugePage) madvise(data_, bytes_, MADV_HUGEPAGE);
  }
  ~SparseArray() {
    if (data_) munmap(data_, bytes_);
  }
  SparseArray(const SparseArray&) = delete;
  SparseArray& operator=(const SparseArray&) = delete;
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](uint64_t k) { return data_[k]; }
  const T& operator[](uint64_t k) const { return data_[k]; }

 private:
  uint64_t bytes_;
  T* data_;
};

/// Of one allocation.
class TrialStorage {
 public:
  static constexpr uint64_t kMargin = 512, kChunk = 4096, kRow = 128;

  /// Null if the host may have too little memory.
  static std::unique_ptr<TrialStorage> make(uint64_t begin, uint64_t bytes, unsigned shift);
  uint64_t end() const { return begin + bytes; }
  uint64_t unitOf(uint64_t address) const { return (address - begin) >> shift; }
  /// The cell of an address; some in front of the first and behind the last may be looked at.
  uint32_t* cellOf(uint64_t address) { return cells.data() + kMargin + unitOf(address); }
  const uint32_t* cellOf(uint64_t address) const { return cells.data() + kMargin + unitOf(address); }
  const uint8_t* markOf(uint64_t address) const { return marks.data() + kMargin + unitOf(address); }
  uint8_t* markOf(uint64_t address) { return marks.data() + kMargin + unitOf(address); }
  /// Before bytes in [low, high) are changed.
  void save(uint64_t low, uint64_t high) {
    for (uint64_t chunk = (low - begin) / kChunk; chunk <= (high - 1 - begin) / kChunk; ++chunk)
      if (!saved[chunk]) saveChunk(chunk);
  }
  void takeBack();
  void touchCells(uint64_t low, uint64_t high) {
    for (uint64_t chunk = (low - begin) / kChunk; chunk <= (high - 1 - begin) / kChunk; ++chunk)
      touched[chunk] |= kCells;
  }
  void touchMarks(uint64_t low, uint64_t high) {
    for (uint64_t chunk = (low - begin) / kChunk; chunk <= (high - 1 - begin) / kChunk; ++chunk) touchMarks(chunk);
  }
  void touchMarks(uint64_t chunk) {
    if ((touched[chunk] & (kMarks | kOldMarks)) != kMarks) beginMarks(chunk);
  }
  /// Forgets what has been saved and noted; cells stay.
  void restart();
  /// What the launch has touched, by chunk.
  bool hasCells(uint64_t chunk) const { return touched[chunk] & kCells; }
  bool hasMarks(uint64_t chunk) const { return touched[chunk] & kMarks; }
  uint64_t unitsOf(uint64_t chunk) const { return std::min(kChunk, bytes - chunk * kChunk) >> shift; }
  /// Calls visit(cells, count).
  template <class Visit>
  void forEachPieceOfCells(Visit visit) {
    for (uint64_t chunk = 0; chunk < touched.size(); ++chunk)
      if (touched[chunk] & (kCells | kOldCells)) visit(cellOf(begin + chunk * kChunk), unitsOf(chunk));
  }

  TrialStorage(uint64_t at, uint64_t size, unsigned unitShift);

  const uint64_t begin, bytes;
  const unsigned shift;
  bool isWritten = true;  // every byte had a value before the launch
  SparseArray<uint32_t> cells;
  SparseArray<uint8_t> marks;    // the instruction that has read a unit last, where nobody writes
  SparseArray<uint8_t> writers;  // the one that has written to a row last
  SparseArray<std::byte> old;
  std::vector<uint8_t> saved, touched;  // by chunk

 private:
  // What a chunk has been touched for, in this launch or an earlier one, whose marks are still there.
  static constexpr uint8_t kCells = 1, kMarks = 2, kOldCells = 4, kOldMarks = 8;
  void saveChunk(uint64_t chunk);
  void beginMarks(uint64_t chunk);
};

/// What goes from one trial to the next.
class TrialMemory {
 public:
  /// The allocation around an address; null if there is none, or too little memory. `isNew`: it was not used before in
  /// this launch.
  TrialStorage* at(uint64_t address, unsigned shift, bool* isNew);
  /// Cells of shared memory.
  uint32_t* shared(uint64_t units);
  /// The allocations that the launch uses.
  const std::vector<TrialStorage*>& used() const { return used_; }
  void takeBack();
  /// The launch is over.
  void restart();
  void freed(uint64_t address);
  /// Calls move(cells, count) for all that have been touched ever.
  template <class Move>
  void forEachPieceOfCells(Move move) {
    for (auto& [end, storage] : all_) storage->forEachPieceOfCells(move);
    if (shared_) move(shared_->data(), sharedUnits_);
  }

  uint32_t now = 0;  // the time of the last step

 private:
  std::map<uint64_t, std::unique_ptr<TrialStorage>> all_;  // by the end of the allocation
  std::vector<TrialStorage*> used_;
  std::unique_ptr<SparseArray<uint32_t>> shared_;
  uint64_t sharedUnits_ = 0;
};

}  // namespace ordito::rt
