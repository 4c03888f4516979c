// cuGetExportTable: tables of functions that NVIDIA's libraries share among themselves. Ordito has none.
//
// NVIDIA's static runtime, which nvcc links by default, asks for its table before anything else and makes the driver
// prove that it is NVIDIA's. We do not answer that check. Such a program would run on with every call failing, and many
// programs never look, so it ends here and says how to build it instead.
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "driver/api.hpp"

namespace {

/// What the static runtime of every release asks for.
constexpr unsigned char kStaticRuntime[] = {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a,
                                            0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9};

/// The folder of this library, where libcudart_static.a lies, too.
std::string libraryFolder() {
  Dl_info info{};
  const bool found = dladdr(reinterpret_cast<const void*>(&kStaticRuntime), &info) != 0 && info.dli_fname;
  const std::string path = found ? info.dli_fname : "";
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

/// Not exit(): the runtime is in the middle of starting, and what it gave to atexit would wait for it.
[[noreturn]] void refuseStaticRuntime() {
  const std::string folder = libraryFolder();
  std::fflush(nullptr);
  fmt::print(stderr,
             "ordito: this program carries NVIDIA's static runtime, which Ordito cannot serve: build it again with "
             "NVCC_APPEND_FLAGS=\"-cudart shared\", or with Ordito's libcudart_static.a: NVCC_APPEND_FLAGS=-L{}/cuda13 "
             "(nvcc 13) or -L{} (nvcc 12)\n",
             folder, folder);
  std::_Exit(1);
}

}  // namespace

CUresult cuGetExportTable(const void** table, const CUuuid* id) {
  if (!table || !id) return CUDA_ERROR_INVALID_VALUE;
  *table = nullptr;
  const auto* bytes = reinterpret_cast<const unsigned char*>(id->bytes);
  if (std::equal(std::begin(kStaticRuntime), std::end(kStaticRuntime), bytes)) refuseStaticRuntime();
  return ordito::driver::remember(CUDA_ERROR_NOT_SUPPORTED, "cuGetExportTable has no such table");
}
