// Normal and log-normal numbers in single precision from uniform ones, for whole arrays: the functions of
// include/ordito/curand_float_functions.h in the lanes of the processor's vectors, on all threads.
#pragma once

#include <cstddef>

namespace ordito::curand {

/// Pairs of a number in (0, 1] and an angle become pairs of normal numbers, in place; `count` floats, two for each.
void makeNormal(float* pairs, size_t count);

/// numbers[i] = mean + deviation * numbers[i], rounded once; or e to that power.
void scaleNormal(float* numbers, size_t count, float mean, float deviation, bool isExponent);

}  // namespace ordito::curand
