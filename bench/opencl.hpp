// What the benchmark's header line says of the OpenCL device.
#pragma once

#include <string>

namespace ordito::bench {

/// Version and size of the PoCL device. Throws if there is none.
std::string openClDevice();

}  // namespace ordito::bench
