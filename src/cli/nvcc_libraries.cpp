// See nvcc_libraries.hpp.
#include "cli/nvcc_libraries.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace ordito::cli {
namespace fs = std::filesystem;
namespace {

/// Libraries of the CUDA toolkit that programs ask for by name and that Ordito may not have.
constexpr std::array kToolkitLibraries = {"cublas",   "cublasLt", "cufft", "cufftw", "curand",   "cusolver",
                                          "cusparse", "cudnn",    "nvrtc", "nppc",   "nppi",     "npps",
                                          "nvjpeg",   "cupti",    "nccl",  "nvml",   "nvidia-ml"};

/// The device runtime is part of the runtime.
bool isRuntime(const std::string& library) {
  return library == "cudart" || library == "cudart_static" || library == "cudadevrt";
}

/// `libcublas.so.12` is `cublas`; empty if the file is no library.
std::string libraryOf(const fs::path& file) {
  const std::string name = file.filename().string();
  if (!name.starts_with("lib")) return {};
  const auto end = std::min(name.find(".so"), name.find(".a"));
  return end == std::string::npos ? std::string() : name.substr(3, end - 3);
}

/// Ours of that name; empty if there is none.
fs::path ownLibrary(const Toolchain& tools, const std::string& library) {
  const fs::path path = tools.toolkit / "lib64" / ("lib" + library + ".so");
  return fs::exists(path) ? path : fs::path();
}

/// A folder of libraries that has a runtime of its own, or the stubs that are linked in the driver's place.
bool isOfAnotherToolkit(const fs::path& folder) {
  return fs::exists(folder / "libcudart.so") || fs::exists(folder.parent_path() / "libcudart.so");
}

std::vector<fs::path> libraryFolders(const NvccOptions& options) {
  std::vector<fs::path> folders;
  for (const auto& option : options.linker)
    if (option.starts_with("-L")) folders.emplace_back(option.substr(2));
  for (const char* system : {"/usr/local/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"})
    folders.emplace_back(system);
  return folders;
}

/// A library that the user has, whatever its name: found where the linker will look.
bool isUsers(const NvccOptions& options, const std::string& library) {
  const auto folders = libraryFolders(options);
  return std::any_of(folders.begin(), folders.end(), [&](const fs::path& folder) {
    const bool found = fs::exists(folder / ("lib" + library + ".so")) || fs::exists(folder / ("lib" + library + ".a"));
    return found && !isOfAnotherToolkit(fs::absolute(folder).lexically_normal());
  });
}

bool isOfToolkit(const std::string& library) {
  return std::find(kToolkitLibraries.begin(), kToolkitLibraries.end(), library) != kToolkitLibraries.end();
}

Expected<std::vector<std::string>> fileInput(const Toolchain& tools, const std::string& file) {
  const std::string suffix = fs::path(file).extension().string();
  if (suffix == ".cubin" || suffix == ".ptx" || suffix == ".fatbin") return fail("{}: give the .cu file instead", file);
  const std::string library = libraryOf(file);
  if (isRuntime(library)) return std::vector<std::string>{};
  const fs::path own = library.empty() ? fs::path() : ownLibrary(tools, library);
  const bool exists = fs::exists(file);
  if (!own.empty() && (!exists || isOfAnotherToolkit(fs::absolute(file).lexically_normal().parent_path())))
    return std::vector{own.string()};
  if (!exists) return fail("{}: no such file", file);
  return std::vector{file};
}

}  // namespace

Expected<std::vector<std::string>> linkerInput(const Toolchain& tools, const NvccOptions& options,
                                               const NvccOptions::Item& item) {
  if (item.isFile) return fileInput(tools, item.text);
  if (!item.text.starts_with("-l")) return std::vector{item.text};
  const std::string library = item.text.substr(2);
  if (isRuntime(library)) return std::vector<std::string>{};
  if (isOfToolkit(library) && isUsers(options, library)) return std::vector{item.text};
  const fs::path own = ownLibrary(tools, library);
  if (!own.empty()) return std::vector{own.string()};
  if (isOfToolkit(library))
    return fail("{}: this version of Ordito does not have that library of the CUDA toolkit", item.text);
  return std::vector{item.text};
}

}  // namespace ordito::cli
