// The options of nvvmCompileProgram and nvvmVerifyProgram.
#pragma once

#include <span>
#include <string>

#include "base/error.hpp"

namespace ordito::nvvm {

struct Options {
  unsigned capability = 75;  // of -arch=compute_75
  std::string suffix;        // of -arch=compute_90a: what only that GPU, or (f) its family, has may be used
  bool optimises = true;     // -opt=3
  bool isDebug = false;      // -g
  bool hasLines = false;     // -generate-line-info
  bool isForLto = false;     // -gen-lto: what is made is linked later
  bool flushesDenormals = false;
  bool preciseSquareRoot = true, preciseDivision = true;
  bool contracts = true;  // -fma=1

  /// Are products fused into sums? NVIDIA's own does not at -opt=0.
  bool fuses() const { return contracts && optimises; }
};

/// An option that the library does not have, or a value that it cannot have, is an error that names it.
Expected<Options> readOptions(std::span<const char* const> words);

}  // namespace ordito::nvvm
