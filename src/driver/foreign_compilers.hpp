// NVIDIA's compilers of device code in a process that runs on Ordito.
#pragma once

namespace ordito::driver {

/// Names, once each, the compilers at run time (NVVM, NVRTC, nvJitLink) that this process has loaded and that are not
/// Ordito's. `ordito run` leads Python, scripts and shells to Ordito's own and says so itself where there is none; this
/// is for programs that find theirs by a path of their own.
void tellOfForeignCompilers();

}  // namespace ordito::driver
