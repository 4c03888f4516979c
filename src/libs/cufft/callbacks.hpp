// A program's own functions for reading a transform's input and writing its result (cufftXtSetCallback): kernels call
// them for each element and bring the elements into a packed array, or out of one, before and behind the transform.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "cuda.h"
#include "cufftXt.h"
#include "libs/cufft/plan.hpp"

namespace ordito::cufft {

/// A module made of a program's code for cuFFT to link with; null functions if that could not be done.
class CallbackModule {
 public:
  /// `symbol`: the function's name, with or without what C++ adds to it.
  CallbackModule(const std::string& symbol, const void* image, size_t bytes, cufftXtCallbackType type);
  ~CallbackModule();
  CallbackModule(const CallbackModule&) = delete;
  CallbackModule& operator=(const CallbackModule&) = delete;
  CUfunction kernel() const { return kernel_; }

 private:
  CUmodule module_ = nullptr;
  CUfunction kernel_ = nullptr;
};

struct Callback {
  CUfunction kernel = nullptr;
  CUdeviceptr function = 0;  // 0 if the kernel knows it
  void* info = nullptr;
  std::shared_ptr<CallbackModule> module;  // that has the kernel, if it is ours
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
