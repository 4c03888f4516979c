// A program for the compiler at run time: source, headers, the names that the caller wants to know, and what came out.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "frontend/compile.hpp"
#include "nvrtc.h"

namespace ordito::nvrtc {

/// Every function may be called by any thread; a program is compiled by one at a time.
class Program {
 public:
  explicit Program(frontend::CudaSource source) : source_(std::move(source)) {}

  nvrtcResult addName(const std::string& expression);
  nvrtcResult compile(std::span<const char* const> words);
  /// The string stays where it is until the program is destroyed.
  nvrtcResult loweredName(const std::string& expression, const char** name) const;

  /// Null where there is none.
  std::shared_ptr<const std::string> ptx() const;
  /// What stands in for intermediate code: PTX, which libnvJitLink links. Then there is nothing else.
  std::shared_ptr<const std::string> intermediate() const;
  /// What the driver loads in the place of machine code: the same PTX, if an architecture of machines was named.
  std::shared_ptr<const std::string> cubin() const;
  std::string log() const;

 private:
  nvrtcResult report(nvrtcResult result, const std::string& message);
  std::string withNames(const std::string& text) const;
  std::string takeLoweredNames(const std::string& ptx);

  mutable std::mutex mutex_;
  frontend::CudaSource source_;
  std::vector<std::string> names_;  // expressions
  std::map<std::string, std::string> lowered_;
  std::string log_;
  std::shared_ptr<const std::string> made_;
  bool wasCompiled_ = false, isReal_ = false, isForLto_ = false;
};

}  // namespace ordito::nvrtc
