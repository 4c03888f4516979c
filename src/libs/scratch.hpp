// Memory that a call needs for a while, without first values. Much of it lies in pages of 2 MB: providing a product's
// matrices in small pages would take a third of the product's own time.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace ordito::libs {

struct FreeScratch {
  void operator()(void* memory) const { std::free(memory); }
};
template <class T>
using Scratch = std::unique_ptr<T[], FreeScratch>;

template <class T>
Scratch<T> scratch(size_t count) {
  static_assert(std::is_trivially_destructible_v<T> && std::is_trivially_copyable_v<T>);
  constexpr size_t kLine = 64, kHugePage = size_t{2} << 20;
  const size_t unit = count * sizeof(T) >= kHugePage ? kHugePage : kLine;
  const size_t bytes = (count * sizeof(T) + unit - 1) / unit * unit;
  void* const memory = std::aligned_alloc(unit, bytes);
  if (!memory && bytes) throw std::bad_alloc();
  if (unit == kHugePage) madvise(memory, bytes, MADV_HUGEPAGE);
  return Scratch<T>(static_cast<T*>(memory));
}

}  // namespace ordito::libs
