// gpu_contraction_record: asks a real GPU what it makes of the random kernels of contraction_kernels.hpp.
//
//   gpu_contraction_record FILE COUNT      keeps a checksum of each kernel's results
//   gpu_contraction_record --print NUMBER  one kernel
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "contraction_kernels.hpp"
#include "gpu_case.hpp"

namespace ordito::gpu {
namespace {

int record(const std::string& path, uint64_t count) {
  if (!test::gpuAvailable()) return std::puts("no NVIDIA GPU here"), 1;
  std::ofstream file(path);
  for (uint64_t n = 0; n < count; ++n) {
    const ContractionKernel kernel = contractionKernel(n);
    const test::Outcome o = test::outcomeOnGpu(kernel.test, kernel.launch);
    if (!o.error.empty()) return fmt::print("kernel {}: {}\n", n, o.error), 1;
    file << fmt::format("{:016x}\n", checksumOf(kernel, o.buffers.back()));
  }
  return file.good() ? 0 : 1;
}

}  // namespace
}  // namespace ordito::gpu

int main(int argc, char** argv) {
  if (argc != 3) return std::puts("usage: gpu_contraction_record FILE COUNT | --print NUMBER"), 2;
  const uint64_t number = std::strtoull(argv[2], nullptr, 10);
  if (std::string(argv[1]) != "--print") return ordito::gpu::record(argv[1], number);
  return std::puts(ordito::gpu::contractionKernel(number).test.text.c_str()), 0;
}
