// See precompiled.hpp. A file is written under another name and then renamed, so that nobody reads half of it. One
// without bytes says that clang could not make it, and that nobody need try again.
#include "frontend/precompiled.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "base/digest.hpp"

namespace ordito::frontend {
namespace fs = std::filesystem;
namespace {

void addFile(Digest& digest, const fs::path& file) {
  std::error_code ignored;
  digest.add(file.string()).add(static_cast<uint64_t>(fs::file_size(file, ignored)));
  digest.add(static_cast<uint64_t>(fs::last_write_time(file, ignored).time_since_epoch().count()));
}

/// All that decides what is in the file, but for the headers themselves, at whose times clang looks.
std::string keyOf(const Toolchain& tools, const Command& command, const std::string& text) {
  Digest digest;
  for (const std::string& word : command) digest.add(word);
  digest.add(text);
  for (const char* folders : {"CPATH", "CPLUS_INCLUDE_PATH", "C_INCLUDE_PATH"}) {
    const char* value = std::getenv(folders);
    digest.add(value ? value : "");
  }
  std::error_code ignored;
  if (const auto clang = findInPath(tools.clang)) addFile(digest, fs::canonical(*clang, ignored));
  Dl_info own{};
  if (dladdr(reinterpret_cast<const void*>(&refusesPrecompiled), &own) != 0) addFile(digest, own.dli_fname);
  return digest.hex();
}

void make(const Command& command, const std::string& text, const fs::path& folder, const fs::path& file) {
  std::string temporary = (folder / "new-XXXXXX").string();
  const int descriptor = mkstemp(temporary.data());
  if (descriptor < 0) return;
  ::close(descriptor);
  Command whole = command;
  whole.insert(whole.end(), {"-", "-o", temporary});
  std::error_code failed;
  if (runCaught(whole, text, {}).status != 0) fs::resize_file(temporary, 0, failed);
  fs::rename(temporary, file, failed);
  if (failed) fs::remove(temporary, failed);
}

}  // namespace

std::string precompiledPrelude(const Toolchain& tools, const CompileOptions& options) {
  if (options.preludeFolder.empty()) return {};
  std::string text;
  for (const std::string& header : options.prelude) text += fmt::format("#include <{}>\n", header);
  const Command command = preludeCommand(tools, options);
  const fs::path folder = options.preludeFolder;
  const std::string key = keyOf(tools, command, text);
  const fs::path file = folder / (key + ".pch"), seen = folder / (key + ".seen");
  std::error_code failed;
  if (!fs::exists(file, failed)) {
    fs::create_directories(folder, failed);
    if (!fs::exists(seen, failed)) return std::ofstream(seen).flush(), std::string();
    make(command, text, folder, file);
  }
  const bool isWhole = fs::file_size(file, failed) > 0 && !failed;
  fs::last_write_time(file, fs::file_time_type::clock::now(), failed);  // what is not used for long is removed
  return isWhole ? file.string() : std::string();
}

bool refusesPrecompiled(const std::string& messages) {
  return messages.find("PCH") != std::string::npos || messages.find("precompiled") != std::string::npos;
}

}  // namespace ordito::frontend
