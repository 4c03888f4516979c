// See shared_window.hpp.
#include "machine/shared_window.hpp"

#include <sys/mman.h>

#include <algorithm>

namespace ordito::machine {

namespace {
constexpr size_t kSide = size_t{4} << 30;
constexpr size_t kMiddle = size_t{16} << 20;  // more than any GPU's shared memory
constexpr size_t kPage = 4096;
}  // namespace

SharedWindow::SharedWindow() {
  void* memory = mmap(nullptr, 2 * kSide + kMiddle, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory != MAP_FAILED) base_ = static_cast<std::byte*>(memory);
}

SharedWindow::~SharedWindow() {
  if (base_) munmap(base_, 2 * kSide + kMiddle);
}

std::byte* SharedWindow::end() const { return base_ + kSide + kMiddle; }

std::byte* SharedWindow::place(size_t bytes, size_t alignment) {
  if (!base_ || bytes > kMiddle) return nullptr;
  // As aligned as the size allows without a gap at the end, up to 1024 bytes; 16 at least, which vector accesses need.
  size_t natural = bytes ? bytes & (~bytes + 1) : 1024;
  alignment = std::max({alignment, std::min<size_t>(natural, 1024), size_t{16}});
  size_t span = (bytes + alignment - 1) / alignment * alignment;
  size_t needed = (span + kPage - 1) / kPage * kPage;
  if (needed > committed_) {
    if (mprotect(end() - needed, needed, PROT_READ | PROT_WRITE) != 0) return nullptr;
    committed_ = needed;
  }
  return end() - span;
}

bool SharedWindow::near(uint64_t start, uint64_t address) {
  return start && address + kSide > start && address < start + kSide;
}

}  // namespace ordito::machine
