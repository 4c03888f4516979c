// gpu_fuzz_record: runs random kernels on a real GPU and keeps their texts and results.
//
//   gpu_fuzz_record FILE COUNT [FIRST_SEED]
//   gpu_fuzz_record --ptx FOLDER COUNT [FIRST_SEED]     only writes the kernels, for a look at what ptxas says of them
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "fuzz_case.hpp"
#include "gpu_case.hpp"

namespace ordito {
namespace {

fuzz::Recorded kernelOf(uint64_t seed) {
  const fuzz::Kernel kernel = fuzz::Generator(seed, true).run();
  std::string text = fuzz::unfused(kernel.text());
  const std::string target = "sm_100a";  // of generated kernels; an H200 is an sm_90a
  text.replace(text.find(target), target.size(), "sm_90a");
  return {seed, 0, kernel.grid, kernel.block, text};
}

int writeKernels(const std::string& folder, uint64_t first, uint64_t count) {
  std::filesystem::create_directories(folder);
  for (uint64_t seed = first; seed < first + count; ++seed)
    std::ofstream(fmt::format("{}/{}.ptx", folder, seed)) << kernelOf(seed).text;
  return 0;
}

/// Runs a kernel twice; none if the GPU refuses it or the runs differ.
std::optional<fuzz::Recorded> record(uint64_t seed) {
  fuzz::Recorded r = kernelOf(seed);
  const test::Case c = fuzz::caseOf(r.grid, r.block, seed);
  const test::Outcome once = test::outcomeOnGpu({"fuzz", r.text, {}}, c),
                      again = test::outcomeOnGpu({"fuzz", r.text, {}}, c);
  r.result = fuzz::resultOf(once);
  if (once.error.empty() && r.result == fuzz::resultOf(again)) return r;
  std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed),
              once.error.empty() ? "two runs differ" : once.error.c_str());
  return std::nullopt;
}

int recordAll(const std::string& path, uint64_t first, uint64_t count) {
  if (!test::gpuAvailable()) return std::puts("no NVIDIA GPU here"), 1;
  std::vector<fuzz::Recorded> all;
  for (uint64_t seed = first; seed < first + count; ++seed)
    if (auto r = record(seed)) all.push_back(std::move(*r));
  auto written = fuzz::writeRecorded(path, all);
  if (!written) std::puts(written.error().message.c_str());
  std::printf("%zu kernels recorded, %zu not\n", all.size(), static_cast<size_t>(count) - all.size());
  return !written || all.size() != count;
}

}  // namespace
}  // namespace ordito

int main(int argc, char** argv) {
  using namespace ordito;
  const bool writes = argc > 1 && std::string_view(argv[1]) == "--ptx";
  char** arguments = argv + (writes ? 2 : 1);
  const long given = argv + argc - arguments;
  if (given < 2) return std::puts("usage: gpu_fuzz_record [--ptx] FILE_OR_FOLDER COUNT [FIRST_SEED]"), 2;
  const uint64_t count = std::strtoull(arguments[1], nullptr, 10);
  const uint64_t first = given > 2 ? std::strtoull(arguments[2], nullptr, 10) : 1;
  return writes ? writeKernels(arguments[0], first, count) : recordAll(arguments[0], first, count);
}
