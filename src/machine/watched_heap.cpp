// See watched_heap.hpp.
#include "machine/watched_heap.hpp"

#include <atomic>
#include <cstdlib>
#include <deque>
#include <mutex>

#include "machine/memory.hpp"

namespace ordito::machine {
namespace {

constexpr uint64_t kUnit = 128;          // rows that the checker looks at belong to one piece
constexpr uint64_t kRoom = 512;          // behind each
constexpr uint64_t kMost = 256u << 20;   // bytes that wait to be given out again
constexpr uint64_t kLimit = 8ull << 30;  // of all

class WatchedHeap {
 public:
  void* allocate(uint64_t bytes) {
    const uint64_t whole = (bytes + kUnit - 1) / kUnit * kUnit + kRoom;
    if (bytes == 0 || whole < bytes || taken_ + whole > kLimit) return nullptr;
    void* piece = std::aligned_alloc(kUnit, whole);
    if (!piece) return nullptr;
    taken_ += whole;
    allocations().add({.address = reinterpret_cast<uint64_t>(piece), .bytes = bytes, .kind = MemoryKind::Heap});
    return piece;
  }

  bool free(void* pointer) {
    const auto gone = allocations().remove(reinterpret_cast<uint64_t>(pointer), MemoryKind::Heap);
    if (!gone) return false;
    const std::scoped_lock lock(mutex_);
    waiting_.push_back({pointer, gone->bytes + kRoom});
    for (waitingBytes_ += gone->bytes + kRoom; waitingBytes_ > kMost; waiting_.pop_front()) {
      std::free(waiting_.front().pointer);
      waitingBytes_ -= waiting_.front().bytes, taken_ -= waiting_.front().bytes;
      hasReused_ = true;
    }
    return true;
  }
  bool hasReused() const { return hasReused_; }

 private:
  struct Piece {
    void* pointer;
    uint64_t bytes;
  };
  std::mutex mutex_;
  std::deque<Piece> waiting_;
  uint64_t waitingBytes_ = 0;
  std::atomic<uint64_t> taken_ = 0;
  std::atomic<bool> hasReused_ = false;
};

WatchedHeap& heap() {
  static auto* all = new WatchedHeap;  // never destroyed: streams may run while the process ends
  return *all;
}

}  // namespace

void* allocateWatched(uint64_t bytes) { return heap().allocate(bytes); }
bool freeWatched(void* pointer) { return heap().free(pointer); }
bool hasReusedWatched() { return heap().hasReused(); }

}  // namespace ordito::machine
