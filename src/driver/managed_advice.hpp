// What programs said of managed memory: where it should be, who will use it, where it was prefetched to. All of it is
// in one place, so nothing moves, but the answers to cuMemRangeGetAttribute are these. It is kept by pages of 4 KiB, as
// on an H200 (driver 580).
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "cuda.h"
#include "driver/context.hpp"

namespace ordito::driver {

struct Advice {
  static constexpr CUmemLocation kNowhere{CU_MEM_LOCATION_TYPE_NONE, CU_DEVICE_INVALID};

  bool isReadMostly = false;
  CUmemLocation preferred = kNowhere;
  CUmemLocation prefetched = kNowhere;
  uint64_t users = 0;  // a bit for each device, and the highest for the host

  static constexpr uint64_t bitOf(CUdevice device) { return device < 0 ? uint64_t{1} << 63 : uint64_t{1} << device; }
};

class AdviceOfMemory {
 public:
  /// Calls `change(advice)` for each piece of the pages that `bytes` at `address` touch.
  template <class Change>
  void change(uint64_t address, uint64_t bytes, Change&& change) {
    std::lock_guard lock(mutex_);
    fill(address & ~kInPage, (address + bytes + kInPage) & ~kInPage);
    const auto end = pieces_.lower_bound((address + bytes + kInPage) & ~kInPage);
    for (auto it = pieces_.lower_bound(address & ~kInPage); it != end; ++it) change(it->second.advice);
  }
  /// Of all pieces that `bytes` at `address` touch; at least one.
  std::vector<Advice> of(uint64_t address, uint64_t bytes);
  /// The memory is no more.
  void forget(uint64_t address, uint64_t bytes);

 private:
  static constexpr uint64_t kInPage = 4095;
  struct Piece {
    uint64_t end;
    Advice advice;
  };
  void split(uint64_t at);
  void fill(uint64_t begin, uint64_t end);

  std::mutex mutex_;
  std::map<uint64_t, Piece> pieces_;  // by their beginning; they do not overlap
};

AdviceOfMemory& adviceOfMemory();

}  // namespace ordito::driver
