// gpu_fuzz_record: runs random kernels on a real GPU and keeps their texts and results.
//
//   gpu_fuzz_record FILE COUNT [FIRST_SEED]
#include <cstdio>
#include <cstdlib>

#include "fuzz_case.hpp"
#include "gpu_case.hpp"

int main(int argc, char** argv) {
  using namespace ordito;
  if (argc < 3) return std::puts("usage: gpu_fuzz_record FILE COUNT [FIRST_SEED]"), 2;
  if (!test::gpuAvailable()) return std::puts("no NVIDIA GPU here"), 1;
  const uint64_t first = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1;
  std::vector<fuzz::Recorded> all;
  int failed = 0;
  for (uint64_t seed = first; seed < first + std::strtoull(argv[2], nullptr, 10); ++seed) {
    const fuzz::Kernel kernel = fuzz::Generator(seed, true).run();
    fuzz::Recorded r{seed, 0, kernel.grid, kernel.block, fuzz::unfused(kernel.text())};
    const test::Case c = fuzz::caseOf(r.grid, r.block, seed);
    const test::Outcome once = test::outcomeOnGpu({"fuzz", r.text, {}}, c),
                        again = test::outcomeOnGpu({"fuzz", r.text, {}}, c);
    r.result = fuzz::resultOf(once);
    if (!once.error.empty() || r.result != fuzz::resultOf(again)) {
      std::printf("seed %llu: %s\n%s\n", static_cast<unsigned long long>(seed),
                  once.error.empty() ? "two runs differ" : once.error.c_str(), failed++ < 3 ? r.text.c_str() : "");
      continue;
    }
    all.push_back(std::move(r));
  }
  auto written = fuzz::writeRecorded(argv[1], all);
  if (!written) std::puts(written.error().message.c_str());
  std::printf("%zu kernels recorded, %d not\n", all.size(), failed);
  return !written || failed;
}
