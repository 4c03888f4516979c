// The texts of machine/gpus/*.json. The definition is generated at build time (machine/CMakeLists.txt).
#pragma once

#include <span>

namespace ordito::machine {

struct GpuFile {
  const char* id;
  const char* text;
};

extern const std::span<const GpuFile> kGpuFiles;

}  // namespace ordito::machine
