// What the files api_*.cpp share. Each of them is one chapter of the driver API; a function there checks its arguments
// and calls into the classes of this folder.
#pragma once

#include "cuda.h"
#include "driver/context.hpp"
#include "driver/results.hpp"

/// Declares `context`, the current one, or returns why there is none to work with.
#define ORDITO_CONTEXT(context)                 \
  ::ordito::driver::Context* context = nullptr; \
  if (CUresult unusable = ::ordito::driver::currentContext(context)) return unusable

/// The same for a call that names an object of `owner`, which may be null; see currentContextOr.
#define ORDITO_CONTEXT_OR(owner, context, result) \
  ::ordito::driver::Context* context = nullptr;   \
  if (CUresult unusable = ::ordito::driver::currentContextOr(owner, context, result)) return unusable

/// The same for a call that names a stream: a special one is the current context's.
#define ORDITO_CONTEXT_OF_STREAM(context, handle)                                             \
  ORDITO_CONTEXT_OR((handle) ? ::ordito::driver::Context::ownerOf(handle) : nullptr, context, \
                    CUDA_ERROR_INVALID_CONTEXT)

/// Declares `device`, the one with a number, or returns CUDA_ERROR_INVALID_DEVICE.
#define ORDITO_DEVICE(device, ordinal)                                            \
  if (!::ordito::driver::initialised) return CUDA_ERROR_NOT_INITIALIZED;          \
  ::ordito::driver::Device* const device = ::ordito::driver::findDevice(ordinal); \
  if (!device) return CUDA_ERROR_INVALID_DEVICE

/// Declares `stream`, what a handle means, or returns CUDA_ERROR_INVALID_HANDLE.
#define ORDITO_STREAM(stream, context, handle) \
  auto stream = (context)->stream(handle);     \
  if (!stream) return CUDA_ERROR_INVALID_HANDLE
