// Makes the libraries that share the process comparable: the same number of threads for each, no thread that still
// spins while the next contender is timed, and the OpenBLAS kernels that fit the CPU.
#pragma once

#include <string>

namespace ordito::bench {

/// The instructions that all contenders may use.
enum class Level { Host, Avx2 };

/// AVX2 if the environment tells Ordito's engine so.
Level levelOfEnvironment();

/// Ordito's engine, and PoCL as far as it can be told: the CPU that LLVM compiles for and the built-in functions that
/// go with it. It keeps what it compiles apart by CPU. For this process and those that it starts.
void restrictToAvx2();

/// Must run before any of the libraries starts: they read the environment once. Restricts the process to `threads` CPUs
/// (0: all it may use) and returns how many that are.
int prepareProcess(int threads, Level level);

std::string cpuModel();

}  // namespace ordito::bench
