// Device functions that a program hands to a library as code (LTO-IR from NVRTC or nvcc, PTX), and the kernels of the
// library's that call them: how PTX passes an element, and the module that is linked of both.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cuda.h"
#include "ptx/module.hpp"

namespace ordito::libs {

/// How a kernel with a parameter `count` begins: %i is the thread's element; threads behind the last one are done.
inline constexpr const char* kOwnElement = R"(
  .reg .b64 %i, %count;
  .reg .b32 %block, %threads, %thread;
  .reg .pred %outside;
  mov.u32 %block, %ctaid.x;
  mov.u32 %threads, %ntid.x;
  mov.u32 %thread, %tid.x;
  cvt.u64.u32 %i, %thread;
  mad.wide.u32 %i, %block, %threads, %i;
  ld.param.b64 %count, [count];
  setp.ge.u64 %outside, %i, %count;
  @%outside ret;
)";

/// How PTX passes an element: a number, or a structure of two as bytes.
struct PtxElement {
  bool isComplex = false;
  int bytes = 4;      // of a number
  char letter = 'f';  // f, or s of integers

  std::string parameter(const std::string& name) const;
  /// Behind ld and st.
  std::string type() const;
  /// The registers NAME0 and, of complex numbers, NAME1.
  std::string registers(const std::string& name) const;
  int size() const { return isComplex ? 2 * bytes : bytes; }
};

/// A function that other code defines, which takes elements and gives one.
struct PtxFunction {
  std::string symbol;
  std::vector<PtxElement> takes;
  PtxElement gives;

  std::string declaration() const;
  /// A call with what the registers of these names hold.
  std::string call(const std::vector<std::string>& from, const std::string& to) const;
};

/// A program's code as pieces of PTX; nothing if it holds none.
class DeviceCode {
 public:
  /// More code; false if it holds no PTX.
  bool add(const void* image, size_t bytes);
  void add(std::string part) { parts_.push_back(std::move(part)); }
  /// The first of these names that the code defines as a function of the device.
  std::optional<ptx::Function> find(const std::vector<std::string>& names) const;
  const std::vector<std::string>& parts() const { return parts_; }

 private:
  std::vector<std::string> parts_;
};

/// The names that a function at file scope may have: its own, and C++'s with these parameters.
std::vector<std::string> namesOf(const std::string& name, const std::vector<std::string>& mangledParameters);

/// A module of all parts; without functions if they could not be linked.
class LinkedModule {
 public:
  explicit LinkedModule(const DeviceCode& code);
  ~LinkedModule();
  LinkedModule(const LinkedModule&) = delete;
  LinkedModule& operator=(const LinkedModule&) = delete;
  CUmodule get() const { return module_; }
  CUfunction function(const char* name) const;

 private:
  CUmodule module_ = nullptr;
};

}  // namespace ordito::libs
