// A stand-in for ptxas, for those who run it between their own PTX and the driver: clang with --cuda-path set to our
// toolkit folder, Triton, XLA. frontend/assembler.hpp tells what it makes of PTX.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "frontend/assembler.hpp"

namespace {

/// The release of CUDA whose interface this is: callers choose the version of PTX by it.
constexpr const char* kVersion =
    "ptxas: Ordito's stand-in for the PTX assembler; it checks PTX and passes it on\n"
    "Cuda compilation tools, release 12.9, V12.9.86\n";

/// What ptxas answers for input that it refuses.
constexpr int kRefused = 255;

int complain(const std::string& message) {
  fmt::print(stderr, "ptxas (Ordito): {}\n", message);
  return kRefused;
}

int assemble(const ordito::frontend::AssemblerOptions& options) {
  std::ifstream file(options.input, std::ios::binary);
  if (!file) return complain("cannot read " + options.input);
  const auto made = ordito::frontend::assemble({std::istreambuf_iterator<char>(file), {}}, options.input, options);
  if (!made) return complain(made.error().message);
  fmt::print(stderr, "{}", made->usage);
  std::ofstream out(options.output, std::ios::binary);
  out << made->image;
  return out.flush() ? 0 : complain("cannot write " + options.output);
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = ordito::frontend::readAssemblerOptions({argv + 1, static_cast<size_t>(argc - 1)});
  if (options.asksVersion) return fmt::print("{}", kVersion), 0;
  if (options.input.empty()) return complain("usage: ptxas [-arch=sm_N] [-v] [-fmad=false] file.ptx -o file.cubin");
  return assemble(options);
}
