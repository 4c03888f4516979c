// See trial_memory.hpp.
#include "rt/trial_memory.hpp"

#include "machine/memory.hpp"

namespace ordito::rt {

TrialStorage::TrialStorage(uint64_t at, uint64_t size, unsigned unitShift)
    : begin(at),
      bytes(size),
      shift(unitShift),
      cells((size >> unitShift) + 2 * kMargin),
      marks((size >> unitShift) + 2 * kMargin),
      writers(size / kRow + 2),
      old(size),
      saved(size / kChunk + 1),
      touched(size / kChunk + 1) {}

std::unique_ptr<TrialStorage> TrialStorage::make(uint64_t begin, uint64_t bytes, unsigned shift) {
  // Cells, and what was there before.
  if (!machine::hostCanCommit((bytes >> shift) * sizeof(uint32_t) + bytes, 0)) return nullptr;
  auto made = std::make_unique<TrialStorage>(begin, bytes, shift);
  const bool isThere = made->cells.data() && made->marks.data() && made->writers.data() && made->old.data();
  return isThere ? std::move(made) : nullptr;
}

void TrialStorage::saveChunk(uint64_t chunk) {
  const uint64_t at = chunk * kChunk;
  saved[chunk] = 1;
  std::memcpy(old.data() + at, reinterpret_cast<const void*>(begin + at), std::min(kChunk, bytes - at));
}

void TrialStorage::takeBack() {
  for (uint64_t chunk = 0; chunk < saved.size(); ++chunk)
    if (const uint64_t at = chunk * kChunk; saved[chunk])
      std::memcpy(reinterpret_cast<void*>(begin + at), old.data() + at, std::min(kChunk, bytes - at));
}

void TrialStorage::beginMarks(uint64_t chunk) {
  if (touched[chunk] & kOldMarks) std::memset(marks.data() + kMargin + (chunk * kChunk >> shift), 0, unitsOf(chunk));
  touched[chunk] = (touched[chunk] & ~kOldMarks) | kMarks;
}

/// Marks are cleared when they are needed again.
void TrialStorage::restart() {
  std::ranges::fill(saved, uint8_t{0});
  for (uint8_t& chunk : touched)
    chunk = (chunk & (kCells | kOldCells) ? kOldCells : 0) | (chunk & (kMarks | kOldMarks) ? kOldMarks : 0);
}

TrialStorage* TrialMemory::at(uint64_t address, unsigned shift, bool* isNew) {
  *isNew = false;
  const auto allocation = machine::allocations().find(address);
  if (!allocation || allocation->address % 16) return nullptr;  // else units and chunks cut accesses
  auto& storage = all_[allocation->address + allocation->bytes];
  const bool isIt = storage && storage->begin == allocation->address && storage->shift == shift;
  if (isIt && std::ranges::find(used_, storage.get()) != used_.end()) return storage.get();
  if (!isIt) storage = TrialStorage::make(allocation->address, allocation->bytes, shift);
  if (!storage) return nullptr;
  used_.push_back(storage.get());
  *isNew = true;
  return storage.get();
}

uint32_t* TrialMemory::shared(uint64_t units) {
  if (!shared_ || sharedUnits_ < units) {
    shared_ = std::make_unique<SparseArray<uint32_t>>(units);
    sharedUnits_ = units;
  }
  return shared_->data();
}

void TrialMemory::takeBack() {
  for (TrialStorage* storage : used_) storage->takeBack();
}

void TrialMemory::restart() {
  for (TrialStorage* storage : used_) storage->restart();
  used_.clear();
}

void TrialMemory::freed(uint64_t address) {
  std::erase_if(all_, [&](const auto& entry) { return !entry.second || entry.second->begin == address; });
}

}  // namespace ordito::rt
