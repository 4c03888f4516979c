// What stands for the elements that a signal does not have: zero, the nearest element (clamp), or the signal's mirror
// image, in which the element at the edge comes twice: c b a | a b c | c b a.
#pragma once

enum class Border { zero, clamp, mirror };

#ifdef __CUDACC__
#define LAB_BOTH __host__ __device__
#else
#define LAB_BOTH
#endif

/// The index of the element that stands at i, or -1 for a zero. Right for any distance from a signal of n > 0 elements.
template <Border Policy>
LAB_BOTH inline int insideIndex(int i, int n) {
  if (i >= 0 && i < n) return i;
  if (Policy == Border::zero) return -1;
  if (Policy == Border::clamp) return i < 0 ? 0 : n - 1;
  const int period = 2 * n;
  const int phase = (i % period + period) % period;
  return phase < n ? phase : period - 1 - phase;
}
