// What the benchmark's header line says of OpenBLAS, and its thread count.
#pragma once

#include <string>

namespace ordito::bench {

/// The family of kernels that OpenBLAS runs, for example "Zen". Throws if the library is not installed.
std::string openBlasCore();

void setOpenBlasThreads(int threads);

}  // namespace ordito::bench
