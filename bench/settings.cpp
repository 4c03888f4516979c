#include "settings.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string_view>

namespace ordito::bench {

namespace {

constexpr int overwrite = 1;
constexpr int keepUsers = 0;

/// Keeps the first `threads` of the CPUs that the process may use. Every library here counts CPUs by this mask or can
/// be told.
int restrictToCpus(int threads) {
  cpu_set_t allowed;
  sched_getaffinity(0, sizeof(allowed), &allowed);
  const int available = CPU_COUNT(&allowed);
  if (threads <= 0 || threads >= available) return available;
  cpu_set_t chosen;
  CPU_ZERO(&chosen);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&chosen) < threads; ++cpu)
    if (CPU_ISSET(cpu, &allowed)) CPU_SET(cpu, &chosen);
  sched_setaffinity(0, sizeof(chosen), &chosen);
  return threads;
}

constexpr const char* avx2Cpu = "x86-64-v3";

/// OpenBLAS 0.3.21 takes CPUs newer than itself, and some virtual ones, for a Prescott: 4 to 5 times slower. Its own
/// names for the kernels of a feature set are given instead.
const char* openBlasCoreType(Level level) {
  __builtin_cpu_init();
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (avx512 && level == Level::Host) return "SkylakeX";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return __builtin_cpu_is("amd") ? "Zen" : "Haswell";
  return nullptr;
}

}  // namespace

void restrictToAvx2() {
  setenv("ORDITO_CPU", avx2Cpu, keepUsers);
  setenv("POCL_LLVM_CPU_NAME", __builtin_cpu_is("amd") ? "znver3" : "haswell", keepUsers);
  setenv("POCL_KERNELLIB_NAME", "kernel-x86_64-pc-linux-gnu-avx2", keepUsers);
}

Level levelOfEnvironment() {
  const char* cpu = std::getenv("ORDITO_CPU");
  return cpu != nullptr && std::string_view(cpu) == avx2Cpu ? Level::Avx2 : Level::Host;
}

int prepareProcess(int threads, Level level) {
  const int count = restrictToCpus(threads);
  const std::string text = std::to_string(count);
  setenv("OMP_NUM_THREADS", text.c_str(), overwrite);
  setenv("OPENBLAS_NUM_THREADS", text.c_str(), overwrite);
  setenv("POCL_MAX_PTHREAD_COUNT", text.c_str(), overwrite);  // PoCL up to 5
  setenv("POCL_CPU_MAX_CU_COUNT", text.c_str(), overwrite);   // PoCL from 6
  setenv("KMP_BLOCKTIME", "0", keepUsers);                    // OpenMP threads sleep at once after a parallel region
  setenv("OPENBLAS_THREAD_TIMEOUT", "4", keepUsers);          // OpenBLAS threads too: 2^4 cycles of spinning
  if (const char* core = openBlasCoreType(level)) setenv("OPENBLAS_CORETYPE", core, overwrite);
  if (level == Level::Avx2) restrictToAvx2();
  return count;
}

std::string cpuModel() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(std::min(line.find(':') + 2, line.size()));
  return "unknown CPU";
}

}  // namespace ordito::bench
