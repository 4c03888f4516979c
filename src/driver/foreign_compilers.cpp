// See foreign_compilers.hpp. Asked when a module is loaded: the compiler that made it is loaded by then.
#include "driver/foreign_compilers.hpp"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <cstdlib>
#include <string>
#include <string_view>

#include "driver/results.hpp"

namespace ordito::driver {
namespace {

/// The toolkit's folder with a slash behind it: this library lies in its lib64. Empty if that cannot be found out.
const std::string& ownToolkit() {
  static const std::string folder = [] {
    Dl_info info{};
    if (!dladdr(reinterpret_cast<const void*>(&tellOfForeignCompilers), &info) || !info.dli_fname) return std::string{};
    const std::string_view path = info.dli_fname;
    const size_t end = path.rfind("/lib64/");
    return std::string(path.substr(0, end == std::string_view::npos ? 0 : end + 1));
  }();
  return folder;
}

bool isCompiler(std::string_view name) {
  constexpr std::array<std::string_view, 3> kCompilers = {"libnvvm.so", "libnvrtc.so", "libnvJitLink.so"};
  for (const std::string_view compiler : kCompilers)
    if (name.starts_with(compiler)) return true;
  return false;
}

int look(dl_phdr_info* library, size_t, void*) {
  const std::string_view path = library->dlpi_name ? library->dlpi_name : "";
  if (isCompiler(path.substr(path.rfind('/') + 1)) && !path.starts_with(ownToolkit()))
    tellOnce(std::string(path), fmt::format("{} is NVIDIA's, and this program compiles with it; Ordito's own is in {}",
                                            path, ownToolkit()));
  return 0;
}

}  // namespace

void tellOfForeignCompilers() {
  if (std::getenv("LD_AUDIT") || ownToolkit().empty()) return;  // library_audit.c says it
  dl_iterate_phdr(look, nullptr);
}

}  // namespace ordito::driver
