// What NVRTC keeps of the headers before every program: made for options that come again, the same code with it and
// without, made again when a header has changed, and left alone when the file is none.
#include <nvrtc.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "expect.hpp"

namespace fs = std::filesystem;

static std::string compiled(const std::vector<const char*>& options) {
  const char* text =
      "#include <cuda_fp16.h>\n#include <type_traits>\n"
      "extern \"C\" __global__ void k(float* out, __half h) { new (out) float(expf(h) + SEEN + N); }\n";
  nvrtcProgram program = nullptr;
  size_t bytes = 0;
  EXPECT(nvrtcCreateProgram(&program, text, "k.cu", 0, nullptr, nullptr) == NVRTC_SUCCESS);
  EXPECT(nvrtcCompileProgram(program, static_cast<int>(options.size()), options.data()) == NVRTC_SUCCESS);
  EXPECT(nvrtcGetPTXSize(program, &bytes) == NVRTC_SUCCESS);
  std::string ptx(bytes, '\0');
  EXPECT(nvrtcGetPTX(program, ptx.data()) == NVRTC_SUCCESS && nvrtcDestroyProgram(&program) == NVRTC_SUCCESS);
  return ptx;
}

static std::vector<fs::path> kept(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".pch") files.push_back(entry.path());
  return files;
}

/// A header of the program's that the prelude reads in the place of ours.
static void writeHeader(const fs::path& folder, const char* seen) {
  fs::create_directories(folder / "nv");
  std::ofstream(folder / "nv" / "target") << "#define SEEN " << seen << "\n#include_next <nv/target>\n";
}

int main() {
  std::string temporary = (fs::temp_directory_path() / "ordito-test-XXXXXX").string();
  EXPECT(mkdtemp(temporary.data()) != nullptr);
  const fs::path cache = fs::path(temporary) / "cache", headers = fs::path(temporary) / "headers";
  const std::string include = "-I" + headers.string();
  const std::vector<const char*> options = {"-arch=compute_86", include.c_str(), "-DN=1"};
  writeHeader(headers, "0.5f");
  EXPECT(setenv("ORDITO_CACHE", "off", 1) == 0);
  const std::string without = compiled(options);
  EXPECT(!fs::exists(cache));

  EXPECT(setenv("ORDITO_CACHE", cache.c_str(), 1) == 0);
  EXPECT(compiled(options) == without && kept(cache).empty());
  for (int again = 0; again < 2; ++again) EXPECT(compiled(options) == without && kept(cache).size() == 1);

  // Macros that the prelude must not see make no other options.
  EXPECT(compiled({"-arch=compute_86", include.c_str(), "-DN=2"}) != without && kept(cache).size() == 1);

  writeHeader(headers, "100.25f");
  const std::string changed = compiled(options);
  EXPECT(changed != without && kept(cache).empty());
  EXPECT(compiled(options) == changed && kept(cache).size() == 1);
  for (const fs::path& file : kept(cache)) std::ofstream(file) << "no header\n";
  EXPECT(compiled(options) == changed && kept(cache).empty());

  EXPECT(fs::remove_all(temporary) > 0);
  return finish();
}
