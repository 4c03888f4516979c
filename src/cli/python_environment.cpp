// See python_environment.hpp.
//
// Each package has its own way to its tools: Numba takes the driver by a variable and NVVM from a toolkit's folder,
// Triton runs a ptxas and links to libcuda when it first compiles, XLA runs a ptxas out of a folder of flags.
#include "cli/python_environment.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

#include "base/environment.hpp"
#include "frontend/prefix.hpp"

namespace ordito::cli {
namespace {

namespace fs = std::filesystem;

/// Where a shell would find the program; empty if nowhere.
fs::path findProgram(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  for (std::string_view rest = path ? path : ""; !rest.empty();) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
    std::error_code error;
    fs::path candidate = fs::path(folder.empty() ? "." : folder) / name;
    if (fs::is_regular_file(candidate, error)) return candidate;
  }
  return {};
}

bool isScript(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::array<char, 2> begin{};
  return in.read(begin.data(), begin.size()) && begin[0] == '#' && begin[1] == '!';
}

/// Programs that start others.
bool isLauncher(std::string_view name) {
  constexpr std::array kLaunchers = {"bash", "dash", "env", "make", "nice", "sh", "time", "timeout", "uv", "zsh"};
  return std::find(kLaunchers.begin(), kLaunchers.end(), name) != kLaunchers.end();
}

void setUnlessSet(const char* variable, const fs::path& value) {
  const char* old = std::getenv(variable);
  if (!old || !*old) setenv(variable, value.c_str(), 1);
}

/// Another toolkit's folder, of a user who wants its tools: where it has no compiler for Python it is as good as none.
bool namesToolkit(const char* variable) {
  const char* folder = std::getenv(variable);
  std::error_code error;
  return folder && *folder && fs::exists(fs::path(folder) / "nvvm/lib64", error);
}

void addToList(const char* variable, const std::string& value, const char* separator) {
  const char* old = std::getenv(variable);
  setenv(variable, old && *old ? (value + separator + old).c_str() : value.c_str(), 1);
}

/// Programs look for a toolkit by these variables, and start tools by name: nvcc, nvidia-smi. The machine code that
/// another toolkit's nvcc makes is refused, so Ordito's come first, unless ORDITO_TOOLKIT=last asks for the other.
void setToolkit(const fs::path& toolkit) {
  const std::string tools = (toolkit / "bin").string();
  const char* path = std::getenv("PATH");
  const bool isLast = readEnvironment().toolkit == "last";
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (!isLast || !namesToolkit(variable)) setenv(variable, toolkit.c_str(), 1);
  if (isLast && path && *path)
    setenv("PATH", (std::string(path) + ":" + tools).c_str(), 1);
  else
    addToList("PATH", tools, ":");
}

/// XLA writes convolutions as kernels of its own where the passes that take cuDNN's graphs are off. Its tuner would
/// compile and time dozens of kernels for each product, and what it finds fastest here is not what is on a GPU. Without
/// its tuner it would write each product as a kernel of Triton, which takes far longer here than cuBLAS.
void setXlaFlags(const fs::path& toolkit) {
  const std::array<std::pair<std::string, std::string>, 4> flags = {{
      {"--xla_gpu_cuda_data_dir=", toolkit.string()},
      {"--xla_disable_hlo_passes=", "conv-rewriter,conv-fusion-rewriter,conv-kind-assignment"},
      {"--xla_gpu_autotune_level=", "0"},
      {"--xla_gpu_enable_triton_gemm=", "false"},
  }};
  for (const auto& [flag, value] : flags) {
    const char* given = std::getenv("XLA_FLAGS");
    if (!given || std::string_view(given).find(flag) == std::string_view::npos)
      addToList("XLA_FLAGS", flag + value, " ");
  }
}

}  // namespace

bool mayRunPython(const std::vector<std::string>& command) {
  const std::string name = fs::path(command.front()).filename().string();
  return name.starts_with("python") || name.starts_with("pypy") || isLauncher(name) ||
         isScript(findProgram(command.front()));
}

void preparePython() {
  const fs::path toolkit = frontend::toolkitFolder(), libraries = toolkit / "lib64";
  addToList("PYTHONPATH", (frontend::installPrefix() / "python").string(), ":");  // ordito_torch
  addToList("LD_AUDIT", (libraries / "ordito_library_audit.so").string(), ":");
  setToolkit(toolkit);
  setUnlessSet("NUMBA_CUDA_DRIVER", libraries / "libcuda.so.1");
  setUnlessSet("TRITON_PTXAS_PATH", toolkit / "bin/ptxas");
  setUnlessSet("TRITON_PTXAS_BLACKWELL_PATH", toolkit / "bin/ptxas");
  setUnlessSet("TRITON_LIBCUDA_PATH", libraries);
  setUnlessSet("TRITON_LIBDEVICE_PATH", toolkit / "nvvm/libdevice/libdevice.10.bc");
  setUnlessSet("CUPY_COMPILE_WITH_PTX", "1");
  setXlaFlags(toolkit);
}

}  // namespace ordito::cli
