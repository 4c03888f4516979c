// NVVM IR to PTX: LLVM's own back end for NVIDIA's GPUs, which knows nearly all that NVVM IR Specification 2.0 has.
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "libs/nvvm/options.hpp"

namespace ordito::nvvm {

/// A module as text or bitcode. Of a lazy one only what others call is taken, and is theirs alone.
struct Source {
  std::string bytes, name;
  bool isLazy = false;
};

/// Are the modules well-formed, and for this target?
Expected<> verify(const std::vector<Source>& sources);

struct Product {
  std::string ptx;
  std::string warnings;  // a line each
};
Expected<Product> compile(const std::vector<Source>& sources, const Options& options);

}  // namespace ordito::nvvm
