// The shared memory of the block that a host thread runs: a few pages in the middle of 8 GB of inaccessible addresses.
//
// Shared-memory addresses are 32-bit in PTX, so an address that is wrong by any 32-bit amount still lands in the
// reserved range and faults instead of reaching somebody else's memory. The window is pushed to the end of its last
// page, so that reading past it faults as well.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ordito::machine {

class SharedWindow {
 public:
  SharedWindow();
  ~SharedWindow();
  SharedWindow(const SharedWindow&) = delete;
  SharedWindow& operator=(const SharedWindow&) = delete;

  /// Start of a window of `bytes` bytes whose start is aligned to at least `alignment` (a power of two). Contents are
  /// whatever the last block left. Null when the host has no memory for it.
  std::byte* place(size_t bytes, size_t alignment);

  /// Whether `address` is so close to a window at `start` that it can only come from an access to shared memory.
  static bool near(uint64_t start, uint64_t address);

 private:
  std::byte* base_ = nullptr;
  size_t committed_ = 0;  // bytes below end()
  std::byte* end() const;
};

}  // namespace ordito::machine
