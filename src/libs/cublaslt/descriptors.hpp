// What cuBLASLt's opaque structures hold, and their attributes: where each lies and how large it is. A structure is the
// caller's memory (`...Init`) or ours (`...Create`); it is copied for a call, so the caller may end it before it runs.
//
// cuBLAS API, "cuBLASLt Datatypes Reference": the attributes and their sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "cublasLt.h"

namespace ordito::cublaslt {

/// Of groups the sizes are arrays of the device: `rows`, `columns` and `leading` are their addresses.
struct Layout {
  uint32_t type;
  int32_t order;
  uint64_t rows, columns;
  int64_t leading;
  int32_t count;       // of matrices
  uint32_t batchMode;  // strides, an array of pointers, or one with sizes of their own
  int64_t stride, planeOffset;
  int8_t sizeWidth, leadingWidth;  // of the integers in the arrays: cublasLtIntegerWidth_t
};

/// How products of doubles may be emulated by small types: kept and told. They are not.
struct Emulation {
  int32_t strategy, specialValues, mantissaControl, mostBits, bitOffset;
  int32_t* bitCount;
};

struct MatmulDesc {
  int32_t compute, scaleType;
  uint32_t epilogue;
  int32_t multiprocessors, auxType, biasType;
  int8_t pointerMode, opA, opB, opC, fill;
  int8_t scaleModeA, scaleModeB, scaleModeC, scaleModeD, scaleModeAux, outScaleModeD;
  int8_t fastAccumulation;
  void* bias;
  int64_t biasStride;
  void* aux;
  int64_t auxLeading, auxStride, alphaVectorStride, alphaStride, betaStride;
  const void *scaleA, *scaleB, *scaleC, *scaleD;
  void* largestD;
  const void* scaleAux;
  void *largestAux, *outScaleD;
  const cublasLtEmulationDescOpaque_t* emulation;
};

struct Preference {
  uint64_t workspace, implementations;
  uint32_t search, mathModes, reductions, gaussianModes, alignmentA, alignmentB, alignmentC, alignmentD;
  float waves;
  uint32_t pointerModes, epilogues;
  int32_t multiprocessors;
  int64_t averageInner, averageRows, averageColumns;  // of groups, which programs for CUDA 12 do not know
};

struct TransformDesc {
  int32_t scaleType, pointerMode, opA, opB;
};

/// How a GPU's kernel would be chosen: kept and told, of no effect.
struct Algorithm {
  int32_t id;
  uint32_t tile;
  int32_t splits;
  uint32_t reduction, swizzling, option, stages;
  uint16_t innerShape, clusterShape;
};

/// The structures of CUDA 11.8 and later have room for what is here, those before CUDA 13 for what their programs know.
template <class State>
inline constexpr size_t kLeastSize = sizeof(State);
template <>
inline constexpr size_t kLeastSize<Preference> = offsetof(Preference, averageInner);
static_assert(sizeof(Layout) <= 64 && sizeof(MatmulDesc) <= 184 && kLeastSize<Preference> <= 64 &&
              sizeof(TransformDesc) <= 64 && sizeof(Algorithm) <= 64 && sizeof(Emulation) <= 64);

/// The numbers of algorithms that cuBLASLt has had are below that.
inline bool isAlgorithm(int id) { return id >= 0 && id < 128; }

template <class State, class Opaque>
State stateOf(const Opaque* opaque) {
  State state;
  std::memcpy(&state, opaque, sizeof(State));
  return state;
}

/// An attribute: its number, its place in the structure, and its size there, which for an enumeration may be one byte.
struct Field {
  int attribute;
  size_t offset, size, kept;
};

/// INVALID_VALUE for an unknown attribute or another size.
cublasStatus_t setField(std::span<const Field> fields, void* state, int attribute, const void* from, size_t size);
/// With a size of 0 only the size is told.
cublasStatus_t getField(std::span<const Field> fields, const void* state, int attribute, void* to, size_t size,
                        size_t* written);

}  // namespace ordito::cublaslt
