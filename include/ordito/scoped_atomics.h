// What <cuda/atomic> is made of: the operations on words of 4 and 8 bytes, for each scope, in kernels and in host code.
//
// Every operation is relaxed, with fences around it as its memory order wants (PTX manual, "Memory Consistency Model":
// a fence before a relaxed write releases, one behind a relaxed read acquires). Smaller types are part of a word that
// is exchanged.
#ifndef ORDITO_SCOPED_ATOMICS_H
#define ORDITO_SCOPED_ATOMICS_H

#include "../cuda_runtime.h"
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace cuda {

enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };

#define ORDITO_ATOMIC_FUNCTION __host__ __device__ inline __attribute__((always_inline))

namespace std {
enum memory_order {
  memory_order_relaxed = __ATOMIC_RELAXED,
  memory_order_consume = __ATOMIC_CONSUME,
  memory_order_acquire = __ATOMIC_ACQUIRE,
  memory_order_release = __ATOMIC_RELEASE,
  memory_order_acq_rel = __ATOMIC_ACQ_REL,
  memory_order_seq_cst = __ATOMIC_SEQ_CST
};
}  // namespace std
using std::memory_order;
using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_consume;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;

namespace ordito_atomic {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 700
#error "<cuda/atomic> and its relatives need -arch=sm_70 or later"
#endif

template <thread_scope Scope>
struct Words;

// A plain C++ file has no kernels, and its compiler does not know PTX's registers.
#ifdef __CUDA__
#define ORDITO_ATOMIC_PTX(...) asm volatile(__VA_ARGS__)
#else
#define ORDITO_ATOMIC_PTX(...) __builtin_trap()
#endif

// One row of PTX for each scope; the types are bits (b), unsigned (u) and signed (s) numbers.
#define ORDITO_WORD_UPDATE(ptx_scope, name, operation, type, register_class)                                    \
  static __device__ inline type name(type* at, type value) {                                                    \
    type old;                                                                                                   \
    ORDITO_ATOMIC_PTX("atom.relaxed." ptx_scope "." operation " %0, [%1], %2;" : register_class(old) : "l"(at), \
                      ORDITO_INPUT_##type(value) : "memory");                                                   \
    return old;                                                                                                 \
  }
#define ORDITO_INPUT_uint32_t(value) "r"(value)
#define ORDITO_INPUT_int32_t(value) "r"(value)
#define ORDITO_INPUT_uint64_t(value) "l"(value)
#define ORDITO_INPUT_int64_t(value) "l"(value)
#define ORDITO_INPUT_float(value) "f"(value)
#define ORDITO_INPUT_double(value) "d"(value)
#define ORDITO_WORD_ACCESS(ptx_scope, type, bits, in, out)                                                             \
  static __device__ inline type load(const type* at) {                                                                 \
    type value;                                                                                                        \
    ORDITO_ATOMIC_PTX("ld.relaxed." ptx_scope ".b" bits " %0, [%1];" : out(value) : "l"(at) : "memory");               \
    return value;                                                                                                      \
  }                                                                                                                    \
  static __device__ inline void store(type* at, type value) {                                                          \
    ORDITO_ATOMIC_PTX("st.relaxed." ptx_scope ".b" bits " [%0], %1;" ::"l"(at), in(value) : "memory");                 \
  }                                                                                                                    \
  static __device__ inline type compareExchange(type* at, type expected, type desired) {                               \
    type old;                                                                                                          \
    ORDITO_ATOMIC_PTX("atom.relaxed." ptx_scope ".cas.b" bits " %0, [%1], %2, %3;" : out(old) : "l"(at), in(expected), \
                      in(desired) : "memory");                                                                         \
    return old;                                                                                                        \
  }                                                                                                                    \
  ORDITO_WORD_UPDATE(ptx_scope, exchange, "exch.b" bits, type, out)                                                    \
  ORDITO_WORD_UPDATE(ptx_scope, add, "add.u" bits, type, out)                                                          \
  ORDITO_WORD_UPDATE(ptx_scope, bitAnd, "and.b" bits, type, out)                                                       \
  ORDITO_WORD_UPDATE(ptx_scope, bitOr, "or.b" bits, type, out)                                                         \
  ORDITO_WORD_UPDATE(ptx_scope, bitXor, "xor.b" bits, type, out)
#define ORDITO_WORDS(scope, ptx_scope)                                   \
  template <>                                                            \
  struct Words<scope> {                                                  \
    ORDITO_WORD_ACCESS(ptx_scope, uint32_t, "32", "r", "=r")             \
    ORDITO_WORD_ACCESS(ptx_scope, uint64_t, "64", "l", "=l")             \
    ORDITO_WORD_UPDATE(ptx_scope, add, "add.f32", float, "=f")           \
    ORDITO_WORD_UPDATE(ptx_scope, add, "add.f64", double, "=d")          \
    ORDITO_WORD_UPDATE(ptx_scope, smaller, "min.u32", uint32_t, "=r")    \
    ORDITO_WORD_UPDATE(ptx_scope, smaller, "min.u64", uint64_t, "=l")    \
    ORDITO_WORD_UPDATE(ptx_scope, smaller, "min.s32", int32_t, "=r")     \
    ORDITO_WORD_UPDATE(ptx_scope, smaller, "min.s64", int64_t, "=l")     \
    ORDITO_WORD_UPDATE(ptx_scope, larger, "max.u32", uint32_t, "=r")     \
    ORDITO_WORD_UPDATE(ptx_scope, larger, "max.u64", uint64_t, "=l")     \
    ORDITO_WORD_UPDATE(ptx_scope, larger, "max.s32", int32_t, "=r")      \
    ORDITO_WORD_UPDATE(ptx_scope, larger, "max.s64", int64_t, "=l")      \
    static __device__ inline void fence(bool total) {                    \
      if (total)                                                         \
        ORDITO_ATOMIC_PTX("fence.sc." ptx_scope ";" :: : "memory");      \
      else                                                               \
        ORDITO_ATOMIC_PTX("fence.acq_rel." ptx_scope ";" :: : "memory"); \
    }                                                                    \
  };
ORDITO_WORDS(thread_scope_system, "sys")
ORDITO_WORDS(thread_scope_device, "gpu")
ORDITO_WORDS(thread_scope_block, "cta")
ORDITO_WORDS(thread_scope_thread, "cta")
#undef ORDITO_WORDS
#undef ORDITO_WORD_ACCESS
#undef ORDITO_WORD_UPDATE
#undef ORDITO_INPUT_uint32_t
#undef ORDITO_INPUT_int32_t
#undef ORDITO_INPUT_uint64_t
#undef ORDITO_INPUT_int64_t
#undef ORDITO_INPUT_float
#undef ORDITO_INPUT_double

/// Host code needs none: its operations are sequentially consistent whatever they are asked.
template <thread_scope Scope>
ORDITO_ATOMIC_FUNCTION void fenceBefore(memory_order order) {
#if defined(__CUDA_ARCH__)
  if (order != memory_order_relaxed && order != memory_order_acquire && order != memory_order_consume)
    Words<Scope>::fence(order == memory_order_seq_cst);
#else
  (void)order;
#endif
}

template <thread_scope Scope>
ORDITO_ATOMIC_FUNCTION void fenceBehind(memory_order order) {
#if defined(__CUDA_ARCH__)
  if (order != memory_order_relaxed && order != memory_order_release) Words<Scope>::fence(false);
#else
  (void)order;
#endif
}

/// Between two looks at a word that somebody else will change.
ORDITO_ATOMIC_FUNCTION void pause() {
#if defined(__CUDA_ARCH__)
  __nanosleep(20);
#else
  sched_yield();
#endif
}

template <size_t Bytes>
struct BitsOf;
template <>
struct BitsOf<4> {
  typedef uint32_t type;
};
template <>
struct BitsOf<8> {
  typedef uint64_t type;
};

template <class To, class From>
ORDITO_ATOMIC_FUNCTION To bitsAs(const From& from) {
  static_assert(sizeof(To) == sizeof(From), "the bits of another size");
  To to;
  memcpy(&to, &from, sizeof(To));
  return to;
}

/// Objects of `Bytes` bytes: load, store, exchange and compareExchange of their bits. compareExchange gives what was
/// there.
template <thread_scope Scope, size_t Bytes>
struct Cell {
  typedef typename BitsOf<Bytes>::type Bits;
#if defined(__CUDA_ARCH__)
  static __device__ inline Bits load(const Bits* at) { return Words<Scope>::load(at); }
  static __device__ inline void store(Bits* at, Bits value) { Words<Scope>::store(at, value); }
  static __device__ inline Bits exchange(Bits* at, Bits value) { return Words<Scope>::exchange(at, value); }
  static __device__ inline Bits compareExchange(Bits* at, Bits expected, Bits desired) {
    return Words<Scope>::compareExchange(at, expected, desired);
  }
#else
  static inline Bits load(const Bits* at) { return __atomic_load_n(at, __ATOMIC_SEQ_CST); }
  static inline void store(Bits* at, Bits value) { __atomic_store_n(at, value, __ATOMIC_SEQ_CST); }
  static inline Bits exchange(Bits* at, Bits value) { return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST); }
  static inline Bits compareExchange(Bits* at, Bits expected, Bits desired) {
    __atomic_compare_exchange_n(at, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return expected;
  }
#endif
};

/// One or two bytes: part of the word around them.
template <thread_scope Scope, class Part>
struct PartOfWord {
  typedef Part Bits;
  typedef Cell<Scope, 4> Word;
  static ORDITO_ATOMIC_FUNCTION uint32_t* wordOf(const Bits* at) { return (uint32_t*)((uintptr_t)at & ~(uintptr_t)3); }
  static ORDITO_ATOMIC_FUNCTION unsigned shiftOf(const Bits* at) { return (unsigned)((uintptr_t)at & 3) * 8; }
  static ORDITO_ATOMIC_FUNCTION uint32_t with(uint32_t word, const Bits* at, Bits value) {
    const uint32_t mask = (uint32_t)(Bits) ~(Bits)0 << shiftOf(at);
    return (word & ~mask) | (uint32_t)value << shiftOf(at);
  }
  static ORDITO_ATOMIC_FUNCTION Bits load(const Bits* at) { return (Bits)(Word::load(wordOf(at)) >> shiftOf(at)); }
  static ORDITO_ATOMIC_FUNCTION Bits exchange(Bits* at, Bits value) {
    uint32_t seen = Word::load(wordOf(at));
    for (;;) {
      const uint32_t found = Word::compareExchange(wordOf(at), seen, with(seen, at, value));
      if (found == seen) return (Bits)(seen >> shiftOf(at));
      seen = found;
    }
  }
  static ORDITO_ATOMIC_FUNCTION void store(Bits* at, Bits value) { exchange(at, value); }
  static ORDITO_ATOMIC_FUNCTION Bits compareExchange(Bits* at, Bits expected, Bits desired) {
    uint32_t seen = Word::load(wordOf(at));
    for (;;) {
      const Bits part = (Bits)(seen >> shiftOf(at));
      if (part != expected) return part;
      const uint32_t found = Word::compareExchange(wordOf(at), seen, with(seen, at, desired));
      if (found == seen) return part;
      seen = found;
    }
  }
};
template <thread_scope Scope>
struct Cell<Scope, 1> : PartOfWord<Scope, uint8_t> {};
template <thread_scope Scope>
struct Cell<Scope, 2> : PartOfWord<Scope, uint16_t> {};

}  // namespace ordito_atomic
}  // namespace cuda

#endif
