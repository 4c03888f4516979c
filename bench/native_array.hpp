// Arrays of the native contenders. In a namespace without a name: each object of native code is compiled for its own
// CPU (CMakeLists.txt), and the linker must not take one's functions for the other's.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>

#include "contender.hpp"

namespace ordito::bench {

/// The cases whose accesses nobody knows beforehand; null for the others.
std::unique_ptr<Contender> BENCH_IRREGULAR(const Problem& problem);

namespace {

constexpr std::size_t cacheLine = 64;

/// An array in huge pages where the system gives them (strided walks over 4 KB pages miss the TLB at every step), first
/// touched by the threads that will work on it.
template <class T>
class Aligned {
 public:
  Aligned(const void* source, std::size_t count) : data_(allocate(count * sizeof(T))), count_(count) {
    const T* from = static_cast<const T*>(source);
    T* to = data_;
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < count; ++i) to[i] = from != nullptr ? from[i] : T{};
  }
  ~Aligned() { ::operator delete(data_, hugePage); }
  Aligned(const Aligned&) = delete;
  Aligned& operator=(const Aligned&) = delete;

  T* data() const { return data_; }
  std::size_t bytes() const { return count_ * sizeof(T); }

 private:
  static constexpr std::align_val_t hugePage{std::size_t{2} << 20};

  static T* allocate(std::size_t bytes) {
    void* memory = ::operator new(bytes, hugePage);
    madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: refused, it changes nothing but the time
    return static_cast<T*>(memory);
  }

  T* data_;
  std::size_t count_;
};

}  // namespace

}  // namespace ordito::bench
