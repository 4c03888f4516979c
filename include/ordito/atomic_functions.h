// atomicAdd and its relatives for every type of the programming guide, each also with block and system scope.
//
// Device scope uses clang's atomic builtins, which become `atomicrmw`: LLVM then knows the address space and PTX says
// atom.shared or atom.global instead of the generic form.
#ifndef ORDITO_ATOMIC_FUNCTIONS_H
#define ORDITO_ATOMIC_FUNCTIONS_H

// function, type, clang's builtin: one row gives the function of all three scopes.
#define ORDITO_ATOMIC(name, type, builtin_type, operation, suffix)                                        \
  ORDITO_DEVICE type name(type* address, type value) {                                                    \
    return (type)__nvvm_atom_##operation##_gen_##suffix((builtin_type*)address, (builtin_type)value);     \
  }                                                                                                       \
  ORDITO_DEVICE type name##_block(type* address, type value) {                                            \
    return (type)__nvvm_atom_cta_##operation##_gen_##suffix((builtin_type*)address, (builtin_type)value); \
  }                                                                                                       \
  ORDITO_DEVICE type name##_system(type* address, type value) {                                           \
    return (type)__nvvm_atom_sys_##operation##_gen_##suffix((builtin_type*)address, (builtin_type)value); \
  }

typedef unsigned long long ordito_u64;

ORDITO_ATOMIC(atomicAdd, int, int, add, i)
ORDITO_ATOMIC(atomicAdd, unsigned int, int, add, i)
ORDITO_ATOMIC(atomicAdd, ordito_u64, long long, add, ll)
ORDITO_ATOMIC(atomicAdd, float, float, add, f)
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
ORDITO_ATOMIC(atomicAdd, double, double, add, d)
#endif

#if !defined(__CUDA_ARCH__)
// CUDA's atomics know no long, and some of them no long long, float or double. Programs add those under #ifdef
// __CUDA_ARCH__, for kernels that clang also looks at where it compiles for the host: there it finds these, which are
// less special than any of a program's own.
template <class Word>
struct ordito_words_of_programs {};
#define ORDITO_WORD_OF_PROGRAMS(word)     \
  template <>                             \
  struct ordito_words_of_programs<word> { \
    typedef word type;                    \
  };
ORDITO_WORD_OF_PROGRAMS(long)
ORDITO_WORD_OF_PROGRAMS(unsigned long)
ORDITO_WORD_OF_PROGRAMS(long long)
ORDITO_WORD_OF_PROGRAMS(ordito_u64)
ORDITO_WORD_OF_PROGRAMS(float)
ORDITO_WORD_OF_PROGRAMS(double)
#undef ORDITO_WORD_OF_PROGRAMS
#define ORDITO_ATOMIC_OF_PROGRAMS(name)                                                                 \
  template <class Word, class... Value>                                                                 \
  __device__ typename ordito_words_of_programs<Word>::type name(Word* address, Value... value);         \
  template <class Word, class... Value>                                                                 \
  __device__ typename ordito_words_of_programs<Word>::type name##_block(Word* address, Value... value); \
  template <class Word, class... Value>                                                                 \
  __device__ typename ordito_words_of_programs<Word>::type name##_system(Word* address, Value... value);
ORDITO_ATOMIC_OF_PROGRAMS(atomicAdd)
ORDITO_ATOMIC_OF_PROGRAMS(atomicSub)
ORDITO_ATOMIC_OF_PROGRAMS(atomicExch)
ORDITO_ATOMIC_OF_PROGRAMS(atomicCAS)
ORDITO_ATOMIC_OF_PROGRAMS(atomicMin)
ORDITO_ATOMIC_OF_PROGRAMS(atomicMax)
ORDITO_ATOMIC_OF_PROGRAMS(atomicAnd)
ORDITO_ATOMIC_OF_PROGRAMS(atomicOr)
ORDITO_ATOMIC_OF_PROGRAMS(atomicXor)
#undef ORDITO_ATOMIC_OF_PROGRAMS
#endif

ORDITO_ATOMIC(atomicExch, int, int, xchg, i)
ORDITO_ATOMIC(atomicExch, unsigned int, int, xchg, i)
ORDITO_ATOMIC(atomicExch, ordito_u64, long long, xchg, ll)

ORDITO_ATOMIC(atomicMin, int, int, min, i)
ORDITO_ATOMIC(atomicMin, unsigned int, unsigned int, min, ui)
ORDITO_ATOMIC(atomicMin, long long, long long, min, ll)
ORDITO_ATOMIC(atomicMin, ordito_u64, ordito_u64, min, ull)

ORDITO_ATOMIC(atomicMax, int, int, max, i)
ORDITO_ATOMIC(atomicMax, unsigned int, unsigned int, max, ui)
ORDITO_ATOMIC(atomicMax, long long, long long, max, ll)
ORDITO_ATOMIC(atomicMax, ordito_u64, ordito_u64, max, ull)

ORDITO_ATOMIC(atomicInc, unsigned int, unsigned int, inc, ui)
ORDITO_ATOMIC(atomicDec, unsigned int, unsigned int, dec, ui)

ORDITO_ATOMIC(atomicAnd, int, int, and, i)
ORDITO_ATOMIC(atomicAnd, unsigned int, int, and, i)
ORDITO_ATOMIC(atomicAnd, ordito_u64, long long, and, ll)
ORDITO_ATOMIC(atomicOr, int, int, or, i)
ORDITO_ATOMIC(atomicOr, unsigned int, int, or, i)
ORDITO_ATOMIC(atomicOr, ordito_u64, long long, or, ll)
ORDITO_ATOMIC(atomicXor, int, int, xor, i)
ORDITO_ATOMIC(atomicXor, unsigned int, int, xor, i)
ORDITO_ATOMIC(atomicXor, ordito_u64, long long, xor, ll)
#undef ORDITO_ATOMIC

// What PTX has no instruction for is said through one it has.
#define ORDITO_SCOPED_ATOMICS(scope)                                                                        \
  ORDITO_DEVICE int atomicSub##scope(int* address, int value) { return atomicAdd##scope(address, -value); } \
  ORDITO_DEVICE unsigned int atomicSub##scope(unsigned int* address, unsigned int value) {                  \
    return atomicAdd##scope(address, 0u - value);                                                           \
  }                                                                                                         \
  ORDITO_DEVICE float atomicExch##scope(float* address, float value) {                                      \
    return __int_as_float(atomicExch##scope((int*)address, __float_as_int(value)));                         \
  }                                                                                                         \
  ORDITO_DEVICE double atomicExch##scope(double* address, double value) {                                   \
    return __longlong_as_double(                                                                            \
        (long long)atomicExch##scope((ordito_u64*)address, (ordito_u64)__double_as_longlong(value)));       \
  }
ORDITO_SCOPED_ATOMICS()
ORDITO_SCOPED_ATOMICS(_block)
ORDITO_SCOPED_ATOMICS(_system)
#undef ORDITO_SCOPED_ATOMICS

#define ORDITO_CAS(name, infix)                                                                                    \
  ORDITO_DEVICE int name(int* address, int compare, int value) {                                                   \
    return __nvvm_atom_##infix##cas_gen_i(address, compare, value);                                                \
  }                                                                                                                \
  ORDITO_DEVICE unsigned int name(unsigned int* address, unsigned int compare, unsigned int value) {               \
    return (unsigned int)__nvvm_atom_##infix##cas_gen_i((int*)address, (int)compare, (int)value);                  \
  }                                                                                                                \
  ORDITO_DEVICE ordito_u64 name(ordito_u64* address, ordito_u64 compare, ordito_u64 value) {                       \
    return (ordito_u64)__nvvm_atom_##infix##cas_gen_ll((long long*)address, (long long)compare, (long long)value); \
  }
ORDITO_CAS(atomicCAS, )
ORDITO_CAS(atomicCAS_block, cta_)
ORDITO_CAS(atomicCAS_system, sys_)
#undef ORDITO_CAS

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
#define ORDITO_CAS16(name, scope)                                                                            \
  ORDITO_DEVICE unsigned short name(unsigned short* address, unsigned short compare, unsigned short value) { \
    unsigned short old;                                                                                      \
    asm volatile("atom" scope ".cas.b16 %0, [%1], %2, %3;"                                                   \
                 : "=h"(old)                                                                                 \
                 : "l"(address), "h"(compare), "h"(value)                                                    \
                 : "memory");                                                                                \
    return old;                                                                                              \
  }
ORDITO_CAS16(atomicCAS, "")
ORDITO_CAS16(atomicCAS_block, ".cta")
ORDITO_CAS16(atomicCAS_system, ".sys")
#undef ORDITO_CAS16
#endif

#endif
