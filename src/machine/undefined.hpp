// Which bytes of memory nobody has written yet, a bit for each, by host address: all spaces of all threads lie in this
// process, so one map holds them all. Memory that it does not know is defined. It costs nothing until something is
// undefined, which happens only where a listener wants every access (machine/listener.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace ordito::machine {

/// Up to 64 bytes of memory; bit k speaks of byte k. `computed`: somebody wrote it, with a value that was computed from
/// memory that nobody had written.
struct UndefinedBytes {
  uint64_t any = 0, computed = 0;
};

class UndefinedMemory {
 public:
  /// Of bytes that nobody has written, one after the other.
  struct Run {
    uint64_t offset = 0, bytes = 0;
  };
  /// `width`: of each write, 0 if that is not known, as of copies and fills.
  void define(uint64_t address, uint64_t bytes, uint32_t width = 0);
  void undefine(uint64_t address, uint64_t bytes);
  void copy(uint64_t to, uint64_t from, uint64_t bytes);
  /// At most 64 bytes.
  UndefinedBytes at(uint64_t address, uint32_t bytes) const;
  /// What an access of `bytes` has written.
  void write(uint64_t address, uint32_t bytes, UndefinedBytes undefined);
  /// What was there before.
  void restore(uint64_t address, uint32_t bytes, UndefinedBytes undefined);
  std::vector<Run> runs(uint64_t address, uint64_t bytes) const;
  /// Has every byte a value that was made of what somebody has written?
  bool isDefined(uint64_t address, uint64_t bytes) const;
  /// How many bytes the widest of all writes to the pages of these bytes had.
  uint32_t widestWrite(uint64_t address, uint64_t bytes) const;
  /// All is defined.
  void clear();

 private:
  static constexpr uint64_t kPage = 4096, kWords = kPage / 64;
  struct Page {
    uint64_t any[kWords] = {}, computed[kWords] = {};
    uint32_t widest = 0;
  };
  Page* pageToChange(uint64_t number, bool makesOne);
  UndefinedBytes atUnlocked(uint64_t address, uint32_t bytes) const;
  uint32_t widestUnlocked(uint64_t address, uint64_t bytes) const;
  void writeUnlocked(uint64_t address, uint32_t bytes, UndefinedBytes undefined, uint32_t width);
  template <class Change>
  void changeUnlocked(uint64_t address, uint64_t bytes, const Change& change, UndefinedBytes undefined, uint32_t width);

  mutable std::mutex mutex_;
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;  // null: nobody has written any of its bytes
};

/// The process's; null where nobody wants to know.
UndefinedMemory* undefinedMemory();
/// Somebody other than a kernel has written these bytes.
void noteWritten(uint64_t address, uint64_t bytes);
/// Somebody who does not tell where has written.
void noteWrittenAnywhere();

}  // namespace ordito::machine
