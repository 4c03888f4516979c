// See nvcc_libraries.hpp.
#include "frontend/nvcc_libraries.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <iterator>
#include <set>

namespace ordito::frontend {
namespace fs = std::filesystem;
namespace {

/// Libraries of the CUDA toolkit that programs ask for by name and that Ordito may not have.
constexpr std::array kToolkitLibraries = {
    "cublas", "cublasLt", "cufft",  "cufftw", "curand", "cusolver", "cusparse",  "cudnn",      "nvrtc", "nppc",
    "nppi",   "npps",     "nvjpeg", "cupti",  "nccl",   "nvml",     "nvidia-ml", "cusolverMg", "nvblas"};

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

bool hasOwn(const Toolchain& tools, const std::string& library) {
  return !library.empty() && fs::exists(tools.toolkit / "lib64" / ("lib" + library + ".so"));
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

/// A library that the user has, whatever its name, where the linker would look; empty if there is none.
fs::path usersLibrary(const NvccOptions& options, const std::string& library) {
  for (const fs::path& folder : libraryFolders(options)) {
    if (isOfAnotherToolkit(fs::absolute(folder).lexically_normal())) continue;
    for (const char* suffix : {".so", ".a"}) {
      fs::path file = folder / ("lib" + library + suffix);
      if (fs::exists(file)) return file;
    }
  }
  return {};
}

bool isOfToolkit(const std::string& library) {
  return std::find(kToolkitLibraries.begin(), kToolkitLibraries.end(), library) != kToolkitLibraries.end();
}

Expected<std::vector<std::string>> fileInput(const Toolchain& tools, const std::string& file) {
  const std::string suffix = fs::path(file).extension().string();
  if (suffix == ".cubin" || suffix == ".ptx" || suffix == ".fatbin") return fail("{}: give the .cu file instead", file);
  const std::string library = libraryOf(file);
  if (isRuntime(library)) return std::vector<std::string>{};
  const bool exists = fs::exists(file);
  const bool foreign = !exists || isOfAnotherToolkit(fs::absolute(file).lexically_normal().parent_path());
  if (foreign && hasOwn(tools, library)) return std::vector{"-l" + library};
  if (!exists) return fail("{}: no such file", file);
  return std::vector{file};
}

/// The file behind an item if it is an object or a static library.
fs::path archiveOf(const NvccOptions& options, const NvccOptions::Item& item) {
  if (item.isFile) return item.text.ends_with(".a") || item.text.ends_with(".o") ? fs::path(item.text) : fs::path();
  if (!item.text.starts_with("-l")) return {};
  const fs::path found = usersLibrary(options, item.text.substr(2));
  return found.extension() == ".a" ? found : fs::path();
}

bool continuesSymbol(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

void collectUnits(const fs::path& file, std::set<std::string>& units) {
  std::ifstream stream(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  for (size_t at = bytes.find(kUnitPrefix); at != std::string::npos; at = bytes.find(kUnitPrefix, at + 1)) {
    size_t end = at;
    while (end < bytes.size() && continuesSymbol(bytes[end])) ++end;
    units.insert(bytes.substr(at, end - at));
  }
}

}  // namespace

std::vector<std::string> deviceUnits(const NvccOptions& options) {
  std::set<std::string> units;
  for (const auto& item : options.items) {
    const fs::path archive = archiveOf(options, item);
    if (!archive.empty()) collectUnits(archive, units);
  }
  return {units.begin(), units.end()};
}

Expected<std::vector<std::string>> linkerInput(const Toolchain& tools, const NvccOptions& options,
                                               const NvccOptions::Item& item) {
  if (item.isFile) return fileInput(tools, item.text);
  if (!item.text.starts_with("-l")) return std::vector{item.text};
  const std::string library = item.text.substr(2);
  if (isRuntime(library)) return std::vector<std::string>{};
  if (!isOfToolkit(library)) return std::vector{item.text};  // also the driver: our folder comes first
  const fs::path users = usersLibrary(options, library);
  if (!users.empty()) return std::vector{users.string()};
  if (hasOwn(tools, library)) return std::vector{item.text};
  return fail("{}: this version of Ordito does not have that library of the CUDA toolkit", item.text);
}

}  // namespace ordito::frontend
