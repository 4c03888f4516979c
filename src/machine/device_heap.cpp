// See device_heap.hpp.
#include "machine/device_heap.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <map>
#include <mutex>

namespace ordito::machine {
namespace {

constexpr uint64_t kPage = 4096, kRange = uint64_t{1} << 36;
/// Each piece takes two of the 65,530 mappings that Linux allows a process.
constexpr size_t kMostPieces = 8192;

struct Piece {
  uint64_t bytes;
  bool isFreed;
};

class DeviceHeap {
 public:
  DeviceHeap() {
    void* range = mmap(nullptr, kRange, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range != MAP_FAILED) first_ = next_ = reinterpret_cast<uint64_t>(range);
  }

  void* allocate(uint64_t bytes) {
    const std::scoped_lock lock(mutex_);
    // A page behind each piece stays inaccessible.
    const uint64_t pages = (bytes + kPage - 1) / kPage * kPage;
    if (first_ == 0 || live_ == kMostPieces || bytes > kRange || next_ + pages + kPage > first_ + kRange)
      return nullptr;
    void* piece = reinterpret_cast<void*>(next_);
    if (mprotect(piece, pages, PROT_READ | PROT_WRITE) != 0) return nullptr;
    pieces_[next_] = {bytes, false};
    next_ += pages + kPage;
    ++live_;
    return piece;
  }

  bool free(void* pointer) {
    const auto address = reinterpret_cast<uint64_t>(pointer);
    if (!isInside(address)) return false;
    const std::scoped_lock lock(mutex_);
    const auto piece = pieces_.find(address);
    if (piece == pieces_.end() || piece->second.isFreed) return true;  // cudaFree ignores what it does not know
    const uint64_t pages = (piece->second.bytes + kPage - 1) / kPage * kPage;
    // New pages take the place of the old ones, which gives those back.
    constexpr int kInPlace = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    if (mmap(pointer, pages, PROT_NONE, kInPlace, -1, 0) == MAP_FAILED) return true;
    piece->second.isFreed = true;
    --live_;
    return true;
  }

  std::optional<std::string> describe(uint64_t address) {
    if (!isInside(address)) return std::nullopt;
    const std::scoped_lock lock(mutex_);
    auto piece = pieces_.upper_bound(address);
    if (piece == pieces_.begin()) return std::nullopt;
    --piece;
    return fmt::format("byte {} of {} bytes that a kernel got by cudaMalloc{}", address - piece->first,
                       piece->second.bytes, piece->second.isFreed ? " and that have been freed" : "");
  }

 private:
  bool isInside(uint64_t address) const { return first_ != 0 && address - first_ < kRange; }

  std::mutex mutex_;
  uint64_t first_ = 0, next_ = 0;
  size_t live_ = 0;
  std::map<uint64_t, Piece> pieces_;  // all that there were, so that a fault can name one
};

DeviceHeap& heap() {
  static auto* all = new DeviceHeap;
  return *all;
}

}  // namespace

void* allocateOnDeviceHeap(uint64_t bytes) { return heap().allocate(bytes); }
bool freeOnDeviceHeap(void* pointer) { return heap().free(pointer); }
std::optional<std::string> describeDeviceHeap(uint64_t address) { return heap().describe(address); }

}  // namespace ordito::machine
