// Atomic operations of 128 bits, by the instruction that every x86-64 processor since 2008 has.
#pragma once

#include <cstdint>

namespace ordito::machine {

struct Word128 {
  uint64_t lo = 0, hi = 0;
};

/// Stores `desired` where `expected` stands; gives what stood there. `place` is a multiple of 16.
inline Word128 compareExchange(void* place, Word128 expected, Word128 desired) {
  Word128 old = expected;
  auto* words = static_cast<Word128*>(place);
  asm volatile("lock cmpxchg16b %0"
               : "+m"(*words), "+a"(old.lo), "+d"(old.hi)
               : "b"(desired.lo), "c"(desired.hi)
               : "cc", "memory");
  return old;
}

/// What stands there is read first, word by word: nearly always the first attempt is the last.
inline Word128 exchange(void* place, Word128 desired) {
  const auto* words = static_cast<const Word128*>(place);
  Word128 expected{__atomic_load_n(&words->lo, __ATOMIC_RELAXED), __atomic_load_n(&words->hi, __ATOMIC_RELAXED)};
  for (;;) {
    const Word128 old = compareExchange(place, expected, desired);
    if (old.lo == expected.lo && old.hi == expected.hi) return old;
    expected = old;
  }
}

}  // namespace ordito::machine
