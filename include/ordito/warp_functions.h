// Warp primitives: match, reductions, and the forms without _sync of the years before Volta.
#ifndef ORDITO_WARP_FUNCTIONS_H
#define ORDITO_WARP_FUNCTIONS_H

// The old forms act on the lanes that run together at that point; __activemask() names exactly those.
ORDITO_DEVICE int __all(int predicate) { return __all_sync(__activemask(), predicate); }
ORDITO_DEVICE int __any(int predicate) { return __any_sync(__activemask(), predicate); }
ORDITO_DEVICE unsigned int __ballot(int predicate) { return __ballot_sync(__activemask(), predicate); }

#define ORDITO_OLD_SHUFFLES(type)                                                  \
  ORDITO_DEVICE type __shfl(type value, int lane, int width = 32) {                \
    return __shfl_sync(__activemask(), value, lane, width);                        \
  }                                                                                \
  ORDITO_DEVICE type __shfl_up(type value, unsigned int delta, int width = 32) {   \
    return __shfl_up_sync(__activemask(), value, delta, width);                    \
  }                                                                                \
  ORDITO_DEVICE type __shfl_down(type value, unsigned int delta, int width = 32) { \
    return __shfl_down_sync(__activemask(), value, delta, width);                  \
  }                                                                                \
  ORDITO_DEVICE type __shfl_xor(type value, int lane_mask, int width = 32) {       \
    return __shfl_xor_sync(__activemask(), value, lane_mask, width);               \
  }
ORDITO_OLD_SHUFFLES(int)
ORDITO_OLD_SHUFFLES(unsigned int)
ORDITO_OLD_SHUFFLES(long)
ORDITO_OLD_SHUFFLES(unsigned long)
ORDITO_OLD_SHUFFLES(long long)
ORDITO_OLD_SHUFFLES(unsigned long long)
ORDITO_OLD_SHUFFLES(float)
ORDITO_OLD_SHUFFLES(double)
#undef ORDITO_OLD_SHUFFLES

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
// The value's bits decide whether two lanes match.
#define ORDITO_MATCH(type, bits_type, width, bits)                                             \
  ORDITO_DEVICE unsigned int __match_any_sync(unsigned int mask, type value) {                 \
    return __match##width##_any_sync(mask, (bits_type)(bits));                                 \
  }                                                                                            \
  ORDITO_DEVICE unsigned int __match_all_sync(unsigned int mask, type value, int* all_equal) { \
    return __match##width##_all_sync(mask, (bits_type)(bits), all_equal);                      \
  }
ORDITO_MATCH(int, unsigned int, 32, value)
ORDITO_MATCH(unsigned int, unsigned int, 32, value)
ORDITO_MATCH(long, unsigned long long, 64, value)
ORDITO_MATCH(unsigned long, unsigned long long, 64, value)
ORDITO_MATCH(long long, unsigned long long, 64, value)
ORDITO_MATCH(unsigned long long, unsigned long long, 64, value)
ORDITO_MATCH(float, unsigned int, 32, __float_as_uint(value))
ORDITO_MATCH(double, unsigned long long, 64, __double_as_longlong(value))
#undef ORDITO_MATCH

// GPUs before sm_70 cannot sleep; whoever waits there just looks again.
ORDITO_DEVICE void __nanosleep(unsigned int nanoseconds) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
  asm volatile("nanosleep.u32 %0;" ::"r"(nanoseconds));
#endif
}
#endif

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
// One instruction for a reduction over the lanes of the mask.
#define ORDITO_REDUCE(operation, type, suffix)                                                                \
  ORDITO_DEVICE type __reduce_##operation##_sync(unsigned int mask, type value) {                             \
    type result;                                                                                              \
    asm volatile("redux.sync." #operation "." #suffix " %0, %1, %2;" : "=r"(result) : "r"(value), "r"(mask)); \
    return result;                                                                                            \
  }
ORDITO_REDUCE(add, unsigned int, u32)
ORDITO_REDUCE(min, unsigned int, u32)
ORDITO_REDUCE(max, unsigned int, u32)
ORDITO_REDUCE(add, int, s32)
ORDITO_REDUCE(min, int, s32)
ORDITO_REDUCE(max, int, s32)
ORDITO_REDUCE(and, unsigned int, b32)
ORDITO_REDUCE(or, unsigned int, b32)
ORDITO_REDUCE(xor, unsigned int, b32)
#undef ORDITO_REDUCE
#endif

// A kernel here starts only when the one before it in the stream is done, so there is never anything left to wait for.
ORDITO_DEVICE void cudaGridDependencySynchronize() {}
ORDITO_DEVICE void cudaTriggerProgrammaticLaunchCompletion() {}

#endif
