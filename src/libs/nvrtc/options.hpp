// The options of nvrtcCompileProgram.
#pragma once

#include <span>
#include <string>

#include "base/error.hpp"
#include "frontend/compile_options.hpp"

namespace ordito::nvrtc {

struct Options {
  frontend::CompileOptions compile;
  bool isDeviceDefault = false;  ///< Functions without __host__ or __device__ are the device's.
  bool searchesOwnFolder = true;
  bool hasInitializerList = true;  ///< std's, without an #include.
  bool hasMoveForward = true;      ///< std::move and std::forward, likewise.
  bool isReal = false;    ///< An architecture of machines (sm_80) was named: there is something behind nvrtcGetCUBIN.
  bool isForLto = false;  ///< What is made is linked later: it is behind nvrtcGetLTOIR, and only there.
  bool isForSyntax = false;  ///< Errors are wanted, not code.
};

/// An option that NVRTC does not have, or that cannot be honoured, is an error.
Expected<Options> readOptions(std::span<const char* const> words);

}  // namespace ordito::nvrtc
