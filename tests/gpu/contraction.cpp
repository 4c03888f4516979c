// gpu_contraction: runs the random kernels of contraction_kernels.hpp and compares with what a GPU answered.
//
//   gpu_contraction FILE --engine interp|jit [--every N] [--from N]
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "contraction_kernels.hpp"
#include "interp/interpreter.hpp"
#include "jit/jit.hpp"
#include "run_case.hpp"

namespace ordito::gpu {
namespace {

/// A line is a checksum; behind those of kernels that we are known to answer otherwise stands "differs".
struct Recorded {
  uint64_t sum;
  bool differs;
};

std::vector<Recorded> readRecorded(const std::string& path) {
  std::vector<Recorded> all;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    all.push_back({std::stoull(line, nullptr, 16), line.ends_with(" differs")});
  return all;
}

int compare(const std::string& path, const std::string& engineName, uint64_t first, uint64_t every) {
  const std::vector<Recorded> recorded = readRecorded(path);
  const auto engine = engineName == "interp" ? interp::makeInterpreter() : jit::makeJit(jit::optionsFromEnvironment());
  uint64_t compared = 0, known = 0, wrong = 0;
  for (uint64_t n = first; n < recorded.size(); n += every) {
    const ContractionKernel kernel = contractionKernel(n);
    const test::Outcome o = test::runCase(*engine, kernel.test, kernel.launch, test::Wanted::Nothing);
    const bool agrees = o.error.empty() && checksumOf(kernel, o.buffers.back()) == recorded[n].sum;
    ++compared;
    if (recorded[n].differs) ++known;
    if (agrees != recorded[n].differs) continue;
    ++wrong;
    fmt::print("kernel {} of {}: {}\n", n, isa::name(kernel.type),
               !o.error.empty() ? o.error
               : agrees         ? "agrees, and is listed as one that differs"
                                : "other results");
  }
  fmt::print("{} kernels compared, of which {} are known to differ; {} unexpected\n", compared, known, wrong);
  return wrong || compared == 0 ? 1 : 0;
}

}  // namespace
}  // namespace ordito::gpu

int main(int argc, char** argv) {
  std::string file, engine = "interp";
  uint64_t every = 1, first = 0;
  CLI::App app{"Compares contraction with a GPU's"};
  app.add_option("file", file, "the recorded answers")->required();
  app.add_option("--engine", engine)->check(CLI::IsMember({"interp", "jit"}));
  app.add_option("--every", every, "compare each Nth kernel")->check(CLI::PositiveNumber);
  app.add_option("--from", first, "the first kernel that is compared");
  CLI11_PARSE(app, argc, argv);
  return ordito::gpu::compare(file, engine, first, every);
}
