// Blocks that tell are tried first on compiled code, which follows no values: as long as nobody reads bytes that nobody
// has written, there are none to follow. Where somebody does, memory becomes again what it was before, what was found
// is forgotten, and the blocks run once more in the interpreter, as if nothing had happened.
//
// So what they write is saved, page by page, before it is overwritten; and what they have written counts as written.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "check/finding.hpp"
#include "machine/events.hpp"
#include "machine/undefined.hpp"

namespace ordito::check {

class Attempt {
 public:
  /// Before the lanes touch memory, which they may.
  void allowed(const machine::AccessEvent& access);
  /// They have, or are about to.
  void accessed(const machine::AccessEvent& access);
  void fail() { hasFailed_ = true; }
  void synchronised(const machine::SyncEvent& sync);
  void blockChanged(const machine::BlockEvent& block);

  bool hasFailed() const { return hasFailed_; }
  /// Memory is as before.
  void takeBack();

  Findings findings;  // of the blocks that were tried

 private:
  static constexpr uint64_t kPage = 4096, kPiece = 64;
  struct Page {
    std::array<std::byte, kPage> bytes;
    std::array<machine::UndefinedBytes, kPage / kPiece> undefined;
  };
  void save(uint64_t address, uint64_t bytes);

  bool hasFailed_ = false;
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
  uint64_t lastPage_ = ~uint64_t{0};
};

}  // namespace ordito::check
