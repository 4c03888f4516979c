// Checks and building blocks that all copies share.
#pragma once

#include "runtime/call.hpp"

namespace ordito::runtime {

/// What a copy of `kind` between these pointers would answer: a kind that does not exist is
/// cudaErrorInvalidMemcpyDirection, a pointer on the wrong side cudaErrorInvalidValue, as with unified addresses on a
/// real device.
cudaError_t checkDirection(const void* to, const void* from, cudaMemcpyKind kind);
/// The same where the other side is device memory by its nature (a symbol or an array).
cudaError_t checkToDevice(const void* from, cudaMemcpyKind kind);
cudaError_t checkFromDevice(void* to, cudaMemcpyKind kind);

/// Where a copy runs: in a stream, or at once on the default stream of the program.
struct Order {
  bool asynchronous = false;
  CUstream stream = nullptr;
};

/// The part [offset, offset + bytes) of a variable, or cudaErrorInvalidValue if it does not lie inside.
cudaError_t partOfSymbol(const void* symbol, size_t offset, size_t bytes, CUdeviceptr* part);

CUresult copyLinear(CUdeviceptr to, CUdeviceptr from, size_t bytes, const Order& order);
CUresult copyRows(CUdeviceptr to, size_t toPitch, CUdeviceptr from, size_t fromPitch, size_t width, size_t height,
                  const Order& order);
/// What the driver calls a copy of boxes, or what is wrong with it.
cudaError_t boxOf(const cudaMemcpy3DParms& copy, CUDA_MEMCPY3D& box);
CUresult copyBox(const CUDA_MEMCPY3D& copy, const Order& order);

}  // namespace ordito::runtime
