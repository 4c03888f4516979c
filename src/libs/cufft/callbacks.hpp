// A program's own functions for reading a transform's input and writing its result (cufftXtSetCallback): kernels call
// them for each element and bring the elements into a packed array, or out of one, before and behind the transform.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "cuda.h"
#include "cufftXt.h"
#include "libs/cufft/plan.hpp"
#include "libs/device_code.hpp"

namespace ordito::cufft {

struct Callback {
  CUfunction kernel = nullptr;
  CUdeviceptr function = 0;  // 0 if the kernel knows it
  void* info = nullptr;
  std::shared_ptr<const libs::LinkedModule> module;  // that has the kernel, if it is ours
};

/// By type. Loads and stores have the bytes of shared memory that the program asked for.
struct Callbacks {
  std::map<cufftXtCallbackType, Callback> all;
  std::map<cufftXtCallbackType, unsigned> sharedBytes;
  std::shared_ptr<const Plan> packed;  // made for the first execution

  bool isEmpty() const { return all.empty(); }
};

/// Whether the transform reads or writes elements of the type.
bool fits(const Description& what, cufftXtCallbackType type);

/// The transform with its callbacks, in the stream.
CUresult executeWithCallbacks(CUstream stream, const char* name, const Callbacks& callbacks, const Description& what,
                              const void* from, void* to, bool isInverse);

/// PTX of a kernel that calls the function of this name, which is defined elsewhere.
std::string callbackKernel(const std::string& symbol, cufftXtCallbackType type);
inline constexpr const char* kCallbackKernel = "orditoFftCallback";

}  // namespace ordito::cufft
